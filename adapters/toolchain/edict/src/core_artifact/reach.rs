// SPDX-License-Identifier: Apache-2.0
//! The named types that a program can meet: of its parameters, results, payloads, binders,
//! constants, functions and effects.

use super::types::named_types;
use crate::{
    core::tree::{Binder, Block, Expr, Function, Intent, Node, Predicate, Raise},
    types::ty::Type,
};
use edict_codec::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Collects named types, and which functions, effects and obstructions are met on the way.
#[derive(Debug, Default)]
pub struct Reach {
    types: BTreeMap<String, Value>,
    /// Coordinates of variants that are constructed.
    pub variants: BTreeSet<String>,
    /// Called functions and helpers.
    pub callees: BTreeSet<String>,
    /// Called effects.
    pub effects: BTreeSet<String>,
    /// Obstructions that are raised with a payload.
    pub payloads: BTreeSet<String>,
}

impl Reach {
    /// The types found so far, by coordinate.
    pub fn types(&self) -> &BTreeMap<String, Value> {
        &self.types
    }

    /// Adds a type and everything below it.
    pub fn ty(&mut self, ty: &Type) {
        named_types(ty, &mut self.types);
    }

    /// Adds a function with its body.
    pub fn function(&mut self, function: &Function) {
        for parameter in &function.parameters {
            self.binder(parameter);
        }
        self.ty(&function.result);
        self.nodes(&function.bindings);
        self.expression(&function.value);
    }

    /// Adds an intent with its body.
    pub fn intent(&mut self, intent: &Intent) {
        self.binder(&intent.parameter);
        self.ty(&intent.result);
        if let Some(basis) = &intent.basis {
            self.expression(basis);
        }
        for constraint in &intent.constraints {
            self.predicate(constraint);
        }
        self.block(&intent.body);
    }

    fn binder(&mut self, binder: &Binder) {
        self.ty(&binder.ty);
    }

    fn block(&mut self, block: &Block) {
        self.nodes(&block.nodes);
        if let Some(result) = &block.result {
            self.expression(result);
        }
    }

    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Let { binding, value } => {
                    self.binder(binding);
                    self.expression(value);
                }
                Node::Require { predicate, failure } => {
                    self.predicate(predicate);
                    self.raise(failure);
                }
                Node::Effect {
                    binding,
                    effect,
                    input,
                    arms,
                } => {
                    self.effects.insert(effect.clone());
                    self.binder(binding);
                    self.expression(input);
                    for arm in arms.values() {
                        self.binder(&arm.binding);
                        self.raise(&arm.raise);
                    }
                }
                Node::Branch {
                    condition,
                    binding,
                    then,
                    otherwise,
                } => {
                    self.predicate(condition);
                    if let Some(binding) = binding {
                        self.binder(binding);
                    }
                    self.block(then);
                    self.block(otherwise);
                }
                Node::For {
                    item,
                    collection,
                    fold,
                    body,
                    ..
                } => {
                    self.binder(item);
                    self.expression(collection);
                    if let Some(fold) = fold {
                        self.binder(&fold.binding);
                        self.binder(&fold.accumulator);
                        self.expression(&fold.initial);
                    }
                    self.block(body);
                }
            }
        }
    }

    fn raise(&mut self, raise: &Raise) {
        if let Some(payload) = &raise.payload {
            self.payloads.insert(raise.obstruction.clone());
            self.expression(payload);
        }
    }

    fn expression(&mut self, root: &Expr) {
        match root {
            Expr::Const { ty, .. } => self.ty(ty),
            Expr::Local(_) => {}
            Expr::Field { base, .. } => self.expression(base),
            Expr::Record(fields) => {
                for (_, value) in fields {
                    self.expression(value);
                }
            }
            Expr::List { item, items } => {
                self.ty(item);
                for item in items {
                    self.expression(item);
                }
            }
            Expr::Variant { ty, payload, .. } => {
                self.variants.insert(ty.clone());
                if let Some(payload) = payload {
                    self.expression(payload);
                }
            }
            Expr::Match { value, arms } => {
                self.expression(value);
                for arm in arms {
                    if let Some(binding) = &arm.binding {
                        self.binder(binding);
                    }
                    self.expression(&arm.value);
                }
            }
            Expr::Call {
                callee,
                type_arguments,
                arguments,
            } => {
                if !callee.starts_with("core.") {
                    self.callees.insert(callee.clone());
                }
                for ty in type_arguments {
                    self.ty(ty);
                }
                for argument in arguments {
                    self.expression(argument);
                }
            }
            Expr::If {
                condition,
                then,
                otherwise,
            } => {
                self.predicate(condition);
                self.expression(then);
                self.expression(otherwise);
            }
        }
    }

    fn predicate(&mut self, root: &Predicate) {
        match root {
            Predicate::Compare { left, right, .. } => {
                self.expression(left);
                self.expression(right);
            }
            Predicate::All(parts) | Predicate::Any(parts) => {
                for part in parts {
                    self.predicate(part);
                }
            }
            Predicate::Not(part) => self.predicate(part),
            Predicate::True | Predicate::False => {}
        }
    }
}
