// SPDX-License-Identifier: Apache-2.0
//! The request line, and the files it names below the working directory of the verifier.

use crate::TASK;
use edict_codec::json::{Json, write_record};
use edict_test_model::{
    built::{Artifact, Built},
    failure::Failure,
    ids::Locator,
    ports::{EvaluateRequest, StagedFile, StagedLawpack, VerifyRequest},
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
/// The input of an evaluation, apart from the files of an application.
const INPUT: &str = "input.cbor";
/// The atoms that an effectful program finds.
const ATOMS: &str = "atoms.cbor";
/// File name of the result or payload of an evaluation.
pub(crate) const BODY: &str = "body.cbor";
/// File name of the atoms that an effectful program leaves.
pub(crate) const ATOMS_AFTER: &str = "atoms.cbor";

/// The one line that asks for a verification (`edict.verifier.request/v1`).
pub(crate) fn line(request: &VerifyRequest) -> String {
    let mut inputs = vec![("source", input(&request.source))];
    for (member, artifact) in artifacts(&request.built) {
        inputs.push((member, Json::text(artifact_path(artifact))));
    }
    inputs.push(("lawpacks", lawpacks(&request.lawpacks)));
    ask("verify", REPORT, Json::object(inputs))
}

/// The one line that asks for an evaluation.
pub(crate) fn evaluation_line(request: &EvaluateRequest) -> String {
    let mut inputs = vec![
        ("core", Json::text(artifact_path(&request.core))),
        ("lawpacks", lawpacks(&request.lawpacks)),
        ("input", Json::text(INPUT)),
        ("intent", Json::text(&*request.intent)),
    ];
    if request.atoms.is_some() {
        let after = Json::text(format!("{OUTPUT}/{ATOMS_AFTER}"));
        let atoms = Json::object([("before", Json::text(ATOMS)), ("after", after)]);
        inputs.push(("atoms", atoms));
    }
    ask("evaluate", BODY, Json::object(inputs))
}

fn ask(operation: &str, output: &str, inputs: Json) -> String {
    let request = Json::object([
        ("schema", Json::text("edict.verifier.request/v1")),
        ("type", Json::text("verifierRequest")),
        ("operation", Json::text(operation)),
        ("output", Json::text(format!("{OUTPUT}/{output}"))),
        ("inputs", inputs),
    ]);
    format!("{}\n", write_record(&request))
}

fn input(path: &Locator) -> Json {
    Json::text(format!("{INPUTS}/{path}"))
}

fn lawpacks(lawpacks: &[StagedLawpack]) -> Json {
    let optional = |path: Option<&Locator>| Json::optional(path, input);
    let rows = lawpacks.iter().map(|lawpack| {
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
    Json::Array(rows.collect())
}

/// Writes everything that the request names below `private`, and makes the output directory.
pub(crate) fn stage(private: &Path, request: &VerifyRequest) -> Result<(), Failure> {
    let artifacts: Vec<_> = artifacts(&request.built)
        .into_iter()
        .map(|(_, artifact)| artifact)
        .collect();
    stage_files(private, &request.files, &artifacts)
}

/// Writes everything that an evaluation names below `private`, and makes the output directory.
pub(crate) fn stage_evaluation(private: &Path, request: &EvaluateRequest) -> Result<(), Failure> {
    let files = [
        (INPUT, Some(&request.input)),
        (ATOMS, request.atoms.as_ref()),
    ];
    for (path, body) in files {
        if let Some(body) = body {
            write(private, path, &body.bytes).map_err(|error| unstaged(&error))?;
        }
    }
    stage_files(private, &request.files, &[&request.core])
}

fn stage_files(
    private: &Path,
    files: &[StagedFile],
    artifacts: &[&Artifact],
) -> Result<(), Failure> {
    let staged = || -> io::Result<()> {
        for file in files {
            write(private, &format!("{INPUTS}/{}", file.path), &file.bytes)?;
        }
        for artifact in artifacts {
            write(private, &artifact_path(artifact), &artifact.body.bytes)?;
        }
        fs::create_dir(private.join(OUTPUT))
    };
    staged().map_err(|error| unstaged(&error))
}

fn unstaged(error: &io::Error) -> Failure {
    TASK.unstarted(format!("stage the inputs of the verifier: {error}"))
}

/// The artifacts of a build by the member of the request that names them.
fn artifacts(built: &Built) -> Vec<(&'static str, &Artifact)> {
    let rows = [
        ("core", built.core.as_ref()),
        ("targetIr", built.target_ir.as_ref()),
        ("resultProjection", built.projection.as_ref()),
        ("package", Some(&built.package)),
    ];
    rows.into_iter()
        .filter_map(|(member, artifact)| Some((member, artifact?)))
        .collect()
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
