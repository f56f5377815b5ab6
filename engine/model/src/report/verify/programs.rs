// SPDX-License-Identifier: Apache-2.0
//! The programs of a report: build keys, artifact identities from bytes, and the binding of report,
//! package, subject and source made again.

use super::bodies::there;
use crate::{
    binding::{self, Subject},
    built::{Artifact, ArtifactRole, Built, VerificationOutcome, Verified},
    failure::{FailureKind, Stage},
    package::{
        ProgramPackage,
        upstream::{OPERATION_PACKAGE_SCHEMA, OPERATION_REPORT_SCHEMA},
    },
    plan::Program,
    report::{BodyBytes, CheckOutcome, ReadReport, SuiteContent, Verification, identity},
    run::ProgramReport,
    suite::{Role, Shape},
};
use edict_codec::digest::TypedDigest;
use std::{collections::BTreeSet, sync::Arc};

/// The programs that could be bound again, by position.
pub(super) type Programs = Vec<Option<Arc<Program>>>;

/// Checks every program and gives those that hold.
pub(super) fn check(
    report: &ReadReport,
    bytes: &BodyBytes,
    suite: Option<&SuiteContent>,
    checks: &mut Verification,
) -> Programs {
    checks.add(
        "report",
        "programs",
        CheckOutcome::from_result(order(report)),
    );
    report
        .semantic
        .programs
        .iter()
        .enumerate()
        .map(|(position, program)| {
            let subject = format!("program {position}");
            let key = CheckOutcome::from_result(build_key(report, suite, program));
            checks.add(&subject, "build-key", key);
            let bodies = program.artifacts.iter().map(|artifact| &artifact.body);
            if !there(bytes, bodies) {
                checks.add(&subject, "artifacts", unmade("a body is not there"));
                checks.add(&subject, "verification", unmade("a body is not there"));
                return None;
            }
            let artifacts = artifacts(report, program);
            let outcome = match &artifacts {
                Ok(_) => CheckOutcome::Passed,
                Err(message) => CheckOutcome::Failed(message.clone()),
            };
            checks.add(&subject, "artifacts", outcome);
            let (outcome, program) = match artifacts {
                Ok(artifacts) => bind(report, suite, program, artifacts),
                Err(_) => (unmade("the artifacts do not hold"), None),
            };
            checks.add(&subject, "verification", outcome);
            let rejected = report.semantic.summary.outcome.primary.as_ref();
            if let Some(check) = checks.checks.last_mut() {
                check.stated = !report.complete
                    && rejected.is_some_and(|it| matches!(it.stage, Stage::Build | Stage::Verify));
            }
            program.map(Arc::new)
        })
        .collect()
}

fn unmade(message: &str) -> CheckOutcome {
    CheckOutcome::NotMade(message.to_owned())
}

/// The distinct programs by first use, and every position that cases name.
fn order(report: &ReadReport) -> Result<(), String> {
    let semantic = &report.semantic;
    let position = |application: Option<&TypedDigest>| {
        let application = application?;
        semantic
            .programs
            .iter()
            .position(|program| program.application == *application)
    };
    let mut seen = BTreeSet::new();
    let mut first_use = Vec::new();
    for case in &semantic.cases {
        let setup = case
            .setup
            .iter()
            .map(|it| (it.application.as_ref(), it.program));
        let own = (case.application.as_ref(), case.program);
        for (application, stated) in setup.chain([own]) {
            let expected = match case.skip {
                Some(_) => None,
                None => position(application),
            };
            if stated.map(|it| it.0) != expected {
                return Err(format!(
                    "case {} names another program than it uses",
                    case.id
                ));
            }
            if let Some(position) = expected
                && seen.insert(position)
            {
                first_use.push(position);
            }
        }
    }
    if first_use.into_iter().eq(0..semantic.programs.len()) {
        Ok(())
    } else {
        Err("the programs do not stand in the order of their first use, each once".to_owned())
    }
}

fn build_key(
    report: &ReadReport,
    suite: Option<&SuiteContent>,
    program: &ProgramReport,
) -> Result<(), String> {
    let actual = identity::build_key(&report.semantic, &program.application);
    if actual.as_ref() != Some(&program.build_key) {
        return Err("the build key is not that of application and pins".to_owned());
    }
    let Some(suite) = suite else { return Ok(()) };
    let Some((subject, _)) = suite.applications.get(&program.application) else {
        return Err("the suite has no such application".to_owned());
    };
    if subject.coordinate != program.coordinate {
        return Err(format!("the application is `{}`", subject.coordinate));
    }
    if suite.build_key(subject).as_ref() != Some(&program.build_key) {
        return Err("the build key is not that of the suite".to_owned());
    }
    let source = program
        .artifacts
        .iter()
        .find(|artifact| artifact.role == ArtifactRole::Source);
    let same = source.is_some_and(|source| {
        subject
            .sources
            .iter()
            .map(|file| &file.blob)
            .eq([&source.body.blob])
    });
    if same {
        Ok(())
    } else {
        Err("the source is not that of the suite".to_owned())
    }
}

/// The artifacts, each identified anew from its bytes, in the order of D4.
fn artifacts(report: &ReadReport, program: &ProgramReport) -> Result<Vec<Artifact>, String> {
    let suite = report.semantic.suite.as_ref();
    let is_upstream = suite.is_some_and(|suite| suite.shape == Some(Shape::Upstream));
    let roles: Vec<ArtifactRole> = program.artifacts.iter().map(|it| it.role).collect();
    if !roles.is_sorted() {
        return Err("the artifacts do not stand in the order of their roles".to_owned());
    }
    program
        .artifacts
        .iter()
        .map(|stated| {
            let name = stated.role.name();
            let bytes = Arc::clone(&stated.body.bytes);
            let artifact = match (stated.role, stated.role.domain()) {
                (ArtifactRole::Source, _) => Artifact::source(bytes),
                (role, domain) => {
                    let upstream = is_upstream.then(|| upstream_domain(role)).flatten();
                    let stated = stated.identity.domain();
                    let domain = upstream.or(domain).unwrap_or(stated);
                    Artifact::item(role, domain, bytes).map_err(|error| error.to_string())?
                }
            };
            if artifact == *stated {
                Ok(artifact)
            } else {
                Err(format!("the bytes of `{name}` are {}", artifact.identity))
            }
        })
        .collect()
}

/// The domain of a file that only shape `upstream` has.
const fn upstream_domain(role: ArtifactRole) -> Option<&'static str> {
    match role {
        ArtifactRole::Package => Some(OPERATION_PACKAGE_SCHEMA),
        ArtifactRole::VerificationReport => Some(OPERATION_REPORT_SCHEMA),
        _ => None,
    }
}

/// One artifact of each role that the shape has, any number of exports, and the report if there is
/// one.
fn built(artifacts: Vec<Artifact>, shape: Shape) -> Option<(Built, Option<Artifact>)> {
    let mut rows = artifacts.into_iter().peekable();
    let mut one = |role| rows.next_if(|artifact| artifact.role == role);
    let core = one(ArtifactRole::Core);
    let target_ir = one(ArtifactRole::TargetIr);
    let projection = one(ArtifactRole::ResultProjection);
    let intermediate = [&core, &target_ir, &projection];
    if intermediate
        .iter()
        .any(|it| it.is_some() != (shape == Shape::Bundled))
    {
        return None;
    }
    let package = one(ArtifactRole::Package)?;
    let source = one(ArtifactRole::Source)?;
    let mut lawpack_exports = Vec::new();
    while let Some(exports) = one(ArtifactRole::LawpackExports) {
        lawpack_exports.push(exports);
    }
    let report = one(ArtifactRole::VerificationReport);
    rows.next().is_none().then_some((
        Built {
            core,
            target_ir,
            projection,
            package,
            source,
            lawpack_exports,
            // The build of shape `upstream` makes the report itself.
            report: report.clone().filter(|_| shape == Shape::Upstream),
        },
        report,
    ))
}

fn bind(
    report: &ReadReport,
    suite: Option<&SuiteContent>,
    program: &ProgramReport,
    artifacts: Vec<Artifact>,
) -> (CheckOutcome, Option<Program>) {
    let shape = report.semantic.suite.as_ref().and_then(|suite| suite.shape);
    let Some(shape) = shape else {
        return (unmade("the shape of the lock is unknown"), None);
    };
    let Some((built, file)) = built(artifacts, shape) else {
        let message = "a program has one artifact of each role".to_owned();
        return (CheckOutcome::Failed(message), None);
    };
    match (&program.verification, file) {
        (None, None) if report.complete => {
            let message = "a program of a complete run was verified".to_owned();
            (CheckOutcome::Failed(message), None)
        }
        (None, None) => (unmade("the program was not verified"), None),
        (Some(stated), Some(file)) => {
            let bound = verified(report, suite, program, built, file, stated.outcome);
            match bound {
                Ok(bound) => (CheckOutcome::Passed, bound),
                Err(message) => (CheckOutcome::Failed(message), None),
            }
        }
        _ => {
            let message = "verification and its report are not both there".to_owned();
            (CheckOutcome::Failed(message), None)
        }
    }
}

/// The program, unless the report rejects it as stated.
fn verified(
    report: &ReadReport,
    suite: Option<&SuiteContent>,
    program: &ProgramReport,
    built: Built,
    file: Artifact,
    outcome: VerificationOutcome,
) -> Result<Option<Program>, String> {
    let pin = |role| {
        identity::producer(&report.semantic, role)
            .ok_or_else(|| format!("the report has no producer `{}`", role.name()))
    };
    let coordinate =
        |role| pin(role).map(|producer| producer.coordinate.clone().unwrap_or_default());
    let verifier = pin(Role::Verifier)?.identity.clone();
    let stated = program.verification.as_ref();
    if !stated.is_some_and(|it| it.verifier == verifier && it.report == file.identity) {
        return Err("the verification names another verifier or report".to_owned());
    }
    let package = ProgramPackage::decode(&built.package.body.bytes)
        .map_err(|error| format!("the package cannot be read: {error}"))?;
    // Without the suite the manifests are those that package and verification report agree on.
    let named = || {
        package
            .lawpacks
            .iter()
            .map(|it| it.manifest.clone())
            .collect()
    };
    let manifests = match suite {
        None => named(),
        Some(suite) => suite
            .applications
            .get(&program.application)
            .map_or_else(named, |it| it.1.clone()),
    };
    let (interpreter, codec) = (
        coordinate(Role::InterpreterProfile)?,
        coordinate(Role::CodecAbi)?,
    );
    let verified = Verified {
        report: file,
        outcome,
        disagreement: None,
    };
    let subject = Subject {
        coordinate: &program.coordinate,
        target_profile: &pin(Role::TargetProfile)?.identity,
        interpreter: &interpreter,
        codec: &codec,
        lawpack_manifests: &manifests,
    };
    match binding::check_report(&built, &verified, &subject) {
        Ok(executable) => Ok(Some(Program {
            application: program.application.clone(),
            coordinate: program.coordinate.clone(),
            build_key: program.build_key.clone(),
            built: Arc::new(built),
            verified: Arc::new(verified),
            verifier,
            executable: Arc::new(executable),
        })),
        Err(failure) if failure.kind == FailureKind::VerifierRejected => {
            if report.complete {
                Err("a complete run rejects no program".to_owned())
            } else {
                Ok(None)
            }
        }
        Err(failure) => Err(failure.message.clone()),
    }
}
