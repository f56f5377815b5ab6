// SPDX-License-Identifier: Apache-2.0
//! The record that a run leaves for `why`: kept while the run goes on, completed at its end (A10).

use super::Publisher;
use super::report::Extent;
use edict_codec::{
    hex,
    json::{Json, write_record},
};
use edict_test_model::{
    CaseIndex, ContextNonce, Failure, Stage, WarningKind,
    diagnostic::Notice,
    ports::{BlobStore as _, RunStore as _},
    run::{CaseReport, CaseTelemetry, ProgramReport, RunReport, digest_of_semantic},
    suite::{LockDocument, identity::SuiteSubject},
    why::{CaseRecord, RunRecord, record_pieces},
};
use edict_test_queries::{CaseFacts, Runner, SnapshotFile};
use edict_test_store::Store;
use std::{collections::BTreeMap, io::Write, sync::Arc};

/// The nonce of each context by the case that ran in it.
type Contexts = BTreeMap<CaseIndex, ContextNonce>;

/// The open record of one run. It explains and decides nothing: what cannot be kept is a warning.
#[derive(Debug)]
pub(crate) struct Keeper {
    store: Arc<Store>,
    number: u64,
    suite: SuiteSubject,
    lock: Arc<LockDocument>,
    facts: Vec<CaseFacts>,
    files: Vec<SnapshotFile>,
}

impl Keeper {
    /// Opens the record of a run whose programs are built. `documents` are manifest and lock, which
    /// are no files of the closure.
    ///
    /// # Errors
    /// Why no record is kept.
    pub(crate) fn open(
        store: Arc<Store>,
        runner: &Runner,
        lock: Arc<LockDocument>,
        documents: Vec<SnapshotFile>,
    ) -> Result<Self, Box<Notice>> {
        let unknown = |failure: Failure| lost(&failure.message);
        let mut files = documents;
        files.extend(runner.files().map_err(unknown)?);
        let suite = runner.suite_subject().map_err(unknown)?;
        let facts = runner.case_facts().map_err(unknown)?;
        let number = store.begin()?;
        let keeper = Self {
            store,
            number,
            suite,
            lock,
            facts,
            files,
        };
        keeper.line(&Json::object([
            ("type", Json::text("begin")),
            ("suite", Json::text(keeper.suite.id.as_str())),
            ("identity", Json::text(keeper.suite.identity().hex())),
        ]))?;
        Ok(keeper)
    }

    /// Notes a finished case.
    fn case(&self, case: &CaseReport) -> Result<(), Box<Notice>> {
        let verdict = case.verdict().map(edict_test_model::Verdict::name);
        self.line(&Json::object([
            ("type", Json::text("case")),
            ("id", Json::text(case.id.as_str())),
            ("verdict", Json::optional(verdict, Json::text)),
        ]))
    }

    fn line(&self, json: &Json) -> Result<(), Box<Notice>> {
        self.store.append(self.number, &write_record(json))
    }

    /// Keeps the blobs of the snapshot, then completes the record.
    fn finish(self, report: &RunReport, contexts: &Contexts) -> Result<(), Box<Notice>> {
        for (_, _, bytes) in &self.files {
            self.store.put(bytes).map_err(|it| lost(&it.message))?;
        }
        let semantic = digest_of_semantic(&report.semantic)
            .ok_or_else(|| lost("the report has no semantic digest"))?;
        let files = self.files.into_iter();
        let run = RunRecord::new(
            self.number,
            &self.suite,
            &self.lock,
            Vec::new(),
            &report.semantic.summary,
            semantic,
        )
        .with_files(files.map(|(path, blob, _)| (path, blob)).collect());
        // The report has one entry of telemetry for each of its cases, in their order.
        let cases = report.semantic.cases.iter().zip(&report.telemetry.cases);
        let cases = self
            .facts
            .iter()
            .zip(cases)
            .map(|(facts, (case, decisions))| {
                let program = case
                    .program
                    .and_then(|index| report.semantic.programs.get(index.0));
                let context = contexts
                    .get(&case.index)
                    .map(|nonce| hex::encode(nonce.bytes()));
                case_record(facts, case, program, decisions, context)
            });
        self.store
            .finish(self.number, &mut record_pieces(&run, cases))
    }
}

impl<Out: Write, Err: Write> Publisher<Out, Err> {
    /// From here on the run keeps a record, or says why it does not.
    pub(crate) fn record(&mut self, keeper: Result<Keeper, Box<Notice>>) {
        match keeper {
            Ok(keeper) => self.keeper = Some(keeper),
            Err(notice) => self.notice(*notice),
        }
    }

    /// Notes a finished case in the record. What is not kept stops the record, never the run.
    pub(super) fn record_case(&mut self, case: &CaseReport) {
        if let Some(keeper) = &self.keeper
            && let Err(notice) = keeper.case(case)
        {
            self.keeper = None;
            self.notice(*notice);
        }
    }

    /// The contexts in which cases were executed. The evidence is published by now and is let go, since
    /// the record needs no more of it.
    fn contexts(&mut self) -> Contexts {
        let outcome = self.outcome.as_mut();
        let evidence = outcome.map(|outcome| std::mem::take(&mut outcome.evidence));
        let cases = evidence.into_iter().flat_map(|evidence| evidence.cases);
        cases.map(|it| (it.index, it.context.nonce)).collect()
    }

    /// Completes the record of a run that came to an outcome.
    pub(super) fn complete_record(&mut self) {
        if self.outcome.is_none() || self.hurry.asked() {
            return;
        }
        if let Some(keeper) = self.keeper.take() {
            let contexts = self.contexts();
            let kept = keeper.finish(&self.report(Extent::Semantic), &contexts);
            if let Err(notice) = kept {
                self.notice(*notice);
            }
        }
    }
}

/// What is kept of one case.
fn case_record(
    facts: &CaseFacts,
    case: &CaseReport,
    program: Option<&ProgramReport>,
    decisions: &CaseTelemetry,
    context: Option<String>,
) -> CaseRecord {
    let verify_key = facts.verify_key.clone();
    let record = CaseRecord::new(&facts.subject, case, program, verify_key, decisions);
    let is_skipped = facts.subject.skip.is_some();
    CaseRecord {
        build_key: (!is_skipped).then(|| facts.build_key.clone()),
        context,
        ..record
    }
}

fn lost(reason: &str) -> Box<Notice> {
    let message = format!("the record of the run is not kept: {reason}");
    let kind = WarningKind::StateUnavailable;
    Box::new(Notice::warning(Stage::Report, kind, message))
}
