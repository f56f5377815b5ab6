// SPDX-License-Identifier: Apache-2.0
//! Decision records: what a decided invocation leaves in the log (section 7.1).

use super::payload::{bytes_32, map, put, take};
use crate::{
    executable::Kind,
    receipt::{INVOCATION, record_start, semantic_digest},
};
use edict_codec::{
    cbor::{Encoder, ItemReader},
    digest::{Algorithm, TypedDigest},
};

const RESULT: &str = "result";
const OBSTRUCTION: &str = "obstruction";

/// One decided invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided<'a> {
    /// The consumed id.
    pub invocation: [u8; 32],
    /// Bytes of dig(echo/invocation/v1).
    pub request: [u8; 32],
    /// Result rather than obstruction.
    pub is_result: bool,
    /// Record bytes.
    pub record: &'a [u8],
    /// Body bytes.
    pub body: &'a [u8],
    /// Footprint body; none if pure.
    pub footprint: Option<&'a [u8]>,
}

/// What the receipt of a decided invocation is made of, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Semantic digest of the record.
    pub execution: TypedDigest,
    /// The consumed id.
    pub invocation: [u8; 32],
    /// dig(echo/invocation/v1).
    pub request: TypedDigest,
}

impl<'a> Decided<'a> {
    /// The text of its kind.
    pub const fn kind(&self) -> &'static str {
        if self.is_result { RESULT } else { OBSTRUCTION }
    }

    /// The kind its record says, if that agrees with the footprint.
    pub fn executed(&self) -> Option<Kind> {
        let kinds: &[Kind] = match self.footprint {
            None => &[Kind::Pure],
            Some(_) => &[Kind::Effectful, Kind::Anchored],
        };
        let mut kinds = kinds.iter().copied();
        kinds.find(|kind| self.record.starts_with(&record_start(*kind)))
    }

    /// What a receipt says of it; `None` if its record is malformed.
    pub fn executed_as(&self) -> Option<Executed> {
        let kind = self.executed()?;
        Some(Executed {
            execution: semantic_digest(kind, self.record),
            invocation: self.invocation,
            request: TypedDigest::new(INVOCATION, Algorithm::Blake3, self.request),
        })
    }

    pub(super) fn least_bytes(&self) -> usize {
        let footprint = self.footprint.map_or(0, <[u8]>::len);
        self.record
            .len()
            .saturating_add(self.body.len())
            .saturating_add(footprint)
            .saturating_add(256)
    }

    pub(super) fn write(&self, bytes: &mut Encoder) {
        bytes.map(6);
        bytes.text("body");
        bytes.bytes(self.body);
        bytes.text("kind");
        bytes.text(self.kind());
        bytes.text("record");
        bytes.bytes(self.record);
        bytes.text("request");
        put(bytes, INVOCATION, &self.request);
        bytes.text("footprint");
        match self.footprint {
            None => bytes.null(),
            Some(footprint) => bytes.bytes(footprint),
        }
        bytes.text("invocation");
        bytes.bytes(&self.invocation);
    }

    pub(super) fn read(items: &mut ItemReader<'a>) -> Option<Self> {
        map(items, 6)?;
        items.literal("body")?;
        let body = items.bytes()?;
        items.literal("kind")?;
        let is_result = match items.text()? {
            RESULT => true,
            OBSTRUCTION => false,
            _ => return None,
        };
        items.literal("record")?;
        let record = items.bytes()?;
        items.literal("request")?;
        let request = take(items, INVOCATION)?;
        items.literal("footprint")?;
        let footprint = match items.null() {
            Some(()) => None,
            None => Some(items.bytes()?),
        };
        items.literal("invocation")?;
        Some(Self {
            invocation: bytes_32(items)?,
            request,
            is_result,
            record,
            body,
            footprint,
        })
    }
}
