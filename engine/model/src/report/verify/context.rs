// SPDX-License-Identifier: Apache-2.0
//! The context of a case: which host answered, and that it was opened for this plan.

use crate::{
    evidence::{BoundOperation, HostHello, plan_grants, storage_for, worldline},
    plan::{CasePlan, Operation},
    report::ReadReport,
    run::{CaseEvidenceReport, Check, CheckResult, OperationReport},
};

/// The reply to `hello` of the host that served the case.
///
/// # Errors
/// What is wrong with it.
pub(super) fn hello(report: &ReadReport, entry: &CaseEvidenceReport) -> Result<HostHello, String> {
    let host = report
        .evidence
        .hosts
        .get(entry.host)
        .ok_or("the host of the case is not listed")?;
    HostHello::decode(&host.hello.bytes).map_err(|error| error.to_string())
}

/// Executable, interpreter, worldline, storage and grants are those of the plan.
pub(super) fn check(
    report: &ReadReport,
    plan: &CasePlan,
    entry: &CaseEvidenceReport,
    hello: &HostHello,
) -> Result<(), String> {
    let host = report.evidence.hosts.get(entry.host);
    let pins = &plan.host;
    if host.is_none_or(|host| host.executable != pins.executable) {
        return Err("another executable answered than is pinned".to_owned());
    }
    let interpreter = hello.interpreter == pins.interpreter
        && hello.interpreter_identity == pins.interpreter_identity;
    if !interpreter || hello.fault_points {
        return Err("the host is not the pinned one, by its own words".to_owned());
    }
    let context = &entry.context;
    let storage = storage_for(plan.operations.iter().map(|it| &*it.program.executable));
    if context.storage != storage {
        return Err(format!("the storage should be `{}`", storage.name()));
    }
    if context.worldline != worldline(context.nonce.bytes(), &plan.case, storage) {
        return Err("the worldline is not that of nonce, subject and storage".to_owned());
    }
    if context.grants != plan_grants(plan) {
        return Err("the grants are not the installations of the plan".to_owned());
    }
    if entry.operations.len() > plan.operations.len() {
        return Err("there are more operations than the plan has".to_owned());
    }
    Ok(())
}

/// What the report says of one operation against what was planned and recomputed.
pub(super) fn operation(
    stated: &OperationReport,
    planned: &Operation,
    program: Option<crate::ids::ProgramIndex>,
    bound: &BoundOperation,
) -> Result<(), String> {
    if stated.role != planned.role || Some(stated.program) != program {
        return Err("role or program are not those of the plan".to_owned());
    }
    if stated.installation != planned.program.executable.installation {
        return Err("the installation is not that of package, report and policy".to_owned());
    }
    if stated.ordinal != bound.ordinal || stated.settlement != bound.settlement {
        return Err("ordinal or settlement are not those of receipt and record".to_owned());
    }
    let (Some(first), Some(rest)) = (stated.checks.first(), stated.checks.get(1..)) else {
        return Err("the checks are missing".to_owned());
    };
    let recomputed = bound.checks.get(1..).unwrap_or_default();
    let other = rest
        .iter()
        .zip(recomputed)
        .find(|(left, right)| left != right && !only_offline(right, bound));
    if let Some((check, _)) = other {
        let name = check.name;
        return Err(format!("the recorded result of {name} is another one"));
    }
    if bound.terminal.is_some() && first.result == CheckResult::NotApplicable {
        return Err("V1 applies to every outcome".to_owned());
    }
    Ok(())
}

/// Whether a failure can only be seen offline and follows from one that was seen live: without the
/// log, V16 does not notice that a record was forged.
pub(super) fn only_offline(check: &Check, bound: &BoundOperation) -> bool {
    let before = bound.failure.as_ref().is_some_and(|it| it.check != "V16");
    check.name == "V16" && check.result == CheckResult::Failed && before
}
