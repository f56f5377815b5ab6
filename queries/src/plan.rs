// SPDX-License-Identifier: Apache-2.0
//! What the execution of a case will be held to, frozen.

use crate::{
    build::{build, recipe},
    db::Db,
    inputs::{FileSnapshot, Suite, Toolchain},
    snapshot::{Application, Case, case_subject, subject},
    verify::verify,
};
use edict_test_model::{
    Failure, FailureKind, Stage,
    binding::{Subject, check_report, manifest_identity},
    built::Body,
    plan::{CasePlan, Expectation, Operation, OperationRole, Program},
    recipe::key,
    suite::identity::{FixtureUse, fixture_of},
};
use std::sync::Arc;

/// The plan, or the first failure of a program that the case needs, setup programs first.
#[salsa::tracked(returns(clone))]
pub(crate) fn plan<'db>(db: &'db dyn Db, case: Case<'db>) -> Result<Arc<CasePlan>, Arc<Failure>> {
    let mut operations = Vec::new();
    for (index, (application, input)) in (0u32..).zip(case.setup(db)) {
        let program = program(db, *application).map_err(|failure| of_setup(&failure, index))?;
        operations.push(operation(db, OperationRole::Setup(index), program, *input));
    }
    let own = program(db, case.application(db))?;
    operations.push(operation(db, OperationRole::Case, own, case.input(db)));
    let subject = case_subject(db, case);
    Ok(Arc::new(CasePlan {
        id: case.id(db).clone(),
        case: subject.identity(),
        operations,
        expectation_identity: subject.expectation.identity(),
        expectation: match case.obstruction(db) {
            None => Expectation::CaseResult,
            Some((coordinate, payload)) => Expectation::Obstruction {
                coordinate: coordinate.clone(),
                fixture: fixture_of(FixtureUse::Payload, payload.bytes(db)),
                payload: body(db, *payload),
            },
        },
        limits: Suite::get(db).limits(db),
        host: Toolchain::get(db).host_roles(db).clone(),
    }))
}

/// One program: built, verified, and every pair of its files held against each other.
#[salsa::tracked(returns(clone))]
pub(crate) fn program<'db>(
    db: &'db dyn Db,
    application: Application<'db>,
) -> Result<Arc<Program>, Arc<Failure>> {
    let built = build(db, application)?;
    let verified = verify(db, application)?;
    let toolchain = Toolchain::get(db);
    let roles = toolchain.build_roles(db);
    let host = toolchain.host_roles(db);
    let document = application.document(db);
    let manifests: Vec<_> = document
        .files()
        .into_iter()
        .zip(application.files(db))
        .filter(|(path, _)| document.lawpacks.iter().any(|it| it.manifest == **path))
        .filter_map(|(_, file)| manifest_identity(file.bytes(db)))
        .collect();
    let asked = Subject {
        coordinate: &document.coordinate,
        target_profile: &roles.target_profile,
        interpreter: &host.interpreter,
        codec: "edict.canonical-cbor/v1",
        lawpack_manifests: &manifests,
    };
    let executable = check_report(&built, &verified, &asked).map_err(Arc::new)?;
    Ok(Arc::new(Program {
        application: key(&subject(db, application)),
        coordinate: document.coordinate.clone(),
        build_key: key(&recipe(db, application)),
        built,
        verified,
        verifier: toolchain.verify_roles(db).verifier.clone(),
        executable: Arc::new(executable),
    }))
}

/// A program that the author got wrong fails the case as setup when setup needs it (F7).
fn of_setup(failure: &Failure, index: u32) -> Arc<Failure> {
    let mut failure = failure.clone();
    failure.setup_index = Some(index);
    if failure.kind == FailureKind::CompilerRefused {
        failure.stage = Stage::Setup;
        failure.kind = FailureKind::SetupBuildRefused;
    }
    Arc::new(failure)
}

fn operation(
    db: &dyn Db,
    role: OperationRole,
    program: Arc<Program>,
    input: FileSnapshot,
) -> Operation {
    Operation {
        role,
        program,
        fixture: fixture_of(FixtureUse::Input, input.bytes(db)),
        input: body(db, input),
    }
}

fn body(db: &dyn Db, file: FileSnapshot) -> Body {
    Body {
        blob: file.digest(db).clone(),
        bytes: Arc::clone(file.bytes(db)),
    }
}
