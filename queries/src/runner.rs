// SPDX-License-Identifier: Apache-2.0
//! `Runner`: load, prepare, run. Builds and verifications are parallel; executions are one after
//! the other in suite order (F5).

mod record;
mod report;
mod second;
mod sequence;

pub use record::{CaseFacts, SnapshotFile};
pub use second::CrossChecks;
pub use sequence::{Ended, RunOutcome};

use crate::{
    db::{Engine, Ports},
    events::EventLog,
    inputs::Suite,
    load::{read_closure, set_inputs},
    plan::plan,
    reuse::Decisions,
    snapshot::{case_subject, snapshot},
};
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    CaseId, Failure, Form, Locator,
    plan::CasePlan,
    ports::{CrossCheck, SnapshotPort},
    run::{PlannedCase, RunPlan, SuiteReport},
    suite::{LockDocument, Skip, SuiteDocument},
};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::sync::Arc;

/// The two documents of a suite with the digests of their exact bytes.
#[derive(Clone, Debug)]
pub struct SuiteBytes {
    /// The manifest.
    pub document: Arc<SuiteDocument>,
    /// Blob digest of its bytes.
    pub manifest: TypedDigest,
    /// The lock.
    pub lock: Arc<LockDocument>,
    /// Blob digest of its bytes.
    pub lock_file: TypedDigest,
}

/// One case after building and verifying.
#[derive(Clone, Debug)]
pub struct PreparedCase {
    /// The id.
    pub id: CaseId,
    /// A declared skip; nothing was built for it then.
    pub skip: Option<Skip>,
    /// The plan, or why there is none.
    pub plan: Result<Arc<CasePlan>, Arc<Failure>>,
}

/// One suite in the graph. It may be loaded again after an edit: what did not change is kept.
#[derive(Debug)]
pub struct Runner {
    pub(crate) engine: Engine,
    ports: Ports,
    cross_check: Option<Arc<dyn CrossCheck>>,
    log: EventLog,
    suite: Option<SuiteBytes>,
    hard_linked: Vec<Locator>,
}

impl Runner {
    /// A runner without a suite.
    pub fn new(ports: Ports) -> Self {
        let log = EventLog::new();
        let engine = Engine::new(ports.clone(), log.clone());
        Self {
            engine,
            ports,
            cross_check: None,
            log,
            suite: None,
            hard_linked: Vec::new(),
        }
    }

    /// From now on evaluates every executed case a second time.
    pub fn cross_check(&mut self, port: Arc<dyn CrossCheck>) {
        self.cross_check = Some(port);
    }

    /// Which queries ran since the last look.
    pub fn events(&self) -> &EventLog {
        &self.log
    }

    /// Reads the closure of a suite and sets the inputs of the graph.
    ///
    /// # Errors
    /// A failure of stage `snapshot` or `toolchain`; the graph is as it was then.
    pub fn load(&mut self, port: &dyn SnapshotPort, suite: SuiteBytes) -> Result<(), Failure> {
        let closure = read_closure(port, &suite.document, &suite.lock)?;
        self.hard_linked = closure.hard_linked();
        set_inputs(&mut self.engine, &suite.document, &suite.lock, closure)?;
        self.suite = Some(suite);
        Ok(())
    }

    /// Inputs that have more than one link.
    pub fn hard_linked(&self) -> &[Locator] {
        &self.hard_linked
    }

    /// What is known before anything is built.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded.
    pub fn run_plan(&self) -> Result<RunPlan, Failure> {
        let suite = self.suite.as_ref().ok_or_else(no_suite)?;
        let cases = suite.document.cases.iter().map(|case| PlannedCase {
            id: case.id.clone(),
            label: case.label.clone(),
        });
        Ok(RunPlan {
            suite: self.suite_report()?,
            cases: cases.collect(),
        })
    }

    /// Identity of every case in suite order.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded.
    pub fn case_identities(&self) -> Result<Vec<(CaseId, TypedDigest)>, Failure> {
        let engine = &self.engine;
        let suite = Suite::try_get(engine).ok_or_else(no_suite)?;
        let cases = snapshot(engine, suite);
        Ok(cases
            .into_iter()
            .map(|case| {
                (
                    case.id(engine).clone(),
                    case_subject(engine, case).identity(),
                )
            })
            .collect())
    }

    /// The identity of the suite: labels and digests in order, lock and limits.
    fn suite_report(&self) -> Result<SuiteReport, Failure> {
        let suite = self.suite.as_ref().ok_or_else(no_suite)?;
        Ok(SuiteReport {
            id: suite.document.id.clone(),
            identity: Some(self.suite_subject()?.identity()),
            manifest: suite.manifest.clone(),
            shape: Some(suite.lock.shape),
            lock: Some(suite.lock.identity()),
            lock_file: Some(suite.lock_file.clone()),
        })
    }

    /// Builds and verifies what executable cases need, in parallel; executes nothing.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded.
    pub fn prepare(&self) -> Result<Vec<PreparedCase>, Failure> {
        let engine = &self.engine;
        let suite = Suite::try_get(engine).ok_or_else(no_suite)?;
        let cases = snapshot(engine, suite);
        // One handle a worker; none outlives this call, so that a setter never waits for long.
        Ok(cases
            .par_iter()
            .map_with(engine.clone(), |db, case| PreparedCase {
                id: case.id(db).clone(),
                skip: case.skip(db).clone(),
                plan: match case.skip(db) {
                    Some(_) => Err(Arc::new(Failure::internal("a skipped case is not planned"))),
                    None => plan(db, *case),
                },
            })
            .collect())
    }

    /// How each action was come by.
    pub fn decisions(&self) -> Decisions {
        self.ports.actions.decisions()
    }
}

/// Failures of prepared cases in suite order, each program's once, and whether one of them ends
/// the run before its first execution.
pub(crate) fn failures(prepared: &[PreparedCase]) -> (Vec<Failure>, bool) {
    let mut failures: Vec<Failure> = Vec::new();
    for case in prepared.iter().filter(|case| case.skip.is_none()) {
        if let Err(failure) = &case.plan {
            failures.push(Failure::clone(failure).of_case(&case.id));
        }
    }
    let bails = failures.iter().any(|failure| failure.form() == Form::Bail);
    (failures, bails)
}

fn no_suite() -> Failure {
    Failure::internal("no suite was loaded")
}
