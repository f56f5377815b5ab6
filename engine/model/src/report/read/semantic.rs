// SPDX-License-Identifier: Apache-2.0
//! `semantic` but its cases: suite, producers, limits, programs, counts and outcome.

use super::{Bodies, case};
use crate::{
    built::{Artifact, ArtifactRole, BLOB, VerificationOutcome},
    failure::{FailureKind, Stage},
    ids::{CaseId, SuiteId},
    limits::{Limit, Limits},
    recipe::{APPLICATION, BUILD},
    report::fields::{blake3, closed, list, optional, optional_blake3, optional_text, unsigned},
    run::{
        Class, Counts, ExitCode, Outcome, Primary, Producer, ProgramReport, ProviderReport,
        RunSummary, SemanticReport, SuiteReport, VerificationReport,
    },
    suite::{
        Role, RoleKind, Shape,
        decode::{At, DocumentError},
        identity::{SUITE, TOOLCHAIN_LOCK},
        lock::TREE,
    },
};

/// The member `semantic`.
pub(super) fn semantic(
    at: &At<'_>,
    bodies: &mut Bodies<'_>,
) -> Result<SemanticReport, DocumentError> {
    let object = closed(
        at,
        &[
            "suite",
            "producers",
            "providerPackage",
            "limits",
            "programs",
            "cases",
            "counts",
            "outcome",
        ],
    )?;
    let producers = object.required("producers")?;
    Ok(SemanticReport {
        suite: optional(object.required("suite")?, suite)?,
        producers: self::producers(&producers)?,
        provider_package: optional(object.required("providerPackage")?, provider)?,
        limits: optional(object.required("limits")?, limits)?,
        programs: list(&object.required("programs")?, |at| program(at, bodies))?,
        cases: list(&object.required("cases")?, |at| case::case(at, bodies))?,
        summary: RunSummary {
            counts: counts(&object.required("counts")?)?,
            outcome: outcome(&object.required("outcome")?)?,
            complete: false,
        },
    })
}

fn suite(at: &At<'_>) -> Result<SuiteReport, DocumentError> {
    let object = closed(
        at,
        &["id", "identity", "manifest", "shape", "lock", "lockFile"],
    )?;
    let id = object.required("id")?;
    Ok(SuiteReport {
        id: id.named(SuiteId::parse(id.text()?))?,
        identity: optional_blake3(object.required("identity")?, SUITE)?,
        manifest: blake3(&object.required("manifest")?, BLOB)?,
        shape: optional(object.required("shape")?, |at| at.variant(Shape::from_name))?,
        lock: optional_blake3(object.required("lock")?, TOOLCHAIN_LOCK)?,
        lock_file: optional_blake3(object.required("lockFile")?, BLOB)?,
    })
}

/// None, or the eleven roles in their order.
fn producers(at: &At<'_>) -> Result<Vec<Producer>, DocumentError> {
    let producers = list(at, producer)?;
    let right = producers.is_empty() || producers.iter().map(|it| it.role).eq(Role::ALL);
    if right {
        Ok(producers)
    } else {
        at.fail(
            FailureKind::ValueOutOfRange,
            "the eleven roles in their order, or none, are needed here",
        )
    }
}

fn producer(at: &At<'_>) -> Result<Producer, DocumentError> {
    let object = closed(
        at,
        &["role", "kind", "coordinate", "identity", "revision", "tree"],
    )?;
    Ok(Producer {
        role: object.required("role")?.variant(Role::from_name)?,
        kind: object.required("kind")?.variant(RoleKind::from_name)?,
        coordinate: optional_text(object.required("coordinate")?)?,
        identity: object.required("identity")?.any_digest()?,
        revision: optional_text(object.required("revision")?)?,
        tree: optional_blake3(object.required("tree")?, TREE)?,
    })
}

fn provider(at: &At<'_>) -> Result<ProviderReport, DocumentError> {
    let object = closed(at, &["coordinate", "identity"])?;
    Ok(ProviderReport {
        coordinate: object.required("coordinate")?.text()?.to_owned(),
        identity: blake3(&object.required("identity")?, TREE)?,
    })
}

fn limits(at: &At<'_>) -> Result<Limits, DocumentError> {
    let object = closed(at, &Limit::ALL.map(Limit::name))?;
    let mut limits = Limits::default();
    for limit in Limit::ALL {
        let at = object.required(limit.name())?;
        let value = at.integer()?;
        if let Err(kind) = limits.lower(limit, value) {
            return at.fail(kind, format!("{value} is outside 1 to {}", limit.ceiling()));
        }
    }
    Ok(limits)
}

fn program(at: &At<'_>, bodies: &mut Bodies<'_>) -> Result<ProgramReport, DocumentError> {
    let object = closed(
        at,
        &[
            "application",
            "coordinate",
            "buildKey",
            "artifacts",
            "verification",
        ],
    )?;
    Ok(ProgramReport {
        application: blake3(&object.required("application")?, APPLICATION)?,
        coordinate: object.required("coordinate")?.text()?.to_owned(),
        build_key: blake3(&object.required("buildKey")?, BUILD)?,
        artifacts: list(&object.required("artifacts")?, |at| artifact(at, bodies))?,
        verification: optional(object.required("verification")?, verification)?,
    })
}

fn artifact(at: &At<'_>, bodies: &mut Bodies<'_>) -> Result<Artifact, DocumentError> {
    let object = closed(at, &["role", "identity", "blob", "byteLength"])?;
    Ok(Artifact {
        role: object.required("role")?.variant(ArtifactRole::from_name)?,
        identity: object.required("identity")?.any_digest()?,
        body: bodies.named_at(
            at.pointer(),
            &object.required("blob")?,
            &object.required("byteLength")?,
        )?,
    })
}

fn verification(at: &At<'_>) -> Result<VerificationReport, DocumentError> {
    let object = closed(at, &["verifier", "report", "outcome"])?;
    Ok(VerificationReport {
        verifier: object.required("verifier")?.any_digest()?,
        report: object.required("report")?.any_digest()?,
        outcome: object.required("outcome")?.variant(|name| match name {
            "accepted" => Some(VerificationOutcome::Accepted),
            "rejected" => Some(VerificationOutcome::Rejected),
            _ => None,
        })?,
    })
}

fn counts(at: &At<'_>) -> Result<Counts, DocumentError> {
    let object = closed(
        at,
        &[
            "selected", "executed", "passed", "failed", "errored", "skipped", "notRun",
        ],
    )?;
    let count = |name| unsigned(&object.required(name)?);
    Ok(Counts {
        selected: count("selected")?,
        executed: count("executed")?,
        passed: count("passed")?,
        failed: count("failed")?,
        errored: count("errored")?,
        skipped: count("skipped")?,
        not_run: count("notRun")?,
    })
}

fn outcome(at: &At<'_>) -> Result<Outcome, DocumentError> {
    let object = closed(at, &["exitCode", "class", "primary"])?;
    Ok(Outcome {
        exit_code: match object.required("exitCode")?.within(0, 2)? {
            0 => ExitCode::Passed,
            1 => ExitCode::Failed,
            _ => ExitCode::Unfaithful,
        },
        class: object.required("class")?.variant(|name| {
            [Class::Passed, Class::Failed, Class::Infrastructure]
                .into_iter()
                .find(|class| class.name() == name)
        })?,
        primary: optional(object.required("primary")?, |at| {
            let object = closed(at, &["stage", "kind", "caseId"])?;
            Ok(Primary {
                stage: object.required("stage")?.variant(Stage::from_name)?,
                kind: object.required("kind")?.variant(FailureKind::from_name)?,
                case: optional(object.required("caseId")?, |at| {
                    at.named(CaseId::parse(at.text()?))
                })?,
            })
        })?,
    })
}
