// SPDX-License-Identifier: Apache-2.0
//! The second evaluation of executed pure cases (`--cross-check`).

use crate::{
    build::{files, lawpacks},
    db::Db,
    snapshot::Case,
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    package::ProgramKind,
    plan::CasePlan,
    ports::{CrossCheck, EvaluateRequest},
    verdict::{Judged, cross_checked},
};

/// How many executed cases were evaluated twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossChecks {
    /// Pure cases that both evaluators decided.
    pub compared: u64,
    /// Effectful cases: only the host has atoms, so nothing is compared.
    pub left_out: u64,
}

/// Holds an executed case against a second evaluation; counts it in `checks`. A case without a
/// verified outcome has nothing to compare.
pub(crate) fn check(
    db: &dyn Db,
    port: &dyn CrossCheck,
    checks: &mut CrossChecks,
    (case, plan): (Case<'_>, &CasePlan),
    judged: Judged,
) -> Judged {
    let (Some(operation), Some(_)) = (plan.case_operation(), &judged.execution) else {
        return judged;
    };
    let package = &operation.program.executable.package;
    let Some(core) = operation
        .program
        .built
        .core
        .as_ref()
        .filter(|_| package.kind == ProgramKind::Pure)
    else {
        checks.left_out += 1;
        return judged;
    };
    checks.compared += 1;
    let application = case.application(db);
    let intent = package.operation.rsplit('.').next().unwrap_or_default();
    let request = EvaluateRequest {
        core: core.clone(),
        intent: intent.to_owned(),
        input: operation.input.clone(),
        lawpacks: lawpacks(db, application),
        files: files(db, application),
        wall_timeout_ms: plan.limits.wall_timeout_ms(),
        artifact_bytes: ByteLimit::new(plan.limits.max_artifact_bytes()),
    };
    cross_checked(plan, judged, &port.evaluate(&request))
}
