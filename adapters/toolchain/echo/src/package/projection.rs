// SPDX-License-Identifier: Apache-2.0
//! The projection, rebuilt from the result in Target IR (check A14).

use super::tree::{Expr, Local, Statement, Tree};
use crate::eval::names::Names;
use edict_codec::cbor::Value;
use std::collections::BTreeMap;

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
        ("expression", expression(&sources(tree), names, result)?),
    ]))
}

/// Recursion is bounded: nesting was judged before.
fn expression(sources: &BTreeMap<Local, Value>, names: &Names, expr: &Expr) -> Option<Value> {
    if let Expr::Record(fields) = expr {
        let mut projected = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            projected.push((
                names.text(*name).to_owned(),
                expression(sources, names, value)?,
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
        ("source", sources.get(&local)?.clone()),
        ("path", Value::Array(path)),
    ]))
}

/// The source that each local of the outermost block is.
fn sources(tree: &Tree) -> BTreeMap<Local, Value> {
    let intent = &tree.intent;
    let input = Value::text_map([("kind", Value::text("applicationInput"))]);
    let mut sources = BTreeMap::from([(intent.parameter, input)]);
    for id in &intent.body.order {
        let (kind, key, binding) = match intent.statements.get(*id) {
            Some(Statement::Let { binding, .. }) => ("pureBinding", "bindingId", Some(*binding)),
            Some(Statement::Effect(effect)) => ("capabilityResult", "stepId", Some(effect.binding)),
            Some(Statement::Branch { binding, .. }) => ("pureBinding", "bindingId", *binding),
            Some(Statement::For(head)) => (
                "pureBinding",
                "bindingId",
                head.fold.as_ref().map(|fold| fold.binding),
            ),
            Some(Statement::Require { .. }) | None => continue,
        };
        if let (Some(local), Some(id)) = (binding, intent.ids.get(*id)) {
            let source =
                Value::text_map([("kind", Value::text(kind)), (key, Value::text(id.as_str()))]);
            sources.insert(local, source);
        }
    }
    sources
}
