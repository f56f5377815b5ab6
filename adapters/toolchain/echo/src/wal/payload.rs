// SPDX-License-Identifier: Apache-2.0
//! Payloads of the five kinds of records (section 7.1), written and read where they stand.

use super::{
    decision::Decided,
    format::{RECORD_DOMAIN, RecordKind},
};
use crate::{context::identity::WORLDLINE, receipt::BUILD, state::accumulator::STATE_ROOT};
use edict_codec::{
    cbor::{Encoder, ItemReader},
    digest::{Algorithm, TypedDigest, read_digest, write_digest},
};

const WAL_ABI: &str = "echo.wal/v1";

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Kind 1.
    Genesis(Genesis),
    /// Kind 2.
    Epoch(Epoch),
    /// Kind 3.
    Decision(Decided<'a>),
    /// Kind 4: a patch body.
    Patch(&'a [u8]),
    /// Kind 5.
    Commit(Commit),
}

/// Identity of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// Bytes of dig(echo/worldline/v1).
    pub worldline: [u8; 32],
    /// Nonce of the worldline.
    pub nonce: [u8; 32],
    /// Its subject.
    pub subject: TypedDigest,
    /// Bytes of the empty state root.
    pub state_root: [u8; 32],
}

/// One opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: u64,
    /// Bytes of the build that opened.
    pub build: [u8; 32],
    /// LSN of the commit before; 0 in genesis.
    pub previous_lsn: u64,
    /// Bytes of its digest.
    pub previous_commit: Option<[u8; 32]>,
}

/// Why a transaction was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The context was created.
    Genesis,
    /// It was reopened.
    Epoch,
    /// An invocation was decided.
    Decision,
}

/// End of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Why.
    pub purpose: Purpose,
    /// First record of the transaction.
    pub first_lsn: u64,
    /// Records without the commit.
    pub records: u64,
    /// Ticks afterwards.
    pub tick: u64,
    /// Bytes of the state root afterwards.
    pub state_root: [u8; 32],
    /// Decided invocations afterwards.
    pub decided: u64,
}

impl Purpose {
    const ALL: [Self; 3] = [Self::Genesis, Self::Epoch, Self::Decision];

    const fn name(self) -> &'static str {
        match self {
            Self::Genesis => "genesis",
            Self::Epoch => "epoch",
            Self::Decision => "decision",
        }
    }
}

impl<'a> Payload<'a> {
    /// The kind of its record.
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::Genesis(_) => RecordKind::Genesis,
            Self::Epoch(_) => RecordKind::Epoch,
            Self::Decision(_) => RecordKind::Decision,
            Self::Patch(_) => RecordKind::Patch,
            Self::Commit(_) => RecordKind::Commit,
        }
    }

    /// Canonical bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Encoder::with_capacity(match self {
            Self::Decision(it) => it.least_bytes(),
            Self::Patch(body) => body.len().saturating_add(32),
            Self::Genesis(_) | Self::Epoch(_) | Self::Commit(_) => 512,
        });
        match self {
            Self::Genesis(it) => it.write(&mut bytes),
            Self::Epoch(it) => it.write(&mut bytes),
            Self::Decision(it) => it.write(&mut bytes),
            Self::Patch(body) => {
                bytes.map(1);
                bytes.text("patch");
                bytes.bytes(body);
            }
            Self::Commit(it) => it.write(&mut bytes),
        }
        bytes.into_bytes()
    }

    /// The payload these bytes are; `None` for any other bytes. Each kind has one form, key after
    /// key in canonical order, and nothing else is taken.
    pub fn from_bytes(kind: RecordKind, bytes: &'a [u8]) -> Option<Self> {
        let mut items = ItemReader::new(bytes);
        let items = &mut items;
        let payload = match kind {
            RecordKind::Genesis => Self::Genesis(Genesis::read(items)?),
            RecordKind::Epoch => Self::Epoch(Epoch::read(items)?),
            RecordKind::Decision => Self::Decision(Decided::read(items)?),
            RecordKind::Patch => {
                map(items, 1)?;
                items.literal("patch")?;
                Self::Patch(items.bytes()?)
            }
            RecordKind::Commit => Self::Commit(Commit::read(items)?),
        };
        items.is_at_end().then_some(payload)
    }
}

impl Genesis {
    fn write(&self, bytes: &mut Encoder) {
        bytes.map(5);
        bytes.text("abi");
        bytes.text(WAL_ABI);
        bytes.text("nonce");
        bytes.bytes(&self.nonce);
        bytes.text("subject");
        self.subject.write(bytes);
        bytes.text("stateRoot");
        put(bytes, STATE_ROOT, &self.state_root);
        bytes.text("worldline");
        put(bytes, WORLDLINE, &self.worldline);
    }

    fn read(items: &mut ItemReader<'_>) -> Option<Self> {
        map(items, 5)?;
        items.literal("abi")?;
        items.literal(WAL_ABI)?;
        items.literal("nonce")?;
        let nonce = bytes_32(items)?;
        items.literal("subject")?;
        let subject = any_digest(items)?;
        items.literal("stateRoot")?;
        let state_root = take(items, STATE_ROOT)?;
        items.literal("worldline")?;
        Some(Self {
            worldline: take(items, WORLDLINE)?,
            nonce,
            subject,
            state_root,
        })
    }
}

impl Epoch {
    fn write(&self, bytes: &mut Encoder) {
        bytes.map(4);
        bytes.text("build");
        put(bytes, BUILD, &self.build);
        bytes.text("epoch");
        bytes.unsigned(self.epoch);
        bytes.text("previousLsn");
        bytes.unsigned(self.previous_lsn);
        bytes.text("previousCommit");
        match &self.previous_commit {
            None => bytes.null(),
            Some(commit) => put(bytes, RECORD_DOMAIN, commit),
        }
    }

    fn read(items: &mut ItemReader<'_>) -> Option<Self> {
        map(items, 4)?;
        items.literal("build")?;
        let build = take(items, BUILD)?;
        items.literal("epoch")?;
        let epoch = items.unsigned()?;
        items.literal("previousLsn")?;
        let previous_lsn = items.unsigned()?;
        items.literal("previousCommit")?;
        let previous_commit = match items.null() {
            Some(()) => None,
            None => Some(take(items, RECORD_DOMAIN)?),
        };
        Some(Self {
            epoch,
            build,
            previous_lsn,
            previous_commit,
        })
    }
}

impl Commit {
    fn write(&self, bytes: &mut Encoder) {
        bytes.map(5);
        bytes.text("basis");
        bytes.map(2);
        bytes.text("tick");
        bytes.unsigned(self.tick);
        bytes.text("stateRoot");
        put(bytes, STATE_ROOT, &self.state_root);
        bytes.text("decided");
        bytes.unsigned(self.decided);
        bytes.text("purpose");
        bytes.text(self.purpose.name());
        bytes.text("records");
        bytes.unsigned(self.records);
        bytes.text("firstLsn");
        bytes.unsigned(self.first_lsn);
    }

    fn read(items: &mut ItemReader<'_>) -> Option<Self> {
        map(items, 5)?;
        items.literal("basis")?;
        map(items, 2)?;
        items.literal("tick")?;
        let tick = items.unsigned()?;
        items.literal("stateRoot")?;
        let state_root = take(items, STATE_ROOT)?;
        items.literal("decided")?;
        let decided = items.unsigned()?;
        items.literal("purpose")?;
        let name = items.text()?;
        let purpose = Purpose::ALL.into_iter().find(|it| it.name() == name)?;
        items.literal("records")?;
        let records = items.unsigned()?;
        items.literal("firstLsn")?;
        Some(Self {
            purpose,
            first_lsn: items.unsigned()?,
            records,
            tick,
            state_root,
            decided,
        })
    }
}

/// The head of a map of exactly so many entries.
pub(super) fn map(items: &mut ItemReader<'_>, entries: u64) -> Option<()> {
    (items.map()? == entries).then_some(())
}

/// A `BLAKE3` digest of that domain.
pub(super) fn put(bytes: &mut Encoder, domain: &str, digest: &[u8; 32]) {
    write_digest(bytes, domain, Algorithm::Blake3, digest);
}

/// The bytes of a `BLAKE3` digest of that domain.
pub(super) fn take(items: &mut ItemReader<'_>, domain: &str) -> Option<[u8; 32]> {
    read_digest(items, domain, Algorithm::Blake3)
}

fn any_digest(items: &mut ItemReader<'_>) -> Option<TypedDigest> {
    items.array().filter(|count| *count == 3)?;
    let domain = items.text()?;
    let algorithm = Algorithm::from_name(items.text()?)?;
    Some(TypedDigest::new(domain, algorithm, bytes_32(items)?))
}

/// A byte string of 32 bytes.
pub(super) fn bytes_32(items: &mut ItemReader<'_>) -> Option<[u8; 32]> {
    items.bytes()?.try_into().ok()
}
