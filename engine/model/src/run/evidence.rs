// SPDX-License-Identifier: Apache-2.0
//! `evidence` of the report: hosts, contexts, operations and the checks made on them.

use crate::{
    built::Body,
    ids::{CaseIndex, ContextNonce, ProgramIndex},
    plan::OperationRole,
};
use edict_codec::digest::TypedDigest;

/// One host process whose `hello` was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostReport {
    /// Identity of the executable.
    pub executable: TypedDigest,
    /// CBOR body of its `hello` reply.
    pub hello: Body,
    /// Which process of the run it is, from 0 in the order of their greetings: two processes of
    /// one executable answer alike.
    pub process: u64,
}

/// Result of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CheckResult {
    /// It holds.
    Passed,
    /// It does not.
    Failed,
    /// It does not apply, or an earlier failure makes it impossible.
    NotApplicable,
}

impl CheckResult {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotApplicable => "notApplicable",
        }
    }
}

/// One check with its stable name: `closure`, `producers`, `artifacts`, `verification` of a case,
/// `V1` to `V18` of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Check {
    /// The name.
    pub name: &'static str,
    /// The result.
    pub result: CheckResult,
}

/// Where a context keeps its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StorageKind {
    /// In memory.
    Volatile,
    /// In a log.
    Durable,
}

impl StorageKind {
    /// The name in reports and host messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Volatile => "volatile",
            Self::Durable => "durable",
        }
    }
}

/// `.cases[].context`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextReport {
    /// The fresh nonce.
    pub nonce: ContextNonce,
    /// The worldline.
    pub worldline: TypedDigest,
    /// Storage.
    pub storage: StorageKind,
    /// Installations granted, as sent.
    pub grants: Vec<TypedDigest>,
}

/// A Tick number and its state root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateReport {
    /// The Tick.
    pub tick: u64,
    /// The state root.
    pub state_root: TypedDigest,
}

/// Position of an outcome in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalReport {
    /// Epoch.
    pub epoch: u64,
    /// First record of the transaction.
    pub first_lsn: u64,
    /// Its commit.
    pub last_lsn: u64,
    /// Digest of the commit record.
    pub commit: TypedDigest,
}

/// `.operations[].settlement` of an effectful record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettlementReport {
    /// `settled` or `unchanged`.
    pub posture: String,
    /// Basis before.
    pub before: StateReport,
    /// Basis after.
    pub after: StateReport,
    /// Digest of the declared footprint.
    pub declared_footprint: TypedDigest,
    /// Position in the log.
    pub wal: WalReport,
}

/// One operation that got an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationReport {
    /// Setup entry or case.
    pub role: OperationRole,
    /// Position of its program.
    pub program: ProgramIndex,
    /// The installation.
    pub installation: TypedDigest,
    /// The invocation id.
    pub invocation: [u8; 32],
    /// Ordinal among the decided invocations of the context.
    pub ordinal: u64,
    /// Body of the `invoke` frame.
    pub request: Body,
    /// The input.
    pub input: Body,
    /// The execution record.
    pub record: Body,
    /// The receipt.
    pub receipt: Body,
    /// Value or payload.
    pub result: Body,
    /// Footprint of an effectful record.
    pub footprint: Option<Body>,
    /// Patch of a settled record.
    pub patch: Option<Body>,
    /// `None` for a pure record.
    pub settlement: Option<SettlementReport>,
    /// `V1` to `V18`.
    pub checks: Vec<Check>,
}

/// One case that opened a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseEvidenceReport {
    /// Position in the suite.
    pub index: CaseIndex,
    /// Position in `hosts`.
    pub host: usize,
    /// The context.
    pub context: ContextReport,
    /// Operations that got an outcome, setup first.
    pub operations: Vec<OperationReport>,
    /// `closure`, `producers`, `artifacts`, `verification`.
    pub checks: Vec<Check>,
}
