// SPDX-License-Identifier: Apache-2.0
//! The request line, and the files it names below the working directory of the verifier.

use edict_codec::json::{Json, write_record};
use edict_test_model::{
    built::{Artifact, Built},
    failure::{Failure, FailureKind, Stage},
    ids::Locator,
    ports::VerifyRequest,
};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

/// Directory of source and lawpacks.
const INPUTS: &str = "inputs";
/// Directory of the artifacts of the build.
const ARTIFACTS: &str = "artifacts";
/// Directory in which the report, and nothing else, must appear.
pub(crate) const OUTPUT: &str = "output";
/// File name of the report.
pub(crate) const REPORT: &str = "verification-report.cbor";

/// The one line that asks for a verification (`edict.verifier.request/v1`).
pub(crate) fn line(request: &VerifyRequest) -> String {
    let input = |path: &Locator| Json::text(format!("{INPUTS}/{path}"));
    let optional = |path: Option<&Locator>| Json::optional(path, input);
    let lawpacks = request.lawpacks.iter().map(|lawpack| {
        Json::object([
            ("manifest", input(&lawpack.manifest)),
            ("exports", input(&lawpack.exports)),
            ("adapter", optional(lawpack.adapter.as_ref())),
            (
                "targetConfiguration",
                optional(lawpack.target_configuration.as_ref()),
            ),
        ])
    });
    let mut inputs = vec![("source", input(&request.source))];
    for (member, artifact) in artifacts(&request.built) {
        inputs.push((member, Json::text(artifact_path(artifact))));
    }
    inputs.push(("lawpacks", Json::Array(lawpacks.collect())));
    let request = Json::object([
        ("schema", Json::text("edict.verifier.request/v1")),
        ("type", Json::text("verifierRequest")),
        ("operation", Json::text("verify")),
        ("output", Json::text(format!("{OUTPUT}/{REPORT}"))),
        ("inputs", Json::object(inputs)),
    ]);
    format!("{}\n", write_record(&request))
}

/// Writes everything that the request names below `private`, and makes the output directory.
pub(crate) fn stage(private: &Path, request: &VerifyRequest) -> Result<(), Failure> {
    let staged = || -> io::Result<()> {
        for file in &request.files {
            write(private, &format!("{INPUTS}/{}", file.path), &file.bytes)?;
        }
        for (_, artifact) in artifacts(&request.built) {
            write(private, &artifact_path(artifact), &artifact.body.bytes)?;
        }
        fs::create_dir(private.join(OUTPUT))
    };
    staged().map_err(|error| {
        let message = format!("stage the inputs of the verifier: {error}");
        Failure::new(Stage::Verify, FailureKind::VerifierSpawnFailed, message)
    })
}

/// The artifacts of a build by the member of the request that names them.
fn artifacts(built: &Built) -> [(&'static str, &Artifact); 4] {
    [
        ("core", &built.core),
        ("targetIr", &built.target_ir),
        ("resultProjection", &built.projection),
        ("package", &built.package),
    ]
}

fn artifact_path(artifact: &Artifact) -> String {
    let name = artifact.role.file_name().unwrap_or_default();
    format!("{ARTIFACTS}/{name}")
}

fn write(private: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let path = private.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)
}
