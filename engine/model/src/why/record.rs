// SPDX-License-Identifier: Apache-2.0
//! What a run leaves behind for explanations (A10).

use crate::{
    built::ArtifactRole,
    failure::{FailureKind, Stage},
    ids::{CaseId, Locator},
    recipe::{Leaf, LeafValue, leaves, locators},
    run::{
        BuildDecision, CaseReport, CaseTelemetry, Class, ExecutionOutcome, ProgramReport,
        RunSummary, VerifyDecision,
    },
    suite::{
        LockDocument,
        identity::{CaseSubject, SuiteSubject},
    },
    verdict::Verdict,
};
use edict_codec::digest::TypedDigest;

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Its number in the state directory.
    pub number: u64,
    /// The suite identity.
    pub suite: TypedDigest,
    /// Leaves of the suite, then those of the lock, in preimage order.
    pub leaves: Vec<Leaf>,
    /// The cases in suite order.
    pub cases: Vec<CaseRecord>,
    /// The class of the run.
    pub class: Class,
    /// Stage and kind of the primary failure of an `infrastructure` run.
    pub primary: Option<(Stage, FailureKind)>,
    /// The report's semantic digest.
    pub semantic: TypedDigest,
}

/// One case of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseRecord {
    /// The id.
    pub id: CaseId,
    /// Description or id.
    pub label: String,
    /// The case identity.
    pub case: TypedDigest,
    /// Leaves of the case in preimage order.
    pub leaves: Vec<Leaf>,
    /// Where the files of the leaves were, by label. For people.
    pub locators: Vec<(String, Locator)>,
    /// The build key of the case's program.
    pub build_key: Option<TypedDigest>,
    /// How the build was come by.
    pub build: BuildDecision,
    /// The verify key.
    pub verify_key: Option<TypedDigest>,
    /// How the verification was come by.
    pub verify: VerifyDecision,
    /// Identity of Core, when the program was built.
    pub core: Option<TypedDigest>,
    /// Verdict, stage and kind; `None` when the case was not reached.
    pub ending: Option<Ending>,
    /// Semantic digest of the execution, when there was one.
    pub execution: Option<TypedDigest>,
    /// Status and message, or coordinate, of what the program ended in. For people.
    pub outcome: Option<String>,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The verdict.
    pub verdict: Verdict,
    /// The stage.
    pub stage: Stage,
    /// The kind.
    pub kind: FailureKind,
}

impl RunRecord {
    /// The record of a run of `suite` under `lock`.
    pub fn new(
        number: u64,
        suite: &SuiteSubject,
        lock: &LockDocument,
        cases: Vec<CaseRecord>,
        summary: &RunSummary,
        semantic: TypedDigest,
    ) -> Self {
        let mut all = leaves(suite);
        all.extend(leaves(lock));
        let primary = summary.outcome.primary.as_ref();
        Self {
            number,
            suite: suite.identity(),
            leaves: all,
            cases,
            class: summary.outcome.class,
            primary: primary.map(|primary| (primary.stage, primary.kind)),
            semantic,
        }
    }

    /// The case of that id.
    pub fn case(&self, id: &CaseId) -> Option<&CaseRecord> {
        self.cases.iter().find(|case| case.id == *id)
    }

    /// The value of a leaf of suite or lock.
    pub fn leaf(&self, label: &str) -> Option<&LeafValue> {
        let leaf = self.leaves.iter().find(|leaf| leaf.label == label);
        leaf.map(|leaf| &leaf.value)
    }
}

impl CaseRecord {
    /// The record of one case: what it is, what its program is, and what became of it.
    pub fn new(
        subject: &CaseSubject,
        report: &CaseReport,
        program: Option<&ProgramReport>,
        verify_key: Option<TypedDigest>,
        telemetry: &CaseTelemetry,
    ) -> Self {
        let core = program.and_then(|program| {
            program
                .artifacts
                .iter()
                .find(|artifact| artifact.role == ArtifactRole::Core)
        });
        let execution = report.execution.as_ref();
        Self {
            id: subject.id.clone(),
            label: report.label.clone(),
            case: subject.identity(),
            leaves: leaves(subject),
            locators: locators(subject),
            build_key: program.map(|program| program.build_key.clone()),
            build: telemetry.build,
            verify_key,
            verify: telemetry.verify,
            core: core.map(|artifact| artifact.identity.clone()),
            ending: report.ending.as_ref().map(|ending| Ending {
                verdict: ending.verdict,
                stage: ending.stage,
                kind: ending.kind,
            }),
            execution: execution.map(|execution| execution.semantic_digest.clone()),
            outcome: execution.map(|execution| match (&execution.outcome, &report.result) {
                (ExecutionOutcome::Obstruction { coordinate, .. }, _) => coordinate.clone(),
                (ExecutionOutcome::Result(_), Some(result)) => {
                    format!("message {:?}", result.message)
                }
                (ExecutionOutcome::Result(body), None) => {
                    format!("a value of {} bytes", body.byte_length())
                }
            }),
        }
    }

    /// Where the file of a leaf was.
    pub fn locator(&self, label: &str) -> Option<&Locator> {
        let row = self
            .locators
            .iter()
            .find(|(candidate, _)| candidate == label);
        row.map(|(_, locator)| locator)
    }
}
