// SPDX-License-Identifier: Apache-2.0
//! The closure walk: reads every file that a suite names, once, and sets the inputs.

mod references;

use crate::{
    db::Engine,
    inputs::{BuildRoles, FileSnapshot, Suite, Toolchain, VerifyRoles},
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    CaseId, Detail, Failure, FailureKind, Locator, Stage,
    ports::{FileBytes, ReadError, SnapshotPort},
    run::host_pins,
    suite::{ApplicationDocument, DocumentError, LockDocument, Role, Shape, SuiteDocument},
};
use references::{Reference, references};
use salsa::{Durability, Setter};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

/// Greatest size of a document, source or lawpack file in bytes (L3).
const MAX_FILE: u64 = 1 << 20;
/// Greatest number of files of a closure (L3).
const MAX_FILES: usize = 4_096;
/// Greatest size of a closure in bytes (L3).
const MAX_CLOSURE: u64 = 64 << 20;

/// Every file of a suite beside its manifest and lock.
#[derive(Debug)]
pub(crate) struct Closure {
    files: BTreeMap<Locator, FileBytes>,
    applications: BTreeMap<Locator, Arc<ApplicationDocument>>,
}

impl Closure {
    /// Files with more than one link.
    pub(crate) fn hard_linked(&self) -> Vec<Locator> {
        let linked = self.files.iter().filter(|(_, file)| file.hard_linked);
        linked.map(|(locator, _)| locator.clone()).collect()
    }
}

/// Reads everything that a suite names and tells every problem once, in the order of the cases.
/// Without a lock the applications are read in whichever shape they fit.
pub fn check_closure(
    port: &dyn SnapshotPort,
    document: &SuiteDocument,
    lock: Option<&LockDocument>,
) -> Vec<Failure> {
    let mut walk = Walk::new(port, document, lock);
    let mut problems: Vec<Failure> = Vec::new();
    for reference in references(document) {
        if let Err(failure) = walk.take(&reference) {
            let told = |it: &Failure| it.kind == failure.kind && it.message == failure.message;
            if !problems.iter().any(told) {
                problems.push(failure);
            }
        }
    }
    problems
}

/// Reads everything that `document` names, in the order of its cases.
///
/// # Errors
/// A failure of stage `snapshot`, or `LockDisagreesWithApplication` of stage `toolchain`.
pub(crate) fn read_closure(
    port: &dyn SnapshotPort,
    document: &SuiteDocument,
    lock: &LockDocument,
) -> Result<Closure, Failure> {
    let mut walk = Walk::new(port, document, Some(lock));
    for reference in references(document) {
        walk.take(&reference)?;
    }
    Ok(Closure {
        files: walk.files,
        applications: walk.applications,
    })
}

struct Walk<'a> {
    port: &'a dyn SnapshotPort,
    lock: Option<&'a LockDocument>,
    files: BTreeMap<Locator, FileBytes>,
    applications: BTreeMap<Locator, Arc<ApplicationDocument>>,
    closure_left: u64,
    fixtures_left: u64,
    fixtures_limit: u64,
    fixtures: BTreeSet<Locator>,
}

impl<'a> Walk<'a> {
    fn new(
        port: &'a dyn SnapshotPort,
        document: &SuiteDocument,
        lock: Option<&'a LockDocument>,
    ) -> Self {
        Self {
            port,
            lock,
            files: BTreeMap::new(),
            applications: BTreeMap::new(),
            closure_left: MAX_CLOSURE,
            fixtures_left: document.limits.max_fixture_bytes(),
            fixtures_limit: document.limits.max_fixture_bytes(),
            fixtures: BTreeSet::new(),
        }
    }

    fn take(&mut self, reference: &Reference<'_>) -> Result<(), Failure> {
        let (locator, case) = (reference.locator, reference.case);
        if reference.application {
            self.application(locator, case, &reference.pointer)
        } else {
            self.fixture(locator, case, &reference.pointer)
        }
    }

    fn decode(&self, bytes: &[u8]) -> Result<ApplicationDocument, DocumentError> {
        match self.lock {
            Some(lock) => ApplicationDocument::decode(bytes, lock.shape),
            None => ApplicationDocument::decode(bytes, Shape::Bundled).or_else(|error| {
                ApplicationDocument::decode(bytes, Shape::Upstream).map_err(|_| error)
            }),
        }
    }

    fn application(&mut self, at: &Locator, case: &CaseId, pointer: &str) -> Result<(), Failure> {
        if self.applications.contains_key(at) {
            return Ok(());
        }
        let place = |failure: Failure| with_place(failure, case, Some(pointer));
        let bytes = self.file(at).map_err(place)?;
        let document = self.decode(&bytes).map_err(|error| {
            let failure = error.into_failure(Stage::Snapshot, at.as_str());
            with_place(failure.with_text(&bytes), case, None)
        })?;
        for name in document.files() {
            let named = at.sibling(name).map_err(|error| {
                place(Failure::new(
                    Stage::Snapshot,
                    FailureKind::PathEscape,
                    error.to_string(),
                ))
            })?;
            self.file(&named).map_err(place)?;
        }
        self.agrees(&document, at, case)?;
        self.applications.insert(at.clone(), Arc::new(document));
        Ok(())
    }

    /// The lock pins the target profile that the document asks for (S17).
    fn agrees(
        &self,
        document: &ApplicationDocument,
        at: &Locator,
        case: &CaseId,
    ) -> Result<(), Failure> {
        let Some(lock) = self.lock else {
            return Ok(());
        };
        let pinned = lock
            .entry(Role::TargetProfile)
            .and_then(|entry| entry.coordinate());
        if pinned == Some(document.target_profile.as_str()) {
            return Ok(());
        }
        let message = format!(
            "`{at}` targets `{}`, the lock pins `{}`; change one of them",
            document.target_profile,
            pinned.unwrap_or_default(),
        );
        let kind = FailureKind::LockDisagreesWithApplication;
        let failure = Failure::new(Stage::Toolchain, kind, message).of_role(Role::TargetProfile);
        Err(with_place(failure, case, Some("/target/profile")))
    }

    /// One file of the closure.
    fn file(&mut self, locator: &Locator) -> Result<Arc<[u8]>, Failure> {
        if let Some(file) = self.files.get(locator) {
            return Ok(Arc::clone(&file.bytes));
        }
        if self.files.len() >= MAX_FILES {
            return Err(closure_too_large(format!(
                "the suite names more than {MAX_FILES} files"
            )));
        }
        let limit = MAX_FILE.min(self.closure_left);
        let file = self
            .port
            .read(locator, ByteLimit::new(limit))
            .map_err(|error| {
                failure(error, || {
                    closure_too_large(format!("`{locator}` is larger than {limit} bytes"))
                })
            })?;
        self.closure_left = self.closure_left.saturating_sub(file.bytes.len() as u64);
        let bytes = Arc::clone(&file.bytes);
        self.files.insert(locator.clone(), file);
        Ok(bytes)
    }

    /// One fixture; distinct paths share the limit of all fixtures.
    fn fixture(&mut self, locator: &Locator, case: &CaseId, pointer: &str) -> Result<(), Failure> {
        if self.fixtures.contains(locator) {
            return Ok(());
        }
        let (left, limit) = (self.fixtures_left, self.fixtures_limit);
        let exceeded = || {
            let message = format!("the fixtures have more than {limit} bytes at `{locator}`");
            Failure::new(Stage::Snapshot, FailureKind::FixtureBytesExceeded, message).with_detail(
                Detail::Limit {
                    limit,
                    actual: None,
                },
            )
        };
        if !self.files.contains_key(locator) {
            let file = self
                .port
                .read(locator, ByteLimit::new(left))
                .map_err(|error| with_place(failure(error, exceeded), case, Some(pointer)))?;
            self.files.insert(locator.clone(), file);
        }
        let length = self
            .files
            .get(locator)
            .map_or(0, |file| file.bytes.len() as u64);
        match left.checked_sub(length) {
            Some(left) => self.fixtures_left = left,
            None => return Err(with_place(exceeded(), case, Some(pointer))),
        }
        self.fixtures.insert(locator.clone());
        Ok(())
    }
}

fn closure_too_large(message: String) -> Failure {
    Failure::new(Stage::Snapshot, FailureKind::ClosureTooLarge, message)
}

/// The failure of a read; `too_large` for a file above its limit.
fn failure(error: ReadError, too_large: impl FnOnce() -> Failure) -> Failure {
    match error.kind {
        Some(kind) => Failure::new(Stage::Snapshot, kind, error.message),
        None => too_large(),
    }
}

fn with_place(failure: Failure, case: &CaseId, pointer: Option<&str>) -> Failure {
    let mut failure = failure.of_case(case);
    if let Some(pointer) = pointer {
        failure.pointer = Some(pointer.to_owned());
    }
    failure
}

/// Sets the inputs. A file whose digest is the one it had is not set: every set counts as a change.
pub(crate) fn set_inputs(
    engine: &mut Engine,
    document: &Arc<SuiteDocument>,
    lock: &LockDocument,
    closure: Closure,
) -> Result<(), Failure> {
    let known = Suite::try_get(engine).map(|suite| Arc::clone(suite.files(engine)));
    let mut files = BTreeMap::new();
    for (locator, file) in closure.files {
        let input = match known
            .as_ref()
            .and_then(|known| known.get(&locator))
            .copied()
        {
            Some(input) => {
                if *input.digest(engine) != file.blob {
                    input
                        .set_digest(engine)
                        .with_durability(Durability::LOW)
                        .to(file.blob);
                    input
                        .set_bytes(engine)
                        .with_durability(Durability::LOW)
                        .to(file.bytes);
                }
                input
            }
            None => FileSnapshot::builder(locator.clone(), file.blob, file.bytes)
                .durability(Durability::LOW)
                .locator_durability(Durability::NEVER_CHANGE)
                .new(engine),
        };
        files.insert(locator, input);
    }
    set_suite(
        engine,
        document,
        Arc::new(closure.applications),
        Arc::new(files),
    );
    set_toolchain(engine, lock)
}

fn set_suite(
    engine: &mut Engine,
    document: &Arc<SuiteDocument>,
    applications: Arc<BTreeMap<Locator, Arc<ApplicationDocument>>>,
    files: Arc<BTreeMap<Locator, FileSnapshot>>,
) {
    let Some(suite) = Suite::try_get(engine) else {
        _ = Suite::builder(Arc::clone(document), document.limits, applications, files)
            .durability(Durability::MEDIUM)
            .new(engine);
        return;
    };
    if suite.limits(engine) != document.limits {
        suite.set_limits(engine).to(document.limits);
    }
    if suite.document(engine) != document {
        suite.set_document(engine).to(Arc::clone(document));
    }
    if *suite.applications(engine) != applications {
        suite.set_applications(engine).to(applications);
    }
    if *suite.files(engine) != files {
        suite.set_files(engine).to(files);
    }
}

fn set_toolchain(engine: &mut Engine, lock: &LockDocument) -> Result<(), Failure> {
    let (Some(build), Some(verify), Some(host)) =
        (build_roles(lock), verify_roles(lock), host_pins(lock))
    else {
        return Err(Failure::internal("a decoded lock lacks a role"));
    };
    let Some(toolchain) = Toolchain::try_get(engine) else {
        _ = Toolchain::builder(build, verify, host)
            .durability(Durability::HIGH)
            .new(engine);
        return Ok(());
    };
    if *toolchain.build_roles(engine) != build {
        toolchain.set_build_roles(engine).to(build);
    }
    if *toolchain.verify_roles(engine) != verify {
        toolchain.set_verify_roles(engine).to(verify);
    }
    if *toolchain.host_roles(engine) != host {
        toolchain.set_host_roles(engine).to(host);
    }
    Ok(())
}

fn build_roles(lock: &LockDocument) -> Option<BuildRoles> {
    let identity = |role| lock.entry(role).map(|entry| entry.identity.clone());
    Some(BuildRoles {
        shape: lock.shape,
        compiler: identity(Role::Compiler)?,
        lowerer: identity(Role::Lowerer)?,
        provider_package: lock.provider_package.as_ref().map(|it| it.identity.clone()),
        target_profile: identity(Role::TargetProfile)?,
        interpreter_profile: identity(Role::InterpreterProfile)?,
        codec_abi: identity(Role::CodecAbi)?,
    })
}

fn verify_roles(lock: &LockDocument) -> Option<VerifyRoles> {
    let identity = |role| lock.entry(role).map(|entry| entry.identity.clone());
    Some(VerifyRoles {
        verifier: identity(Role::Verifier)?,
        verification_report_abi: identity(Role::VerificationReportAbi)?,
        codec_abi: identity(Role::CodecAbi)?,
    })
}
