// SPDX-License-Identifier: Apache-2.0
//! From documents and options to ports: everything that a run is given is made here.

mod staged;

use crate::timing::{Clock, Measured};
use edict_codec::{bounded::ByteLimit, digest::TypedDigest, json::Span};
use edict_test_compiler::EdictCompiler;
use edict_test_echo::{EchoHost, HostSettings, ProcessLaunch, ProcessSettings};
use edict_test_model::{
    ContextNonce, Failure, FailureKind, FileSpan, Locator, Stage, abi,
    limits::{Limit, Limits},
    ports::{
        ActionStore, Compiler, CrossCheck, ExecutionPort, Notices, ReadError, SnapshotPort as _,
        StopFlag, Verifier,
    },
    suite::{LockDocument, Role, SuiteDocument},
};
use edict_test_process::{Isolation, IsolationLevel, PrivateDir, Staging, ToolDir, probe};
use edict_test_queries::{Actions, Ports, ReusePolicy, SnapshotFile, SuiteBytes};
use edict_test_reporters::diagnostics::Documents;
use edict_test_snapshot::{SuiteRoot, toolchain::read_tools, tree::Tree};
use edict_test_verifier::ReportVerifier;
use staged::Staged;
use std::{
    fmt::Write as _,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Where private directories are made unless the caller says otherwise; no variable is consulted.
const TEMPORARY: &str = "/tmp";

/// A suite whose manifest was read.
#[derive(Debug)]
pub(crate) struct OpenedSuite {
    /// Its directory, opened once.
    pub(crate) root: SuiteRoot,
    /// The manifest.
    pub(crate) document: Arc<SuiteDocument>,
    /// Blob digest of the manifest's bytes.
    pub(crate) manifest: TypedDigest,
    /// These bytes.
    bytes: Arc<[u8]>,
    /// Name of the manifest in its directory; `None` when it is no path of a suite.
    name: Option<Locator>,
}

impl OpenedSuite {
    /// Opens the directory of a manifest and reads the manifest below it; from then on failures
    /// are placed in it through `documents`.
    ///
    /// # Errors
    /// A failure of stage `manifest`.
    pub(crate) fn open(path: &Path, documents: &mut Documents) -> Result<Self, Failure> {
        documents.suite(shown(path));
        let limit = Limit::ManifestBytes.ceiling();
        let fail = |error: ReadError| {
            let failed = |kind, message| Failure::new(Stage::Manifest, kind, message);
            if error.kind.is_some() {
                return failed(FailureKind::ManifestUnreadable, error.message);
            }
            let message = format!("the manifest is larger than {limit} bytes");
            let failure = failed(FailureKind::ManifestTooLarge, message);
            read_past(failure, "suite", limit).with_detail(edict_test_model::Detail::Limit {
                limit,
                actual: None,
            })
        };
        let (root, name) = SuiteRoot::of_manifest(path).map_err(fail)?;
        let file = root.read_name(name, ByteLimit::new(limit)).map_err(fail)?;
        documents.manifest(Arc::clone(&file.bytes));
        let document = SuiteDocument::decode(&file.bytes).map_err(|error| {
            error
                .into_failure(Stage::Manifest, "suite")
                .with_text(&file.bytes)
        })?;
        Ok(Self {
            root,
            document: Arc::new(document),
            manifest: file.blob,
            bytes: file.bytes,
            name: name.to_str().and_then(|it| Locator::parse(it).ok()),
        })
    }

    /// Reads the lock that the manifest names.
    ///
    /// # Errors
    /// A failure of stage `lock`.
    pub(crate) fn lock(&self) -> Result<SuiteBytes, Failure> {
        self.read_lock(&mut Documents::default())
            .map(|(bytes, _)| bytes)
    }

    /// Manifest and lock as files of the snapshot.
    pub(crate) fn documents(&self, read: &SuiteBytes, lock: Arc<[u8]>) -> Vec<SnapshotFile> {
        let manifest = self.name.clone().map(|name| {
            let bytes = Arc::clone(&self.bytes);
            (name, self.manifest.clone(), bytes)
        });
        let locator = self.document.toolchain_lock.clone();
        let lock = (locator, read.lock_file.clone(), lock);
        manifest.into_iter().chain([lock]).collect()
    }

    /// Reads the lock that the manifest names, and gives its bytes too; from then on failures are
    /// placed in it through `documents`.
    ///
    /// # Errors
    /// A failure of stage `lock`.
    pub(crate) fn read_lock(
        &self,
        documents: &mut Documents,
    ) -> Result<(SuiteBytes, Arc<[u8]>), Failure> {
        let limit = 1 << 20;
        let locator = &self.document.toolchain_lock;
        let file = self
            .root
            .read(locator, ByteLimit::new(limit))
            .map_err(|error| {
                let failed = |kind, message| Failure::new(Stage::Lock, kind, message);
                if error.kind.is_none() {
                    let failure = failed(FailureKind::LockTooLarge, error.message);
                    return read_past(failure, "lock", limit);
                }
                let message = format!("{}; `edict-test lock --suite` writes one", error.message);
                failed(FailureKind::LockUnreadable, message)
            })?;
        documents.lock(Arc::clone(&file.bytes));
        let lock = LockDocument::decode(&file.bytes).map_err(|error| {
            error
                .into_failure(Stage::Lock, "lock")
                .with_text(&file.bytes)
        })?;
        let suite = SuiteBytes {
            document: Arc::clone(&self.document),
            manifest: self.manifest.clone(),
            lock: Arc::new(lock),
            lock_file: file.blob,
        };
        Ok((suite, file.bytes))
    }
}

/// A path as people are told it: each byte that is no UTF-8 stands as `<XX>`, and `<` as `<3C>` (C1).
pub(crate) fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('<', "<3C>"));
        for byte in chunk.invalid() {
            // Writing into a string cannot fail.
            _ = write!(text, "<{byte:02X}>");
        }
    }
    text
}

/// What decides how children are started.
#[derive(Clone)]
pub(crate) struct Surroundings {
    /// `--temp-root`.
    pub(crate) temporary: Option<PathBuf>,
    /// `--isolation required`.
    pub(crate) isolation_required: bool,
    /// `--isolation process`.
    pub(crate) process_per_case: bool,
    /// What may be reused.
    pub(crate) policy: ReusePolicy,
    /// The action store, if there is one.
    pub(crate) actions: Option<Arc<dyn ActionStore>>,
}

/// The ports of one run and what must be removed after it.
#[derive(Debug)]
pub(crate) struct Wired {
    /// The ports.
    pub(crate) ports: Ports,
    /// The verifier as the second evaluator of pure programs.
    pub(crate) cross_check: Arc<dyn CrossCheck>,
    /// What children did beside their work.
    pub(crate) notices: Notices,
    /// How long the ports took.
    pub(crate) clock: Clock,
    /// Isolation that children get.
    pub(crate) isolation: IsolationLevel,
    tools: ToolDir,
    private: PrivateDir,
}

impl Wired {
    /// Reads and compares everything that `suite.lock` pins, copies the programs into a private
    /// directory, and makes the ports over these copies.
    ///
    /// # Errors
    /// A failure of stage `toolchain`.
    pub(crate) fn of(
        root: &SuiteRoot,
        suite: &SuiteBytes,
        around: &Surroundings,
        stop: &StopFlag,
    ) -> Result<Self, Failure> {
        let parent = around
            .temporary
            .clone()
            .unwrap_or_else(|| PathBuf::from(TEMPORARY));
        let mut staged = Staged::new(&parent);
        let provider_package = read_tools(root, &suite.lock, &mut |role, bytes| {
            staged.write(role, bytes)
        })?;
        abi::check(&suite.lock)?;
        let level = probe();
        if around.isolation_required && level != IsolationLevel::Full {
            let message = format!(
                "the kernel offers isolation level `{}`, not `full`; use --isolation best-effort",
                level.name()
            );
            let kind = FailureKind::IsolationUnavailable;
            return Err(Failure::new(Stage::Toolchain, kind, message));
        }
        let (directory, private) = staged.seal()?;
        let isolation = if around.isolation_required {
            Isolation::Required
        } else {
            Isolation::BestEffort
        };
        let notices = Notices::default();
        let verifier = Arc::new(ReportVerifier {
            program: directory.program(Role::Verifier.name()),
            staging: Arc::new(Staging::below(private.path())),
            isolation,
            stop: stop.clone(),
            notices: notices.clone(),
        });
        let clock = Clock::default();
        let ports = Making {
            clock: &clock,
            notices: &notices,
            directory: &directory,
            provider: provider_files(provider_package),
            private: private.path(),
            isolation,
            process_per_case: around.process_per_case,
            limits: suite.document.limits,
            stop,
        }
        .ports(&suite.lock, Arc::clone(&verifier), around)?;
        Ok(Self {
            ports,
            cross_check: verifier,
            clock,
            notices,
            isolation: level,
            tools: directory,
            private,
        })
    }

    /// Ends the host and removes what was made for the run.
    ///
    /// # Errors
    /// The first failure of stage `cleanup` or `host`.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let Self {
            ports,
            tools,
            private,
            ..
        } = self;
        let closed = ports.host.close();
        drop(ports);
        let removed = tools.remove().and_then(|()| private.remove());
        closed.and(removed.map_err(|error| {
            let message = format!("remove the private directory of the run: {error}");
            Failure::new(Stage::Cleanup, FailureKind::CleanupIncomplete, message)
        }))
    }
}

/// What the ports are made from.
struct Making<'a> {
    clock: &'a Clock,
    notices: &'a Notices,
    directory: &'a ToolDir,
    /// Files of the provider package, in shape `upstream`.
    provider: Vec<(String, Arc<[u8]>)>,
    private: &'a Path,
    isolation: Isolation,
    process_per_case: bool,
    limits: Limits,
    stop: &'a StopFlag,
}

impl Making<'_> {
    fn ports(
        &self,
        lock: &LockDocument,
        verifier: Arc<ReportVerifier>,
        around: &Surroundings,
    ) -> Result<Ports, Failure> {
        let actions = Actions::new(around.actions.clone(), around.policy);
        let compiler: Arc<dyn Compiler> = Arc::new(EdictCompiler {
            program: self.directory.program(Role::Compiler.name()),
            provider: self.provider.clone(),
            staging: Arc::new(Staging::below(self.private)),
            isolation: self.isolation,
            stop: self.stop.clone(),
            notices: self.notices.clone(),
        });
        let verifier: Arc<dyn Verifier> = verifier;
        Ok(Ports {
            compiler: Arc::new(Measured::new(compiler, self.clock)),
            verifier: Arc::new(Measured::new(verifier, self.clock)),
            host: Arc::new(Measured::new(self.host(lock)?, self.clock)),
            actions: Arc::new(actions),
        })
    }

    fn host(&self, lock: &LockDocument) -> Result<Arc<dyn ExecutionPort>, Failure> {
        let Some(entry) = lock.entry(Role::Host) else {
            return Err(Failure::internal("a decoded lock lacks the host"));
        };
        let settings = HostSettings {
            executable: entry.identity.clone(),
            max_frame_bytes: self.limits.max_frame_bytes(),
            process_per_case: self.process_per_case,
        };
        let launch = ProcessLaunch::new(ProcessSettings {
            program: self.directory.program(Role::Host.name()),
            directory: self.private.to_path_buf(),
            isolation: self.isolation,
            file_bytes: self.limits.max_artifact_bytes(),
            wall_timeout_ms: self.limits.wall_timeout_ms(),
            stop: self.stop.clone(),
        });
        let host = EchoHost::new(settings, Box::new(launch))
            .for_shape(lock.shape)
            .telling(self.notices);
        Ok(Arc::new(host))
    }
}

/// The failure with the span of what was read of a file that is larger than `limit` (S4).
fn read_past(mut failure: Failure, file: &str, limit: u64) -> Failure {
    failure.span = Some(FileSpan {
        file: file.to_owned(),
        span: Span {
            start: 0,
            end: usize::try_from(limit).map_or(usize::MAX, |limit| limit.saturating_add(1)),
        },
        text: None,
    });
    failure
}

/// Path and bytes of each file of a provider package.
fn provider_files(package: Option<Tree>) -> Vec<(String, Arc<[u8]>)> {
    let files = package.map(|tree| tree.files).unwrap_or_default();
    files.into_iter().map(|it| (it.path, it.bytes)).collect()
}

/// 32 fresh bytes of the operating system.
///
/// # Errors
/// `InternalError` when the system has none.
pub(crate) fn nonce() -> Result<ContextNonce, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::internal(format!("no randomness: {error}")))?;
    Ok(ContextNonce::new(bytes))
}

/// Reads one file named on the command line.
///
/// # Errors
/// `UsageError` with the reason.
pub(crate) fn read_argument(path: &Path, limit: u64) -> Result<Arc<[u8]>, Failure> {
    let fail = |message: String| Failure::new(Stage::Arguments, FailureKind::UsageError, message);
    let (root, name) = SuiteRoot::of_manifest(path).map_err(|error| fail(error.message))?;
    let file = root
        .read_name(name, ByteLimit::new(limit))
        .map_err(|error| {
            fail(match error.kind {
                Some(_) => error.message,
                None => format!("`{}` is larger than {limit} bytes", path.display()),
            })
        })?;
    Ok(file.bytes)
}
