// SPDX-License-Identifier: Apache-2.0
//! The projection, rebuilt from the result in Target IR (check A14).

use super::tree::{Block, Expr, Local, Statement, Tree};
use crate::eval::names::Names;
use edict_codec::cbor::Value;

/// What a projection says beside its expression.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    pub(crate) operation: &'a str,
    pub(crate) output_type: &'a str,
    pub(crate) max_output_bytes: u64,
}

/// The projection of the program; `None` if its result is more than records of sources.
pub(crate) fn rebuild(tree: &Tree, names: &Names, facts: &Facts<'_>) -> Option<Value> {
    let result = tree.intent.body.result.as_ref()?;
    Some(Value::text_map([
        ("schema", Value::text("edict.result-projection/v1")),
        ("operationCoordinate", Value::text(facts.operation)),
        ("outputType", Value::text(facts.output_type)),
        ("maxOutputBytes", Value::unsigned(facts.max_output_bytes)),
        ("expression", expression(tree, names, result)?),
    ]))
}

/// Recursion is bounded: nesting was judged before.
fn expression(tree: &Tree, names: &Names, expr: &Expr) -> Option<Value> {
    if let Expr::Record(fields) = expr {
        let mut projected = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            projected.push((
                names.text(*name).to_owned(),
                expression(tree, names, value)?,
            ));
        }
        return Some(Value::text_map([
            ("kind", Value::text("record")),
            ("fields", Value::text_map(projected)),
        ]));
    }
    let mut path = Vec::new();
    let mut base = expr;
    let local = loop {
        match base {
            Expr::Field { base: inner, name } => {
                path.push(Value::text(names.text(*name)));
                base = inner;
            }
            Expr::Local(local) => break *local,
            _ => return None,
        }
    };
    path.reverse();
    Some(Value::text_map([
        ("kind", Value::text("source")),
        ("source", source(tree, local)?),
        ("path", Value::Array(path)),
    ]))
}

/// The source that a local of the outermost block is.
fn source(tree: &Tree, local: Local) -> Option<Value> {
    let intent = &tree.intent;
    if local == intent.parameter {
        return Some(Value::text_map([("kind", Value::text("applicationInput"))]));
    }
    let Block { order, .. } = &intent.body;
    for id in order {
        let (kind, key, binding) = match intent.statements.get(*id)? {
            Statement::Let { binding, .. } => ("pureBinding", "bindingId", Some(*binding)),
            Statement::Effect(effect) => ("capabilityResult", "stepId", Some(effect.binding)),
            Statement::Branch { binding, .. } => ("pureBinding", "bindingId", *binding),
            Statement::For(head) => (
                "pureBinding",
                "bindingId",
                head.fold.as_ref().map(|fold| fold.binding),
            ),
            Statement::Require { .. } => continue,
        };
        if binding == Some(local) {
            let id = intent.ids.get(*id)?.as_str();
            return Some(Value::text_map([
                ("kind", Value::text(kind)),
                (key, Value::text(id)),
            ]));
        }
    }
    None
}
