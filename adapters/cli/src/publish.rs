// SPDX-License-Identifier: Apache-2.0
//! What a run prints and publishes, in the one order that a killed run cannot falsify (M7): journal,
//! point, …; teardown, bodies, report, last point.

mod bail;
mod place;
mod progress;
mod record;
mod report;
mod sink;

pub(crate) use place::ReportPlace;
pub(crate) use record::Keeper;
use report::Extent;

use crate::{signals::Hurry, timing::Durations};
use bail::bail_text;
use edict_codec::{digest::TypedDigest, json::Json};
use edict_test_model::{
    Diagnostic, Failure, FailureKind, Form, Locator, Stage, Verdict, WarningKind,
    diagnostic::Notice,
    run::{Class, RunPlan, RunSummary, SuiteReport},
    suite::{Skip, SuiteDocument},
};
use edict_test_process::IsolationLevel;
use edict_test_queries::{Decisions, RunOutcome, SuiteBytes};
use edict_test_reporters::{
    diagnostics::{DiagnosticWriter, Documents, Style},
    tap::{Point, TapError, TapWriter},
};
use progress::Progress;
use std::{
    io::Write,
    process::ExitCode,
    sync::Arc,
    time::{Instant, SystemTime},
};

/// The last point, kept until the report is durable.
#[derive(Debug)]
struct Held {
    verdict: Verdict,
    label: String,
    id: String,
    skip: Option<Skip>,
}

/// Owner of stdout, stderr, journal and report of one run.
#[derive(Debug)]
pub(crate) struct Publisher<Out: Write, Err: Write> {
    tap: TapWriter<Out>,
    diagnostics: DiagnosticWriter<Err>,
    place: Option<ReportPlace>,
    keeper: Option<Keeper>,
    progress: Progress,
    hurry: Hurry,
    started: (SystemTime, Instant),
    /// What is known of the suite so far.
    known: Known,
    outcome: Option<RunOutcome>,
    decisions: Decisions,
    durations: Durations,
    /// Failures after or beside those of the outcome.
    more: Vec<Failure>,
    held: Option<Held>,
    output_lost: bool,
}

/// What an incomplete run knows of its suite (M11).
#[derive(Debug, Default)]
struct Known {
    document: Option<Arc<SuiteDocument>>,
    suite: Option<SuiteReport>,
    bytes: Option<SuiteBytes>,
    isolation: Option<IsolationLevel>,
}

impl<Out: Write, Err: Write> Publisher<Out, Err> {
    /// A publisher that has written nothing.
    pub(crate) fn new(output: Out, errors: Err, style: Style) -> Self {
        Self {
            tap: TapWriter::new(output),
            diagnostics: DiagnosticWriter::new(errors, style),
            place: None,
            keeper: None,
            progress: Progress::default(),
            hurry: Hurry::default(),
            started: (SystemTime::now(), Instant::now()),
            known: Known::default(),
            outcome: None,
            decisions: Decisions::default(),
            durations: Durations::default(),
            more: Vec::new(),
            held: None,
            output_lost: false,
        }
    }

    /// Lets a second signal skip the report.
    pub(crate) fn may_hurry(&mut self, hurry: Hurry) {
        self.hurry = hurry;
    }

    /// Shows on a terminal what the run is doing.
    pub(crate) fn show_progress(&mut self, asked: bool) {
        self.progress = Progress::new(asked);
    }

    /// Where the report goes.
    pub(crate) fn place(&mut self, place: ReportPlace) {
        self.place = Some(place);
    }

    /// The manifest is decoded.
    pub(crate) fn manifest(&mut self, document: &Arc<SuiteDocument>, manifest: &TypedDigest) {
        self.known.suite = Some(SuiteReport {
            id: document.id.clone(),
            identity: None,
            manifest: manifest.clone(),
            shape: None,
            lock: None,
            lock_file: None,
        });
        if let Some(place) = &mut self.place {
            place.limits(document.limits);
        }
        self.known.document = Some(Arc::clone(document));
    }

    /// The lock is decoded.
    pub(crate) fn lock(&mut self, bytes: &SuiteBytes) {
        if let Some(suite) = &mut self.known.suite {
            suite.shape = Some(bytes.lock.shape);
            suite.lock = Some(bytes.lock.identity());
            suite.lock_file = Some(bytes.lock_file.clone());
        }
        self.known.bytes = Some(bytes.clone());
    }

    /// The documents in which failures are placed from now on.
    pub(crate) fn documents(&mut self) -> &mut Documents {
        self.diagnostics.documents()
    }

    /// Prints version and plan as soon as the number of cases is known, and opens the journal.
    ///
    /// # Errors
    /// `NoExecutableCases` for an empty suite, `JournalWriteFailed`, `StdoutWriteFailed`.
    pub(crate) fn plan(&mut self) -> Result<(), Failure> {
        let Some(document) = &self.known.document else {
            return Err(Failure::internal("a plan without a manifest"));
        };
        let total = document.cases.len();
        if total == 0 {
            let message = "the suite has no cases; add one to `cases`";
            return Err(
                Failure::new(Stage::Plan, FailureKind::NoExecutableCases, message).with_detail(
                    edict_test_model::Detail::Counts {
                        selected: 0,
                        skipped: 0,
                    },
                ),
            );
        }
        let planned = self.tap.plan(total).map_err(|error| self.lost(&error));
        self.progress.show("building and verifying");
        planned
    }

    /// The whole suite is known: the journal begins.
    ///
    /// # Errors
    /// `JournalWriteFailed`.
    pub(crate) fn begin(&mut self, plan: &RunPlan) -> Result<(), Failure> {
        if let Some(place) = &mut self.place {
            place.begin(plan)?;
        }
        // Not earlier: a report that states the identity of the suite states those of its cases.
        self.known.suite = Some(plan.suite.clone());
        Ok(())
    }

    /// Isolation of children; anything less than full is worth a warning.
    pub(crate) fn isolation(&mut self, level: IsolationLevel) {
        self.known.isolation = Some(level);
        if level != IsolationLevel::Full {
            let message = format!("children run with isolation level `{}`", level.name());
            self.warn(Stage::Toolchain, WarningKind::IsolationPartial, message);
        }
    }

    /// Inputs with more than one link.
    pub(crate) fn hard_linked(&mut self, locators: &[Locator]) {
        for locator in locators {
            let message = format!("`{locator}` has more than one link");
            self.warn(Stage::Snapshot, WarningKind::HardLinkedInput, message);
        }
    }

    fn warn(&mut self, stage: Stage, kind: WarningKind, message: String) {
        self.notice(Notice::warning(stage, kind, message));
    }

    /// A warning of some other part.
    pub(crate) fn notice(&mut self, notice: Notice) {
        self.progress.clear();
        self.diagnostics.write(&Diagnostic::Notice(notice));
    }

    /// The loop has ended.
    pub(crate) fn outcome(
        &mut self,
        outcome: RunOutcome,
        decisions: Decisions,
        durations: Durations,
    ) {
        for notice in &decisions.notices {
            self.notice(notice.clone());
        }
        self.outcome = Some(outcome);
        self.decisions = decisions;
        self.durations = durations;
    }

    /// A failure after the loop; it never replaces an earlier primary one (F4).
    pub(crate) fn also(&mut self, failure: Failure) {
        let primary = failure.stage != Stage::Compare && !self.has_primary();
        self.note(&failure, primary);
        self.more.push(failure);
    }

    /// Diagnostic and journal record of a failure. A journal that cannot take it is reported by
    /// the record that matters: the next case, or the end.
    fn note(&mut self, failure: &Failure, primary: bool) {
        self.progress.clear();
        self.diagnostics.write(&Diagnostic::Failure {
            failure: failure.clone(),
            primary,
        });
        if let Some(place) = &mut self.place {
            _ = place.failure(failure, primary);
        }
    }

    fn has_primary(&self) -> bool {
        self.failures().iter().any(|it| it.stage != Stage::Compare)
    }

    /// Every failure in the order of time.
    fn failures(&self) -> Vec<Failure> {
        let ran = self
            .outcome
            .iter()
            .flat_map(|outcome| outcome.failures.iter());
        ran.chain(&self.more).cloned().collect()
    }

    /// Ends the run with a failure that nothing else follows.
    pub(crate) fn bail_out(mut self, failure: Failure) -> ExitCode {
        self.also(failure);
        self.conclude()
    }

    /// Ends a run whose standard output cannot be written.
    pub(crate) fn unfinished(mut self, failure: Failure) -> ExitCode {
        self.output_lost = true;
        self.bail_out(failure)
    }

    /// Publishes the report, prints what was held back, and gives the exit status.
    pub(crate) fn conclude(mut self) -> ExitCode {
        self.progress.clear();
        self.publish();
        let summary = self.summary();
        let printed = self.print_end(&summary);
        if let Err(failure) = printed {
            self.also(failure);
        }
        self.complete_record();
        let code = if self.output_lost {
            2
        } else {
            self.summary().outcome.exit_code as u8
        };
        let hurried = self.hurry.asked();
        if let Some(place) = &mut self.place
            && let Err(failure) = place.done(hurried)
        {
            self.also(failure);
        }
        _ = self.diagnostics.finish();
        ExitCode::from(code)
    }

    fn summary(&self) -> RunSummary {
        let cases = self
            .outcome
            .as_ref()
            .map_or(&[][..], |outcome| &outcome.cases);
        RunSummary::of(cases, &self.failures())
    }

    /// What cannot be published whole is published as incomplete, as far as that is possible (M8).
    fn publish(&mut self) {
        let mut extent = Extent::Whole;
        while let Err(failure) = self.publish_report(extent) {
            let less = extent.after(failure.kind);
            if extent == Extent::Whole {
                self.also(failure);
            }
            match less {
                Some(less) => extent = less,
                None => return,
            }
        }
    }

    fn publish_report(&mut self, extent: Extent) -> Result<(), Failure> {
        if self.hurry.asked() {
            return Ok(());
        }
        let report = self.report(extent);
        let records = match extent {
            Extent::Whole => self.diagnostics.records(),
            _ => self.diagnostics.primary_alone(),
        };
        match &mut self.place {
            Some(place) => place.publish(&report, &records, extent),
            None => Ok(()),
        }
    }

    /// The last point, then the bail-out if the run was not faithful.
    fn print_end(&mut self, summary: &RunSummary) -> Result<(), Failure> {
        if self.output_lost {
            return Ok(());
        }
        let held = self.held.take();
        let failures = self.failures();
        let bail = failures.iter().find(|it| it.form() == Form::Bail);
        if bail.is_none()
            && let Some(held) = held
        {
            self.print(&held)?;
        }
        let ended = if summary.outcome.class == Class::Infrastructure {
            let (kind, text) = bail_text(summary, &failures, bail);
            self.tap.bail_out(kind, &text)
        } else {
            self.tap.finish()
        };
        ended.map_err(|error| self.lost(&error))
    }

    fn print(&mut self, held: &Held) -> Result<(), Failure> {
        self.progress.clear();
        let point = match (held.verdict, &held.skip) {
            (Verdict::Passed, _) => Point::Ok,
            (Verdict::Skipped, Some(skip)) => Point::Skip {
                reason: &skip.reason,
                tracking_reference: &skip.tracking_reference,
            },
            _ => Point::NotOk,
        };
        self.tap
            .point(point, &held.label, &held.id)
            .map_err(|error| self.lost(&error))
    }

    fn lost(&mut self, error: &TapError) -> Failure {
        match error {
            TapError::Io(_) => {
                self.output_lost = true;
                let kind = FailureKind::StdoutWriteFailed;
                Failure::new(Stage::Output, kind, error.to_string())
            }
            TapError::OutOfOrder(_) => Failure::internal(error.to_string()),
        }
    }
}

/// A line of the diagnostics as the report holds it.
pub(crate) type Records = [Json];
