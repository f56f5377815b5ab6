// SPDX-License-Identifier: Apache-2.0
//! Report, package, subject and source, recomputed and held against one another (R3, F10).
//!
//! The first pair that disagrees is the failure; a verifier's own rejection comes last, so that a
//! substituted file is named exactly instead of being refused in general.

mod lawpack;
mod pairs;

pub use lawpack::{exports_domain, manifest_identity};

use crate::{
    built::{ArtifactRole, Built, VerificationOutcome, Verified},
    diagnostic::Detail,
    evidence::Program,
    failure::{Failure, FailureKind, Stage},
    package::{PackageError, ProgramPackage, VerificationReport, upstream::OperationReport},
    plan::CasePlan,
    run::{Check, CheckResult},
};
use edict_codec::digest::TypedDigest;
use pairs::Mismatch;
use std::sync::Arc;

/// What a build was asked for, beside the bytes it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject<'a> {
    /// Coordinate of the application document.
    pub coordinate: &'a str,
    /// Identity of the pinned target profile.
    pub target_profile: &'a TypedDigest,
    /// Coordinate of the pinned interpreter profile.
    pub interpreter: &'a str,
    /// Coordinate of the pinned codec.
    pub codec: &'a str,
    /// Identities of the staged lawpack manifests in closure order ([`manifest_identity`]).
    pub lawpack_manifests: &'a [TypedDigest],
}

/// Holds a build and its verification against each other and against what was asked for, and
/// decodes what the host will be given.
///
/// # Errors
/// A failure of stage `build` for a package that is none, otherwise of stage `verify`: the exact
/// pair that disagrees, or `VerifierRejected`.
pub fn check_report(
    built: &Built,
    verified: &Verified,
    subject: &Subject<'_>,
) -> Result<Program, Failure> {
    let mut package = ProgramPackage::decode(&built.package.body.bytes)
        .map_err(|error| package_failure(&error))?;
    pairs::artifacts(built, &package)
        .and_then(|()| pairs::closure(built, &package, Some(subject.lawpack_manifests)))
        .and_then(|()| pairs::operation(&package, subject.coordinate, subject.codec))
        .and_then(|()| pairs::producers(&package, subject.target_profile, subject.interpreter))
        .map_err(Mismatch::into_failure)?;
    let bytes = &verified.report.body.bytes;
    let report = VerificationReport::of(&package, bytes).map_err(|error| report_failure(&error))?;
    pairs::verification(&package, &report, &verified.report.identity)
        .map_err(Mismatch::into_failure)?;
    outcome(verified, &report)?;
    share(&mut package, built);
    Ok(Program::of(
        (built.package.body.clone(), package),
        (verified.report.body.clone(), report),
    ))
}

/// Keeps equal bytes once: what the package embeds is what the build left beside it, and a suite may
/// have a thousand programs.
fn share(package: &mut ProgramPackage, built: &Built) {
    let own = [
        (&mut package.core, &built.core),
        (&mut package.target_ir, &built.target_ir),
        (&mut package.projection, &built.projection),
    ];
    let own = own
        .into_iter()
        .filter_map(|(it, made)| Some((it, made.as_ref()?)));
    let exports = package.lawpacks.iter_mut().map(|it| &mut it.exports);
    for (embedded, made) in own.chain(exports.zip(&built.lawpack_exports)) {
        if embedded.bytes == made.body.bytes {
            embedded.bytes = Arc::clone(&made.body.bytes);
        }
    }
}

/// The verification that a build of shape `upstream` brings with it; `None` for any other build.
///
/// # Errors
/// `VerificationReportInvalid` for a report that cannot be read.
pub fn report_of_build(built: &Built) -> Result<Option<Verified>, Failure> {
    let Some(report) = &built.report else {
        return Ok(None);
    };
    let stated = OperationReport::decode(&report.body.bytes).map_err(|it| report_failure(&it))?;
    let outcome = if stated.accepted {
        VerificationOutcome::Accepted
    } else {
        VerificationOutcome::Rejected
    };
    Ok(Some(Verified {
        report: report.clone(),
        outcome,
        disagreement: None,
    }))
}

fn outcome(verified: &Verified, report: &VerificationReport) -> Result<(), Failure> {
    let stated = verified.outcome == VerificationOutcome::Accepted;
    if stated != report.accepted {
        return Err(Failure::new(
            Stage::Verify,
            FailureKind::VerifierProtocol,
            "the verifier answered another outcome than its report has",
        ));
    }
    if report.accepted {
        return Ok(());
    }
    let reason = match &verified.disagreement {
        Some(disagreement) => format!("{} at {}", disagreement.kind, disagreement.path),
        None => "no reason given".to_owned(),
    };
    Err(Failure::new(
        Stage::Verify,
        FailureKind::VerifierRejected,
        format!("the verifier rejects `{}`: {reason}", report.operation),
    ))
}

/// A package that cannot be read is no artifact; one whose embedded artifact is not the one it
/// names is that pair's mismatch.
fn package_failure(error: &PackageError) -> Failure {
    if let PackageError::ArtifactDigestMismatch {
        path,
        stated,
        actual,
    } = error
    {
        let kind = match path.as_str() {
            ".core" => FailureKind::CoreMismatch,
            ".targetIr" => FailureKind::TargetIrMismatch,
            ".projection" => FailureKind::ProjectionMismatch,
            _ => FailureKind::ClosureMismatch,
        };
        return Failure::new(Stage::Verify, kind, format!("the package: {error}"))
            .mismatch(stated, actual);
    }
    named(
        Failure::new(
            Stage::Build,
            FailureKind::ArtifactInvalid,
            format!("the package cannot be read: {error}"),
        ),
        ArtifactRole::Package,
    )
}

fn report_failure(error: &PackageError) -> Failure {
    named(
        Failure::new(
            Stage::Verify,
            FailureKind::VerificationReportInvalid,
            format!("the verification report cannot be read: {error}"),
        ),
        ArtifactRole::VerificationReport,
    )
}

fn named(failure: Failure, role: ArtifactRole) -> Failure {
    let name = role.file_name().unwrap_or_default().to_owned();
    failure.with_detail(Detail::Name(name))
}

/// The checks `closure`, `producers`, `artifacts` and `verification` over every program of a plan,
/// made again from its bytes.
pub fn case_checks(plan: &CasePlan) -> Vec<Check> {
    let programs = || plan.operations.iter().map(|operation| &*operation.program);
    let holds = |check: &dyn Fn(&crate::plan::Program) -> Result<(), Mismatch>| {
        if programs().all(|program| check(program).is_ok()) {
            CheckResult::Passed
        } else {
            CheckResult::Failed
        }
    };
    let closure = holds(&|it| pairs::closure(&it.built, &it.executable.package, None));
    let producers = holds(&|it| {
        pairs::producers(
            &it.executable.package,
            &plan.host.target_profile,
            &plan.host.interpreter,
        )
    });
    let artifacts = holds(&|it| pairs::artifacts(&it.built, &it.executable.package));
    let verification = holds(&|it| {
        let (package, report) = (&it.executable.package, &it.executable.report);
        pairs::verification(package, report, &it.verified.report.identity)
            .and_then(|()| pairs::accepted(report))
    });
    [
        ("closure", closure),
        ("producers", producers),
        ("artifacts", artifacts),
        ("verification", verification),
    ]
    .map(|(name, result)| Check { name, result })
    .to_vec()
}
