// SPDX-License-Identifier: Apache-2.0
//! The laws of a report, checked before it is published (M3, M11, F1, F4).

use super::{Class, Counts, RunReport};
use crate::{
    failure::{Form, rule},
    run::ExitCode,
    verdict::Verdict,
};

/// A law that a report breaks: a defect of the runner, never of a test.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the report contradicts itself: {0}")]
pub struct BrokenLaw(pub String);

/// Checks the laws that hold inside a report.
///
/// # Errors
/// The first law that is broken.
pub fn check(report: &RunReport) -> Result<(), BrokenLaw> {
    counts(report)?;
    for case in &report.semantic.cases {
        self::case(case)?;
    }
    outcome(report)?;
    if report.complete {
        complete(report)?;
    }
    evidence(report)
}

fn law(holds: bool, text: impl FnOnce() -> String) -> Result<(), BrokenLaw> {
    if holds {
        Ok(())
    } else {
        Err(BrokenLaw(text()))
    }
}

fn counts(report: &RunReport) -> Result<(), BrokenLaw> {
    let counts = report.semantic.summary.counts;
    let recounted = Counts::of(&report.semantic.cases);
    law(counts == recounted, || {
        format!("counts are {counts:?}, the cases make {recounted:?}")
    })?;
    let sum = counts.passed + counts.failed + counts.errored + counts.skipped + counts.not_run;
    law(counts.selected == sum, || {
        format!(
            "{} cases are selected and {sum} accounted for",
            counts.selected
        )
    })?;
    law(counts.executed >= counts.passed + counts.failed, || {
        "a case passed or failed without being executed".to_owned()
    })
}

fn case(case: &super::CaseReport) -> Result<(), BrokenLaw> {
    let id = &case.id;
    if let Some(ending) = &case.ending {
        let verdict = rule(ending.stage, ending.kind).and_then(|rule| rule.verdict);
        law(verdict == Some(ending.verdict), || {
            format!(
                "case {id}: {} is no {} of stage {}",
                ending.verdict.name(),
                ending.kind.name(),
                ending.stage.name()
            )
        })?;
    }
    let skipped = case.verdict() == Some(Verdict::Skipped);
    law(!skipped || case.skip.is_some(), || {
        format!("case {id} is skipped and declares no skip")
    })?;
    law(case.skip.is_none() || !case.executed(), || {
        format!("case {id} declares a skip and was executed")
    })?;
    law(case.skip.is_none() || case.program.is_none(), || {
        format!("case {id} declares a skip and has a program")
    })?;
    law(case.result.is_none() || case.executed(), || {
        format!("case {id} has a result and was not executed")
    })
}

fn outcome(report: &RunReport) -> Result<(), BrokenLaw> {
    let summary = &report.semantic.summary;
    let outcome = &summary.outcome;
    law(outcome.exit_code == outcome.class.exit(), || {
        "the exit code is not that of the class".to_owned()
    })?;
    let infrastructure = outcome.class == Class::Infrastructure;
    law(infrastructure == outcome.primary.is_some(), || {
        "a primary failure stands exactly in an infrastructure run".to_owned()
    })?;
    let green = outcome.exit_code == ExitCode::Passed;
    let counts = summary.counts;
    law(
        !green || (counts.executed > 0 && counts.passed == counts.executed),
        || "exit code 0 needs an executed case, and all of them passed".to_owned(),
    )?;
    law(
        outcome.class != Class::Failed || (counts.failed > 0 && counts.errored == 0),
        || "exit code 1 needs a failed comparison and nothing worse".to_owned(),
    )
}

/// In a complete report every case is judged and nothing is unknown (M11).
fn complete(report: &RunReport) -> Result<(), BrokenLaw> {
    let semantic = &report.semantic;
    let known = semantic.suite.as_ref().is_some_and(|suite| {
        suite.identity.is_some()
            && suite.shape.is_some()
            && suite.lock.is_some()
            && suite.lock_file.is_some()
    });
    law(
        known && semantic.producers.len() == 11 && semantic.limits.is_some(),
        || "a complete report knows suite, producers and limits".to_owned(),
    )?;
    for case in &semantic.cases {
        let known = [
            &case.case,
            &case.expectation,
            &case.application,
            &case.input,
        ]
        .into_iter()
        .all(Option::is_some)
            && case
                .setup
                .iter()
                .all(|entry| entry.application.is_some() && entry.input.is_some());
        law(known, || {
            format!("case {} has no identity in a complete report", case.id)
        })?;
        let pointed = case.ending.as_ref().is_some_and(|ending| {
            rule(ending.stage, ending.kind).is_some_and(|rule| rule.form != Form::Bail)
        });
        law(pointed, || {
            format!("case {} has no point in a complete report", case.id)
        })?;
    }
    Ok(())
}

/// Evidence stands for cases in ascending order, and every executed case has its own. An incomplete
/// report may have lost all of it.
fn evidence(report: &RunReport) -> Result<(), BrokenLaw> {
    let entries = &report.evidence.cases;
    if entries.is_empty() && !report.complete {
        return Ok(());
    }
    law(
        entries.is_sorted_by(|left, right| left.index < right.index),
        || "evidence entries do not ascend".to_owned(),
    )?;
    let hosts = report.evidence.hosts.len();
    law(entries.iter().all(|entry| entry.host < hosts), || {
        "an evidence entry names a host that is not listed".to_owned()
    })?;
    for case in report.semantic.cases.iter().filter(|case| case.executed()) {
        let entry = entries.iter().find(|entry| entry.index == case.index);
        let operations = entry.map_or(0, |entry| entry.operations.len());
        law(operations == case.setup.len() + 1, || {
            format!(
                "case {} was executed without evidence of every operation",
                case.id
            )
        })?;
    }
    Ok(())
}
