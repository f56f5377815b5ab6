// SPDX-License-Identifier: Apache-2.0
//! From the graph to the entries of the machine report.

use crate::{
    build::{build, recipe},
    db::Db,
    inputs::Toolchain,
    snapshot::{Application, Case, case_subject, subject},
    verify::verify,
};
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    CaseIndex, ProgramIndex,
    plan::Program,
    recipe::key,
    run::{CaseReport, ProgramReport, SetupReport, VerificationReport},
    verdict::Judged,
};
use std::collections::BTreeMap;

/// The distinct built programs by first use: cases in order, setup before the case's own program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs {
    pub(crate) reports: Vec<ProgramReport>,
    /// Application to position.
    positions: BTreeMap<TypedDigest, ProgramIndex>,
}

impl Programs {
    /// Those that executable cases use and that were built.
    pub(crate) fn of(db: &dyn Db, cases: &[Case<'_>]) -> Self {
        let mut programs = Self::default();
        for case in cases.iter().filter(|case| case.skip(db).is_none()) {
            let setup = case.setup(db).iter().map(|(application, _)| *application);
            for application in setup.chain([case.application(db)]) {
                programs.add(db, application);
            }
        }
        programs
    }

    fn add(&mut self, db: &dyn Db, application: Application<'_>) {
        let identity = key(&subject(db, application));
        if self.position(&identity).is_some() {
            return;
        }
        let Ok(built) = build(db, application) else {
            return;
        };
        let mut artifacts: Vec<_> = built.artifacts().into_iter().cloned().collect();
        let verified = verify(db, application).ok();
        artifacts.extend(verified.iter().map(|it| it.report.clone()));
        let position = ProgramIndex(self.reports.len());
        self.positions.insert(identity.clone(), position);
        self.reports.push(ProgramReport {
            application: identity,
            coordinate: application.document(db).coordinate.clone(),
            build_key: key(&recipe(db, application)),
            artifacts,
            verification: verified.map(|it| VerificationReport {
                verifier: Toolchain::get(db).verify_roles(db).verifier.clone(),
                report: it.report.identity.clone(),
                outcome: it.outcome,
            }),
        });
    }

    /// Position of the program of an application.
    pub(crate) fn position(&self, application: &TypedDigest) -> Option<ProgramIndex> {
        self.positions.get(application).copied()
    }

    /// Position of a planned program, which is always one of these.
    pub(crate) fn of_plan(&self, program: &Program) -> ProgramIndex {
        self.position(&program.application)
            .unwrap_or(ProgramIndex(usize::MAX))
    }
}

/// The entry of a case that was not reached.
pub(crate) fn not_run(
    db: &dyn Db,
    index: CaseIndex,
    case: Case<'_>,
    programs: &Programs,
) -> CaseReport {
    let content = case_subject(db, case);
    let skip = case.skip(db).clone();
    let position = |identity: &TypedDigest| match skip {
        Some(_) => None,
        None => programs.position(identity),
    };
    let application = key(&content.application);
    CaseReport {
        index,
        id: content.id.clone(),
        label: case.label(db).clone(),
        case: Some(content.identity()),
        expectation: Some(content.expectation.identity()),
        application: Some(application.clone()),
        input: Some(content.input.identity()),
        ending: None,
        program: position(&application),
        setup: content
            .setup
            .iter()
            .map(|entry| {
                let application = key(&entry.application);
                SetupReport {
                    program: position(&application),
                    application: Some(application),
                    input: Some(entry.input.identity()),
                    outcome: None,
                }
            })
            .collect(),
        execution: None,
        result: None,
        skip,
    }
}

/// Adds what became of a case.
pub(crate) fn with_judgement(mut report: CaseReport, judged: &Judged) -> CaseReport {
    report.ending.clone_from(&judged.ending);
    report.execution.clone_from(&judged.execution);
    report.result.clone_from(&judged.result);
    for (entry, outcome) in report.setup.iter_mut().zip(&judged.setup) {
        entry.outcome.clone_from(outcome);
    }
    report
}
