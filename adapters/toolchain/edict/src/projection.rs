// SPDX-License-Identifier: Apache-2.0
//! `edict.result-projection/v1`: how the result is put together from the input and from what was
//! bound.

use crate::{
    core::tree::{Expr, Intent, Local},
    lower::{Ids, Source},
};
use edict_codec::cbor::Value;

/// Domain of the digest of projections.
pub const DOMAIN: &str = "edict.result-projection.artifact/v1";
/// Greatest number of records and sources.
const MAX_NODES: usize = 256;
/// Greatest number of fields of one path.
const MAX_PATH: usize = 32;

/// Why a result has no projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectionError {
    /// Too many parts.
    #[error("the result has more than {MAX_NODES} parts")]
    TooManyNodes,
    /// A path that is too long.
    #[error("a part of the result is a path of more than {MAX_PATH} fields")]
    PathTooLong,
    /// A part that is neither a local nor a field path; Core binds all others first.
    #[error("a part of the result is bound to nothing")]
    Unbound,
}

/// The projection of `intent`, whose operation is `operation`.
///
/// # Errors
/// See [`ProjectionError`].
pub fn project(operation: &str, intent: &Intent, ids: &Ids) -> Result<Value, ProjectionError> {
    let result = intent
        .body
        .result
        .as_ref()
        .ok_or(ProjectionError::Unbound)?;
    let mut nodes = 0;
    let expression = part(result, ids, &mut nodes)?;
    Ok(Value::text_map([
        ("schema", Value::text("edict.result-projection/v1")),
        ("operationCoordinate", Value::text(operation)),
        ("outputType", Value::text(intent.result.to_string())),
        (
            "maxOutputBytes",
            Value::unsigned(intent.limits.max_output_bytes),
        ),
        ("expression", expression),
    ]))
}

fn part(expression: &Expr, ids: &Ids, nodes: &mut usize) -> Result<Value, ProjectionError> {
    *nodes = nodes.saturating_add(1);
    if *nodes > MAX_NODES {
        return Err(ProjectionError::TooManyNodes);
    }
    if let Expr::Record(fields) = expression {
        let fields: Vec<(&str, Value)> = fields
            .iter()
            .map(|(name, value)| Ok((name.as_str(), part(value, ids, nodes)?)))
            .collect::<Result<_, ProjectionError>>()?;
        return Ok(Value::text_map([
            ("kind", Value::text("record")),
            ("fields", Value::text_map(fields)),
        ]));
    }
    let mut path = Vec::new();
    let mut base = expression;
    while let Expr::Field { base: below, field } = base {
        path.push(Value::text(field.as_str()));
        base = below;
    }
    if path.len() > MAX_PATH {
        return Err(ProjectionError::PathTooLong);
    }
    path.reverse();
    let Expr::Local(local) = base else {
        return Err(ProjectionError::Unbound);
    };
    Ok(Value::text_map([
        ("kind", Value::text("source")),
        ("source", source(*local, ids)?),
        ("path", Value::Array(path)),
    ]))
}

fn source(local: Local, ids: &Ids) -> Result<Value, ProjectionError> {
    if let Local::Argument(_) = local {
        return Ok(Value::text_map([("kind", Value::text("applicationInput"))]));
    }
    match ids.get(&local).ok_or(ProjectionError::Unbound)? {
        Source::Step(id) => Ok(Value::text_map([
            ("kind", Value::text("capabilityResult")),
            ("stepId", Value::text(id.as_str())),
        ])),
        Source::Binding(id) => Ok(Value::text_map([
            ("kind", Value::text("pureBinding")),
            ("bindingId", Value::text(id.as_str())),
        ])),
    }
}
