// SPDX-License-Identifier: Apache-2.0
//! What a host said about one case, and the checks that decide whether it is evidence.
//!
//! [`CaseEvidence`] is raw: an execution port fills it with the exact bytes it sent and received.
//! [`bind`] judges it against what the runner planned and recomputes every identity; only a
//! [`BoundOperation`] whose checks all passed may reach a verdict.

mod bind;
mod body;
mod case;
mod checks;
mod hello;
mod identity;
mod invocation;
mod log;
mod opening;
mod receipt;
mod record;
mod replica;

pub use bind::{Binder, BoundOperation, BoundOutcome, ContextFacts, Terminal};
pub use body::{
    Footprint, FootprintRead, FootprintWrite, PatchRow, decode_footprint, decode_patch,
};
pub use case::{BoundCase, BoundFailure, bind_case, plan_grants};
pub use checks::{CHECK_NAMES, CheckFailure};
pub use hello::{HelloError, HostHello};
pub use identity::{
    atom, atom_version, body_digest, input_digest, installation, invocation_id, receipt_digest,
    request_digest, worldline,
};
pub use invocation::{Basis, InvokeRequest};
pub use log::LogReplica;
pub use opening::{Opening, OpeningWal};
pub use receipt::{Receipt, WalPosition};
pub use record::{
    EvidenceError, ExecutionRecord, ObstructionOrigin, RecordEffects, RecordObstruction,
};
pub use replica::Replica;

use crate::built::Body;
use crate::diagnostic::{Child, Excerpt};
use crate::failure::FailureKind;
use crate::ids::ContextNonce;
use crate::package::{PackageError, ProgramPackage, VerificationReport};
use crate::run::{HostReport, StorageKind};
use edict_codec::digest::TypedDigest;

/// A package with its verification report as the runner installs them: exact bytes, their decoded
/// views, and the installation identity under the policy of `docs/processes.md` P15.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Exact bytes of `executable-operation-package.cbor`.
    pub package_file: Body,
    /// Exact bytes of `verification-report.cbor`.
    pub report_file: Body,
    /// The decoded package.
    pub package: ProgramPackage,
    /// The decoded report.
    pub report: VerificationReport,
    /// `dig(echo/installation/v1)` that a host must answer with.
    pub installation: TypedDigest,
}

impl Program {
    /// Decodes both files and derives the installation.
    ///
    /// Whether the report accepts and names the package is judged by the binding of the build
    /// (door 8) and again by check V5, not here.
    ///
    /// # Errors
    /// The first breach of `docs/host.md` 3.1 or 3.2.
    pub fn decode(package_file: Body, report_file: Body) -> Result<Self, PackageError> {
        let package = ProgramPackage::decode(&package_file.bytes)?;
        let report = VerificationReport::of(&package, &report_file.bytes)?;
        Ok(Self::of((package_file, package), (report_file, report)))
    }

    /// Derives the installation of files that were decoded already.
    pub(crate) fn of(
        (package_file, package): (Body, ProgramPackage),
        (report_file, report): (Body, VerificationReport),
    ) -> Self {
        let installation = identity::installation(&package, &report.digest);
        Self {
            package_file,
            report_file,
            package,
            report,
            installation,
        }
    }
}

/// The storage of a context for `programs`: durable exactly when one of them is effectful (P15).
pub fn storage_for<'a>(programs: impl IntoIterator<Item = &'a Program>) -> StorageKind {
    if programs
        .into_iter()
        .any(|program| program.package.kind.has_effects())
    {
        StorageKind::Durable
    } else {
        StorageKind::Volatile
    }
}

/// Everything received for one case. Framing and correlation were checked by the port that filled
/// it, nothing else. It is total: a stop, a timeout and a lost host are recorded in `failure`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseEvidence {
    /// The process that served the case; `None` when none accepted a `hello`.
    pub host: Option<HostReport>,
    /// The context; `None` when none was opened.
    pub context: Option<ContextEvidence>,
    /// Those operations that got an outcome frame, in order: setup, then the case.
    pub operations: Vec<OperationEvidence>,
    /// The first failure, if the exchange did not end in order.
    pub failure: Option<ExecutionFailure>,
}

/// The opened context of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEvidence {
    /// The nonce as sent.
    pub nonce: ContextNonce,
    /// The subject as sent: the case identity.
    pub subject: TypedDigest,
    /// The storage kind as sent.
    pub storage: StorageKind,
    /// The grants as sent, ascending by their bytes.
    pub grants: Vec<TypedDigest>,
    /// Body of the reply to `open-context`.
    pub opened: Body,
}

/// One operation that got an outcome frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationEvidence {
    /// The invocation id as sent.
    pub invocation: [u8; 32],
    /// Body of the `invoke` frame as sent.
    pub request: Body,
    /// The input as sent.
    pub input: Body,
    /// Members of the outcome frame that are no bodies.
    pub frame: OutcomeFrame,
    /// The execution record.
    pub record: Body,
    /// The receipt.
    pub receipt: Body,
    /// The output value or obstruction payload.
    pub body: Body,
    /// The footprint body, or null.
    pub footprint: Option<Body>,
    /// The patch body, or null.
    pub patch: Option<Body>,
}

/// The scalar members of an `outcome` frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutcomeFrame {
    /// The worldline it names.
    pub worldline: TypedDigest,
    /// The invocation it names.
    pub invocation: [u8; 32],
    /// Result or obstruction.
    pub kind: OutcomeKind,
    /// Whether the host says that it only repeats a logged outcome.
    pub recalled: bool,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutcomeKind {
    /// It returned a value.
    Result,
    /// It was obstructed.
    Obstruction,
}

impl OutcomeKind {
    /// The name in messages and reports: `result` or `obstruction`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Result => "result",
            Self::Obstruction => "obstruction",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "result" => Some(Self::Result),
            "obstruction" => Some(Self::Obstruction),
            _ => None,
        }
    }
}

/// Where in the exchange a failure happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExecutionStep {
    /// Starting the process or its `hello`.
    Start,
    /// Installing the program of that operation (position in the plan, setup first).
    Install(usize),
    /// Opening the context.
    Open,
    /// Invoking that operation (position in the plan, setup first).
    Invoke(usize),
    /// Closing the context, or ending the process.
    Close,
}

/// The first failure of an exchange with a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ExecutionFailure {
    /// Where it happened.
    pub step: ExecutionStep,
    /// The kind of `docs/failures.md` F11. Its stage follows from kind and step.
    pub kind: FailureKind,
    /// The host's own refusal or fault kind, if it gave one.
    pub host_code: Option<String>,
    /// How the host process ended or stood, where the failure is about the process (J3).
    pub child: Option<Child>,
    /// Standard error of that process.
    pub excerpt: Option<Excerpt>,
    /// One sentence for people; never parsed.
    pub message: String,
}
