// SPDX-License-Identifier: Apache-2.0
//! `semantic` as it stands in the report, and its digest.
//!
//! The report writer prints exactly the tree made here, and its digest is made from the same parts, so
//! that text and digest cannot disagree.

use super::{
    CaseReport, ExecutionOutcome, ExecutionReport, ProgramReport, RunSummary, SemanticReport,
    SetupReport, SuiteReport,
};
use crate::{
    built::{Artifact, Body},
    ids::ProgramIndex,
    limits::{Limit, Limits},
    suite::Shape,
};
use edict_codec::{
    cbor::Encoder,
    digest::{Algorithm, DeriveHasher, TypedDigest, derive_typed},
    json::{Json, canonical},
};

/// Context of the semantic digest.
pub const RUN_SEMANTIC: &str = "edict.test/run-semantic/v1";

/// The digest over `semantic` exactly as it stands in the report; `None` for an integer outside
/// the range of the codec, which no report has.
pub fn semantic_digest(semantic: &Json) -> Option<TypedDigest> {
    Some(derive_typed(RUN_SEMANTIC, &canonical(semantic)?))
}

/// A typed digest as it stands in documents.
pub fn digest_json(digest: &TypedDigest) -> Json {
    Json::object([
        ("domain", Json::text(digest.domain())),
        ("algorithm", Json::text(digest.algorithm().name())),
        ("bytes", Json::text(digest.hex())),
    ])
}

/// A body as it stands in documents: never its bytes (M4).
pub fn body_json(body: &Body) -> Json {
    Json::object([
        ("blob", digest_json(&body.blob)),
        ("byteLength", Json::unsigned(body.byte_length())),
    ])
}

/// A 64-bit number as it stands in documents.
pub fn d64(value: u64) -> Json {
    Json::text(value.to_string())
}

fn digest_or_null(digest: Option<&TypedDigest>) -> Json {
    Json::optional(digest, digest_json)
}

fn text_or_null(text: Option<&str>) -> Json {
    Json::optional(text, Json::text)
}

fn program_or_null(program: Option<ProgramIndex>) -> Json {
    Json::optional(program, |index| Json::unsigned(index.0 as u64))
}

fn list<T>(items: &[T], write: impl Fn(&T) -> Json) -> Json {
    Json::Array(items.iter().map(write).collect())
}

/// A member of `semantic`: whole, or a list whose items are made one at a time.
enum Part<'a> {
    Whole(Json),
    List(Box<dyn ExactSizeIterator<Item = Json> + 'a>),
}

impl Part<'_> {
    fn json(self) -> Json {
        match self {
            Self::Whole(json) => json,
            Self::List(items) => Json::Array(items.collect()),
        }
    }

    /// Adds its canonical bytes, an item at a time.
    fn hash(self, hasher: &mut DeriveHasher) -> Option<()> {
        match self {
            Self::Whole(json) => hasher.update(&canonical(&json)?),
            Self::List(items) => {
                hasher.update(&written(|encoder| encoder.array(items.len())));
                for item in items {
                    hasher.update(&canonical(&item)?);
                }
            }
        }
        Some(())
    }
}

fn written(write: impl FnOnce(&mut Encoder)) -> Vec<u8> {
    let mut encoder = Encoder::new();
    write(&mut encoder);
    encoder.into_bytes()
}

/// `semantic`, members in table order.
pub fn semantic_json(report: &SemanticReport) -> Json {
    Json::object(parts(report).map(|(name, part)| (name, part.json())))
}

/// [`semantic_digest`] of [`semantic_json`], without all programs and cases as a tree in memory.
pub fn digest_of_semantic(report: &SemanticReport) -> Option<TypedDigest> {
    let mut members = parts(report);
    // Encoded text keys order by length first, then by bytes.
    members.sort_unstable_by_key(|(name, _)| (name.len(), *name));
    let mut hasher = DeriveHasher::new(RUN_SEMANTIC);
    hasher.update(&written(|encoder| encoder.map(members.len())));
    for (name, member) in members {
        hasher.update(&written(|encoder| encoder.text(name)));
        member.hash(&mut hasher)?;
    }
    let bytes = hasher.finish();
    Some(TypedDigest::new(RUN_SEMANTIC, Algorithm::Blake3, bytes))
}

fn parts(report: &SemanticReport) -> [(&'static str, Part<'_>); 8] {
    let provider = report.provider_package.as_ref().map(|package| {
        Json::object([
            ("coordinate", Json::text(package.coordinate.as_str())),
            ("identity", digest_json(&package.identity)),
        ])
    });
    let whole = Part::Whole;
    [
        ("suite", whole(Json::optional(report.suite.as_ref(), suite))),
        ("producers", whole(list(&report.producers, producer))),
        (
            "providerPackage",
            whole(Json::optional(provider, |package| package)),
        ),
        (
            "limits",
            whole(Json::optional(report.limits.as_ref(), limits)),
        ),
        (
            "programs",
            Part::List(Box::new(report.programs.iter().map(program))),
        ),
        (
            "cases",
            Part::List(Box::new(report.cases.iter().map(case_json))),
        ),
        ("counts", whole(counts(&report.summary))),
        ("outcome", whole(outcome(&report.summary))),
    ]
}

fn suite(suite: &SuiteReport) -> Json {
    Json::object([
        ("id", Json::text(suite.id.as_str())),
        ("identity", digest_or_null(suite.identity.as_ref())),
        ("manifest", digest_json(&suite.manifest)),
        ("shape", text_or_null(suite.shape.map(Shape::name))),
        ("lock", digest_or_null(suite.lock.as_ref())),
        ("lockFile", digest_or_null(suite.lock_file.as_ref())),
    ])
}

fn producer(producer: &super::Producer) -> Json {
    Json::object([
        ("role", Json::text(producer.role.name())),
        ("kind", Json::text(producer.kind.name())),
        ("coordinate", text_or_null(producer.coordinate.as_deref())),
        ("identity", digest_json(&producer.identity)),
        ("revision", text_or_null(producer.revision.as_deref())),
        ("tree", digest_or_null(producer.tree.as_ref())),
    ])
}

fn limits(limits: &Limits) -> Json {
    Json::object(Limit::ALL.map(|limit| (limit.name(), Json::unsigned(limits.get(limit)))))
}

fn program(program: &ProgramReport) -> Json {
    Json::object([
        ("application", digest_json(&program.application)),
        ("coordinate", Json::text(program.coordinate.as_str())),
        ("buildKey", digest_json(&program.build_key)),
        ("artifacts", list(&program.artifacts, artifact)),
        (
            "verification",
            Json::optional(program.verification.as_ref(), |verification| {
                Json::object([
                    ("verifier", digest_json(&verification.verifier)),
                    ("report", digest_json(&verification.report)),
                    ("outcome", Json::text(verification.outcome.name())),
                ])
            }),
        ),
    ])
}

fn artifact(artifact: &Artifact) -> Json {
    Json::object([
        ("role", Json::text(artifact.role.name())),
        ("identity", digest_json(&artifact.identity)),
        ("blob", digest_json(&artifact.body.blob)),
        ("byteLength", Json::unsigned(artifact.body.byte_length())),
    ])
}

/// One entry of `.cases`, members in table order. The journal records the same tree (M6).
pub fn case_json(case: &CaseReport) -> Json {
    let ending = case.ending.as_ref();
    let execution = case.execution.as_ref();
    Json::object([
        ("index", Json::unsigned(case.index.number())),
        ("id", Json::text(case.id.as_str())),
        ("label", Json::text(case.label.as_str())),
        ("case", digest_or_null(case.case.as_ref())),
        ("expectation", digest_or_null(case.expectation.as_ref())),
        ("application", digest_or_null(case.application.as_ref())),
        ("input", digest_or_null(case.input.as_ref())),
        (
            "state",
            Json::text(if ending.is_some() { "judged" } else { "notRun" }),
        ),
        ("verdict", text_or_null(ending.map(|it| it.verdict.name()))),
        ("stage", text_or_null(ending.map(|it| it.stage.name()))),
        ("kind", text_or_null(ending.map(|it| it.kind.name()))),
        (
            "detail",
            text_or_null(ending.and_then(|it| it.detail.as_deref())),
        ),
        ("executed", Json::Bool(case.executed())),
        ("program", program_or_null(case.program)),
        ("setup", list(&case.setup, setup)),
        ("budget", Json::optional(execution, budget)),
        ("consumed", Json::optional(execution, consumed)),
        ("execution", Json::optional(execution, execution_json)),
        (
            "assertions",
            Json::optional(case.result.as_ref(), |result| {
                Json::unsigned(result.assertions.into())
            }),
        ),
        (
            "message",
            Json::optional(case.result.as_ref(), |result| {
                Json::object([
                    ("text", Json::text(result.message.as_str())),
                    ("truncated", Json::Bool(false)),
                    ("byteLength", Json::unsigned(result.message.len() as u64)),
                ])
            }),
        ),
        (
            "skip",
            Json::optional(case.skip.as_ref(), |skip| {
                Json::object([
                    ("reason", Json::text(skip.reason.as_str())),
                    (
                        "trackingReference",
                        Json::text(skip.tracking_reference.as_str()),
                    ),
                ])
            }),
        ),
    ])
}

fn setup(setup: &SetupReport) -> Json {
    let outcome = setup.outcome.as_ref();
    Json::object([
        ("application", digest_or_null(setup.application.as_ref())),
        ("input", digest_or_null(setup.input.as_ref())),
        ("program", program_or_null(setup.program)),
        (
            "outcome",
            text_or_null(outcome.map(|(kind, _)| kind.name())),
        ),
        (
            "semanticDigest",
            digest_or_null(outcome.map(|(_, digest)| digest)),
        ),
    ])
}

fn budget(execution: &ExecutionReport) -> Json {
    let names = ["maxSteps", "maxAllocatedBytes", "maxOutputBytes"];
    Json::object(names.into_iter().zip(execution.budget.map(d64)))
}

fn consumed(execution: &ExecutionReport) -> Json {
    let names = ["steps", "allocatedBytes", "outputBytes"];
    Json::object(names.into_iter().zip(execution.consumed.map(d64)))
}

fn execution_json(execution: &ExecutionReport) -> Json {
    let (value, obstruction) = match &execution.outcome {
        ExecutionOutcome::Result(body) => (body_json(body), Json::Null),
        ExecutionOutcome::Obstruction {
            coordinate,
            payload,
        } => (
            Json::Null,
            Json::object([
                ("coordinate", Json::text(coordinate.as_str())),
                ("payload", body_json(payload)),
            ]),
        ),
    };
    Json::object([
        ("outcome", Json::text(execution.outcome.kind().name())),
        ("semanticDigest", digest_json(&execution.semantic_digest)),
        ("value", value),
        ("obstruction", obstruction),
    ])
}

fn counts(summary: &RunSummary) -> Json {
    let counts = summary.counts;
    Json::object([
        ("selected", Json::unsigned(counts.selected)),
        ("executed", Json::unsigned(counts.executed)),
        ("passed", Json::unsigned(counts.passed)),
        ("failed", Json::unsigned(counts.failed)),
        ("errored", Json::unsigned(counts.errored)),
        ("skipped", Json::unsigned(counts.skipped)),
        ("notRun", Json::unsigned(counts.not_run)),
    ])
}

fn outcome(summary: &RunSummary) -> Json {
    let outcome = &summary.outcome;
    Json::object([
        ("exitCode", Json::unsigned(outcome.exit_code as u64)),
        ("class", Json::text(outcome.class.name())),
        (
            "primary",
            Json::optional(outcome.primary.as_ref(), |primary| {
                Json::object([
                    ("stage", Json::text(primary.stage.name())),
                    ("kind", Json::text(primary.kind.name())),
                    (
                        "caseId",
                        text_or_null(primary.case.as_ref().map(crate::ids::CaseId::as_str)),
                    ),
                ])
            }),
        ),
    ])
}
