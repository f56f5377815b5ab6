// SPDX-License-Identifier: Apache-2.0
//! One entry of `semantic.cases`.

use super::Bodies;
use crate::{
    built::Body,
    evidence::OutcomeKind,
    failure::{FailureKind, Stage},
    ids::{CaseId, CaseIndex, ProgramIndex},
    recipe::APPLICATION,
    report::fields::{
        blake3, closed, decimal, list, optional, optional_blake3, optional_text, position,
    },
    run::{CaseEnding, CaseReport, ExecutionOutcome, ExecutionReport, ResultReport, SetupReport},
    suite::{
        Skip,
        decode::{At, DocumentError, Object},
        identity::{CASE, EXPECTATION, FIXTURE},
    },
    verdict::Verdict,
};

const MEMBERS: [&str; 21] = [
    "index",
    "id",
    "label",
    "case",
    "expectation",
    "application",
    "input",
    "state",
    "verdict",
    "stage",
    "kind",
    "detail",
    "executed",
    "program",
    "setup",
    "budget",
    "consumed",
    "execution",
    "assertions",
    "message",
    "skip",
];

/// One case. Members that others determine (`state`, `executed`, a truncated message) are judged by
/// writing the case again.
pub(super) fn case(at: &At<'_>, bodies: &mut Bodies<'_>) -> Result<CaseReport, DocumentError> {
    let object = closed(at, &MEMBERS)?;
    let id = object.required("id")?;
    Ok(CaseReport {
        index: index(&object.required("index")?)?,
        id: id.named(CaseId::parse(id.text()?))?,
        label: object.required("label")?.text()?.to_owned(),
        case: optional_blake3(object.required("case")?, CASE)?,
        expectation: optional_blake3(object.required("expectation")?, EXPECTATION)?,
        application: optional_blake3(object.required("application")?, APPLICATION)?,
        input: optional_blake3(object.required("input")?, FIXTURE)?,
        ending: ending(&object)?,
        program: program(object.required("program")?)?,
        setup: list(&object.required("setup")?, setup)?,
        execution: execution(&object, bodies)?,
        result: result(&object)?,
        skip: optional(object.required("skip")?, skip)?,
    })
}

/// `index`, which counts from 1.
pub(super) fn index(at: &At<'_>) -> Result<CaseIndex, DocumentError> {
    match position(at)?.checked_sub(1) {
        Some(index) => Ok(CaseIndex(index)),
        None => at.fail(FailureKind::ValueOutOfRange, "an index counts from 1"),
    }
}

fn program(at: At<'_>) -> Result<Option<ProgramIndex>, DocumentError> {
    Ok(optional(at, position)?.map(ProgramIndex))
}

fn ending(object: &Object<'_>) -> Result<Option<CaseEnding>, DocumentError> {
    let verdict = optional(object.required("verdict")?, |at| {
        at.variant(Verdict::from_name)
    })?;
    let stage = optional(object.required("stage")?, |at| at.variant(Stage::from_name))?;
    let kind = optional(object.required("kind")?, |at| {
        at.variant(FailureKind::from_name)
    })?;
    let detail = optional_text(object.required("detail")?)?;
    Ok(match (verdict, stage, kind) {
        (Some(verdict), Some(stage), Some(kind)) => Some(CaseEnding {
            verdict,
            stage,
            kind,
            detail,
        }),
        _ => None,
    })
}

fn setup(at: &At<'_>) -> Result<SetupReport, DocumentError> {
    let object = closed(
        at,
        &[
            "application",
            "input",
            "program",
            "outcome",
            "semanticDigest",
        ],
    )?;
    let kind = optional(object.required("outcome")?, |at| {
        at.variant(OutcomeKind::from_name)
    })?;
    let digest = optional(object.required("semanticDigest")?, At::any_digest)?;
    Ok(SetupReport {
        application: optional_blake3(object.required("application")?, APPLICATION)?,
        input: optional_blake3(object.required("input")?, FIXTURE)?,
        program: program(object.required("program")?)?,
        outcome: kind.zip(digest),
    })
}

fn execution(
    object: &Object<'_>,
    bodies: &mut Bodies<'_>,
) -> Result<Option<ExecutionReport>, DocumentError> {
    let Some(at) = object.required("execution")?.non_null() else {
        return Ok(None);
    };
    let inner = closed(&at, &["outcome", "semanticDigest", "value", "obstruction"])?;
    let outcome = match inner.required("outcome")?.variant(OutcomeKind::from_name)? {
        OutcomeKind::Result => ExecutionOutcome::Result(bodies.body(&inner.required("value")?)?),
        OutcomeKind::Obstruction => {
            let (coordinate, payload) = obstruction(&inner.required("obstruction")?, bodies)?;
            ExecutionOutcome::Obstruction {
                coordinate,
                payload,
            }
        }
    };
    Ok(Some(ExecutionReport {
        budget: numbers(
            &object.required("budget")?,
            ["maxSteps", "maxAllocatedBytes", "maxOutputBytes"],
        )?,
        consumed: numbers(
            &object.required("consumed")?,
            ["steps", "allocatedBytes", "outputBytes"],
        )?,
        semantic_digest: inner.required("semanticDigest")?.any_digest()?,
        outcome,
    }))
}

fn obstruction(at: &At<'_>, bodies: &mut Bodies<'_>) -> Result<(String, Body), DocumentError> {
    let object = closed(at, &["coordinate", "payload"])?;
    let coordinate = object.required("coordinate")?.text()?.to_owned();
    Ok((coordinate, bodies.body(&object.required("payload")?)?))
}

fn numbers(at: &At<'_>, names: [&str; 3]) -> Result<[u64; 3], DocumentError> {
    let object = closed(at, &names)?;
    let [first, second, third] = names;
    let number = |name| decimal(&object.required(name)?);
    Ok([number(first)?, number(second)?, number(third)?])
}

fn result(object: &Object<'_>) -> Result<Option<ResultReport>, DocumentError> {
    let assertions = optional(object.required("assertions")?, |at| at.within(1, 65_535))?;
    let message = optional(object.required("message")?, |at| {
        let object = closed(at, &["text", "truncated", "byteLength"])?;
        object
            .required("text")?
            .text_within(1024)
            .map(str::to_owned)
    })?;
    Ok(assertions
        .and_then(|assertions| u32::try_from(assertions).ok())
        .zip(message)
        .map(|(assertions, message)| ResultReport {
            assertions,
            message,
        }))
}

fn skip(at: &At<'_>) -> Result<Skip, DocumentError> {
    let object = closed(at, &["reason", "trackingReference"])?;
    let text = |name| object.required(name)?.filled_text(1024).map(str::to_owned);
    Ok(Skip {
        reason: text("reason")?,
        tracking_reference: text("trackingReference")?,
    })
}

/// A digest of `domain`, for members that are never null.
pub(super) fn identity(
    object: &Object<'_>,
    name: &str,
    domain: &str,
) -> Result<edict_codec::digest::TypedDigest, DocumentError> {
    blake3(&object.required(name)?, domain)
}
