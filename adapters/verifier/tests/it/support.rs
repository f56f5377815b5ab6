// SPDX-License-Identifier: Apache-2.0
//! A verifier made of shell lines, and a build for it.

use edict_codec::{bounded::ByteLimit, digest::frame_typed};
use edict_test_model::{
    built::{Artifact, ArtifactRole, Built, Verified, blob},
    failure::{Failure, FailureKind},
    ids::Locator,
    ports::{StagedFile, StagedLawpack, StopFlag, Verifier as _, VerifyRequest},
    recipe::VerifyRecipe,
};
use edict_test_process::{Isolation, Staging, ToolDir};
use edict_test_verifier::ReportVerifier;
use std::sync::Arc;

/// Makes a named test of each function.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(stringify!($name), || { $name(); Ok(()) })),*]
    };
}
pub(crate) use trials;

/// A result record about the report `0x80`.
pub(crate) fn record(outcome: &str, kind: &str, path: &str) -> String {
    let digest = frame_typed("edict.verification-report/v1", b"\x80");
    format!(
        r#"{{"kind":{kind},"operation":"verify","outcome":"{outcome}","path":{path},"report":{{"algorithm":"sha256","bytes":"{}","domain":"edict.verification-report/v1"}},"schema":"edict.verifier.result/v1","type":"verifierResult"}}"#,
        digest.hex(),
    )
}

/// Shell lines that write the report `0x80`, print `record` and exit with `code`.
pub(crate) fn answers(record: &str, code: u32) -> String {
    format!(
        "printf '\\200' > output/verification-report.cbor\ncat <<'END'\n{record}\nEND\nexit {code}"
    )
}

pub(crate) fn accepts() -> String {
    answers(&record("accepted", "null", "null"), 0)
}

pub(crate) fn verify_with(
    script: &str,
    request: &VerifyRequest,
    stop: &StopFlag,
) -> Result<Verified, Failure> {
    let root = tempfile::tempdir().unwrap();
    let program = format!("#!/bin/sh\n{script}\n");
    let tools = ToolDir::create(root.path(), [("verifier", program.as_bytes())]).unwrap();
    let verifier = ReportVerifier {
        program: tools.program("verifier"),
        staging: Staging::below(root.path()).into(),
        isolation: Isolation::BestEffort,
        stop: stop.clone(),
        notices: edict_test_model::ports::Notices::default(),
    };
    let verified = verifier.verify(request);
    drop(verifier);
    // Beside the tool directory nothing of a verification may be left.
    assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 1);
    verified
}

pub(crate) fn verify(script: &str) -> Result<Verified, Failure> {
    verify_with(script, &request(), &StopFlag::new())
}

pub(crate) fn kind(script: &str) -> FailureKind {
    verify(script).unwrap_err().kind
}

fn locator(path: &str) -> Locator {
    Locator::parse(path).unwrap()
}

fn artifact(role: ArtifactRole, bytes: &[u8]) -> Artifact {
    Artifact::item(role, role.domain().unwrap_or("pack.exports/v1"), bytes).unwrap()
}

pub(crate) fn request() -> VerifyRequest {
    let built = Built {
        core: Some(artifact(ArtifactRole::Core, b"\x01")),
        target_ir: Some(artifact(ArtifactRole::TargetIr, b"\x02")),
        projection: Some(artifact(ArtifactRole::ResultProjection, b"\x03")),
        package: artifact(ArtifactRole::Package, b"\x04"),
        source: Artifact::source(*b"source"),
        lawpack_exports: vec![artifact(ArtifactRole::LawpackExports, b"\xa0")],
        report: None,
    };
    let digest = blob(b"pin");
    VerifyRequest {
        recipe: VerifyRecipe::of(&built, &digest, &digest, &digest),
        built: Arc::new(built),
        source: locator("src/m.edict"),
        lawpacks: vec![StagedLawpack {
            manifest: locator("pack/manifest.cbor"),
            exports: locator("pack/exports.cbor"),
            adapter: Some(locator("pack/adapter.cbor")),
            target_configuration: None,
        }],
        files: [
            ("src/m.edict", b"source".as_slice()),
            ("pack/manifest.cbor", b"m"),
            ("pack/exports.cbor", b"\xa0"),
            ("pack/adapter.cbor", b"a"),
        ]
        .map(|(path, bytes)| StagedFile {
            path: locator(path),
            bytes: bytes.into(),
        })
        .to_vec(),
        wall_timeout_ms: 30_000,
        artifact_bytes: ByteLimit::new(1_000_000),
    }
}
