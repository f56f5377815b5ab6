// SPDX-License-Identifier: Apache-2.0
//! The verdict of a case against the one that its evidence makes.

use super::programs::Programs;
use crate::{
    failure::{FailureKind, Form, Stage, rule},
    obstruction::payload_possible,
    plan::{CasePlan, Expectation},
    report::{ReadReport, SuiteContent},
    run::{CaseEnding, CaseEvidenceReport, CaseReport, CheckResult},
    verdict::{Judged, Verdict, skipped},
};

/// A case without evidence: skipped, not reached, or ended before a context was opened.
pub(super) fn without_evidence(
    report: &ReadReport,
    suite: Option<&SuiteContent>,
    programs: &Programs,
    case: &CaseReport,
) -> Result<(), String> {
    let executed = case.execution.is_some()
        || case.result.is_some()
        || case.setup.iter().any(|entry| entry.outcome.is_some());
    if executed {
        return Err("an outcome stands here without evidence of it".to_owned());
    }
    let Some(ending) = &case.ending else {
        return if report.complete {
            Err("a case of a complete run has a verdict".to_owned())
        } else {
            Ok(())
        };
    };
    if case.skip.is_some() {
        return if *ending == skipped() {
            Ok(())
        } else {
            Err("a case that declares a skip is skipped".to_owned())
        };
    }
    if ending.detail.is_some() || ending.stage == Stage::Result || ending.stage == Stage::Compare {
        return Err("nothing was executed that could be compared".to_owned());
    }
    let setup = case.setup.iter().map(|entry| entry.program);
    let built = setup.chain([case.program]).all(|program| program.is_some());
    match (ending.kind, ending.verdict) {
        (FailureKind::CompilerRefused | FailureKind::SetupBuildRefused, _) if built => {
            Err("a refused program is not among the built ones".to_owned())
        }
        (FailureKind::ExpectedPayloadInvalid, _) => payload(suite, programs, case),
        (_, Verdict::BuildFailed) if report.complete && built => {
            Err("every program of the case was built".to_owned())
        }
        _ => Ok(()),
    }
}

/// F12, where the suite is at hand.
fn payload(
    suite: Option<&SuiteContent>,
    programs: &Programs,
    case: &CaseReport,
) -> Result<(), String> {
    let content = suite.and_then(|suite| suite.cases.get(case.index.0));
    let program = case
        .program
        .and_then(|index| programs.get(index.0)?.as_ref());
    let (Some(content), Some(program)) = (content, program) else {
        return Ok(());
    };
    match &content.expectation {
        Expectation::Obstruction {
            coordinate,
            payload,
            ..
        } if !payload_possible(
            &program.executable.package,
            coordinate.as_str(),
            &payload.bytes,
        ) =>
        {
            Ok(())
        }
        _ => Err("the program could raise the expected payload".to_owned()),
    }
}

/// A case with evidence against the judgement of that evidence.
pub(super) fn verdict(
    report: &ReadReport,
    case: &CaseReport,
    entry: &CaseEvidenceReport,
    plan: &CasePlan,
    judged: &Judged,
) -> Result<(), String> {
    let refused_live = entry.operations.iter().any(|operation| {
        operation
            .checks
            .first()
            .is_none_or(|check| check.result != CheckResult::Passed)
    });
    // A second evaluation, too, is only made live; what it denies is no verified outcome.
    let denied = case
        .ending
        .as_ref()
        .is_some_and(|ending| ending.kind == FailureKind::EvaluatorDisagreement);
    if refused_live || (denied && !report.complete) {
        return unexecuted(report, case);
    }
    for (stated, outcome) in case.setup.iter().zip(&judged.setup) {
        if stated.outcome != *outcome {
            return Err("a setup outcome is not that of its evidence".to_owned());
        }
    }
    if case.execution != judged.execution {
        return Err("budget, consumption or outcome are not those of the evidence".to_owned());
    }
    let reached = entry.operations.len() == plan.operations.len();
    let interrupted = judged
        .bound
        .failure
        .as_ref()
        .is_some_and(|it| it.check.is_none());
    if interrupted && !reached {
        return unexecuted(report, case);
    }
    if !report.complete && bailed(case) {
        return Ok(());
    }
    if case.ending != judged.ending {
        let name = judged.ending.as_ref().map_or("none", |it| it.kind.name());
        return Err(format!("the evidence makes `{name}`"));
    }
    if case.result != judged.result {
        return Err("assertions or message are not those of the value".to_owned());
    }
    Ok(())
}

/// Whether a case ended the run after its outcome: a second outcome, a host that was lost while its
/// context was closed. That can only be seen live.
fn bailed(case: &CaseReport) -> bool {
    let bail = |ending: &CaseEnding| {
        rule(ending.stage, ending.kind).is_some_and(|rule| rule.form == Form::Bail)
    };
    case.result.is_none() && case.ending.as_ref().is_some_and(bail)
}

/// A case whose exchange did not come to its end can have no outcome, and ends as one that did not.
fn unexecuted(report: &ReadReport, case: &CaseReport) -> Result<(), String> {
    if case.execution.is_some() || case.result.is_some() {
        return Err("an outcome stands here without evidence of it".to_owned());
    }
    let Some(ending) = &case.ending else {
        return if report.complete {
            Err("a case of a complete run has a verdict".to_owned())
        } else {
            Ok(())
        };
    };
    let form = rule(ending.stage, ending.kind).map(|rule| rule.form);
    let pointed = form == Some(Form::PointThenBail);
    if matches!(ending.stage, Stage::Compare | Stage::Result) || (report.complete && !pointed) {
        return Err(
            "the case cannot have ended so: its evidence does not reach its end".to_owned(),
        );
    }
    Ok(())
}
