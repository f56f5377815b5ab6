// SPDX-License-Identifier: Apache-2.0
//! The reply to `open-context`, and whether the context it describes is fresh.

use super::identity::{RECEIPT, WAL_RECORD, WORLDLINE, decode_body, worldline};
use super::invocation::Basis;
use crate::failure::FailureKind;
use crate::ids::ContextNonce;
use crate::package::fields::{Field, Malformed};
use crate::run::StorageKind;
use edict_codec::digest::TypedDigest;

/// A decoded reply to `open-context` (`docs/host.md` 2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The worldline of the context.
    pub worldline: TypedDigest,
    /// Its basis.
    pub basis: Basis,
    /// Invocations decided in it so far.
    pub decided: u64,
    /// Its last receipt.
    pub last_receipt: Option<TypedDigest>,
    /// Position in its log; none in a volatile context.
    pub wal: Option<OpeningWal>,
    /// Whether it was recovered from a log.
    pub recovered: bool,
}

/// Position of an opening in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningWal {
    /// The epoch of this opening.
    pub epoch: u64,
    /// LSN of the last commit.
    pub last_lsn: u64,
    /// Digest of the last commit.
    pub commit: TypedDigest,
}

impl Opening {
    /// Decodes the body of the reply.
    ///
    /// # Errors
    /// The first breach of the table.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let value = decode_body(bytes)?;
        let root = Field::root(&value);
        root.closed(&[
            "worldline",
            "basis",
            "decided",
            "lastReceipt",
            "wal",
            "recovery",
        ])?;
        let recovery = root.get("recovery")?.non_null();
        if let Some(recovery) = &recovery {
            recovery.closed(&["tail", "discardedBytes"])?;
            recovery.get("tail")?.text()?;
            recovery.get("discardedBytes")?.unsigned()?;
        }
        Ok(Self {
            worldline: root.get("worldline")?.blake3(WORLDLINE)?,
            basis: Basis::decode(&root.get("basis")?)?,
            decided: root.get("decided")?.unsigned()?,
            last_receipt: root
                .get("lastReceipt")?
                .non_null()
                .map(|receipt| receipt.blake3(RECEIPT))
                .transpose()?,
            wal: root
                .get("wal")?
                .non_null()
                .map(|wal| opening_wal(&wal))
                .transpose()?,
            recovered: recovery.is_some(),
        })
    }

    /// Whether this is the fresh context that was asked for: the worldline recomputed from nonce,
    /// subject and storage, nothing decided, no atoms, a log exactly when durable.
    ///
    /// # Errors
    /// The kind of the first disagreement and one sentence.
    pub fn check_fresh(
        &self,
        nonce: &ContextNonce,
        subject: &TypedDigest,
        storage: StorageKind,
    ) -> Result<(), (FailureKind, String)> {
        let fail = |kind, text: &str| Err((kind, format!("the context opened {text}")));
        if self.worldline != worldline(nonce.bytes(), subject, storage) {
            fail(
                FailureKind::ForeignContext,
                "has another worldline than nonce, subject and storage name",
            )
        } else if self.decided != 0 || self.last_receipt.is_some() || self.recovered {
            fail(FailureKind::ReplayedContext, "was used before")
        } else if self.basis != Basis::genesis() {
            fail(FailureKind::BasisMismatch, "does not start empty at Tick 0")
        } else if self.wal.is_some() != (storage == StorageKind::Durable) {
            fail(
                FailureKind::SettlementMismatch,
                "has a log exactly when it should have none",
            )
        } else {
            Ok(())
        }
    }
}

fn opening_wal(field: &Field<'_>) -> Result<OpeningWal, Malformed> {
    field.closed(&["epoch", "lastLsn", "commit"])?;
    Ok(OpeningWal {
        epoch: field.get("epoch")?.unsigned()?,
        last_lsn: field.get("lastLsn")?.unsigned()?,
        commit: field.get("commit")?.blake3(WAL_RECORD)?,
    })
}
