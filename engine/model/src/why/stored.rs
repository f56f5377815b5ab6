// SPDX-License-Identifier: Apache-2.0
//! `edict.test.run-record/v1`: the stored form of a run record, strictly read back.

use super::record::{CaseRecord, Ending, RunRecord};
use crate::{
    failure::{FailureKind, Stage},
    ids::{CaseId, Locator},
    recipe::{Leaf, LeafValue},
    run::{BuildDecision, Class, VerifyDecision, digest_json},
    suite::{
        DocumentError,
        decode::{
            At, Object,
            Presence::{self, Required},
        },
    },
    verdict::Verdict,
};
use edict_codec::{
    digest::TypedDigest,
    json::{Json, JsonLimits, parse, write_record},
};

/// The schema of a run record.
pub const RECORD_SCHEMA: &str = "edict.test.run-record/v1";
/// Greatest length of a run record in bytes.
const MAX_RECORD: usize = 64 << 20;

/// The record as it is stored, piece by piece: the members of a run around its cases, one line a
/// case. `run` has no cases of its own; each of `cases` is asked for when its line is due, so that a
/// record of any size is never whole in memory.
pub fn record_pieces<'a>(
    run: &'a RunRecord,
    cases: impl Iterator<Item = CaseRecord> + 'a,
) -> impl Iterator<Item = String> + 'a {
    let first = format!("{{{},\"cases\":[", members(&before_cases(run)));
    let lines = cases.enumerate().map(|(index, case)| {
        let comma = if index == 0 { "" } else { "," };
        format!("{comma}\n{}", write_record(&case_json(&case)))
    });
    let last = std::iter::once_with(|| format!("\n],{}}}\n", members(&after_cases(run))));
    std::iter::once(first).chain(lines).chain(last)
}

fn before_cases(run: &RunRecord) -> [(&'static str, Json); 4] {
    [
        ("schema", Json::text(RECORD_SCHEMA)),
        ("number", Json::unsigned(run.number)),
        ("suite", digest_json(&run.suite)),
        ("leaves", leaves_json(&run.leaves)),
    ]
}

fn after_cases(run: &RunRecord) -> [(&'static str, Json); 4] {
    let primary = run.primary.map(|(stage, kind)| {
        Json::object([
            ("stage", Json::text(stage.name())),
            ("kind", Json::text(kind.name())),
        ])
    });
    [
        ("class", Json::text(run.class.name())),
        ("primary", Json::optional(primary, |primary| primary)),
        ("semanticDigest", digest_json(&run.semantic)),
        (
            "files",
            Json::Array(run.files.iter().map(file_json).collect()),
        ),
    ]
}

/// Members as they stand inside an object. The names need no escape.
fn members(members: &[(&'static str, Json)]) -> String {
    let members = members.iter();
    let members = members.map(|(name, value)| format!("\"{name}\":{}", write_record(value)));
    members.collect::<Vec<_>>().join(",")
}

fn file_json((path, blob): &(Locator, TypedDigest)) -> Json {
    Json::object([
        ("path", Json::text(path.as_str())),
        ("blob", digest_json(blob)),
    ])
}

fn leaves_json(leaves: &[Leaf]) -> Json {
    let value = |value: &LeafValue| match value {
        LeafValue::Digest(digest) => digest_json(digest),
        LeafValue::Text(text) => Json::text(text.as_str()),
        LeafValue::Number(number) => Json::unsigned(*number),
        LeafValue::Absent => Json::Null,
    };
    let leaf = |leaf: &Leaf| {
        Json::object([
            ("label", Json::text(leaf.label.as_str())),
            ("value", value(&leaf.value)),
        ])
    };
    Json::Array(leaves.iter().map(leaf).collect())
}

fn field_json((name, value): &(String, String)) -> Json {
    Json::object([
        ("name", Json::text(name.as_str())),
        ("value", Json::text(value.as_str())),
    ])
}

fn case_json(case: &CaseRecord) -> Json {
    let digest = |digest: &Option<TypedDigest>| Json::optional(digest.as_ref(), digest_json);
    let locator = |(label, locator): &(String, Locator)| {
        Json::object([
            ("label", Json::text(label.as_str())),
            ("path", Json::text(locator.as_str())),
        ])
    };
    let ending = |ending: Ending| {
        Json::object([
            ("verdict", Json::text(ending.verdict.name())),
            ("stage", Json::text(ending.stage.name())),
            ("kind", Json::text(ending.kind.name())),
        ])
    };
    Json::object([
        ("id", Json::text(case.id.as_str())),
        ("label", Json::text(case.label.as_str())),
        ("case", digest_json(&case.case)),
        ("leaves", leaves_json(&case.leaves)),
        (
            "locators",
            Json::Array(case.locators.iter().map(locator).collect()),
        ),
        ("buildKey", digest(&case.build_key)),
        ("buildDecision", Json::text(case.build.name())),
        ("verifyKey", digest(&case.verify_key)),
        ("verifyDecision", Json::text(case.verify.name())),
        ("core", digest(&case.core)),
        ("ending", Json::optional(case.ending, ending)),
        ("execution", digest(&case.execution)),
        (
            "context",
            Json::optional(case.context.as_deref(), Json::text),
        ),
        (
            "outcome",
            Json::Array(case.outcome.iter().map(field_json).collect()),
        ),
    ])
}

/// Reads a stored record.
///
/// # Errors
/// The first rejection in the order of S3.
pub fn decode_record(bytes: &[u8]) -> Result<RunRecord, DocumentError> {
    let node = parse(bytes, JsonLimits::document(MAX_RECORD))
        .map_err(|error| DocumentError::of_json(error, FailureKind::ValueOutOfRange))?;
    let object = At::root(&node).object()?;
    object
        .required("schema")?
        .exactly(RECORD_SCHEMA, FailureKind::UnsupportedSchema)?;
    object.closed(&all([
        "schema",
        "number",
        "suite",
        "leaves",
        "cases",
        "class",
        "primary",
        "semanticDigest",
        "files",
    ]))?;
    let cases = object.required("cases")?.items()?;
    Ok(RunRecord {
        number: object.required("number")?.within(0, (1 << 53) - 1)?,
        suite: object.required("suite")?.any_digest()?,
        leaves: leaves(&object)?,
        cases: cases.iter().map(case).collect::<Result<_, _>>()?,
        class: object.required("class")?.variant(|name| {
            [Class::Passed, Class::Failed, Class::Infrastructure]
                .into_iter()
                .find(|class| class.name() == name)
        })?,
        primary: object
            .required("primary")?
            .non_null()
            .map(|at| primary(&at))
            .transpose()?,
        semantic: object.required("semanticDigest")?.any_digest()?,
        files: object
            .required("files")?
            .items()?
            .iter()
            .map(file)
            .collect::<Result<_, _>>()?,
    })
}

fn file(at: &At<'_>) -> Result<(Locator, TypedDigest), DocumentError> {
    let object = at.object()?;
    object.closed(&all(["path", "blob"]))?;
    let path = object.required("path")?.path()?;
    Ok((path, object.required("blob")?.any_digest()?))
}

fn field(at: &At<'_>) -> Result<(String, String), DocumentError> {
    let object = at.object()?;
    object.closed(&all(["name", "value"]))?;
    let name = object.required("name")?.text()?.to_owned();
    Ok((name, object.required("value")?.text()?.to_owned()))
}

fn all<const N: usize>(names: [&str; N]) -> [(&str, Presence); N] {
    names.map(|name| (name, Required))
}

fn primary(at: &At<'_>) -> Result<(Stage, FailureKind), DocumentError> {
    let object = at.object()?;
    object.closed(&all(["stage", "kind"]))?;
    Ok((
        object.required("stage")?.variant(Stage::from_name)?,
        object.required("kind")?.variant(FailureKind::from_name)?,
    ))
}

fn leaves(object: &Object<'_>) -> Result<Vec<Leaf>, DocumentError> {
    let leaf = |at: &At<'_>| {
        let object = at.object()?;
        object.closed(&all(["label", "value"]))?;
        Ok(Leaf {
            label: object.required("label")?.text()?.to_owned(),
            value: object.required("value")?.leaf_value()?,
        })
    };
    object
        .required("leaves")?
        .items()?
        .iter()
        .map(leaf)
        .collect()
}

fn case(at: &At<'_>) -> Result<CaseRecord, DocumentError> {
    let object = at.object()?;
    object.closed(&all([
        "id",
        "label",
        "case",
        "leaves",
        "locators",
        "buildKey",
        "buildDecision",
        "verifyKey",
        "verifyDecision",
        "core",
        "ending",
        "execution",
        "context",
        "outcome",
    ]))?;
    let digest = |name: &str| {
        object
            .required(name)?
            .non_null()
            .map(|at| at.any_digest())
            .transpose()
    };
    let id = object.required("id")?;
    let context = object.required("context")?.non_null();
    Ok(CaseRecord {
        id: id.named(CaseId::parse(id.text()?))?,
        label: object.required("label")?.text()?.to_owned(),
        case: object.required("case")?.any_digest()?,
        leaves: leaves(&object)?,
        locators: locators(&object.required("locators")?)?,
        build_key: digest("buildKey")?,
        build: object
            .required("buildDecision")?
            .variant(BuildDecision::from_name)?,
        verify_key: digest("verifyKey")?,
        verify: object
            .required("verifyDecision")?
            .variant(VerifyDecision::from_name)?,
        core: digest("core")?,
        ending: object
            .required("ending")?
            .non_null()
            .map(|at| ending(&at))
            .transpose()?,
        execution: digest("execution")?,
        context: context.map(|at| at.text().map(str::to_owned)).transpose()?,
        outcome: object
            .required("outcome")?
            .items()?
            .iter()
            .map(field)
            .collect::<Result<_, _>>()?,
    })
}

fn ending(at: &At<'_>) -> Result<Ending, DocumentError> {
    let object = at.object()?;
    object.closed(&all(["verdict", "stage", "kind"]))?;
    Ok(Ending {
        verdict: object.required("verdict")?.variant(Verdict::from_name)?,
        stage: object.required("stage")?.variant(Stage::from_name)?,
        kind: object.required("kind")?.variant(FailureKind::from_name)?,
    })
}

fn locators(at: &At<'_>) -> Result<Vec<(String, Locator)>, DocumentError> {
    let row = |at: &At<'_>| {
        let object = at.object()?;
        object.closed(&all(["label", "path"]))?;
        let label = object.required("label")?.text()?.to_owned();
        Ok((label, object.required("path")?.path()?))
    };
    at.items()?.iter().map(row).collect()
}
