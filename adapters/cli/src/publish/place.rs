// SPDX-License-Identifier: Apache-2.0
//! The report's place on disk: journal, bodies and the report itself.

use super::{Extent, Records};
use edict_codec::{bounded::ByteLimit, hex, json::Json};
use edict_test_model::{
    CaseIndex, ContextNonce, Detail, Failure, FailureKind, Stage,
    limits::{Limit, Limits},
    run::{
        CaseEvidenceReport, CaseReport, RunPlan, RunReport,
        semantic::{RUN_SEMANTIC, case_json, digest_json, digest_of_semantic},
    },
};
use edict_test_reporters::report::{bodies, case_evidence, write};
use edict_test_store::{
    journal::{Journal, SCHEMA},
    publish::{Bodies, ExistingReport, ReportPlace as Place},
};
use std::path::{Path, PathBuf};

/// A claimed place for a report; the journal is open beside it.
#[derive(Debug)]
pub(crate) struct ReportPlace {
    place: Place,
    journal: Option<Journal>,
    artifacts: PathBuf,
    keep_journal: bool,
    begun: bool,
    limits: Limits,
}

impl ReportPlace {
    /// Claims the place before anything else is done.
    ///
    /// # Errors
    /// `ReportExists`, `ReportPathUnusable`.
    pub(crate) fn claim(
        path: &Path,
        artifacts: Option<&Path>,
        replaces: bool,
        keep_journal: bool,
    ) -> Result<Self, Failure> {
        let existing = if replaces {
            ExistingReport::Replace
        } else {
            ExistingReport::Refuse
        };
        let place = Place::check(path, existing)?;
        let journal = Journal::create(path, existing)?;
        let artifacts = artifacts.map_or_else(|| place.artifacts(), Path::to_path_buf);
        Ok(Self {
            place,
            journal: Some(journal),
            artifacts,
            keep_journal,
            begun: false,
            limits: Limits::default(),
        })
    }

    /// The limits of the suite, once they are known.
    pub(crate) fn limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The `begin` record.
    pub(crate) fn begin(&mut self, plan: &RunPlan) -> Result<(), Failure> {
        self.begun = true;
        let ids = plan
            .cases
            .iter()
            .map(|case| Json::text(case.id.as_str()))
            .collect();
        self.append(
            "begin",
            vec![
                ("schema".to_owned(), Json::text(SCHEMA)),
                (
                    "suite".to_owned(),
                    Json::optional(plan.suite.identity.as_ref(), digest_json),
                ),
                ("ids".to_owned(), Json::Array(ids)),
            ],
        )
    }

    /// The `attempt` record, before the nonce is used.
    pub(crate) fn attempt(&mut self, index: CaseIndex, nonce: ContextNonce) -> Result<(), Failure> {
        self.append(
            "attempt",
            vec![
                ("index".to_owned(), Json::unsigned(index.number())),
                ("nonce".to_owned(), Json::text(hex::encode(nonce.bytes()))),
            ],
        )
    }

    /// The `case` record, before the point.
    pub(crate) fn case(
        &mut self,
        case: &CaseReport,
        evidence: Option<&CaseEvidenceReport>,
    ) -> Result<(), Failure> {
        self.append(
            "case",
            vec![
                ("case".to_owned(), case_json(case)),
                (
                    "evidence".to_owned(),
                    Json::optional(evidence, case_evidence),
                ),
            ],
        )
    }

    /// The `failure` record.
    pub(crate) fn failure(&mut self, failure: &Failure, primary: bool) -> Result<(), Failure> {
        let case = Json::optional(failure.case.as_ref(), |case| Json::text(case.as_str()));
        self.append(
            "failure",
            vec![
                ("stage".to_owned(), Json::text(failure.stage.name())),
                ("kind".to_owned(), Json::text(failure.kind.name())),
                ("caseId".to_owned(), case),
                ("primary".to_owned(), Json::Bool(primary)),
            ],
        )
    }

    fn append(&mut self, kind: &str, members: Vec<(String, Json)>) -> Result<(), Failure> {
        let limit = ByteLimit::new(self.limits.max_report_bytes());
        match &mut self.journal {
            Some(journal) if self.begun => journal.append(kind, members, limit),
            _ => Ok(()),
        }
    }

    /// Bodies, `end` record, report (M7, steps 4 to 6). Only a whole report is held to the limit:
    /// a smaller one stands for a whole one that was not published. An outline also names bodies that
    /// could not be kept.
    pub(super) fn publish(
        &mut self,
        report: &RunReport,
        records: &Records,
        extent: Extent,
    ) -> Result<(), Failure> {
        let whole = extent == Extent::Whole;
        let text = write(report, records);
        let limit = self.limits.max_report_bytes();
        let journal = self.journal.as_ref().map_or(0, Journal::bytes);
        let total = journal.saturating_add(text.len() as u64);
        if whole && total > limit {
            let message = format!("report and journal have {total} bytes, more than {limit}");
            return Err(
                Failure::new(Stage::Report, FailureKind::ReportTooLarge, message).with_detail(
                    Detail::Limit {
                        limit,
                        actual: Some(total),
                    },
                ),
            );
        }
        let named = bodies(report);
        let named = named.values().map(|body| &*body.bytes);
        if extent == Extent::Outline {
            self.keep_what_fits(named);
        } else {
            self.shelf().keep_all(named)?;
        }
        let semantic = digest_of_semantic(&report.semantic)
            .ok_or_else(|| Failure::internal(format!("no digest of {RUN_SEMANTIC}")))?;
        let ended = self.append(
            "end",
            vec![
                ("complete".to_owned(), Json::Bool(report.complete)),
                ("semanticDigest".to_owned(), digest_json(&semantic)),
            ],
        );
        if whole {
            ended?;
        }
        self.place.publish(text.as_bytes())
    }

    /// Where bodies go.
    fn shelf(&self) -> Bodies {
        let limit = ByteLimit::new(self.limits.get(Limit::ArtifactBytes));
        Bodies::new(&self.artifacts, limit)
    }

    /// Keeps the bodies that can be kept; that others cannot was told before.
    fn keep_what_fits<'a>(&self, named: impl Iterator<Item = &'a [u8]>) {
        let mut shelf = self.shelf();
        for bytes in named {
            _ = shelf.keep(bytes);
        }
        _ = shelf.sync();
    }

    /// Removes the journal of a run that came to its end, unless the caller keeps it (M7, step 8):
    /// one that could not publish its report has said so, and shall not be in the way of the next.
    /// What is left then is that of a run that was killed, or told to hurry.
    pub(crate) fn done(&mut self, hurried: bool) -> Result<(), Failure> {
        let removes = !self.begun || !(hurried || self.keep_journal);
        match self.journal.take() {
            Some(journal) if removes => journal.remove(),
            _ => Ok(()),
        }
    }

    /// Where the report is, and where its bodies are.
    pub(crate) fn paths(&self) -> (&Path, &Path) {
        (self.place.path(), &self.artifacts)
    }
}
