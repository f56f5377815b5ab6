// SPDX-License-Identifier: Apache-2.0
//! Counts, class, primary failure and exit code of a run (F3, F4, M3).

use super::CaseReport;
use crate::{
    failure::{Failure, FailureKind, Form, Stage, rule},
    ids::CaseId,
    verdict::Verdict,
};

/// `.counts`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Cases of the suite.
    pub selected: u64,
    /// Cases whose terminal outcome was verified.
    pub executed: u64,
    /// Verdict `passed`.
    pub passed: u64,
    /// Verdicts `assertion_failed` and `unexpected_obstruction`.
    pub failed: u64,
    /// All other failing verdicts.
    pub errored: u64,
    /// Verdict `skipped`.
    pub skipped: u64,
    /// Cases without a verdict.
    pub not_run: u64,
}

impl Counts {
    /// Counts `cases`.
    pub fn of(cases: &[CaseReport]) -> Self {
        let mut counts = Self::default();
        for case in cases {
            counts.selected += 1;
            counts.executed += u64::from(case.executed());
            match case.verdict() {
                Some(Verdict::Passed) => counts.passed += 1,
                Some(Verdict::AssertionFailed | Verdict::UnexpectedObstruction) => {
                    counts.failed += 1;
                }
                Some(Verdict::Skipped) => counts.skipped += 1,
                Some(
                    Verdict::BuildFailed
                    | Verdict::SetupFailed
                    | Verdict::RuntimeFailed
                    | Verdict::InvalidEvidence
                    | Verdict::InvalidResult,
                ) => counts.errored += 1,
                None => counts.not_run += 1,
            }
        }
        counts
    }
}

/// The class of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Complete, at least one executed case, all passed.
    Passed,
    /// Complete, at least one failed comparison, nothing worse.
    Failed,
    /// Anything else.
    Infrastructure,
}

impl Class {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Infrastructure => "infrastructure",
        }
    }

    /// The exit code of the class (F3).
    pub const fn exit(self) -> ExitCode {
        match self {
            Self::Passed => ExitCode::Passed,
            Self::Failed => ExitCode::Failed,
            Self::Infrastructure => ExitCode::Unfaithful,
        }
    }
}

/// The exit status of a run: 0, 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExitCode {
    /// 0.
    Passed = 0,
    /// 1.
    Failed = 1,
    /// 2.
    Unfaithful = 2,
}

/// The primary failure of an `infrastructure` run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primary {
    /// Its stage.
    pub stage: Stage,
    /// Its kind.
    pub kind: FailureKind,
    /// Its case.
    pub case: Option<CaseId>,
}

/// `.outcome`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// As decided at publication.
    pub exit_code: ExitCode,
    /// The class.
    pub class: Class,
    /// Set exactly when the class is `infrastructure`.
    pub primary: Option<Primary>,
}

/// Counts and outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSummary {
    /// The counts.
    pub counts: Counts,
    /// The outcome.
    pub outcome: Outcome,
    /// Every selected case has a verdict and no bail-out without a point happened.
    pub complete: bool,
}

impl RunSummary {
    /// The summary of `cases`, with `failures` in the order of time; comparisons among them are
    /// ignored. Without any failure, a run in which nothing was executed is one all the same.
    pub fn of(cases: &[CaseReport], failures: &[Failure]) -> Self {
        let counts = Counts::of(cases);
        let mut infrastructure = failures
            .iter()
            .filter(|failure| failure.stage != Stage::Compare)
            .peekable();
        let first = infrastructure.peek().map(|failure| Primary {
            stage: failure.stage,
            kind: failure.kind,
            case: failure.case.clone(),
        });
        let bailed = infrastructure.any(|failure| failure.form() == Form::Bail);
        let primary = first.or_else(|| unfaithful(cases, counts));
        let class = match (&primary, counts.failed) {
            (Some(_), _) => Class::Infrastructure,
            (None, 0) => Class::Passed,
            (None, _) => Class::Failed,
        };
        let complete = counts.not_run == 0 && !bailed && counts.selected > counts.skipped;
        Self {
            counts,
            outcome: Outcome {
                exit_code: class.exit(),
                class,
                primary,
            },
            complete,
        }
    }
}

/// What makes a run without a recorded failure unfaithful: fail closed.
fn unfaithful(cases: &[CaseReport], counts: Counts) -> Option<Primary> {
    if counts.selected == counts.skipped {
        return Some(Primary {
            stage: Stage::Plan,
            kind: FailureKind::NoExecutableCases,
            case: None,
        });
    }
    let errored = cases.iter().find(|case| {
        case.ending.as_ref().is_some_and(|ending| {
            rule(ending.stage, ending.kind).is_none_or(|rule| rule.form != Form::Point)
        })
    });
    if let Some((case, ending)) =
        errored.and_then(|case| case.ending.as_ref().map(|ending| (case, ending)))
    {
        return Some(Primary {
            stage: ending.stage,
            kind: ending.kind,
            case: Some(case.id.clone()),
        });
    }
    let unexecuted = counts.executed < counts.passed + counts.failed;
    (counts.not_run > 0 || unexecuted).then_some(Primary {
        stage: Stage::Internal,
        kind: FailureKind::InternalError,
        case: None,
    })
}
