// SPDX-License-Identifier: Apache-2.0
//! The executable operation package, made again from Core and its closure.

use crate::closure::effect::{Intrinsic, profile_digest};
use crate::closure::{Closure, Lawpack};
use crate::cost::Calls;
use crate::decode::core::{Core, Intent};
use crate::decode::types::Definition;
use crate::retype::{self, Judgement};
use crate::table::TypeTable;
use edict_codec::cbor::Value;
use edict_codec::digest::{Algorithm, TypedDigest};

/// An artifact with its digest.
#[derive(Debug)]
pub(crate) struct Embedded<'a> {
    pub(crate) digest: TypedDigest,
    pub(crate) bytes: &'a [u8],
}

impl Embedded<'_> {
    fn to_value(&self) -> Value {
        Value::text_map([
            ("digest", self.digest.to_value()),
            ("bytes", Value::bytes(self.bytes)),
        ])
    }
}

/// What the package is made from.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) module: &'a Core,
    pub(crate) intent: &'a Intent,
    pub(crate) closure: &'a Closure,
    pub(crate) table: &'a TypeTable,
    pub(crate) judgement: &'a Judgement,
    pub(crate) source: TypedDigest,
    pub(crate) core: Embedded<'a>,
    pub(crate) target_ir: Embedded<'a>,
    pub(crate) projection: Embedded<'a>,
}

/// The digest of the bundled target profile.
pub(crate) fn target_profile() -> TypedDigest {
    TypedDigest::new(
        "edict.target-profile/v1",
        Algorithm::Sha256,
        profile_digest(),
    )
}

/// The package that must have been written.
pub(crate) fn expected(parts: &Parts<'_>) -> Value {
    let judgement = parts.judgement;
    let pure = judgement.effects.is_empty();
    let operation = format!("{}.{}", parts.module.coordinate, judgement.intent);
    let lawpacks = parts.closure.lawpacks.iter();
    let constraints = 0..parts.intent.constraints.len();
    Value::text_map([
        ("schema", Value::text("echo.program-package/v1")),
        ("kind", Value::text(if pure { "pure" } else { "effectful" })),
        ("operation", Value::Text(operation)),
        ("targetProfile", target_profile().to_value()),
        ("interpreter", Value::text("echo.interpreter/v1")),
        ("costLaw", Value::text("echo.cost/v1")),
        ("codec", Value::text("edict.canonical-cbor/v1")),
        ("source", parts.source.to_value()),
        ("core", parts.core.to_value()),
        ("targetIr", parts.target_ir.to_value()),
        ("projection", parts.projection.to_value()),
        (
            "lawpacks",
            Value::Array(lawpacks.map(Lawpack::package_row).collect()),
        ),
        ("budget", parts.intent.budget.to_value()),
        ("staticBound", static_bound(judgement)),
        ("types", types(parts)),
        (
            "inputType",
            Value::Text(parts.intent.parameter.ty.to_string()),
        ),
        ("outputType", Value::Text(parts.intent.result.to_string())),
        (
            "constraints",
            Value::Array(
                constraints
                    .map(|number| Value::Text(format!("where.{number}")))
                    .collect(),
            ),
        ),
        ("obstructions", obstructions(judgement)),
        ("effects", effects(parts)),
        ("footprint", footprint(&judgement.calls)),
    ])
}

fn static_bound(judgement: &Judgement) -> Value {
    Value::text_map([
        ("steps", Value::unsigned(judgement.bound.steps)),
        ("allocatedBytes", Value::unsigned(judgement.bound.bytes)),
        ("outputBytes", Value::unsigned(judgement.output_bytes)),
    ])
}

fn types(parts: &Parts<'_>) -> Value {
    let names = retype::Reached::program(parts.module, parts.intent, parts.closure, parts.table);
    let rows = names.into_iter().filter_map(|name| {
        let definition = parts.table.definition(&name).map(Definition::to_value)?;
        Some((name, definition))
    });
    Value::text_map(rows)
}

fn obstructions(judgement: &Judgement) -> Value {
    let rows = judgement
        .raised
        .iter()
        .map(|((coordinate, payload), class)| {
            Value::text_map([
                ("coordinate", Value::text(&**coordinate)),
                ("payloadType", Value::text(&**payload)),
                ("class", Value::text(&**class)),
            ])
        });
    Value::Array(rows.collect())
}

fn effects(parts: &Parts<'_>) -> Value {
    let rows = parts.judgement.effects.iter().filter_map(|effect| {
        let plan = parts.closure.effect(effect)?;
        let failures = plan
            .failures
            .iter()
            .map(|(name, failure)| (name.as_str(), Value::text(&*failure.target)));
        let value = match plan.intrinsic {
            Intrinsic::Delete => Value::Null,
            Intrinsic::Read | Intrinsic::Create | Intrinsic::Replace => {
                Value::Text(plan.value.to_string())
            }
        };
        Some(Value::text_map([
            ("effect", Value::text(&**effect)),
            ("intrinsic", Value::text(plan.intrinsic.coordinate())),
            ("space", Value::text(&*plan.space)),
            ("keyType", Value::Text(plan.key.to_string())),
            ("valueType", value),
            ("failures", Value::text_map(failures)),
        ]))
    });
    Value::Array(rows.collect())
}

fn footprint(calls: &Calls) -> Value {
    let rows = calls.iter().map(|((space, intrinsic), count)| {
        Value::text_map([
            ("space", Value::text(&**space)),
            ("intrinsic", Value::text(&**intrinsic)),
            ("maxCalls", Value::unsigned(*count)),
        ])
    });
    Value::Array(rows.collect())
}
