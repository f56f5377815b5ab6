// SPDX-License-Identifier: Apache-2.0
//! What must hold among the members of a report, whatever they are about (M3, M9, M11, F3, F4).

use crate::{
    failure::{Form, rule},
    ids::RunId,
    report::{CheckOutcome, ReadReport, Verification},
    run::{Class, Outcome, RunReport, Telemetry, laws},
    verdict::skipped,
};
use edict_codec::json::Json;
use std::collections::BTreeSet;

/// `laws` are those checked before publication; `order` and `outcome` hold among cases.
pub(super) fn check(report: &ReadReport, checks: &mut Verification) {
    let laws = laws::check(&run_report(report)).map_err(|law| law.to_string());
    checks.add("report", "laws", CheckOutcome::from_result(laws));
    checks.add("report", "order", CheckOutcome::from_result(order(report)));
    checks.add(
        "report",
        "outcome",
        CheckOutcome::from_result(outcome(report)),
    );
    let records = diagnostics(report);
    checks.add("report", "diagnostics", CheckOutcome::from_result(records));
}

/// The report without the parts that no law is about.
fn run_report(report: &ReadReport) -> RunReport {
    RunReport {
        complete: report.complete,
        semantic: report.semantic.clone(),
        evidence: report.evidence.clone(),
        diagnostics: Vec::new(),
        telemetry: Telemetry {
            run_id: RunId::new("read"),
            started_at: String::new(),
            duration_ms: 0,
            cases: Vec::new(),
            objects: Vec::new(),
        },
    }
}

/// Indices count from 1 without gaps, ids are unique, and evidence belongs to cases that were run.
fn order(report: &ReadReport) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for (position, case) in report.semantic.cases.iter().enumerate() {
        if case.index.0 != position {
            return Err(format!("case {} has the index of another case", case.id));
        }
        if !ids.insert(&case.id) {
            return Err(format!("case {} stands twice", case.id));
        }
    }
    for entry in &report.evidence.cases {
        let case = report.semantic.cases.get(entry.index.0);
        if case.is_none_or(|case| case.skip.is_some()) {
            let number = entry.index.number();
            return Err(format!(
                "evidence names case {number}, which was not to run"
            ));
        }
    }
    let used = |host: usize| report.evidence.cases.iter().any(|entry| entry.host == host);
    let unused = (0..report.evidence.hosts.len()).any(|host| !used(host));
    if unused && report.complete && report.semantic.summary.counts.errored == 0 {
        return Err("a host is listed that no case used".to_owned());
    }
    Ok(())
}

/// The class follows from the cases; an incomplete run is always one of infrastructure.
fn outcome(report: &ReadReport) -> Result<(), String> {
    let Outcome { class, primary, .. } = &report.semantic.summary.outcome;
    let counts = report.semantic.summary.counts;
    let expected = match (report.complete, counts.errored, counts.failed) {
        (true, 0, 0) => Class::Passed,
        (true, 0, _) => Class::Failed,
        _ => Class::Infrastructure,
    };
    if *class != expected {
        let (stated, expected) = (class.name(), expected.name());
        return Err(format!(
            "the class is `{stated}`, the cases make `{expected}`"
        ));
    }
    for case in &report.semantic.cases {
        let ending = case.ending.as_ref();
        if case.skip.is_some() && ending.is_some_and(|ending| *ending != skipped()) {
            return Err(format!(
                "case {} declares a skip and ended otherwise",
                case.id
            ));
        }
    }
    let Some(primary) = primary else {
        return Ok(());
    };
    let form = rule(primary.stage, primary.kind).map(|rule| rule.form);
    if form == Some(Form::Point) {
        return Err("a comparison is no primary failure".to_owned());
    }
    let Some(id) = &primary.case else {
        return Ok(());
    };
    let Some(case) = report.semantic.cases.iter().find(|case| case.id == *id) else {
        return Err(format!("the primary failure names {id}, which is no case"));
    };
    let same = |ending: &crate::run::CaseEnding| {
        (ending.stage, ending.kind) == (primary.stage, primary.kind)
    };
    let agrees = case.ending.as_ref().is_some_and(same);
    if report.complete && !agrees {
        return Err(format!("the primary failure is not how case {id} ended"));
    }
    Ok(())
}

/// At most one record is the primary one, and it tells of the primary failure.
fn diagnostics(report: &ReadReport) -> Result<(), String> {
    let member = |record: &Json, name: &str| match record {
        Json::Object(members) => members
            .iter()
            .find(|(candidate, _)| candidate == name)
            .map_or(Json::Null, |(_, value)| value.clone()),
        _ => Json::Null,
    };
    let mut primaries = report
        .diagnostics
        .iter()
        .filter(|record| member(record, "primary") == Json::Bool(true));
    let Some(record) = primaries.next() else {
        return Ok(());
    };
    let primary = report.semantic.summary.outcome.primary.as_ref();
    let told = primary.is_some_and(|primary| {
        member(record, "stage") == Json::text(primary.stage.name())
            && member(record, "kind") == Json::text(primary.kind.name())
    });
    if told && primaries.next().is_none() {
        Ok(())
    } else {
        Err("the primary record is not that of the primary failure".to_owned())
    }
}
