// SPDX-License-Identifier: Apache-2.0
//! Types and costs of Core expressions and predicates.

use super::{Cost, Costs, builtin};
use crate::core::tree::{Expr, Predicate};
use crate::types::ty::{RecordType, Type};
use crate::types::{builtin as builtin_types, relate};
use std::sync::Arc;

fn count(items: usize) -> u64 {
    u64::try_from(items).unwrap_or(u64::MAX)
}

impl Costs<'_> {
    /// The type of an expression and what its evaluation costs at most.
    pub(super) fn expr(&mut self, expr: &Expr) -> (Type, Cost) {
        let (ty, cost) = match expr {
            Expr::Const { ty, .. } => (ty.clone(), Cost::default()),
            Expr::Local(local) => {
                let ty = self.locals.get(local).cloned().unwrap_or(Type::Error);
                (ty, Cost::default())
            }
            Expr::Field { base, field } => {
                let (base, cost) = self.expr(base);
                let ty = match base {
                    Type::Record(record) => record.fields.get(field).cloned(),
                    _ => None,
                };
                (ty.unwrap_or(Type::Error), cost)
            }
            Expr::Record(fields) => self.record(fields),
            Expr::List { item, items } => {
                let n = count(items.len());
                let mut cost = Cost::new(n, n.saturating_mul(16).saturating_add(32));
                for item in items {
                    cost = cost.plus(self.expr(item).1);
                }
                let item = Arc::new(item.clone());
                (Type::List { item, max: n }, cost)
            }
            Expr::Variant { ty, payload, .. } => {
                let cost = payload.as_ref().map_or_else(Cost::default, |payload| {
                    self.expr(payload).1.plus(Cost::new(0, 32))
                });
                let ty = self.variants.get(ty).cloned();
                (ty.unwrap_or(Type::Error), cost)
            }
            Expr::Match { value, arms } => {
                let cost = self.expr(value).1;
                let mut joined: Option<Type> = None;
                let mut worst = Cost::default();
                for arm in arms {
                    if let Some(binding) = &arm.binding {
                        self.bind(binding);
                    }
                    let (ty, arm) = self.expr(&arm.value);
                    worst = worst.or(arm);
                    joined = Some(join(joined, ty));
                }
                (joined.unwrap_or(Type::Error), cost.plus(worst))
            }
            Expr::Call {
                callee,
                type_arguments,
                arguments,
            } => {
                let mut cost = Cost::default();
                for argument in arguments {
                    cost = cost.plus(self.expr(argument).1);
                }
                let (ty, body) = self.call(callee, type_arguments);
                (ty, cost.plus(body))
            }
            Expr::If {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.predicate(condition);
                let (left, then) = self.expr(then);
                let (right, otherwise) = self.expr(otherwise);
                (join(Some(left), right), condition.plus(then.or(otherwise)))
            }
        };
        (ty, cost.plus(Cost::new(1, 0)))
    }

    fn record(&mut self, fields: &[(String, Expr)]) -> (Type, Cost) {
        let n = count(fields.len());
        let mut cost = Cost::new(0, n.saturating_mul(16).saturating_add(32));
        let mut types = std::collections::BTreeMap::new();
        for (name, value) in fields {
            let (ty, value) = self.expr(value);
            cost = cost.plus(value);
            types.insert(name.clone(), ty);
        }
        let ty = Type::Record(Arc::new(RecordType {
            coordinate: None,
            fields: types,
        }));
        (ty, cost)
    }

    fn call(&mut self, callee: &str, types: &[Type]) -> (Type, Cost) {
        if callee.starts_with("core.") {
            let ty = builtin_types::result(callee, types).unwrap_or(Type::Error);
            return (ty.clone(), builtin::cost(callee, types, &ty));
        }
        if let Some((ty, cost)) = self.functions.get(callee) {
            return (ty.clone(), *cost);
        }
        self.unknown = true;
        (Type::Error, Cost::new(u64::MAX, u64::MAX))
    }

    /// What the evaluation of a predicate costs at most.
    pub(super) fn predicate(&mut self, predicate: &Predicate) -> Cost {
        let cost = match predicate {
            Predicate::Compare { left, right, .. } => {
                let (left, first) = self.expr(left);
                let (right, second) = self.expr(right);
                let weight = self.sizes.weight(&left).max(self.sizes.weight(&right));
                let compare = Cost::new(weight.saturating_sub(1), 0);
                first.plus(second).plus(compare)
            }
            Predicate::All(parts) | Predicate::Any(parts) => {
                let mut cost = Cost::default();
                for part in parts {
                    cost = cost.plus(self.predicate(part));
                }
                cost
            }
            Predicate::Not(part) => self.predicate(part),
            Predicate::True | Predicate::False => Cost::default(),
        };
        cost.plus(Cost::new(1, 0))
    }
}

fn join(left: Option<Type>, right: Type) -> Type {
    match left {
        None => right,
        Some(left) => relate::join(&left, &right).unwrap_or(Type::Error),
    }
}
