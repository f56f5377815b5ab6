// SPDX-License-Identifier: Apache-2.0
//! The state directory of a command: by default beside the suite, never an environment variable.

use super::Problems;
use crate::{
    args::RunArgs,
    publish::{Keeper, Publisher},
    wire::OpenedSuite,
};
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    Failure, FailureKind, Locator, Stage, WarningKind,
    diagnostic::Notice,
    ports::ActionStore,
    suite::{Expect, LockDocument, Role, RoleLocator, SuiteDocument, ToolLocator},
};
use edict_test_queries::{Runner, SnapshotFile};
use edict_test_snapshot::program::measure_own_image;
use edict_test_store::{Store, check_version};
use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Name of the default state directory, below the suite directory.
const DEFAULT: &str = ".edict-test";

/// The state of one run, if it has any.
#[derive(Debug)]
pub(super) struct State(Option<Arc<Store>>);

impl State {
    /// Opens the record of a run whose programs are built, when there is a state to keep it.
    pub(super) fn record(
        &self,
        runner: &Runner,
        lock: &Arc<LockDocument>,
        documents: Vec<SnapshotFile>,
    ) -> Option<Result<Keeper, Box<Notice>>> {
        let store = Arc::clone(self.0.as_ref()?);
        Some(Keeper::open(store, runner, Arc::clone(lock), documents))
    }

    /// The action store.
    pub(super) fn actions(&self) -> Option<Arc<dyn ActionStore>> {
        self.0.clone().map(|store| store as Arc<dyn ActionStore>)
    }
}

/// Opens the state that the command line names, and checks the place of the default one. Nothing is
/// made for a default place before the inputs of the run are known to be good.
///
/// # Errors
/// `StateUnusable`.
pub(super) fn claim(run: &RunArgs, suite: &OpenedSuite) -> Result<State, Failure> {
    if run.no_state {
        return Ok(State(None));
    }
    clear_of_manifest(run.state.as_deref(), suite)?;
    let default = suite.root.path().join(DEFAULT);
    match &run.state {
        Some(place) => store(place).map(|store| State(Some(store))),
        None => match check_version(&default) {
            Ok(()) => Ok(State(None)),
            Err(error) => Err(unusable(error.to_string())),
        },
    }
}

/// Refuses what the manifest declares below the state directory `place`, by default that beside it.
///
/// # Errors
/// `StateUnusable`.
pub(super) fn clear_of_manifest(place: Option<&Path>, suite: &OpenedSuite) -> Result<(), Failure> {
    apart(place, suite, declared(&suite.document))
}

/// Refuses what the lock and the application documents declare below the state directory: paths
/// that are known only when the closure was read.
///
/// # Errors
/// `StateUnusable`.
pub(super) fn clear_of_closure(
    place: Option<&Path>,
    suite: &OpenedSuite,
    lock: &LockDocument,
    runner: &Runner,
) -> Result<(), Failure> {
    let files = runner.files()?;
    let read = files.iter().map(|(locator, _, _)| locator);
    apart(place, suite, pinned(lock).chain(read))
}

/// Opens the default state beside the suite, where nothing else was said. A place that cannot be
/// used is a warning (A1). `lock` was verified, the program of this process included.
pub(super) fn settle<Out: Write, Err: Write>(
    state: State,
    run: &RunArgs,
    (suite, lock): (&OpenedSuite, &LockDocument),
    publisher: &mut Publisher<Out, Err>,
) -> State {
    if run.no_state || state.0.is_some() {
        return state;
    }
    let place = suite.root.path().join(DEFAULT);
    let opened = match lock.entry(Role::Runner) {
        Some(runner) => opened(&place, runner.identity.clone()),
        None => store(&place),
    };
    match opened {
        Ok(store) => State(Some(store)),
        Err(failure) => {
            let kind = WarningKind::StateUnavailable;
            publisher.notice(Notice::warning(
                Stage::Arguments,
                kind,
                failure.message.clone(),
            ));
            State(None)
        }
    }
}

/// The action store of an explicit state directory.
///
/// # Errors
/// `StateUnusable`.
pub(super) fn actions_at(place: Option<&Path>) -> Result<Option<Arc<dyn ActionStore>>, Problems> {
    match place {
        None => Ok(None),
        Some(place) => {
            let store = store(place).map_err(|failure| vec![failure])?;
            Ok(Some(store as Arc<dyn ActionStore>))
        }
    }
}

/// Where the state of a suite is unless another place is named.
pub(super) fn beside(suite: &Path) -> PathBuf {
    suite.with_file_name(DEFAULT)
}

/// Opens a state directory that exists; other runs may use it too.
///
/// # Errors
/// `StateUnusable`.
pub(super) fn existing(place: &Path) -> Result<Arc<Store>, Failure> {
    if place.join("VERSION").is_file() {
        return store(place);
    }
    Err(unusable(format!(
        "there is no state directory `{}`; a run makes one",
        place.display()
    )))
}

/// Opens a state directory that exists and that nobody else uses.
///
/// # Errors
/// `StateUnusable`, also while a run uses it.
pub(super) fn exclusive(place: &Path) -> Result<Store, Failure> {
    let runner = measure_own_image().map_err(|error| unusable(error.message))?;
    Store::open_exclusive(place, runner.identity).map_err(|error| unusable(error.to_string()))
}

fn store(place: &Path) -> Result<Arc<Store>, Failure> {
    let runner = measure_own_image().map_err(|error| unusable(error.message))?;
    opened(place, runner.identity)
}

/// Opens or makes a state for records that `producer` writes.
fn opened(place: &Path, producer: TypedDigest) -> Result<Arc<Store>, Failure> {
    let store = Store::open(place, producer).map_err(|error| unusable(error.to_string()))?;
    Ok(Arc::new(store))
}

/// The paths that a manifest declares.
fn declared(document: &SuiteDocument) -> impl Iterator<Item = &Locator> {
    let cases = document.cases.iter().flat_map(|case| {
        let setup = case
            .setup
            .iter()
            .flat_map(|it| [&it.application, &it.input]);
        let payload = match &case.expect {
            Expect::Obstruction { payload, .. } => Some(payload),
            Expect::CaseResult => None,
        };
        [&case.application, &case.input]
            .into_iter()
            .chain(setup)
            .chain(payload)
    });
    std::iter::once(&document.toolchain_lock).chain(cases)
}

/// The places below the suite that a lock names.
fn pinned(lock: &LockDocument) -> impl Iterator<Item = &Locator> {
    let package = lock.provider_package.iter().map(|it| &it.locator);
    let programs = lock.roles.iter().filter_map(|entry| match &entry.locator {
        RoleLocator::Tool(locator) => Some(locator),
        RoleLocator::Package(_) | RoleLocator::Embedded(_) => None,
    });
    package.chain(programs).filter_map(|locator| match locator {
        ToolLocator::Suite(path) => Some(path),
        ToolLocator::Outside(_) => None,
    })
}

/// No declared path may point below the state directory.
fn apart<'a>(
    place: Option<&Path>,
    suite: &OpenedSuite,
    mut paths: impl Iterator<Item = &'a Locator>,
) -> Result<(), Failure> {
    let default = suite.root.path().join(DEFAULT);
    let place = place.unwrap_or(&default);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let (state, root) = (absolute(place), absolute(suite.root.path()));
    match paths.find(|it| root.join(it.as_str()).starts_with(&state)) {
        None => Ok(()),
        Some(locator) => Err(unusable(format!(
            "`{locator}` stands below the state directory `{}`; choose another with --state",
            place.display()
        ))),
    }
}

fn unusable(message: String) -> Failure {
    Failure::new(Stage::Arguments, FailureKind::StateUnusable, message)
}
