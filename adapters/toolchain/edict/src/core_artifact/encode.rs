// SPDX-License-Identifier: Apache-2.0
//! Core to canonical values.

use super::expression::{expression, predicate, raise};
use crate::core::tree::{
    Arm, Binder, Block, Fold, Function, Intent, Local, Module, Node, Predicate,
};
use edict_codec::cbor::{Value, encode};
use std::collections::BTreeMap;

/// The capability that a module with an accumulator requires.
const ACCUMULATOR: &str = "edict.core.for-accumulator/v1";

/// The whole module. `types` are its named types, `core_profiles` the Core profile of every
/// operation profile that an intent names.
pub fn module(
    module: &Module,
    types: &BTreeMap<String, Value>,
    core_profiles: &BTreeMap<String, String>,
) -> Value {
    let imports = module.imports.iter().map(|(coordinate, manifest)| {
        Value::text_map([
            ("coordinate", Value::text(coordinate.as_str())),
            ("manifest", raw_digest(manifest)),
        ])
    });
    let capabilities = if has_accumulator(module) {
        vec![Value::text(ACCUMULATOR)]
    } else {
        Vec::new()
    };
    let functions = module
        .functions
        .iter()
        .map(|(name, body)| (name.as_str(), function(body)));
    let intents = module.intents.iter().map(|(name, body)| {
        let core = core_profiles.get(&body.profile).map_or("", String::as_str);
        (name.as_str(), intent(body, core))
    });
    let types = types
        .iter()
        .map(|(coordinate, value)| (coordinate.as_str(), value.clone()));
    Value::text_map([
        ("apiVersion", Value::text("edict.core/v1")),
        ("coordinate", Value::text(module.coordinate.as_str())),
        ("imports", Value::Array(imports.collect())),
        ("requiredCoreCapabilities", Value::Array(capabilities)),
        ("types", Value::text_map(types)),
        ("functions", Value::text_map(functions)),
        ("intents", Value::text_map(intents)),
    ])
}

/// `["sha256", bytes 32]`.
pub(crate) fn raw_digest(digest: &[u8; 32]) -> Value {
    Value::Array(vec![Value::text("sha256"), Value::bytes(digest.to_vec())])
}

/// A function, as it stands in Core and in exports.
pub fn function(body: &Function) -> Value {
    Value::text_map([
        (
            "parameters",
            Value::Array(body.parameters.iter().map(binder).collect()),
        ),
        ("result", Value::text(body.result.to_string())),
        (
            "bindings",
            Value::Array(body.bindings.iter().map(node).collect()),
        ),
        ("value", expression(&body.value)),
    ])
}

fn intent(intent: &Intent, core_profile: &str) -> Value {
    let mut constraints: Vec<Value> = intent
        .constraints
        .iter()
        .enumerate()
        .map(|(index, part)| constraint(index, part))
        .collect();
    constraints.sort_by_cached_key(encode);
    let limits = intent.limits;
    Value::text_map([
        ("parameter", binder(&intent.parameter)),
        ("result", Value::text(intent.result.to_string())),
        ("operationProfile", Value::text(intent.profile.as_str())),
        ("coreProfile", Value::text(core_profile)),
        (
            "basis",
            intent.basis.as_ref().map_or(Value::Null, expression),
        ),
        ("constraints", Value::Array(constraints)),
        (
            "budget",
            Value::text_map([
                ("coordinate", Value::text(intent.budget.as_str())),
                ("maxSteps", Value::unsigned(limits.max_steps)),
                (
                    "maxAllocatedBytes",
                    Value::unsigned(limits.max_allocated_bytes),
                ),
                ("maxOutputBytes", Value::unsigned(limits.max_output_bytes)),
            ]),
        ),
        ("body", block(&intent.body)),
    ])
}

/// Constraint `index` in source order.
pub(crate) fn constraint(index: usize, part: &Predicate) -> Value {
    Value::text_map([
        ("id", Value::text(format!("where.{index}"))),
        ("predicate", predicate(part)),
    ])
}

/// A binder.
pub fn binder(binder: &Binder) -> Value {
    let (name, number) = match binder.local {
        Local::Argument(number) => ("arg", number),
        Local::Local(number) => ("local", number),
        Local::Obstruction(number) => ("obstruction", number),
    };
    Value::text_map([
        ("id", Value::text(format!("{name}.{number}"))),
        ("name", Value::text(format!("${name}{number}"))),
        ("type", Value::text(binder.ty.to_string())),
    ])
}

/// A binder, or null.
pub(crate) fn optional_binder(binding: Option<&Binder>) -> Value {
    binding.map_or(Value::Null, binder)
}

fn block(block: &Block) -> Value {
    Value::text_map([
        (
            "nodes",
            Value::Array(block.nodes.iter().map(node).collect()),
        ),
        ("result", block_result(block)),
    ])
}

/// The result of a block; `const null` where nothing is yielded.
pub(crate) fn block_result(block: &Block) -> Value {
    block.result.as_ref().map_or_else(
        || {
            Value::text_map([
                ("kind", Value::text("const")),
                ("type", Value::text("Bool")),
                ("value", Value::Null),
            ])
        },
        expression,
    )
}

fn node(node: &Node) -> Value {
    match node {
        Node::Let { binding, value } => Value::text_map([
            ("kind", Value::text("let")),
            ("binding", binder(binding)),
            ("value", expression(value)),
        ]),
        Node::Require {
            predicate: condition,
            failure,
        } => Value::text_map([
            ("kind", Value::text("require")),
            ("predicate", predicate(condition)),
            ("onFailure", raise(failure)),
        ]),
        Node::Effect {
            binding,
            effect,
            input,
            arms: handled,
        } => Value::text_map([
            ("kind", Value::text("effect")),
            ("binding", binder(binding)),
            ("effect", Value::text(effect.as_str())),
            ("input", expression(input)),
            ("arms", arms(handled)),
        ]),
        Node::Branch {
            condition,
            binding,
            then,
            otherwise,
        } => Value::text_map([
            ("kind", Value::text("branch")),
            ("condition", predicate(condition)),
            ("binding", optional_binder(binding.as_ref())),
            ("then", block(then)),
            ("else", block(otherwise)),
        ]),
        Node::For {
            item,
            collection,
            bound,
            fold,
            body,
        } => {
            let [binding, accumulator, initial] = fold_members(fold.as_ref());
            Value::text_map([
                ("kind", Value::text("for")),
                ("item", binder(item)),
                ("collection", expression(collection)),
                ("bound", Value::unsigned(*bound)),
                ("binding", binding),
                ("accumulator", accumulator),
                ("initial", initial),
                ("body", block(body)),
            ])
        }
    }
}

/// Binding, accumulator and initial value, all null without a fold.
pub(crate) fn fold_members(fold: Option<&Fold>) -> [Value; 3] {
    match fold {
        Some(fold) => [
            binder(&fold.binding),
            binder(&fold.accumulator),
            expression(&fold.initial),
        ],
        None => [Value::Null, Value::Null, Value::Null],
    }
}

/// The arms of an effect by failure name.
pub(crate) fn arms(arms: &BTreeMap<String, Arm>) -> Value {
    Value::text_map(arms.iter().map(|(failure, arm)| {
        let value = Value::text_map([
            ("binding", binder(&arm.binding)),
            ("raise", raise(&arm.raise)),
        ]);
        (failure.as_str(), value)
    }))
}

fn has_accumulator(module: &Module) -> bool {
    let functions = module.functions.values().map(|it| it.bindings.as_slice());
    let intents = module.intents.values().map(|it| it.body.nodes.as_slice());
    let mut pending: Vec<&[Node]> = functions.chain(intents).collect();
    while let Some(nodes) = pending.pop() {
        for node in nodes {
            match node {
                Node::For { fold: Some(_), .. } => return true,
                Node::For { body, .. } => pending.push(&body.nodes),
                Node::Branch {
                    then, otherwise, ..
                } => pending.extend([then.nodes.as_slice(), otherwise.nodes.as_slice()]),
                Node::Let { .. } | Node::Require { .. } | Node::Effect { .. } => {}
            }
        }
    }
    false
}
