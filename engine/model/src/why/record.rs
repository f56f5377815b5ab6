// SPDX-License-Identifier: Apache-2.0
//! What a run leaves behind for explanations (A10).

use crate::{
    built::ArtifactRole,
    declared_type::to_untyped_json,
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
use edict_codec::{cbor::decode, digest::TypedDigest, json::write_record};

/// Greatest length of a value in a record, in bytes.
const MAX_SHOWN: usize = 512;

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
    /// Every file of the snapshot with its blob: what a proof can be made from again.
    pub files: Vec<(Locator, TypedDigest)>,
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
    /// The 64 hexadecimal digits of the context in which it was executed. For people.
    pub context: Option<String>,
    /// What the program ended in, field by field: status, assertions and message, or coordinate and
    /// payload, or a value. For people.
    pub outcome: Vec<(String, String)>,
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
            files: Vec::new(),
        }
    }

    /// The same record with the files of its snapshot.
    #[must_use]
    pub fn with_files(self, files: Vec<(Locator, TypedDigest)>) -> Self {
        Self { files, ..self }
    }

    /// The blob of the file that was at `path`.
    pub fn file(&self, path: &Locator) -> Option<&TypedDigest> {
        let row = self.files.iter().find(|(file, _)| file == path);
        row.map(|(_, blob)| blob)
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
            context: None,
            outcome: execution
                .map(|execution| outcome(&execution.outcome, report))
                .unwrap_or_default(),
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

/// The fields of what an execution ended in. A case result is told field by field; any other value,
/// and the payload of an obstruction, as untyped JSON.
fn outcome(outcome: &ExecutionOutcome, report: &CaseReport) -> Vec<(String, String)> {
    let row = |name: &str, value: String| (name.to_owned(), value);
    match (outcome, &report.result) {
        (
            ExecutionOutcome::Obstruction {
                coordinate,
                payload,
            },
            _,
        ) => vec![
            row("obstruction", coordinate.clone()),
            row("payload", shown(&payload.bytes)),
        ],
        (ExecutionOutcome::Result(_), Some(result)) => {
            let passed = report.verdict() == Some(Verdict::Passed);
            vec![
                row("status", if passed { "0" } else { "1" }.to_owned()),
                row("assertions", result.assertions.to_string()),
                row("message", format!("{:?}", result.message)),
            ]
        }
        (ExecutionOutcome::Result(body), None) => vec![row("value", shown(&body.bytes))],
    }
}

/// A value as one line of untyped JSON, cut after [`MAX_SHOWN`] bytes.
fn shown(bytes: &[u8]) -> String {
    let json = decode(bytes).ok().map(|value| to_untyped_json(&value));
    let Some(Ok(json)) = json else {
        return format!("{} bytes", bytes.len());
    };
    let mut text = write_record(&json);
    if text.len() > MAX_SHOWN {
        let end = (0..=MAX_SHOWN)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        text.truncate(end);
        text.push_str("..");
    }
    text
}
