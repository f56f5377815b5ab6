// SPDX-License-Identifier: Apache-2.0
//! Payloads of the five kinds of records (section 7.1).

use super::format::RecordKind;
use crate::{
    executable::Kind,
    receipt::record_start,
    wire::{
        reply::{optional_bytes, optional_digest},
        request::Basis,
    },
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{Algorithm, TypedDigest},
};

const WAL_ABI: &str = "echo.wal/v1";

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Kind 1.
    Genesis(Genesis),
    /// Kind 2.
    Epoch(Epoch),
    /// Kind 3.
    Decision(Decided),
    /// Kind 4: a patch body.
    Patch(Vec<u8>),
    /// Kind 5.
    Commit(Commit),
}

/// Identity of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// dig(echo/worldline/v1).
    pub worldline: TypedDigest,
    /// Nonce of the worldline.
    pub nonce: [u8; 32],
    /// Its subject.
    pub subject: TypedDigest,
    /// The empty state root.
    pub state_root: TypedDigest,
}

/// One opening.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: u64,
    /// Build that opened.
    pub build: TypedDigest,
    /// LSN of the commit before; 0 in genesis.
    pub previous_lsn: u64,
    /// Digest of it.
    pub previous_commit: Option<TypedDigest>,
}

/// One decided invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The consumed id.
    pub invocation: [u8; 32],
    /// dig(echo/invocation/v1).
    pub request: TypedDigest,
    /// Result rather than obstruction.
    pub is_result: bool,
    /// Record bytes.
    pub record: Vec<u8>,
    /// Body bytes.
    pub body: Vec<u8>,
    /// Footprint body; none if pure.
    pub footprint: Option<Vec<u8>>,
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Why.
    pub purpose: Purpose,
    /// First record of the transaction.
    pub first_lsn: u64,
    /// Records without the commit.
    pub records: u64,
    /// Basis afterwards.
    pub basis: Basis,
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

impl Decided {
    /// The text of its kind.
    pub const fn kind(&self) -> &'static str {
        if self.is_result {
            "result"
        } else {
            "obstruction"
        }
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
}

impl Payload {
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
        encode(&match self {
            Self::Genesis(it) => Value::text_map([
                ("abi", Value::text(WAL_ABI)),
                ("worldline", it.worldline.to_value()),
                ("nonce", Value::bytes(it.nonce)),
                ("subject", it.subject.to_value()),
                ("stateRoot", it.state_root.to_value()),
            ]),
            Self::Epoch(it) => Value::text_map([
                ("epoch", Value::unsigned(it.epoch)),
                ("build", it.build.to_value()),
                ("previousLsn", Value::unsigned(it.previous_lsn)),
                (
                    "previousCommit",
                    optional_digest(it.previous_commit.as_ref()),
                ),
            ]),
            Self::Decision(it) => Value::text_map([
                ("invocation", Value::bytes(it.invocation)),
                ("request", it.request.to_value()),
                ("kind", Value::text(it.kind())),
                ("record", Value::bytes(it.record.as_slice())),
                ("body", Value::bytes(it.body.as_slice())),
                ("footprint", optional_bytes(it.footprint.as_deref())),
            ]),
            Self::Patch(body) => Value::text_map([("patch", Value::bytes(body.as_slice()))]),
            Self::Commit(it) => Value::text_map([
                ("purpose", Value::text(it.purpose.name())),
                ("firstLsn", Value::unsigned(it.first_lsn)),
                ("records", Value::unsigned(it.records)),
                ("basis", it.basis.to_value()),
                ("decided", Value::unsigned(it.decided)),
            ]),
        })
    }

    /// The payload these bytes are; `None` for any other bytes.
    pub fn from_bytes(kind: RecordKind, bytes: &[u8]) -> Option<Self> {
        let value = decode(bytes).ok()?;
        let payload = match kind {
            RecordKind::Genesis => Self::Genesis(Genesis {
                worldline: digest(value.get("worldline")?, "echo/worldline/v1")?,
                nonce: bytes_32(value.get("nonce")?)?,
                subject: TypedDigest::from_value(value.get("subject")?)?,
                state_root: digest(value.get("stateRoot")?, "echo/state-root/v1")?,
            }),
            RecordKind::Epoch => Self::Epoch(Epoch {
                epoch: value.get("epoch")?.as_u64()?,
                build: digest(value.get("build")?, "echo/host-build/v1")?,
                previous_lsn: value.get("previousLsn")?.as_u64()?,
                previous_commit: match value.get("previousCommit")? {
                    Value::Null => None,
                    commit => Some(digest(commit, "echo/wal-record/v1")?),
                },
            }),
            RecordKind::Decision => Self::Decision(Decided {
                invocation: bytes_32(value.get("invocation")?)?,
                request: digest(value.get("request")?, "echo/invocation/v1")?,
                is_result: value.get("kind")?.as_text()? == "result",
                record: value.get("record")?.as_bytes()?.to_vec(),
                body: value.get("body")?.as_bytes()?.to_vec(),
                footprint: match value.get("footprint")? {
                    Value::Null => None,
                    footprint => Some(footprint.as_bytes()?.to_vec()),
                },
            }),
            RecordKind::Patch => Self::Patch(value.get("patch")?.as_bytes()?.to_vec()),
            RecordKind::Commit => Self::Commit(Commit {
                purpose: Purpose::ALL
                    .into_iter()
                    .find(|it| value.get("purpose").and_then(Value::as_text) == Some(it.name()))?,
                first_lsn: value.get("firstLsn")?.as_u64()?,
                records: value.get("records")?.as_u64()?,
                basis: basis(value.get("basis")?)?,
                decided: value.get("decided")?.as_u64()?,
            }),
        };
        // Everything that is missing, superfluous or of another form shows in the bytes.
        (payload.to_bytes() == bytes).then_some(payload)
    }
}

fn digest(value: &Value, domain: &str) -> Option<TypedDigest> {
    TypedDigest::from_value(value)
        .filter(|it| it.domain() == domain && it.algorithm() == Algorithm::Blake3)
}

fn bytes_32(value: &Value) -> Option<[u8; 32]> {
    value.as_bytes()?.try_into().ok()
}

fn basis(value: &Value) -> Option<Basis> {
    Some(Basis {
        tick: value.get("tick")?.as_u64()?,
        state_root: digest(value.get("stateRoot")?, "echo/state-root/v1")?,
    })
}
