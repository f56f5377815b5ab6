// SPDX-License-Identifier: Apache-2.0
//! The whole content of one run as the machine report tells it (section 5), before any text.

pub mod evidence;
pub mod laws;
mod producers;
pub mod program;
pub mod semantic;
pub mod sink;
pub mod summary;

pub use evidence::{
    CaseEvidenceReport, Check, CheckResult, ContextReport, HostReport, OperationReport,
    SettlementReport, StateReport, StorageKind, WalReport,
};
pub use laws::BrokenLaw;
pub use producers::{host_pins, producers, provider_package};
pub use program::{ProgramReport, VerificationReport};
pub use semantic::{
    body_json, case_json, d64, digest_json, digest_of_semantic, semantic_digest, semantic_json,
};
pub use sink::{NullSink, RunSink};
pub use summary::{Class, Counts, ExitCode, Outcome, Primary, RunSummary};

use crate::{
    built::Body,
    diagnostic::Diagnostic,
    evidence::OutcomeKind,
    failure::{FailureKind, Stage},
    ids::{CaseId, CaseIndex, ProgramIndex, RunId, SuiteId},
    limits::Limits,
    suite::{Role, RoleKind, Shape, Skip},
    verdict::Verdict,
};
use edict_codec::{digest::TypedDigest, json::Json};

/// What is known before the first case runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunPlan {
    /// The suite.
    pub suite: SuiteReport,
    /// Every selected case in suite order.
    pub cases: Vec<PlannedCase>,
}

/// One line of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedCase {
    /// The id.
    pub id: CaseId,
    /// Description or id, unescaped.
    pub label: String,
}

/// `.suite` of the report; identities that are not known yet are `None` (M11).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteReport {
    /// The suite id.
    pub id: SuiteId,
    /// The suite identity.
    pub identity: Option<TypedDigest>,
    /// Blob of the exact manifest bytes.
    pub manifest: TypedDigest,
    /// Shape of the lock.
    pub shape: Option<Shape>,
    /// Identity of the lock.
    pub lock: Option<TypedDigest>,
    /// Blob of the exact lock bytes.
    pub lock_file: Option<TypedDigest>,
}

/// One entry of `.producers`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Producer {
    /// The role.
    pub role: Role,
    /// What it pins.
    pub kind: RoleKind,
    /// Coordinate of components, profiles and ABIs.
    pub coordinate: Option<String>,
    /// The pinned identity.
    pub identity: TypedDigest,
    /// Revision of a local build.
    pub revision: Option<String>,
    /// Identity of its source tree.
    pub tree: Option<TypedDigest>,
}

/// `.providerPackage`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderReport {
    /// The coordinate.
    pub coordinate: String,
    /// The tree identity.
    pub identity: TypedDigest,
}

/// One entry of `.cases`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseReport {
    /// Position in the suite.
    pub index: CaseIndex,
    /// The id.
    pub id: CaseId,
    /// Description or id, unescaped.
    pub label: String,
    /// Case identity.
    pub case: Option<TypedDigest>,
    /// Expectation identity.
    pub expectation: Option<TypedDigest>,
    /// Application identity.
    pub application: Option<TypedDigest>,
    /// Input fixture identity.
    pub input: Option<TypedDigest>,
    /// The verdict with stage and kind; `None` is state `notRun`.
    pub ending: Option<CaseEnding>,
    /// Position of the program; `None` for a skip and when it was not built.
    pub program: Option<ProgramIndex>,
    /// All declared setup entries.
    pub setup: Vec<SetupReport>,
    /// Set exactly when a terminal outcome of the case invocation was verified.
    pub execution: Option<ExecutionReport>,
    /// Set exactly when a valid case result was decoded.
    pub result: Option<ResultReport>,
    /// Of every case that declares a skip.
    pub skip: Option<Skip>,
}

impl CaseReport {
    /// The verdict, if there is one.
    pub fn verdict(&self) -> Option<Verdict> {
        self.ending.as_ref().map(|ending| ending.verdict)
    }

    /// Whether a terminal outcome of the case invocation was verified.
    pub fn executed(&self) -> bool {
        self.execution.is_some()
    }
}

/// How a judged case ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseEnding {
    /// The verdict.
    pub verdict: Verdict,
    /// The stage.
    pub stage: Stage,
    /// The kind.
    pub kind: FailureKind,
    /// `detail` of stage `result`.
    pub detail: Option<String>,
}

/// One entry of `.cases[].setup`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetupReport {
    /// Application identity.
    pub application: Option<TypedDigest>,
    /// Input fixture identity.
    pub input: Option<TypedDigest>,
    /// Position of the program.
    pub program: Option<ProgramIndex>,
    /// Outcome and semantic digest, when it was reached and verified.
    pub outcome: Option<(OutcomeKind, TypedDigest)>,
}

/// `.cases[].budget`, `.consumed` and `.execution` of an executed case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionReport {
    /// `maxSteps`, `maxAllocatedBytes`, `maxOutputBytes`.
    pub budget: [u64; 3],
    /// `steps`, `allocatedBytes`, `outputBytes`.
    pub consumed: [u64; 3],
    /// Semantic digest of the record.
    pub semantic_digest: TypedDigest,
    /// The value or the obstruction.
    pub outcome: ExecutionOutcome,
}

/// What an execution ended in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecutionOutcome {
    /// A value.
    Result(Body),
    /// An obstruction.
    Obstruction {
        /// Its coordinate.
        coordinate: String,
        /// Its payload.
        payload: Body,
    },
}

impl ExecutionOutcome {
    /// Value or obstruction.
    pub const fn kind(&self) -> OutcomeKind {
        match self {
            Self::Result(_) => OutcomeKind::Result,
            Self::Obstruction { .. } => OutcomeKind::Obstruction,
        }
    }
}

/// `assertions` and `message` of a decoded case result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultReport {
    /// 1 to 65,535.
    pub assertions: u32,
    /// At most 1,024 bytes, exact.
    pub message: String,
}

/// `semantic`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SemanticReport {
    /// `None` when no manifest was decoded.
    pub suite: Option<SuiteReport>,
    /// Eleven in the order of section 1.5, or none when no lock was decoded.
    pub producers: Vec<Producer>,
    /// Shape `upstream` only.
    pub provider_package: Option<ProviderReport>,
    /// `None` when no manifest was decoded.
    pub limits: Option<Limits>,
    /// The distinct built programs by first use.
    pub programs: Vec<ProgramReport>,
    /// Every selected case in order.
    pub cases: Vec<CaseReport>,
    /// Counts and outcome.
    pub summary: RunSummary,
}

/// `evidence`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EvidenceReport {
    /// One entry per host process whose `hello` was accepted.
    pub hosts: Vec<HostReport>,
    /// Exactly the cases that opened a context, ascending.
    pub cases: Vec<CaseEvidenceReport>,
}

/// How the runner came by a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuildDecision {
    /// The compiler ran.
    Built,
    /// Taken from the action store.
    Reused,
    /// Not reached.
    NotBuilt,
}

impl BuildDecision {
    /// The decision of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Built, Self::Reused, Self::NotBuilt]
            .into_iter()
            .find(|decision| decision.name() == name)
    }

    /// The name in telemetry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Built => "built",
            Self::Reused => "reused",
            Self::NotBuilt => "notBuilt",
        }
    }
}

/// How the runner came by a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerifyDecision {
    /// The verifier ran.
    Verified,
    /// Taken from the action store.
    Reused,
    /// Not reached.
    NotVerified,
}

impl VerifyDecision {
    /// The decision of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Verified, Self::Reused, Self::NotVerified]
            .into_iter()
            .find(|decision| decision.name() == name)
    }

    /// The name in telemetry.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Reused => "reused",
            Self::NotVerified => "notVerified",
        }
    }
}

/// `telemetry.cases[]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseTelemetry {
    /// Position in the suite.
    pub index: CaseIndex,
    /// Phases in order with their duration in milliseconds.
    pub phases: Vec<(String, u64)>,
    /// Decision about the case's own program.
    pub build: BuildDecision,
    /// Decision about its verification.
    pub verify: VerifyDecision,
}

/// `telemetry`: incidental, never input to a verdict or an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// The run.
    pub run_id: RunId,
    /// RFC 3339 ending in `Z`.
    pub started_at: String,
    /// Monotonic duration of the run in milliseconds.
    pub duration_ms: u64,
    /// Per case.
    pub cases: Vec<CaseTelemetry>,
    /// `paths`, `pids`, `platform`, `isolation`, `cache` and further open members, each an object.
    pub objects: Vec<(String, Json)>,
}

/// One whole report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Every selected case has a verdict and publication was reached in order.
    pub complete: bool,
    /// Equal for equal pinned inputs.
    pub semantic: SemanticReport,
    /// Bound to this run.
    pub evidence: EvidenceReport,
    /// The records of section 6.
    pub diagnostics: Vec<Diagnostic>,
    /// Incidental.
    pub telemetry: Telemetry,
}
