// SPDX-License-Identifier: Apache-2.0
//! Everything a report says, recomputed from its members and bodies; with the suite beside it also
//! what only the suite knows (C7).

mod bodies;
mod context;
mod evidence;
mod laws;
mod outcome;
mod plan;
mod programs;
mod suite;

use super::{BodyBytes, CheckOutcome, ReadReport, SuiteContent, Verification};
use crate::run::semantic::semantic_digest;

/// Recomputes `report` from its own members and `bytes`, the bodies as they were found below the
/// artifact directory. With `suite`, also everything that the suite determines.
pub fn verify(
    report: &ReadReport,
    bytes: &BodyBytes,
    suite: Option<&SuiteContent>,
) -> Verification {
    let mut checks = Verification {
        checks: Vec::new(),
        complete: report.complete,
        class: report.semantic.summary.outcome.class,
    };
    // The document was read: its shape is right.
    checks.add("report", "shape", CheckOutcome::Passed);
    checks.add("report", "complete", complete(report));
    bodies::check(report, bytes, &mut checks);
    checks.add("report", "semantic-digest", digest(report));
    laws::check(report, &mut checks);
    suite::identities(report, &mut checks);
    if let Some(suite) = suite {
        suite::content(report, suite, &mut checks);
    }
    let programs = programs::check(report, bytes, suite, &mut checks);
    for case in &report.semantic.cases {
        evidence::check(report, bytes, suite, &programs, case, &mut checks);
    }
    checks
}

fn complete(report: &ReadReport) -> CheckOutcome {
    if report.complete {
        return CheckOutcome::Passed;
    }
    let counts = report.semantic.summary.counts;
    let judged = counts.selected.saturating_sub(counts.not_run);
    let message = format!(
        "incomplete: {judged} of {} cases have a verdict",
        counts.selected
    );
    CheckOutcome::NotMade(message)
}

fn digest(report: &ReadReport) -> CheckOutcome {
    let actual = semantic_digest(&report.semantic_tree);
    CheckOutcome::of(actual.as_ref() == Some(&report.semantic_digest), || {
        let actual = actual.map_or_else(|| "none".to_owned(), |it| it.to_string());
        format!("`semantic` has the digest {actual}, the report states another")
    })
}
