// SPDX-License-Identifier: Apache-2.0
//! The log of a durable context rebuilt from its evidence (`docs/durability.md` 7.1): its digests show
//! that commits in receipts are those of a log with exactly these decisions.

use super::identity::WAL_RECORD;
use super::invocation::Basis;
use super::opening::{Opening, OpeningWal};
use super::{Binder, ExecutionRecord, OperationEvidence, request_digest, worldline};
use crate::ids::ContextNonce;
use crate::run::StorageKind;
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::{Algorithm, TypedDigest, derive};

const HEAD: &str = "echo/wal-head/v1";

/// A log in its first epoch, known by its digests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogReplica {
    previous: [u8; 32],
    /// LSN of the last record.
    pub last_lsn: u64,
    /// Digest of the last commit.
    pub commit: TypedDigest,
}

/// The epoch of a context that was never recovered.
const EPOCH: u64 = 1;

impl LogReplica {
    /// The log after creation.
    pub fn genesis(nonce: &ContextNonce, subject: &TypedDigest, build: &TypedDigest) -> Self {
        let worldline = worldline(nonce.bytes(), subject, StorageKind::Durable);
        let mut log = Self {
            previous: derive(WAL_RECORD, &file_header(worldline.bytes())),
            last_lsn: 0,
            commit: commit_digest([0; 32]),
        };
        let basis = Basis::genesis();
        log.append(
            1,
            &Value::text_map([
                ("abi", Value::text("echo.wal/v1")),
                ("worldline", worldline.to_value()),
                ("nonce", Value::bytes(nonce.bytes().to_vec())),
                ("subject", subject.to_value()),
                ("stateRoot", basis.state_root.to_value()),
            ]),
        );
        log.append(
            2,
            &Value::text_map([
                ("epoch", Value::unsigned(EPOCH)),
                ("build", build.to_value()),
                ("previousLsn", Value::unsigned(0)),
                ("previousCommit", Value::Null),
            ]),
        );
        log.commit("genesis", 1, &basis, 0);
        log
    }

    /// The opening that this log gives a context, as the host must have answered.
    pub fn opening(&self, worldline: TypedDigest) -> Opening {
        Opening {
            worldline,
            basis: Basis::genesis(),
            decided: 0,
            last_receipt: None,
            wal: Some(OpeningWal {
                epoch: EPOCH,
                last_lsn: self.last_lsn,
                commit: self.commit.clone(),
            }),
            recovered: false,
        }
    }

    /// The log after one more decision, made where `binder` stands.
    pub(super) fn decision(
        &self,
        operation: &OperationEvidence,
        record: &ExecutionRecord,
        binder: &Binder,
    ) -> Self {
        let mut log = self.clone();
        let first = log.last_lsn.saturating_add(1);
        let footprint = operation.footprint.as_ref();
        log.append(
            3,
            &Value::text_map([
                ("invocation", Value::bytes(operation.invocation.to_vec())),
                (
                    "request",
                    request_digest(&operation.request.bytes).to_value(),
                ),
                ("kind", Value::text(record.outcome_kind().name())),
                ("record", Value::bytes(operation.record.bytes.to_vec())),
                ("body", Value::bytes(operation.body.bytes.to_vec())),
                (
                    "footprint",
                    footprint.map_or(Value::Null, |body| Value::bytes(body.bytes.to_vec())),
                ),
            ]),
        );
        if let Some(patch) = &operation.patch {
            let patch = Value::bytes(patch.bytes.to_vec());
            log.append(4, &Value::text_map([("patch", patch)]));
        }
        let after = record.effects.as_ref().map(|effects| &effects.after);
        let decided = binder.decided().saturating_add(1);
        log.commit("decision", first, after.unwrap_or(binder.basis()), decided);
        log
    }

    fn commit(&mut self, purpose: &str, first: u64, basis: &Basis, decided: u64) {
        let records = self.last_lsn.saturating_add(1).saturating_sub(first);
        self.append(
            5,
            &Value::text_map([
                ("purpose", Value::text(purpose)),
                ("firstLsn", Value::unsigned(first)),
                ("records", Value::unsigned(records)),
                ("basis", basis.to_value()),
                ("decided", Value::unsigned(decided)),
            ]),
        );
        self.commit = commit_digest(self.previous);
    }

    fn append(&mut self, kind: u8, payload: &Value) {
        let payload = encode(payload);
        self.last_lsn = self.last_lsn.saturating_add(1);
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let head = |check: [u8; 4]| {
            [
                b"WALR".as_slice(),
                &[kind, 0, 0, 0],
                &self.last_lsn.to_be_bytes(),
                &EPOCH.to_be_bytes(),
                &length.to_be_bytes(),
                &check,
                &self.previous,
            ]
            .concat()
        };
        let [a, b, c, d, ..] = derive(HEAD, &head([0; 4]));
        let mut record = head([a, b, c, d]);
        record.extend_from_slice(&payload);
        self.previous = derive(WAL_RECORD, &record);
    }
}

fn commit_digest(bytes: [u8; 32]) -> TypedDigest {
    TypedDigest::new(WAL_RECORD, Algorithm::Blake3, bytes)
}

fn file_header(worldline: &[u8; 32]) -> Vec<u8> {
    let mut header = [
        b"ECHOWAL1".as_slice(),
        &1u32.to_be_bytes(),
        &[0; 4],
        worldline,
    ]
    .concat();
    let check = derive(HEAD, &header);
    header.extend(check.iter().take(16));
    header
}
