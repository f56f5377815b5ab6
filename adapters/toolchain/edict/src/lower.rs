// SPDX-License-Identifier: Apache-2.0
//! Core to Target IR `echo.atoms-ir/v1`: flat lists of what is executed, and the order of it.

mod flat;

use crate::{
    core::tree::{Intent, Module},
    core_artifact::{DOMAIN as CORE_DOMAIN, binder, constraint, expression, raw_digest},
    lawpack::{assemble::Lawpack, manifest, target},
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};

pub use flat::{Ids, Source};

/// Domain of the digest of Target IR.
pub const DOMAIN: &str = "edict.target-ir.artifact/v1";

/// A lowered module.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The artifact.
    pub value: Value,
    /// Which entry binds what, of the one intent.
    pub ids: Ids,
}

/// Lowers the one intent of a module. `core` is the digest of its Core, `closure` its lawpacks in
/// order.
pub fn lower(
    module: &Module,
    name: &str,
    intent: &Intent,
    core: &[u8; 32],
    closure: &[&Lawpack],
) -> Lowered {
    let typed = |domain: &str, digest: &[u8; 32]| {
        TypedDigest::new(domain, Algorithm::Sha256, *digest).to_value()
    };
    let lawpacks = closure.iter().map(|lawpack| {
        let context = &lawpack.context;
        Value::text_map([
            ("coordinate", Value::text(context.coordinate.as_str())),
            ("manifest", typed(manifest::DOMAIN, &context.manifest)),
        ])
    });
    let closure_value = Value::text_map([
        ("sourceCore", typed(CORE_DOMAIN, core)),
        ("lawpacks", Value::Array(lawpacks.collect())),
    ]);
    let target_profile = Value::text_map([
        ("id", Value::text(target::PROFILE)),
        ("digest", raw_digest(&target::profile_digest())),
    ]);
    let (value, ids) = lower_intent(name, intent, closure);
    let value = Value::text_map([
        ("kind", Value::text("orderedTargetIrArtifact")),
        ("domain", Value::text(target::TARGET_IR)),
        ("targetProfile", target_profile),
        (
            "sourceCoreCoordinate",
            Value::text(module.coordinate.as_str()),
        ),
        ("semanticClosure", closure_value),
        ("intents", Value::text_map([(name, value)])),
    ]);
    Lowered { value, ids }
}

fn lower_intent(name: &str, intent: &Intent, closure: &[&Lawpack]) -> (Value, Ids) {
    let mut flat = flat::Flat::new(name, closure);
    let body = flat.block(&intent.body);
    let constraints = intent.constraints.iter().enumerate();
    let constraints = constraints.map(|(index, part)| constraint(index, part));
    let limits = intent.limits;
    let budget = Value::text_map([
        ("maxSteps", Value::unsigned(limits.max_steps)),
        (
            "maxAllocatedBytes",
            Value::unsigned(limits.max_allocated_bytes),
        ),
        ("maxOutputBytes", Value::unsigned(limits.max_output_bytes)),
    ]);
    let (lists, ids) = flat.finish();
    let members = [
        ("operationProfile", Value::text(intent.profile.as_str())),
        (
            "basis",
            intent.basis.as_ref().map_or(Value::Null, expression),
        ),
        ("inputConstraints", Value::Array(constraints.collect())),
        ("coreEvaluationBudget", budget),
        ("parameter", binder(&intent.parameter)),
        ("outputType", Value::text(intent.result.to_string())),
        ("executionOrder", body.order),
        ("result", body.result),
    ];
    (Value::text_map(members.into_iter().chain(lists)), ids)
}
