// SPDX-License-Identifier: Apache-2.0
//! The receipt: which execution it was, in which context, at which position (`docs/evidence.md` 6.2).

use super::identity::{HOST_BUILD, RECEIPT, REQUEST, WAL_RECORD, WORLDLINE, decode_body};
use super::record::{EvidenceError, shortened};
use crate::package::fields::{Field, Malformed};
use edict_codec::digest::{TypedDigest, derive_typed};

/// A decoded receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Digest of the receipt bytes.
    pub digest: TypedDigest,
    /// The semantic digest it names.
    pub execution: TypedDigest,
    /// The worldline.
    pub worldline: TypedDigest,
    /// The nonce of the context.
    pub nonce: [u8; 32],
    /// The invocation id.
    pub invocation: [u8; 32],
    /// Digest of the body of the `invoke` frame.
    pub request: TypedDigest,
    /// Position among the decided invocations of the worldline.
    pub ordinal: u64,
    /// The receipt before it.
    pub previous: Option<TypedDigest>,
    /// The build that decided.
    pub build: TypedDigest,
    /// Position in the log; none in a volatile context.
    pub wal: Option<WalPosition>,
}

/// Where a decision stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalPosition {
    /// The epoch.
    pub epoch: u64,
    /// LSN of the first record of the transaction.
    pub first_lsn: u64,
    /// LSN of its commit.
    pub last_lsn: u64,
    /// Digest of the commit record.
    pub commit: TypedDigest,
}

const RECEIPT_ABI: &str = "echo.receipt/v1";

impl Receipt {
    /// Decodes receipt bytes.
    ///
    /// # Errors
    /// `UnknownAbi` before anything else but the canonical form; `Malformed` at the first breach.
    pub fn decode(bytes: &[u8]) -> Result<Self, EvidenceError> {
        let value = decode_body(bytes)?;
        let root = Field::root(&value);
        match root.get("abi")?.text()? {
            RECEIPT_ABI => Ok(receipt(&root, bytes)?),
            other => Err(EvidenceError::UnknownAbi(shortened(other))),
        }
    }
}

fn receipt(root: &Field<'_>, bytes: &[u8]) -> Result<Receipt, Malformed> {
    root.closed(&[
        "abi",
        "execution",
        "worldline",
        "nonce",
        "invocation",
        "request",
        "ordinal",
        "previous",
        "build",
        "wal",
    ])?;
    Ok(Receipt {
        digest: derive_typed(RECEIPT, bytes),
        execution: root.get("execution")?.any_digest()?,
        worldline: root.get("worldline")?.blake3(WORLDLINE)?,
        nonce: root.get("nonce")?.bytes_32()?,
        invocation: root.get("invocation")?.bytes_32()?,
        request: root.get("request")?.blake3(REQUEST)?,
        ordinal: root.get("ordinal")?.unsigned()?,
        previous: root
            .get("previous")?
            .non_null()
            .map(|previous| previous.blake3(RECEIPT))
            .transpose()?,
        build: root.get("build")?.blake3(HOST_BUILD)?,
        wal: root
            .get("wal")?
            .non_null()
            .map(|wal| position(&wal))
            .transpose()?,
    })
}

fn position(field: &Field<'_>) -> Result<WalPosition, Malformed> {
    field.closed(&["epoch", "firstLsn", "lastLsn", "commit"])?;
    Ok(WalPosition {
        epoch: field.get("epoch")?.unsigned()?,
        first_lsn: field.get("firstLsn")?.unsigned()?,
        last_lsn: field.get("lastLsn")?.unsigned()?,
        commit: field.get("commit")?.blake3(WAL_RECORD)?,
    })
}
