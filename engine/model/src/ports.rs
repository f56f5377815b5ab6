// SPDX-License-Identifier: Apache-2.0
//! The outside world as the runner sees it. Each port has one adapter and one in-memory twin; what
//! a twin answers is never labelled execution evidence.

use crate::{
    built::{Artifact, Body, Built, Verified},
    diagnostic::Notice,
    evidence::CaseEvidence,
    failure::{Failure, FailureKind},
    ids::{ContextNonce, Locator},
    package::Counters,
    plan::{CasePlan, HostPins},
    recipe::{BuildRecipe, VerifyRecipe},
    run::HostReport,
};
use edict_codec::{bounded::ByteLimit, digest::TypedDigest};
use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU8, Ordering},
    },
};

/// The bytes of one declared input, read once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileBytes {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// Their blob digest, computed while reading.
    pub blob: TypedDigest,
    /// Whether the file has more than one link (`HardLinkedInput`).
    pub hard_linked: bool,
}

/// Why a declared input gave no bytes. Which stage and pointer it fails is the caller's to say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// `InputMissing`, `InputUnreadable`, `PathEscape`, `SymlinkRejected`, `NotARegularFile`,
    /// `InputChanged`, `PlatformUnsupported`; `None` when the file is larger than the limit.
    pub kind: Option<FailureKind>,
    /// One sentence that names the file.
    pub message: String,
}

/// Reads declared inputs below the suite directory. Never reopens by name, never writes.
pub trait SnapshotPort: Send + Sync {
    /// Reads one regular file, at most `limit` bytes of it.
    ///
    /// # Errors
    /// [`ReadError`].
    fn read(&self, locator: &Locator, limit: ByteLimit) -> Result<FileBytes, ReadError>;
}

/// Bytes by blob digest.
pub trait BlobStore: Send + Sync {
    /// Keeps `bytes` and gives their blob digest.
    ///
    /// # Errors
    /// A failure of stage `report` or a note of the state; the bytes are not kept then.
    fn put(&self, bytes: &[u8]) -> Result<TypedDigest, Failure>;

    /// The bytes of `blob`, rehashed; `None` when absent, longer than `limit` or not those bytes.
    fn get(&self, blob: &TypedDigest, limit: ByteLimit) -> Option<Arc<[u8]>>;
}

/// A lookup in the action store: a hit is a claim that was checked in full (A4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup<T> {
    /// The checked outputs; `None` is a miss.
    pub found: Option<T>,
    /// Entries that failed a check and were quarantined.
    pub notices: Vec<Notice>,
}

impl<T> Lookup<T> {
    /// A miss without anything to tell.
    pub const fn miss() -> Self {
        Self {
            found: None,
            notices: Vec::new(),
        }
    }
}

/// Outputs of builds and verifications by key. It takes nothing else (A8).
///
/// ```
/// use edict_test_model::{built::Verified, ports::ActionStore, recipe::VerifyRecipe};
///
/// fn keep(store: &dyn ActionStore, recipe: &VerifyRecipe, verified: &Verified) {
///     store.keep_verified(recipe, verified);
/// }
/// ```
///
/// A verdict has no place in it:
///
/// ```compile_fail,E0308
/// use edict_test_model::{Verdict, ports::ActionStore, recipe::VerifyRecipe};
///
/// fn keep(store: &dyn ActionStore, recipe: &VerifyRecipe, verdict: &Verdict) {
///     store.keep_verified(recipe, verdict);
/// }
/// ```
///
/// Nor has what an execution left:
///
/// ```compile_fail,E0308
/// use edict_test_model::{evidence::CaseEvidence, ports::ActionStore, recipe::BuildRecipe};
///
/// fn keep(store: &dyn ActionStore, recipe: &BuildRecipe, evidence: &CaseEvidence) {
///     store.keep_built(recipe, evidence);
/// }
/// ```
///
/// And the plan of an execution is no recipe:
///
/// ```compile_fail,E0308
/// use edict_test_model::{built::Built, plan::CasePlan, ports::ActionStore};
///
/// fn keep(store: &dyn ActionStore, plan: &CasePlan, built: &Built) {
///     store.keep_built(plan, built);
/// }
/// ```
pub trait ActionStore: Send + Sync {
    /// The outputs of a build with exactly these leaves.
    fn built(&self, recipe: &BuildRecipe) -> Lookup<Built>;

    /// Keeps the outputs of a build. A loss is a miss later and changes nothing now.
    fn keep_built(&self, recipe: &BuildRecipe, built: &Built) -> Vec<Notice>;

    /// The accepted verification with exactly these leaves.
    fn verified(&self, recipe: &VerifyRecipe) -> Lookup<Verified>;

    /// Keeps an accepted verification.
    fn keep_verified(&self, recipe: &VerifyRecipe, verified: &Verified) -> Vec<Notice>;
}

/// One file of an application's closure: the runner stages exactly these bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFile {
    /// Path relative to the directory of the application document.
    pub path: Locator,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

/// The paths of one lawpack, relative to the directory of the application document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedLawpack {
    /// The manifest.
    pub manifest: Locator,
    /// The exports.
    pub exports: Locator,
    /// The adapter.
    pub adapter: Option<Locator>,
    /// The target configuration; present together with the adapter.
    pub target_configuration: Option<Locator>,
}

/// What the compiler is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildRequest {
    /// What decides the build.
    pub recipe: BuildRecipe,
    /// File name of the application document, relative to its own directory.
    pub document: Locator,
    /// The one source file.
    pub source: Locator,
    /// The lawpacks in closure order.
    pub lawpacks: Vec<StagedLawpack>,
    /// Where shape `upstream` expects the provider package, relative to the document.
    pub provider_package: Option<Locator>,
    /// The document and every file it names, each path once.
    pub files: Vec<StagedFile>,
    /// Wall limit of the build in milliseconds.
    pub wall_timeout_ms: u64,
    /// Limit of written bytes.
    pub artifact_bytes: ByteLimit,
}

/// Runs the public compiler on a runner-owned copy of an application.
pub trait Compiler: Send + Sync {
    /// Builds one application.
    ///
    /// # Errors
    /// A failure of stage `build`; `CompilerRefused` alone blames the author (F7).
    fn build(&self, request: &BuildRequest) -> Result<Built, Failure>;
}

/// What the verifier is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyRequest {
    /// What decides the verification.
    pub recipe: VerifyRecipe,
    /// The build to verify.
    pub built: Arc<Built>,
    /// The source file.
    pub source: Locator,
    /// The lawpacks in closure order.
    pub lawpacks: Vec<StagedLawpack>,
    /// The files named by `source` and `lawpacks`.
    pub files: Vec<StagedFile>,
    /// Wall limit of the verification in milliseconds.
    pub wall_timeout_ms: u64,
    /// Limit of written bytes.
    pub artifact_bytes: ByteLimit,
}

/// Runs the independent verifier; in shape `upstream` reads the report that the build made.
pub trait Verifier: Send + Sync {
    /// Comes to a judgement about one build. A rejection is a judgement, not an error.
    ///
    /// # Errors
    /// A failure of stage `verify` when there is no judgement.
    fn verify(&self, request: &VerifyRequest) -> Result<Verified, Failure>;
}

/// What the second evaluator is asked about one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluateRequest {
    /// Core of the program.
    pub core: Artifact,
    /// Name of its intent.
    pub intent: String,
    /// The canonical input.
    pub input: Body,
    /// The atoms that an effectful program finds, as a canonical list; `None` for a pure one.
    pub atoms: Option<Body>,
    /// The lawpacks in closure order.
    pub lawpacks: Vec<StagedLawpack>,
    /// The files that `lawpacks` names.
    pub files: Vec<StagedFile>,
    /// Wall limit of the evaluation in milliseconds.
    pub wall_timeout_ms: u64,
    /// Limit of written bytes.
    pub artifact_bytes: ByteLimit,
}

/// What a second evaluation of Core ended in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// Coordinate of the obstruction; `None` is a result.
    pub obstruction: Option<String>,
    /// The canonical result or payload.
    pub body: Body,
    /// What it consumed under the declared budget.
    pub consumed: Counters,
    /// The atoms that an effectful program leaves, in the form in which they were given.
    pub atoms: Option<Body>,
}

/// Evaluates Core of programs a second time, apart from the host. What it answers is compared
/// with the host's evidence and is never evidence itself.
pub trait CrossCheck: fmt::Debug + Send + Sync {
    /// Evaluates one program on one input.
    ///
    /// # Errors
    /// Why there is no evaluation to compare with.
    fn evaluate(&self, request: &EvaluateRequest) -> Result<Evaluation, Failure>;
}

/// Executes frozen plans on the pinned host.
pub trait ExecutionPort: Send + Sync {
    /// Starts the host and checks protocol, profiles and evidence versions, once and before any
    /// case. Submits nothing.
    ///
    /// # Errors
    /// A failure of stage `host` or `toolchain`.
    fn preflight(&self, pins: &HostPins) -> Result<HostReport, Failure>;

    /// Says which case will probably be run after the next call of [`Self::run_case`], so that its
    /// programs can be on their way while the case before it is judged. It decides nothing.
    fn announce(&self, next: &Arc<CasePlan>) {
        _ = next;
    }

    /// Submits `plan` once in the context `nonce`. Total: a stop, a timeout and a lost host are
    /// evidence too. A second submission of a spent pair is evidence of `ReplayedContext` and
    /// reaches no host.
    fn run_case(&self, plan: &CasePlan, nonce: ContextNonce) -> CaseEvidence;

    /// Ends the host in order and sweeps what it left.
    ///
    /// # Errors
    /// A failure of stage `cleanup` or `host`.
    fn close(&self) -> Result<(), Failure>;

    /// Invocations submitted so far, counted at the port.
    fn submissions(&self) -> u64;
}

/// Run records for `why` (A10). They explain and never feed a verdict.
pub trait RunStore: Send + Sync {
    /// Opens the record of a new run and gives its number.
    ///
    /// # Errors
    /// Why no record can be kept.
    fn begin(&self) -> Result<u64, Box<Notice>>;

    /// Appends one line to the record of run `number`.
    ///
    /// # Errors
    /// Why it was not kept.
    fn append(&self, number: u64, line: &str) -> Result<(), Box<Notice>>;

    /// Publishes `run.json`, which completes the record, from the pieces of its text.
    ///
    /// # Errors
    /// Why it was not kept.
    fn finish(
        &self,
        number: u64,
        document: &mut dyn Iterator<Item = String>,
    ) -> Result<(), Box<Notice>>;

    /// The complete records, ascending.
    fn numbers(&self) -> Vec<u64>;

    /// `run.json` of run `number`.
    fn load(&self, number: u64) -> Option<Vec<u8>>;
}

/// Warnings that come up while a port is at work, until somebody takes them. They decide nothing.
#[derive(Clone, Debug, Default)]
pub struct Notices(Arc<Mutex<Vec<Notice>>>);

impl Notices {
    /// Adds one.
    pub fn tell(&self, notice: Notice) {
        let mut notices = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notices.push(notice);
    }

    /// Takes all that came up since the last look, in the order in which they came.
    pub fn take(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The one stop flag: set by the signal thread, polled while waiting.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicU8>);

impl StopFlag {
    /// A flag that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop because of signal number `signal`; the first one is kept.
    pub fn stop(&self, signal: u8) {
        // A lost race means that another signal came first, which is then the one to report.
        let _ = self
            .0
            .compare_exchange(0, signal.max(1), Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Whether the run is to stop.
    pub fn is_set(&self) -> bool {
        self.signal().is_some()
    }

    /// The signal that asked.
    pub fn signal(&self) -> Option<u8> {
        match self.0.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }
}
