// SPDX-License-Identifier: Apache-2.0
//! The request line, and the files it names beside the working directory of the verifier.

use edict_codec::json::{Json, write_record};
use edict_test_model::{
    built::{Artifact, Built},
    ids::Locator,
    ports::{EvaluateRequest, StagedFile, StagedLawpack, VerifyRequest},
};
use edict_test_process::InputFile;

/// The private directory of the verifier. What it may only read is beside it.
pub(crate) const PRIVATE: &str = "private";
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
        inputs.push((member, Json::text(beside(&artifact_path(artifact)))));
    }
    inputs.push(("lawpacks", lawpacks(&request.lawpacks)));
    ask("verify", REPORT, Json::object(inputs))
}

/// The one line that asks for an evaluation.
pub(crate) fn evaluation_line(request: &EvaluateRequest) -> String {
    let mut inputs = vec![
        ("core", Json::text(beside(&artifact_path(&request.core)))),
        ("lawpacks", lawpacks(&request.lawpacks)),
        ("input", Json::text(beside(INPUT))),
        ("intent", Json::text(&*request.intent)),
    ];
    if request.atoms.is_some() {
        let after = Json::text(format!("{OUTPUT}/{ATOMS_AFTER}"));
        let atoms = Json::object([("before", Json::text(beside(ATOMS))), ("after", after)]);
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
    Json::text(beside(&input_path(path)))
}

/// What the request calls an input.
fn beside(path: &str) -> String {
    format!("../{path}")
}

fn input_path(path: &Locator) -> String {
    format!("{INPUTS}/{path}")
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

/// Everything that the request names.
pub(crate) fn files(request: &VerifyRequest) -> Vec<InputFile<'_>> {
    let artifacts = artifacts(&request.built);
    named(&request.files, Some(&request.source), &request.lawpacks)
        .chain(artifacts.into_iter().map(|(_, artifact)| staged(artifact)))
        .collect()
}

/// Everything that an evaluation names.
pub(crate) fn evaluation_files(request: &EvaluateRequest) -> Vec<InputFile<'_>> {
    let atoms = request.atoms.iter().map(|atoms| (ATOMS, atoms));
    let values = std::iter::once((INPUT, &request.input)).chain(atoms);
    named(&request.files, None, &request.lawpacks)
        .chain(values.map(|(name, body)| (name.to_owned(), &body.bytes)))
        .chain(std::iter::once(staged(&request.core)))
        .collect()
}

/// Those of `files` that are the source or belong to a lawpack.
fn named<'a>(
    files: &'a [StagedFile],
    source: Option<&'a Locator>,
    lawpacks: &'a [StagedLawpack],
) -> impl Iterator<Item = InputFile<'a>> {
    let is_named = move |path: &Locator| {
        source == Some(path)
            || lawpacks.iter().any(|it| {
                [Some(&it.manifest), Some(&it.exports)].contains(&Some(path))
                    || [&it.adapter, &it.target_configuration]
                        .into_iter()
                        .any(|it| it.as_ref() == Some(path))
            })
    };
    files
        .iter()
        .filter(move |file| is_named(&file.path))
        .map(|file| (input_path(&file.path), &file.bytes))
}

fn staged(artifact: &Artifact) -> InputFile<'_> {
    (artifact_path(artifact), &artifact.body.bytes)
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
