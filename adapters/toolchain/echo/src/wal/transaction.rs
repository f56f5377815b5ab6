// SPDX-License-Identifier: Apache-2.0
//! Transactions: records in one buffer, ended by a commit (sections 7.1 and 7.2).

use super::{
    format::{self, Head, RecordKind},
    payload::Payload,
};
use edict_codec::digest::TypedDigest;

/// The end of a log: what the next record continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tip {
    /// LSN of the last record; 0 before the first.
    pub lsn: u64,
    /// Its digest; before the first that of the file header.
    pub digest: [u8; 32],
}

impl Tip {
    /// The digest with its domain.
    pub fn typed(&self) -> TypedDigest {
        format::typed(self.digest)
    }
}

/// Records under construction.
#[derive(Clone, Debug)]
pub struct Transaction {
    bytes: Vec<u8>,
    epoch: u64,
    first_lsn: u64,
    records: u64,
    tip: Tip,
}

/// A complete transaction: its bytes and the tip after it.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// All records.
    pub bytes: Vec<u8>,
    /// Epoch of all of them.
    pub epoch: u64,
    /// LSN of the first.
    pub first_lsn: u64,
    /// LSN and digest of the commit.
    pub tip: Tip,
}

impl Transaction {
    /// A transaction that continues `tip`.
    pub fn begin(tip: Tip, epoch: u64) -> Self {
        Self {
            bytes: Vec::new(),
            epoch,
            first_lsn: tip.lsn.saturating_add(1),
            records: 0,
            tip,
        }
    }

    /// LSN of the first record.
    pub fn first_lsn(&self) -> u64 {
        self.first_lsn
    }

    /// Records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Adds one record.
    pub fn push(&mut self, payload: &Payload<'_>) {
        self.append(payload.kind(), &payload.to_bytes());
    }

    fn append(&mut self, kind: RecordKind, payload: &[u8]) {
        let start = self.bytes.len();
        let head = Head {
            kind,
            lsn: self.tip.lsn.saturating_add(1),
            epoch: self.epoch,
            length: u32::try_from(payload.len()).unwrap_or(u32::MAX),
            previous: self.tip.digest,
        };
        self.bytes.extend_from_slice(&head.to_bytes());
        self.bytes.extend_from_slice(payload);
        let digest = format::record_digest(self.bytes.get(start..).unwrap_or_default());
        self.bytes.extend_from_slice(&digest);
        self.records = self.records.saturating_add(1);
        self.tip = Tip {
            lsn: head.lsn,
            digest,
        };
    }

    /// Everything pushed, the commit last.
    pub fn seal(self) -> Sealed {
        Sealed {
            bytes: self.bytes,
            epoch: self.epoch,
            first_lsn: self.first_lsn,
            tip: self.tip,
        }
    }
}
