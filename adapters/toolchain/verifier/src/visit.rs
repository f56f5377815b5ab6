// SPDX-License-Identifier: Apache-2.0
//! One walk over functions and intents, in the order of source positions.

use crate::decode::core::{Block, Fold, Function, Intent, Node, Raise};
use crate::decode::expression::{Binder, Expression, Predicate};
use crate::decode::types::Type;

/// Sees the parts of a program. Recursion is bounded by the nesting of the artifact.
pub(crate) trait Visitor {
    /// A type text, those of binders included.
    fn ty(&mut self, _ty: &Type) {}
    /// A called function, helper or built-in.
    fn callee(&mut self, _callee: &str) {}
    /// The coordinate of a constructed variant.
    fn variant(&mut self, _coordinate: &str) {}
    /// A binder, at its place.
    fn binder(&mut self, _binder: &Binder) {}
    /// A statement, before its parts.
    fn node(&mut self, _node: &Node) {}
    /// The arms of an effect by ascending failure name.
    fn arms(&mut self, arms: &[(&Binder, &Raise)])
    where
        Self: Sized,
    {
        for (binding, arm) in arms {
            binder(self, binding);
            raise(self, arm);
        }
    }
}

/// Walks a function.
pub(crate) fn function(visitor: &mut impl Visitor, function: &Function) {
    for parameter in &function.parameters {
        binder(visitor, parameter);
    }
    visitor.ty(&function.result);
    nodes(visitor, &function.bindings);
    expression(visitor, &function.value);
}

/// Walks an intent: parameter, basis, constraints, body.
pub(crate) fn intent(visitor: &mut impl Visitor, intent: &Intent) {
    binder(visitor, &intent.parameter);
    visitor.ty(&intent.result);
    if let Some(basis) = &intent.basis {
        expression(visitor, basis);
    }
    for constraint in &intent.constraints {
        predicate(visitor, constraint);
    }
    nodes(visitor, &intent.body.nodes);
    expression(visitor, &intent.body.result);
}

/// Walks statements.
pub(crate) fn nodes(visitor: &mut impl Visitor, nodes: &[Node]) {
    for item in nodes {
        node(visitor, item);
    }
}

/// Walks one statement.
pub(crate) fn node(visitor: &mut impl Visitor, node: &Node) {
    visitor.node(node);
    match node {
        Node::Let { binding, value } => {
            binder(visitor, binding);
            expression(visitor, value);
        }
        Node::Require {
            predicate: condition,
            raise: failure,
        } => {
            predicate(visitor, condition);
            raise(visitor, failure);
        }
        Node::Effect {
            binding,
            input,
            arms,
            ..
        } => {
            binder(visitor, binding);
            expression(visitor, input);
            let arms: Vec<(&Binder, &Raise)> = arms.values().map(|arm| (&arm.0, &arm.1)).collect();
            visitor.arms(&arms);
        }
        Node::Branch {
            condition,
            binding,
            then,
            otherwise,
        } => {
            if let Some(binding) = binding {
                binder(visitor, binding);
            }
            predicate(visitor, condition);
            block(visitor, then, binding.is_some());
            block(visitor, otherwise, binding.is_some());
        }
        Node::For {
            item,
            collection,
            fold,
            body,
            ..
        } => {
            if let Some(Fold { binding, .. }) = fold {
                binder(visitor, binding);
            }
            binder(visitor, item);
            expression(visitor, collection);
            if let Some(Fold {
                accumulator,
                initial,
                ..
            }) = fold
            {
                binder(visitor, accumulator);
                expression(visitor, initial);
            }
            block(visitor, body, fold.is_some());
        }
    }
}

fn block(visitor: &mut impl Visitor, block: &Block, yields: bool) {
    nodes(visitor, &block.nodes);
    if yields {
        expression(visitor, &block.result);
    }
}

/// Walks an authored obstruction.
pub(crate) fn raise(visitor: &mut impl Visitor, raise: &Raise) {
    if let Some(payload) = &raise.payload {
        expression(visitor, payload);
    }
}

/// Visits a binder and its type.
pub(crate) fn binder(visitor: &mut impl Visitor, binder: &Binder) {
    visitor.binder(binder);
    visitor.ty(&binder.ty);
}

/// Walks an expression.
pub(crate) fn expression(visitor: &mut impl Visitor, value: &Expression) {
    match value {
        Expression::Constant { ty, .. } => visitor.ty(ty),
        Expression::Local(_) => {}
        Expression::Field { base, .. } => expression(visitor, base),
        Expression::Record(fields) => {
            for (_, field) in fields {
                expression(visitor, field);
            }
        }
        Expression::List { item, items } => {
            visitor.ty(item);
            for item in items {
                expression(visitor, item);
            }
        }
        Expression::Case { ty, payload, .. } => {
            visitor.variant(ty);
            if let Some(payload) = payload {
                expression(visitor, payload);
            }
        }
        Expression::Match { value, arms } => {
            expression(visitor, value);
            for arm in arms {
                if let Some(binding) = &arm.binding {
                    binder(visitor, binding);
                }
                expression(visitor, &arm.value);
            }
        }
        Expression::Call {
            callee,
            type_arguments,
            arguments,
        } => {
            visitor.callee(callee);
            for ty in type_arguments {
                visitor.ty(ty);
            }
            for argument in arguments {
                expression(visitor, argument);
            }
        }
        Expression::If {
            condition,
            then,
            otherwise,
        } => {
            predicate(visitor, condition);
            expression(visitor, then);
            expression(visitor, otherwise);
        }
    }
}

/// Walks a predicate.
pub(crate) fn predicate(visitor: &mut impl Visitor, condition: &Predicate) {
    match condition {
        Predicate::Compare { left, right, .. } => {
            expression(visitor, left);
            expression(visitor, right);
        }
        Predicate::All(parts) | Predicate::Any(parts) => {
            for part in parts {
                predicate(visitor, part);
            }
        }
        Predicate::Not(part) => predicate(visitor, part),
        Predicate::Literal(_) => {}
    }
}
