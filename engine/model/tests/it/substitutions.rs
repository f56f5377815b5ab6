// SPDX-License-Identifier: Apache-2.0
//! Every substituted file is refused by the kind of its pair (F10).

use crate::golden_run::{GoldenRun, built, check, manifests};
use edict_codec::{
    cbor::{Value, encode},
    digest::TypedDigest,
};
use edict_test_model::{
    Failure, FailureKind, Form, Stage,
    binding::{self, Subject},
    built::{Artifact, ArtifactRole, Body, Built, VerificationOutcome, Verified},
    suite::Role,
};
use std::sync::Arc;

/// What a changed build or verification of the first program is refused as.
fn refused(change: impl Fn(&mut Built, &mut Verified)) -> FailureKind {
    refusal("demo.choose@1", change).kind
}

fn refusal(coordinate: &str, change: impl Fn(&mut Built, &mut Verified)) -> Failure {
    let golden = GoldenRun::load();
    let programs = golden
        .report
        .get("semantic")
        .unwrap()
        .get("programs")
        .unwrap();
    let (mut built, mut verified) = built(&programs.as_array().unwrap()[0]);
    change(&mut built, &mut verified);
    check(&golden.lock, "choose", coordinate, &built, &verified).unwrap_err()
}

/// The same artifact with another canonical content, rightly identified.
fn other(artifact: &Artifact) -> Artifact {
    let item = encode(&Value::text("another"));
    Artifact::item(artifact.role, artifact.identity.domain(), item).unwrap()
}

#[test]
fn bt_008_each_substitution_is_named_by_its_pair() {
    use FailureKind as K;
    assert_eq!(
        refused(|built, _| built.core = built.core.as_ref().map(other)),
        K::CoreMismatch
    );
    assert_eq!(
        refused(|built, _| built.target_ir = built.target_ir.as_ref().map(other)),
        K::TargetIrMismatch
    );
    assert_eq!(
        refused(|built, _| built.projection = built.projection.as_ref().map(other)),
        K::ProjectionMismatch
    );
    assert_eq!(
        refused(|built, _| built.source = Artifact::source(*b"other")),
        K::ClosureMismatch
    );
    let exports = |built: &mut Built, _: &mut Verified| {
        built.lawpack_exports[0] = other(&built.lawpack_exports[0]);
    };
    assert_eq!(refused(exports), K::ClosureMismatch);
    assert_eq!(
        refused(|built, _| built.lawpack_exports.clear()),
        K::ClosureMismatch
    );
    let foreign = GoldenRun::load().programs[1].built.package.clone();
    assert_eq!(
        refused(|built, _| built.package = foreign.clone()),
        K::PackageMismatch
    );
    assert_eq!(refusal("demo.other@1", |_, _| {}).kind, K::PackageMismatch);
    assert_eq!(
        refusal("demo.choose@1.pi", |_, _| {}).kind,
        K::PackageMismatch
    );
    assert_eq!(
        refused(|built, _| built.package = other(&built.package)),
        K::ArtifactInvalid
    );
    assert_eq!(
        refused(|_, it| it.report = other(&it.report)),
        K::VerificationReportInvalid
    );
}

#[test]
fn an_identity_that_is_not_that_of_the_bytes_is_no_identity() {
    let flipped = refusal("demo.choose@1", |built, _| {
        let core = built.core.as_mut().unwrap();
        let mut bytes = core.body.bytes.to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        core.body = Body::new(bytes);
    });
    assert_eq!(flipped.kind, FailureKind::CoreMismatch);
    assert!(flipped.expected.is_some() && flipped.expected != flipped.actual);
    let domain = refusal("demo.choose@1", |built, _| {
        let core = &built.core.as_ref().unwrap().body.bytes;
        let role = ArtifactRole::Core;
        built.core = Some(Artifact::item(role, "edict.other/v1", Arc::clone(core)).unwrap());
    });
    assert_eq!(domain.kind, FailureKind::CoreMismatch);
}

#[test]
fn bt_008_a_report_of_another_package_is_refused() {
    let golden = GoldenRun::load();
    let foreign = golden.programs[1].verified.report.clone();
    let kind = refused(|_, verified| verified.report = foreign.clone());
    assert_eq!(kind, FailureKind::VerificationReportMismatch);
}

/// The golden report of the first program with one member changed.
fn reported(path: &str, value: &Value) -> Failure {
    refusal("demo.choose@1", |_, verified| {
        let mut report = edict_codec::cbor::decode(&verified.report.body.bytes).unwrap();
        crate::golden::set(&mut report, path, value.clone());
        let domain = verified.report.identity.domain().to_owned();
        verified.report = Artifact::item(verified.report.role, &domain, encode(&report)).unwrap();
    })
}

#[test]
fn a_report_that_names_this_package_must_name_everything_in_it() {
    use FailureKind as K;
    let frame = |domain| edict_codec::digest::frame_typed(domain, b"\xf6").to_value();
    let kind = |path, value| reported(path, &value).kind;
    assert_eq!(kind("core", frame("edict.core.module/v1")), K::CoreMismatch);
    assert_eq!(
        kind("targetIr", frame("edict.target-ir.artifact/v1")),
        K::TargetIrMismatch
    );
    assert_eq!(
        kind("projection", frame("edict.result-projection.artifact/v1")),
        K::ProjectionMismatch
    );
    assert_eq!(kind("source", frame("edict.source/v1")), K::ClosureMismatch);
    assert_eq!(
        kind("lawpacks", Value::Array(Vec::new())),
        K::ClosureMismatch
    );
    assert_eq!(
        kind("targetProfile", frame("edict.target-profile/v1")),
        K::ProfileMismatch
    );
    assert_eq!(
        kind("operation", Value::text("demo.choose@1.other")),
        K::VerificationReportMismatch
    );
    assert_eq!(
        kind("package", frame("echo.program-package/v1")),
        K::VerificationReportMismatch
    );
    assert_eq!(
        kind("budget.maxSteps", Value::unsigned(7)),
        K::VerificationReportMismatch
    );
    assert_eq!(
        kind("package", frame("edict.core.module/v1")),
        K::VerificationReportInvalid
    );
}

#[test]
fn a_rejection_counts_only_after_every_pair_agrees() {
    let rejected = Value::text("rejected");
    assert_eq!(
        reported("outcome", &rejected).kind,
        FailureKind::VerifierProtocol
    );
    let failure = refusal("demo.choose@1", |_, verified| {
        let mut report = edict_codec::cbor::decode(&verified.report.body.bytes).unwrap();
        crate::golden::set(&mut report, "outcome", rejected.clone());
        let domain = verified.report.identity.domain().to_owned();
        verified.report = Artifact::item(verified.report.role, &domain, encode(&report)).unwrap();
        verified.outcome = VerificationOutcome::Rejected;
    });
    assert_eq!(failure.kind, FailureKind::VerifierRejected);
    assert_eq!((failure.stage, failure.form()), (Stage::Verify, Form::Bail));
}

#[test]
fn a_lock_that_pins_other_profiles_refuses_the_package() {
    let golden = GoldenRun::load();
    let programs = golden
        .report
        .get("semantic")
        .unwrap()
        .get("programs")
        .unwrap();
    let (built, verified) = built(&programs.as_array().unwrap()[0]);
    let manifests = manifests("choose");
    let target = &golden.lock.entry(Role::TargetProfile).unwrap().identity;
    let other = edict_codec::digest::frame_typed("edict.target-profile/v1", b"\xf6");
    let kind = |target_profile, interpreter, codec, lawpack_manifests: &[TypedDigest]| {
        let coordinate = "demo.choose@1";
        let subject = Subject {
            coordinate,
            target_profile,
            interpreter,
            codec,
            lawpack_manifests,
        };
        binding::check_report(&built, &verified, &subject)
            .map_err(|failure| failure.kind)
            .err()
    };
    let (interpreter, codec) = ("echo.interpreter/v1", "edict.canonical-cbor/v1");
    assert_eq!(kind(target, interpreter, codec, &manifests), None);
    assert_eq!(
        kind(&other, interpreter, codec, &manifests),
        Some(FailureKind::ProfileMismatch)
    );
    assert_eq!(
        kind(target, "echo.interpreter/v2", codec, &manifests),
        Some(FailureKind::ProfileMismatch)
    );
    assert_eq!(
        kind(target, interpreter, "cbor/v1", &manifests),
        Some(FailureKind::PackageMismatch)
    );
    assert_eq!(
        kind(target, interpreter, codec, &[]),
        Some(FailureKind::ClosureMismatch)
    );
    let swapped = [binding::manifest_identity(b"\xf6").unwrap()];
    assert_eq!(
        kind(target, interpreter, codec, &swapped),
        Some(FailureKind::ClosureMismatch)
    );
}
