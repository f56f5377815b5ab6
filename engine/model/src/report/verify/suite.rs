// SPDX-License-Identifier: Apache-2.0
//! Suite, lock and case identities from the members of the report; and, with the suite beside it,
//! every member that the suite determines.

use crate::{
    report::{CaseContent, CheckOutcome, ReadReport, SuiteContent, Verification, identity},
    run::{self, CaseReport, SuiteReport},
};
use edict_codec::digest::TypedDigest;

/// The identities of lock, suite and cases.
pub(super) fn identities(report: &ReadReport, checks: &mut Verification) {
    let semantic = &report.semantic;
    if let Some(suite) = &semantic.suite {
        let lock = identity::lock(semantic);
        let outcome = agree(suite.lock.as_ref(), lock.as_ref(), report.complete);
        checks.add("suite", "lock-identity", outcome);
        let actual = identity::suite(semantic, suite);
        let outcome = agree(suite.identity.as_ref(), actual.as_ref(), report.complete);
        checks.add("suite", "suite-identity", outcome);
    }
    for case in &semantic.cases {
        let actual = identity::case(case);
        let outcome = agree(case.case.as_ref(), actual.as_ref(), report.complete);
        checks.add(&format!("case {}", case.id), "case-identity", outcome);
    }
}

/// A stated identity against the one recomputed. What an incomplete run does not know is no check
/// that could be made.
fn agree(
    stated: Option<&TypedDigest>,
    actual: Option<&TypedDigest>,
    complete: bool,
) -> CheckOutcome {
    match (stated, actual) {
        (Some(stated), Some(actual)) => CheckOutcome::of(stated == actual, || {
            format!("{stated} is stated, the members make {actual}")
        }),
        (None, None) if !complete => {
            CheckOutcome::NotMade("the run ended before this was known".to_owned())
        }
        (None, Some(_)) if !complete => CheckOutcome::Passed,
        _ => CheckOutcome::Failed("the identity and its parts are not both there".to_owned()),
    }
}

/// The report against the suite it says it ran.
pub(super) fn content(report: &ReadReport, suite: &SuiteContent, checks: &mut Verification) {
    let semantic = &report.semantic;
    let documents = semantic
        .suite
        .as_ref()
        .ok_or_else(|| "the report knows no suite".to_owned())
        .and_then(|stated| documents(stated, suite));
    checks.add("suite", "documents", CheckOutcome::from_result(documents));
    let pins = semantic.producers == run::producers(&suite.lock)
        && semantic.provider_package == run::provider_package(&suite.lock);
    let unknown = semantic.producers.is_empty() && !report.complete;
    checks.add(
        "suite",
        "pins",
        CheckOutcome::of(pins || unknown, || {
            "the producers are not the pins of the lock".to_owned()
        }),
    );
    let limits = semantic.limits == Some(suite.document.limits);
    checks.add(
        "suite",
        "limits",
        CheckOutcome::of(limits, || {
            "the limits are not those of the manifest".to_owned()
        }),
    );
    let count = semantic.cases.len() == suite.cases.len();
    checks.add(
        "suite",
        "cases",
        CheckOutcome::of(count, || {
            let (stated, actual) = (semantic.cases.len(), suite.cases.len());
            format!("the report has {stated} cases, the manifest {actual}")
        }),
    );
    for (case, content) in semantic.cases.iter().zip(&suite.cases) {
        let outcome = CheckOutcome::from_result(declared(case, content));
        checks.add(&format!("case {}", case.id), "declared", outcome);
    }
}

fn documents(stated: &SuiteReport, suite: &SuiteContent) -> Result<(), String> {
    let same = |name: &str, stated: Option<&TypedDigest>, actual: &TypedDigest| match stated {
        Some(stated) if stated != actual => {
            Err(format!("{name} is {actual}, the report states {stated}"))
        }
        _ => Ok(()),
    };
    if stated.id != suite.document.id {
        return Err(format!("the suite is `{}`", suite.document.id));
    }
    if stated.shape.is_some_and(|shape| shape != suite.lock.shape) {
        return Err("the lock has another shape".to_owned());
    }
    same("the manifest", Some(&stated.manifest), &suite.manifest)?;
    same("the lock file", stated.lock_file.as_ref(), &suite.lock_file)?;
    same("the lock", stated.lock.as_ref(), &suite.lock.identity())?;
    same("the suite", stated.identity.as_ref(), &suite.identity())
}

/// Id, label, skip and the identities of everything that the manifest names for a case.
fn declared(case: &CaseReport, content: &CaseContent) -> Result<(), String> {
    let subject = &content.subject;
    let texts = case.id == subject.id && case.label == content.label && case.skip == subject.skip;
    if !texts {
        return Err("id, label or skip are not those of the manifest".to_owned());
    }
    let mut pairs = vec![
        ("case", &case.case, subject.identity()),
        (
            "expectation",
            &case.expectation,
            subject.expectation.identity(),
        ),
        (
            "application",
            &case.application,
            subject.application.identity(),
        ),
        ("input", &case.input, subject.input.identity()),
    ];
    if case.setup.len() != subject.setup.len() {
        return Err(format!(
            "the manifest has {} setup entries",
            subject.setup.len()
        ));
    }
    for (stated, entry) in case.setup.iter().zip(&subject.setup) {
        pairs.push((
            "setup application",
            &stated.application,
            entry.application.identity(),
        ));
        pairs.push(("setup input", &stated.input, entry.input.identity()));
    }
    match pairs
        .iter()
        .find(|(_, stated, actual)| stated.as_ref().is_some_and(|stated| stated != actual))
    {
        None => Ok(()),
        Some((name, _, actual)) => Err(format!("the {name} of the suite is {actual}")),
    }
}
