// SPDX-License-Identifier: Apache-2.0
//! The list of bodies: every place names a listed body, every listed body is named, and the bytes
//! that were found are those (M3, M5).

use crate::{
    built::{Body, blob},
    report::{BodyBytes, BodyEntry, CheckOutcome, ReadReport, Verification},
};
use std::collections::BTreeMap;

/// `layout` judges the list, `bodies` the bytes.
pub(super) fn check(report: &ReadReport, bytes: &BodyBytes, checks: &mut Verification) {
    checks.add(
        "report",
        "layout",
        CheckOutcome::from_result(layout(report)),
    );
    let found = report.bodies.iter().map(|entry| found(entry, bytes));
    let worst = found.max_by_key(|outcome| match outcome {
        CheckOutcome::Passed | CheckOutcome::Recorded(_) => 0,
        CheckOutcome::NotMade(_) => 1,
        CheckOutcome::Failed(_) => 2,
    });
    checks.add("report", "bodies", worst.unwrap_or(CheckOutcome::Passed));
}

/// Whether the bytes of every one of `bodies` were found, right or wrong.
pub(super) fn there<'a>(bytes: &BodyBytes, bodies: impl IntoIterator<Item = &'a Body>) -> bool {
    bodies
        .into_iter()
        .all(|body| bytes.contains_key(body.blob.bytes()))
}

fn layout(report: &ReadReport) -> Result<(), String> {
    let mut listed = BTreeMap::new();
    for entry in &report.bodies {
        let path = BodyEntry::expected_path(&entry.blob);
        if entry.path != path {
            return Err(format!(
                "body {} is listed at another place than {path}",
                entry.blob
            ));
        }
        listed.insert(*entry.blob.bytes(), (entry.byte_length, false));
    }
    if !report
        .bodies
        .is_sorted_by(|left, right| left.blob.bytes() < right.blob.bytes())
    {
        return Err("the bodies do not ascend by digest, each once".to_owned());
    }
    for named in &report.named {
        match listed.get_mut(named.blob.bytes()) {
            None => return Err(format!("{} names a body that is not listed", named.pointer)),
            Some((length, _)) if *length != named.byte_length => {
                return Err(format!(
                    "{} states another length than the list",
                    named.pointer
                ));
            }
            Some((_, used)) => *used = true,
        }
    }
    match report
        .bodies
        .iter()
        .find(|entry| !listed.get(entry.blob.bytes()).is_some_and(|it| it.1))
    {
        None => Ok(()),
        Some(entry) => Err(format!("body {} is listed and named nowhere", entry.blob)),
    }
}

/// A body that is absent could not be judged; one with other bytes is wrong.
fn found(entry: &BodyEntry, bytes: &BodyBytes) -> CheckOutcome {
    match bytes.get(entry.blob.bytes()) {
        None => CheckOutcome::NotMade(format!("{} is not there", entry.path)),
        Some(found) => {
            let right = found.len() as u64 == entry.byte_length && blob(found) == entry.blob;
            CheckOutcome::of(right, || format!("{} holds other bytes", entry.path))
        }
    }
}
