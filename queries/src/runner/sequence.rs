// SPDX-License-Identifier: Apache-2.0
//! The sequential loop: one fresh attempt a case, one terminal outcome each.

use super::{PreparedCase, Runner, failures, no_suite, report, second};
use crate::{
    db::Engine,
    execute::mint,
    inputs::Suite,
    snapshot::{Case, snapshot},
    verdict::verdict,
};
use edict_test_model::{
    CaseIndex, ContextNonce, Detail, Diagnostic, Failure, FailureKind, Form, Stage, Verdict,
    plan::CasePlan,
    ports::StopFlag,
    run::{
        CaseEnding, CaseEvidenceReport, CaseReport, EvidenceReport, HostReport, ProgramReport,
        RunSink, RunSummary,
    },
    verdict::{Judged, admit, ending_of, evidence_report, unsubmitted},
};
use std::sync::Arc;

/// What a run came to before its publication.
#[derive(Clone, Debug)]
pub struct RunOutcome {
    /// Every case, judged or not.
    pub cases: Vec<CaseReport>,
    /// Built programs by first use.
    pub programs: Vec<ProgramReport>,
    /// The evidence.
    pub evidence: EvidenceReport,
    /// Every failure in the order of time, comparisons included.
    pub failures: Vec<Failure>,
    /// Second evaluations; `None` when none were asked for.
    pub cross_checks: Option<second::CrossChecks>,
    /// Why the loop ended early, if it did.
    pub ended: Ended,
}

impl RunOutcome {
    /// Counts and outcome as they stand.
    pub fn summary(&self) -> RunSummary {
        RunSummary::of(&self.cases, &self.failures)
    }
}

/// How the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every case was reached.
    Complete,
    /// A failure that bails out ended it.
    Early,
}

/// The state of one loop.
struct Loop<'a, 'db> {
    engine: &'db Engine,
    runner: &'a Runner,
    prepared: &'a [PreparedCase],
    sink: &'a mut dyn RunSink,
    stop: &'a StopFlag,
    programs: report::Programs,
    outcome: RunOutcome,
}

impl Runner {
    /// Executes prepared cases in suite order. `nonce` gives fresh randomness for each attempt.
    ///
    /// Failures are told to `sink` as they happen; the first that is no comparison is primary.
    ///
    /// # Errors
    /// `InternalError` before a suite is loaded. A failure of the run itself is in the outcome.
    pub fn run(
        &self,
        prepared: &[PreparedCase],
        nonce: &mut dyn FnMut() -> Result<ContextNonce, Failure>,
        stop: &StopFlag,
        sink: &mut dyn RunSink,
    ) -> Result<RunOutcome, Failure> {
        let engine = &self.engine;
        let suite = Suite::try_get(engine).ok_or_else(no_suite)?;
        let cases = snapshot(engine, suite);
        let programs = report::Programs::of(engine, &cases);
        let unreached = cases
            .iter()
            .enumerate()
            .map(|(index, case)| report::not_run(engine, CaseIndex(index), *case, &programs));
        let outcome = RunOutcome {
            cases: unreached.collect(),
            programs: programs.reports.clone(),
            evidence: EvidenceReport::default(),
            failures: Vec::new(),
            cross_checks: self
                .cross_check
                .as_ref()
                .map(|_| second::CrossChecks::default()),
            ended: Ended::Complete,
        };
        let mut run = Loop {
            engine,
            runner: self,
            prepared,
            sink,
            stop,
            programs,
            outcome,
        };
        run.all(&cases, nonce);
        Ok(run.outcome)
    }
}

impl<'db> Loop<'_, 'db> {
    fn all(
        &mut self,
        cases: &[Case<'db>],
        nonce: &mut dyn FnMut() -> Result<ContextNonce, Failure>,
    ) {
        let prepared = self.prepared;
        let (refused, bails) = failures(prepared);
        for failure in refused {
            self.tell(failure);
        }
        if bails {
            self.settle_unbuilt(prepared);
            self.outcome.ended = Ended::Early;
            return;
        }
        if prepared.iter().all(|case| case.skip.is_some()) {
            return self.nothing_to_execute(prepared);
        }
        let plans = prepared.iter().filter_map(|case| case.plan.as_ref().ok());
        if let Some(plan) = plans.into_iter().next() {
            match self.runner.ports.host.preflight(&plan.host) {
                Ok(host) => self.outcome.evidence.hosts.push(host),
                Err(failure) => return self.end(failure),
            }
        }
        for (index, (case, prepared)) in cases.iter().zip(prepared).enumerate() {
            if let Some(signal) = self.stop.signal() {
                return self.end(Failure::interrupted(signal));
            }
            if let Err(failure) = self.one(CaseIndex(index), *case, prepared, nonce) {
                return self.end(failure);
            }
            if self.outcome.ended == Ended::Early {
                return;
            }
        }
    }

    /// One case: a skip, a case without a program, or an attempt.
    fn one(
        &mut self,
        index: CaseIndex,
        case: Case<'db>,
        prepared: &PreparedCase,
        nonce: &mut dyn FnMut() -> Result<ContextNonce, Failure>,
    ) -> Result<(), Failure> {
        if prepared.skip.is_some() {
            return self.finish_with(index, skipped());
        }
        match &prepared.plan {
            Err(failure) => match ending_of(failure) {
                Some(ending) => self.finish_with(index, ending),
                None => Err(Failure::clone(failure)),
            },
            Ok(plan) => match admit(plan) {
                Err(failure) => self.judged(index, plan, &unsubmitted(plan, failure), None),
                Ok(()) => self.attempt(index, case, plan, nonce()?),
            },
        }
    }

    fn attempt(
        &mut self,
        index: CaseIndex,
        case: Case<'db>,
        plan: &Arc<CasePlan>,
        nonce: ContextNonce,
    ) -> Result<(), Failure> {
        self.sink.attempt(index, nonce)?;
        self.announce_next(index);
        let attempt = mint(self.engine, plan, nonce);
        let decided = verdict(self.engine, case, attempt);
        let evidence = decided.evidence.as_deref();
        if let Some(host) = evidence.and_then(|it| it.host.as_ref()) {
            self.host(host);
        }
        let entry = evidence.and_then(|evidence| {
            evidence_report(
                index,
                &self.outcome.evidence.hosts,
                plan,
                evidence,
                &decided.judged.bound,
                &|program| self.programs.of_plan(program),
            )
        });
        let judged = self.cross_checked(case, plan, decided.judged.clone());
        self.judged(index, plan, &judged, entry.as_ref())
    }

    /// Tells the host which case follows, if it will be submitted like this one.
    fn announce_next(&self, index: CaseIndex) {
        let following = self.prepared.get(index.0.saturating_add(1)..);
        let mut following = following.unwrap_or_default().iter();
        let next = following.find(|case| case.skip.is_none());
        if let Some(Ok(plan)) = next.map(|case| &case.plan)
            && admit(plan).is_ok()
        {
            self.runner.ports.host.announce(plan);
        }
    }

    /// The judgement after a second evaluation, if one was asked for.
    fn cross_checked(&mut self, case: Case<'db>, plan: &CasePlan, judged: Judged) -> Judged {
        let port = self.runner.cross_check.as_deref();
        match (port, &mut self.outcome.cross_checks) {
            (Some(port), Some(checks)) => {
                second::check(self.engine, port, checks, (case, plan), judged)
            }
            _ => judged,
        }
    }

    fn host(&mut self, host: &HostReport) {
        if !self.outcome.evidence.hosts.contains(host) {
            self.outcome.evidence.hosts.push(host.clone());
        }
    }

    /// Records a judgement. A failure that bails out leaves the case judged but without a point.
    fn judged(
        &mut self,
        index: CaseIndex,
        plan: &CasePlan,
        judged: &Judged,
        entry: Option<&CaseEvidenceReport>,
    ) -> Result<(), Failure> {
        let Some(slot) = self.outcome.cases.get_mut(index.0) else {
            return Err(Failure::internal(format!(
                "case `{}` has no place",
                plan.id
            )));
        };
        *slot = report::with_judgement(slot.clone(), judged);
        let case = slot.clone();
        self.outcome.evidence.cases.extend(entry.cloned());
        let bails = judged
            .failure
            .as_ref()
            .is_some_and(|it| it.form() == Form::Bail);
        if let Some(failure) = &judged.failure {
            self.tell(failure.clone());
        }
        if bails {
            self.outcome.ended = Ended::Early;
            return Ok(());
        }
        self.sink.finished(&case, entry)
    }

    fn finish_with(&mut self, index: CaseIndex, ending: CaseEnding) -> Result<(), Failure> {
        let Some(slot) = self.outcome.cases.get_mut(index.0) else {
            return Err(Failure::internal("a case has no place"));
        };
        slot.ending = Some(ending);
        let case = slot.clone();
        self.sink.finished(&case, None)
    }

    /// All cases skip: they keep their verdicts, but nothing was executed (F13).
    fn nothing_to_execute(&mut self, prepared: &[PreparedCase]) {
        for case in &mut self.outcome.cases {
            case.ending = Some(skipped());
        }
        let count = prepared.len() as u64;
        let message = match count {
            0 => "the suite has no cases".to_owned(),
            _ => format!("every one of the {count} cases declares a skip"),
        };
        let failure = Failure::new(Stage::Plan, FailureKind::NoExecutableCases, message)
            .with_detail(Detail::Counts {
                selected: count,
                skipped: count,
            });
        self.end(failure);
    }

    /// After a failed build phase, cases whose own program failed have its verdict.
    fn settle_unbuilt(&mut self, prepared: &[PreparedCase]) {
        for (case, prepared) in self.outcome.cases.iter_mut().zip(prepared) {
            if let (None, Err(failure)) = (&prepared.skip, &prepared.plan) {
                case.ending = ending_of(failure);
            }
        }
    }

    fn end(&mut self, failure: Failure) {
        self.tell(failure);
        self.outcome.ended = Ended::Early;
    }

    fn tell(&mut self, mut failure: Failure) {
        if let (FailureKind::Interrupted, Some(signal)) = (failure.kind, self.stop.signal()) {
            // Who noticed the stop first does not know which signal it was.
            failure
                .detail
                .clone_from(&Failure::interrupted(signal).detail);
        }
        let seen = self
            .outcome
            .failures
            .iter()
            .any(|it| it.stage != Stage::Compare);
        let primary = failure.stage != Stage::Compare && !seen;
        self.sink.diagnostic(&Diagnostic::Failure {
            failure: failure.clone(),
            primary,
        });
        self.outcome.failures.push(failure);
    }
}

fn skipped() -> CaseEnding {
    CaseEnding {
        verdict: Verdict::Skipped,
        stage: Stage::Compare,
        kind: FailureKind::Skipped,
        detail: None,
    }
}
