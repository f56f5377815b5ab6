// SPDX-License-Identifier: Apache-2.0
//! The state directory of a command: by default beside the suite, never an environment variable.

use super::Problems;
use crate::{args::RunArgs, publish::Publisher, wire::OpenedSuite};
use edict_test_model::{
    Failure, FailureKind, Stage, WarningKind,
    diagnostic::Notice,
    ports::ActionStore,
    suite::{Expect, SuiteDocument},
};
use edict_test_snapshot::program::measure_own_image;
use edict_test_store::Store;
use std::{io::Write, path::Path, sync::Arc};

/// Name of the default state directory, below the suite directory.
const DEFAULT: &str = ".edict-test";

/// The state of one run, if it has any.
#[derive(Debug)]
pub(super) struct State(Option<Arc<Store>>);

impl State {
    /// The action store.
    pub(super) fn actions(&self) -> Option<Arc<dyn ActionStore>> {
        self.0.clone().map(|store| store as Arc<dyn ActionStore>)
    }
}

/// Opens the state of a run. A default place that cannot be used is a warning, an explicit one a
/// failure (A1).
///
/// # Errors
/// `StateUnusable`.
pub(super) fn open<Out: Write, Err: Write>(
    run: &RunArgs,
    suite: &OpenedSuite,
    publisher: &mut Publisher<Out, Err>,
) -> Result<State, Failure> {
    if run.no_state {
        return Ok(State(None));
    }
    let place = run
        .state
        .clone()
        .unwrap_or_else(|| suite.root.path().join(DEFAULT));
    below(&suite.document, suite.root.path(), &place)?;
    match store(&place) {
        Ok(store) => Ok(State(Some(store))),
        Err(failure) if run.state.is_some() => Err(failure),
        Err(failure) => {
            let kind = WarningKind::StateUnavailable;
            publisher.notice(Notice::warning(
                Stage::Arguments,
                kind,
                failure.message.clone(),
            ));
            Ok(State(None))
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

fn store(place: &Path) -> Result<Arc<Store>, Failure> {
    let runner = measure_own_image().map_err(|error| unusable(error.message))?;
    let store = Store::open(place, runner.identity).map_err(|error| unusable(error.to_string()))?;
    Ok(Arc::new(store))
}

/// No declared path may point below the state directory.
fn below(document: &SuiteDocument, root: &Path, place: &Path) -> Result<(), Failure> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let state = absolute(place);
    let root = absolute(root);
    let mut declared = vec![&document.toolchain_lock];
    for case in &document.cases {
        declared.extend([&case.application, &case.input]);
        declared.extend(
            case.setup
                .iter()
                .flat_map(|it| [&it.application, &it.input]),
        );
        if let Expect::Obstruction { payload, .. } = &case.expect {
            declared.push(payload);
        }
    }
    match declared
        .into_iter()
        .find(|it| root.join(it.as_str()).starts_with(&state))
    {
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
