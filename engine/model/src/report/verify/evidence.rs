// SPDX-License-Identifier: Apache-2.0
//! The evidence of one case: context, V2 to V18 of each operation with the log rebuilt, the checks of
//! its programs, and the verdict that follows.

use super::{
    bodies::there,
    context::{self, hello},
    outcome,
    plan::{exchange, opening, plan},
    programs::Programs,
};
use crate::{
    binding,
    evidence::{Binder, BoundOperation, ContextFacts, HostHello},
    ids::ProgramIndex,
    package::ProgramKind,
    plan::CasePlan,
    report::{BodyBytes, CheckOutcome, ReadReport, ReportCheck, SuiteContent, Verification},
    run::{CaseEvidenceReport, CaseReport, Check, CheckResult, OperationReport},
    verdict::judge,
};

/// Checks one case.
pub(super) fn check(
    report: &ReadReport,
    bytes: &BodyBytes,
    suite: Option<&SuiteContent>,
    programs: &Programs,
    case: &CaseReport,
    checks: &mut Verification,
) {
    let subject = format!("case {}", case.id);
    let entry = report
        .evidence
        .cases
        .iter()
        .find(|it| it.index == case.index);
    let Some(entry) = entry else {
        let lost = !report.complete && report.evidence.cases.is_empty() && case.execution.is_some();
        let outcome = if lost {
            unmade("the report lost the evidence of what was executed")
        } else {
            CheckOutcome::from_result(outcome::without_evidence(report, suite, programs, case))
        };
        checks.add(&subject, "verdict", outcome);
        return;
    };
    if let Some(reason) = impossible(report, bytes, programs, case, entry) {
        return without_plan(&subject, entry, unmade(reason), checks);
    }
    let rebuilt = plan(report, suite, programs, case, entry)
        .and_then(|plan| Ok((plan, hello(report, entry)?)));
    match rebuilt {
        Ok((plan, hello)) => with_plan(report, case, entry, &plan, hello, checks),
        Err(message) => without_plan(&subject, entry, CheckOutcome::Failed(message), checks),
    }
}

/// Why the evidence of a case cannot be judged at all, whatever it says.
fn impossible(
    report: &ReadReport,
    bytes: &BodyBytes,
    programs: &Programs,
    case: &CaseReport,
    entry: &CaseEvidenceReport,
) -> Option<&'static str> {
    let setup = case.setup.iter().map(|entry| entry.program);
    let bound = setup
        .chain([case.program])
        .all(|index| index.is_none_or(|index| programs.get(index.0).is_none_or(Option::is_some)));
    let host = report.evidence.hosts.get(entry.host);
    let hello = host.is_none_or(|host| there(bytes, [&host.hello]));
    let operations = entry.operations.iter().all(|it| {
        let optional = [it.footprint.as_ref(), it.patch.as_ref()];
        let bodies = [&it.request, &it.input, &it.record, &it.receipt, &it.result];
        there(
            bytes,
            bodies.into_iter().chain(optional.into_iter().flatten()),
        )
    });
    match (bound, hello && operations) {
        (false, _) => Some("a program of the case could not be bound"),
        (_, false) => Some("a body is not there"),
        _ => None,
    }
}

/// Nothing of the evidence can be judged; what the report says of V1 is told all the same.
fn without_plan(
    subject: &str,
    entry: &CaseEvidenceReport,
    context: CheckOutcome,
    checks: &mut Verification,
) {
    let reason = "an earlier check of the case did not hold";
    checks.add(subject, "context", context);
    for name in entry.checks.iter().map(|check| check.name) {
        checks.add(subject, name, unmade(reason));
    }
    for (position, operation) in entry.operations.iter().enumerate() {
        let subject = format!("{subject} operation {position}");
        for check in &operation.checks {
            let outcome = match check.name {
                "V1" => CheckOutcome::Recorded(check.result),
                _ => unmade(reason),
            };
            checks.add(&subject, check.name, outcome);
        }
    }
    checks.add(subject, "verdict", unmade(reason));
}

fn unmade(reason: &str) -> CheckOutcome {
    CheckOutcome::NotMade(reason.to_owned())
}

fn with_plan(
    report: &ReadReport,
    case: &CaseReport,
    entry: &CaseEvidenceReport,
    plan: &CasePlan,
    hello: HostHello,
    checks: &mut Verification,
) {
    let subject = format!("case {}", case.id);
    let opened = context::check(report, plan, entry, &hello);
    checks.add(&subject, "context", CheckOutcome::from_result(opened));
    for (stated, recomputed) in entry.checks.iter().zip(binding::case_checks(plan)) {
        checks.add(&subject, stated.name, recomputed_check(stated, recomputed));
    }
    let (storage, log, opening) = opening(plan, entry, &hello);
    let evidence = exchange(report, plan, entry, &opening, storage);
    let mut binder = Binder::new(ContextFacts {
        nonce: entry.context.nonce,
        subject: plan.case.clone(),
        storage,
        hello,
        opening,
        log,
    });
    let mut broken = false;
    let stated = entry.operations.iter().zip(&evidence.operations);
    for (position, ((stated, received), planned)) in stated.zip(&plan.operations).enumerate() {
        let subject = format!("{subject} operation {position}");
        let program = &planned.program.executable;
        let bound = binder.bind(program, &planned.input, received);
        lines(
            &subject,
            stated,
            &bound,
            program.package.kind,
            broken,
            report,
            checks,
        );
        let index = program_index(case, position);
        let outcome = context::operation(stated, planned, index, &bound);
        checks.add(&subject, "operation", CheckOutcome::from_result(outcome));
        broken |= bound.failure.is_some();
    }
    let judged = judge(plan, entry.context.nonce, &evidence);
    let verdict = outcome::verdict(report, case, entry, plan, &judged);
    checks.add(&subject, "verdict", CheckOutcome::from_result(verdict));
}

/// The program of the operation at `position`, by the entry of its case.
fn program_index(case: &CaseReport, position: usize) -> Option<ProgramIndex> {
    match case.setup.get(position) {
        Some(entry) => entry.program,
        None => case.program,
    }
}

fn recomputed_check(stated: &Check, recomputed: Check) -> CheckOutcome {
    let name = stated.name;
    if recomputed.result != CheckResult::Passed {
        return CheckOutcome::Failed(format!("{name} does not hold"));
    }
    CheckOutcome::of(*stated == recomputed, || {
        format!("{name} holds, the report states `{}`", stated.result.name())
    })
}

/// One line per check of an operation. V1 can only be made live. A failure that the report states as
/// well, of a run that is incomplete for it, is no fault of the report.
fn lines(
    subject: &str,
    stated: &OperationReport,
    bound: &BoundOperation,
    kind: ProgramKind,
    broken: bool,
    report: &ReadReport,
    checks: &mut Verification,
) {
    for (stated, recomputed) in stated.checks.iter().zip(&bound.checks) {
        let pure =
            kind == ProgramKind::Pure && matches!(recomputed.name, "V12" | "V13" | "V14" | "V15");
        let outcome = match recomputed.result {
            _ if recomputed.name == "V1" => CheckOutcome::Recorded(stated.result),
            _ if broken => unmade("an earlier operation does not hold"),
            CheckResult::Passed => CheckOutcome::Passed,
            CheckResult::NotApplicable if pure => CheckOutcome::Passed,
            CheckResult::NotApplicable => unmade("an earlier check does not hold"),
            CheckResult::Failed => CheckOutcome::Failed(
                bound
                    .failure
                    .as_ref()
                    .filter(|failure| failure.check == recomputed.name)
                    .map_or_else(|| "it does not hold".to_owned(), |it| it.message.clone()),
            ),
        };
        checks.checks.push(ReportCheck {
            subject: subject.to_owned(),
            name: recomputed.name.to_owned(),
            outcome,
            stated: !report.complete
                && (stated == recomputed || context::only_offline(recomputed, bound)),
        });
    }
}
