// SPDX-License-Identifier: Apache-2.0
//! Expressions and predicates of Core to canonical values.

use super::encode::optional_binder;
use crate::core::tree::{Comparison, Expr, Local, MatchArm, Predicate, Raise};
use edict_codec::cbor::Value;

/// An obstruction that is raised.
pub fn raise(raise: &Raise) -> Value {
    let arguments = raise.payload.iter().map(expression).collect();
    call(&raise.obstruction, Vec::new(), arguments)
}

fn call(callee: &str, type_arguments: Vec<Value>, arguments: Vec<Value>) -> Value {
    Value::text_map([
        ("kind", Value::text("call")),
        ("callee", Value::text(callee)),
        ("typeArgs", Value::Array(type_arguments)),
        ("args", Value::Array(arguments)),
    ])
}

/// An expression.
pub fn expression(root: &Expr) -> Value {
    match root {
        Expr::Const { ty, value } => Value::text_map([
            ("kind", Value::text("const")),
            ("type", Value::text(ty.to_string())),
            ("value", value.clone()),
        ]),
        Expr::Local(local) => Value::text_map([
            ("kind", Value::text("local")),
            ("id", Value::text(local_id(*local))),
        ]),
        Expr::Field { base, field } => Value::text_map([
            ("kind", Value::text("field")),
            ("base", expression(base)),
            ("field", Value::text(field.as_str())),
        ]),
        Expr::Record(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                Value::text_map([
                    ("name", Value::text(name.as_str())),
                    ("value", expression(value)),
                ])
            });
            Value::text_map([
                ("kind", Value::text("record")),
                ("fields", Value::Array(fields.collect())),
            ])
        }
        Expr::List { item, items } => Value::text_map([
            ("kind", Value::text("list")),
            ("item", Value::text(item.to_string())),
            (
                "items",
                Value::Array(items.iter().map(expression).collect()),
            ),
        ]),
        Expr::Variant { ty, case, payload } => Value::text_map([
            ("kind", Value::text("variant")),
            ("type", Value::text(ty.as_str())),
            ("case", Value::text(case.as_str())),
            (
                "payload",
                payload
                    .as_ref()
                    .map_or(Value::Null, |payload| expression(payload)),
            ),
        ]),
        Expr::Match { value, arms } => Value::text_map([
            ("kind", Value::text("match")),
            ("value", expression(value)),
            ("arms", Value::Array(arms.iter().map(match_arm).collect())),
        ]),
        Expr::Call {
            callee,
            type_arguments,
            arguments,
        } => {
            let types = type_arguments.iter().map(|ty| Value::text(ty.to_string()));
            call(
                callee,
                types.collect(),
                arguments.iter().map(expression).collect(),
            )
        }
        Expr::If {
            condition,
            then,
            otherwise,
        } => Value::text_map([
            ("kind", Value::text("if")),
            ("condition", predicate(condition)),
            ("then", expression(then)),
            ("else", expression(otherwise)),
        ]),
    }
}

/// The id of a local.
fn local_id(local: Local) -> String {
    match local {
        Local::Argument(number) => format!("arg.{number}"),
        Local::Local(number) => format!("local.{number}"),
        Local::Obstruction(number) => format!("obstruction.{number}"),
    }
}

fn match_arm(arm: &MatchArm) -> Value {
    Value::text_map([
        ("case", Value::text(arm.case.as_str())),
        ("binding", optional_binder(arm.binding.as_ref())),
        ("value", expression(&arm.value)),
    ])
}

/// A condition.
pub fn predicate(root: &Predicate) -> Value {
    match root {
        Predicate::Compare {
            operator,
            left,
            right,
        } => Value::text_map([
            ("kind", Value::text("compare")),
            ("op", Value::text(operator_sign(*operator))),
            ("left", expression(left)),
            ("right", expression(right)),
        ]),
        Predicate::All(parts) => junction("all", parts),
        Predicate::Any(parts) => junction("any", parts),
        Predicate::Not(part) => {
            Value::text_map([("kind", Value::text("not")), ("part", predicate(part))])
        }
        Predicate::True => Value::text_map([("kind", Value::text("true"))]),
        Predicate::False => Value::text_map([("kind", Value::text("false"))]),
    }
}

fn junction(kind: &str, parts: &[Predicate]) -> Value {
    Value::text_map([
        ("kind", Value::text(kind)),
        ("parts", Value::Array(parts.iter().map(predicate).collect())),
    ])
}

const fn operator_sign(operator: Comparison) -> &'static str {
    match operator {
        Comparison::Equal => "==",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}
