// SPDX-License-Identifier: Apache-2.0
//! The second evaluation of executed cases (`--cross-check`): their setup and then their own
//! operation, each on the atoms that the one before it left.

use crate::{
    build::{files, lawpacks},
    db::Db,
    snapshot::{Application, Case},
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    built::{Artifact, Body},
    package::ProgramKind,
    plan::{CasePlan, Operation},
    ports::{CrossCheck, EvaluateRequest},
    verdict::{Judged, cross_checked},
};
use std::iter::once;

/// The canonical list of no atoms: every context begins empty.
const NO_ATOMS: &[u8] = &[0x80];

/// How many executed cases were evaluated twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrossChecks {
    /// Cases that both evaluators decided.
    pub compared: u64,
    /// Cases with a program whose build has no Core: nothing is compared.
    pub left_out: u64,
}

/// Holds an executed case against a second evaluation; counts it in `checks`. A case without a
/// verified outcome has nothing to compare.
pub(crate) fn check(
    db: &dyn Db,
    port: &dyn CrossCheck,
    checks: &mut CrossChecks,
    (case, plan): (Case<'_>, &CasePlan),
    mut judged: Judged,
) -> Judged {
    if judged.execution.is_none() {
        return judged;
    }
    let setup = case.setup(db).iter().map(|(application, _)| *application);
    let applications = setup.chain(once(case.application(db)));
    let operations = plan.operations.iter().zip(applications);
    let steps: Option<Vec<_>> = operations
        .map(|(operation, application)| {
            let core = operation.program.built.core.as_ref()?;
            Some((operation, application, core))
        })
        .collect();
    let Some(steps) = steps else {
        checks.left_out += 1;
        return judged;
    };
    checks.compared += 1;
    let mut atoms = Body::new(NO_ATOMS.to_vec());
    for (at, (operation, application, core)) in steps.into_iter().enumerate() {
        let request = request(db, plan, (operation, application, core), &atoms);
        let evaluated = port.evaluate(&request);
        judged = cross_checked(plan, judged, at, &evaluated);
        if judged.execution.is_none() {
            break;
        }
        if let Some(after) = evaluated.ok().and_then(|it| it.atoms) {
            atoms = after;
        }
    }
    judged
}

fn request(
    db: &dyn Db,
    plan: &CasePlan,
    (operation, application, core): (&Operation, Application<'_>, &Artifact),
    atoms: &Body,
) -> EvaluateRequest {
    let package = &operation.program.executable.package;
    let intent = package.operation.rsplit('.').next().unwrap_or_default();
    EvaluateRequest {
        core: core.clone(),
        intent: intent.to_owned(),
        input: operation.input.clone(),
        atoms: (package.kind == ProgramKind::Effectful).then(|| atoms.clone()),
        lawpacks: lawpacks(db, application),
        files: files(db, application),
        wall_timeout_ms: plan.limits.wall_timeout_ms(),
        artifact_bytes: ByteLimit::new(plan.limits.max_artifact_bytes()),
    }
}
