// SPDX-License-Identifier: Apache-2.0
//! How large the artifacts of a Core tree are at least, without making them. Type texts,
//! coordinates and configurations stand in an artifact once for each use, so that a small source
//! can have artifacts of any size; those that no verifier would read are never begun.

use super::tree::{Binder, Block, Expr, Function, Intent, Node, Predicate, Raise};
use crate::lawpack::context::{Effect, LawpackContext};
use crate::types::size::coordinate;
use crate::types::ty::Type;
use edict_codec::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

/// Greatest size of an artifact in bytes: a verifier reads no larger file.
pub const MAX_ARTIFACT: u64 = 16_777_216;

/// Bytes of the smallest expression or node.
const LEAST_NODE: u64 = 16;

/// Adds up what artifacts hold at least, as long as it is below the greatest size.
#[derive(Debug)]
pub struct Extent<'a> {
    left: u64,
    effects: BTreeMap<&'a str, &'a Effect>,
    /// Named types whose definition is counted.
    named: BTreeSet<String>,
    /// Bytes of the name of the intent, which begins every id of Target IR.
    id: u64,
}

/// Counts the bytes of a text and fails where it grows beyond what is left.
struct Counter {
    left: u64,
}

impl fmt::Write for Counter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(length(text)).ok_or(fmt::Error)?;
        Ok(())
    }
}

/// Bytes of a text.
pub(crate) fn length(text: &str) -> u64 {
    length_of(text.as_bytes())
}

/// Number of bytes.
pub(crate) fn length_of(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Bytes of a text or byte string in a constant; all other constants are small.
pub(crate) fn constant(value: &Value) -> u64 {
    match value {
        Value::Text(text) => length(text),
        Value::Bytes(bytes) => length_of(bytes),
        _ => 0,
    }
}

impl<'a> Extent<'a> {
    /// Nothing is counted yet; the effects of `contexts` may be called.
    pub fn new(contexts: &'a [LawpackContext]) -> Self {
        let effects = contexts.iter().flat_map(|it| it.effects.values());
        Self {
            left: MAX_ARTIFACT,
            effects: effects.map(|it| (it.coordinate.as_str(), it)).collect(),
            named: BTreeSet::new(),
            id: 0,
        }
    }

    /// Whether some artifact would be larger than [`MAX_ARTIFACT`].
    pub const fn is_exceeded(&self) -> bool {
        self.left == 0
    }

    fn take(&mut self, bytes: u64) {
        self.left = self.left.saturating_sub(bytes);
    }

    fn text(&mut self, ty: &Type) {
        let mut counter = Counter { left: self.left };
        self.left = match write!(counter, "{ty}") {
            Ok(()) => counter.left,
            Err(fmt::Error) => 0,
        };
    }

    /// A type where it stands, and once the definitions of the named types in it.
    fn ty(&mut self, ty: &Type) {
        self.text(ty);
        let mut pending = vec![ty];
        while let Some(part) = pending.pop() {
            if self.is_exceeded() {
                return;
            }
            if let Some(name) = coordinate(part)
                && !self.named.insert(name.to_owned())
            {
                continue;
            }
            let fields: Vec<&Type> = match part {
                Type::Record(record) => record.fields.values().collect(),
                Type::Variant(it) => it.cases.iter().filter_map(|(_, it)| it.as_ref()).collect(),
                Type::Option(item) | Type::List { item, .. } => {
                    pending.push(item);
                    continue;
                }
                Type::Nominal(nominal) => vec![&nominal.representation],
                _ => continue,
            };
            if coordinate(part).is_some() {
                for field in &fields {
                    self.text(field);
                }
            }
            pending.extend(fields);
        }
    }

    /// Counts a function.
    pub fn function(&mut self, function: &Function) {
        self.id = 0;
        for parameter in &function.parameters {
            self.binder(parameter);
        }
        self.ty(&function.result);
        self.nodes(&function.bindings);
        self.expression(&function.value);
    }

    /// Counts an intent and what Target IR adds to it.
    pub fn intent(&mut self, name: &str, intent: &Intent) {
        self.id = length(name);
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
            if self.is_exceeded() {
                return;
            }
            self.take(self.id.saturating_add(LEAST_NODE));
            self.node(node);
        }
    }

    fn node(&mut self, node: &Node) {
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
                self.take(length(effect));
                if let Some(known) = self.effects.get(effect.as_str()).copied() {
                    self.ty(&known.atom);
                    self.ty(&known.key);
                    for payload in known.failures.values() {
                        self.ty(payload);
                    }
                }
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

    fn raise(&mut self, raise: &Raise) {
        self.take(length(&raise.obstruction));
        if let Some(payload) = &raise.payload {
            self.expression(payload);
        }
    }

    fn all<'e>(&mut self, parts: impl IntoIterator<Item = &'e Expr>) {
        for part in parts {
            if self.is_exceeded() {
                return;
            }
            self.expression(part);
        }
    }

    fn expression(&mut self, root: &Expr) {
        self.take(LEAST_NODE);
        match root {
            Expr::Const { ty, value } => {
                self.ty(ty);
                self.take(constant(value));
            }
            Expr::Local(_) => {}
            Expr::Field { base, field } => {
                self.take(length(field));
                self.expression(base);
            }
            Expr::Record(fields) => {
                for (name, value) in fields {
                    self.take(length(name));
                    self.expression(value);
                }
            }
            Expr::List { item, items } => {
                self.ty(item);
                self.all(items);
            }
            Expr::Variant { ty, payload, .. } => {
                self.take(length(ty));
                self.all(payload.as_deref());
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
                self.take(length(callee));
                for ty in type_arguments {
                    self.ty(ty);
                }
                self.all(arguments);
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
        self.take(LEAST_NODE / 2);
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
