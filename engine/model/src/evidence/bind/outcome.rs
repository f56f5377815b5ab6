// SPDX-License-Identifier: Apache-2.0
//! V8 and V9: the body is the one the record binds, and a value of its declared type.

use super::super::checks::{Fault, ensure, same};
use super::super::{
    BoundOutcome, ExecutionRecord, ObstructionOrigin, OperationEvidence, Program, RecordObstruction,
};
use crate::built::Body;
use crate::failure::FailureKind;
use crate::obstruction::{BUDGET_EXHAUSTED, INPUT_CONSTRAINT};
use edict_codec::cbor::{self, Value};

/// V8.
pub(super) fn body(
    operation: &OperationEvidence,
    record: &ExecutionRecord,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::ResultBindingMismatch;
    let actual = super::super::body_digest(&operation.body.bytes);
    same("the body", &record.body, &actual, kind)?;
    ensure(
        record.length == operation.body.byte_length(),
        kind,
        "the record states another length of the body",
    )?;
    ensure(
        record.outcome_kind() == operation.frame.kind,
        kind,
        "the frame states another kind of outcome than the record",
    )
}

/// V9.
pub(super) fn typed(
    program: &Program,
    operation: &OperationEvidence,
    record: &ExecutionRecord,
) -> Result<BoundOutcome, Box<Fault>> {
    let body = &operation.body;
    match &record.obstruction {
        None if program.package.anchored.is_some() => projected(program, operation),
        None => {
            let value = program
                .package
                .output
                .decode(&body.bytes)
                .map_err(|error| {
                    fault(format!(
                        "the result is no value of the output type: {error}"
                    ))
                })?;
            Ok(BoundOutcome::Result {
                value,
                body: body.clone(),
            })
        }
        Some(obstruction) => {
            let payload = match obstruction.origin {
                ObstructionOrigin::Authored => authored(program, body, obstruction),
                ObstructionOrigin::Constraint => constraint(program, body, obstruction),
                ObstructionOrigin::Budget => budget(program, body, record, obstruction),
            }?;
            Ok(BoundOutcome::Obstruction {
                origin: obstruction.origin,
                coordinate: obstruction.coordinate.clone(),
                payload,
                body: body.clone(),
            })
        }
    }
}

/// A result of shape `upstream`: its package has no type of it, but says how it is put together.
fn projected(program: &Program, operation: &OperationEvidence) -> Result<BoundOutcome, Box<Fault>> {
    let body = &operation.body;
    let anchored = program.package.anchored.as_ref();
    let expected = anchored.and_then(|it| it.result(&operation.input.bytes));
    if expected.as_deref() != Some(&*body.bytes) {
        return Err(fault(
            "the result is not the projection of the input".to_owned(),
        ));
    }
    let value = cbor::decode(&body.bytes)
        .map_err(|error| fault(format!("the result is not canonical: {error}")))?;
    Ok(BoundOutcome::Result {
        value,
        body: body.clone(),
    })
}

fn fault(message: String) -> Box<Fault> {
    Fault::new(FailureKind::ResultBindingMismatch, message)
}

fn authored(
    program: &Program,
    body: &Body,
    obstruction: &RecordObstruction,
) -> Result<Value, Box<Fault>> {
    program
        .package
        .obstruction_rows(&obstruction.coordinate)
        .find_map(|row| row.payload.decode(&body.bytes).ok())
        .ok_or_else(|| {
            fault("no declared obstruction has this coordinate and a payload like this".to_owned())
        })
}

fn constraint(
    program: &Program,
    body: &Body,
    obstruction: &RecordObstruction,
) -> Result<Value, Box<Fault>> {
    let payload = standard(body, obstruction, INPUT_CONSTRAINT)?;
    let named = match payload.as_map() {
        Some([_]) => payload.get("constraint").and_then(Value::as_text),
        _ => None,
    };
    match named {
        Some(name) if program.package.constraints.iter().any(|it| it == name) => Ok(payload),
        _ => Err(fault(
            "the payload names no constraint of the package".to_owned(),
        )),
    }
}

fn budget(
    program: &Program,
    body: &Body,
    record: &ExecutionRecord,
    obstruction: &RecordObstruction,
) -> Result<Value, Box<Fault>> {
    let payload = standard(body, obstruction, BUDGET_EXHAUSTED)?;
    let resource = payload.get("resource").and_then(Value::as_text);
    let limit = payload.get("limit").and_then(Value::as_u64);
    let two = payload.as_map().is_some_and(|entries| entries.len() == 2);
    let expected = match (&program.package.anchored, resource) {
        (Some(anchored), Some("result-bytes")) => Some(anchored.max_output_bytes),
        (_, resource) => resource.and_then(|resource| record.budget.limit_of(resource)),
    };
    if two && limit.is_some() && limit == expected {
        Ok(payload)
    } else {
        Err(fault(
            "the payload names no member of the budget with its limit".to_owned(),
        ))
    }
}

/// The payload of a standard obstruction, whose coordinate must be `coordinate`.
fn standard(
    body: &Body,
    obstruction: &RecordObstruction,
    coordinate: &str,
) -> Result<Value, Box<Fault>> {
    if obstruction.coordinate != coordinate {
        return Err(fault("origin and coordinate disagree".to_owned()));
    }
    cbor::decode(&body.bytes)
        .map_err(|error| fault(format!("the payload is not canonical: {error}")))
}
