// SPDX-License-Identifier: Apache-2.0
//! Visits a syntax tree in the order of its text, with the scopes of its binders.

use super::ast::{
    Block, Call, ClauseKind, Expr, ExprKind, FunctionDecl, Handler, IntentDecl, LetValue, Name,
    Param, Statement, StatementKind, Target, TypeExpr, TypeExprKind, YieldBlock,
};

/// What a pass wants to see.
pub(crate) trait Visitor {
    /// A written type, outer ones first.
    fn type_expr(&mut self, _ty: &TypeExpr) {}
    /// A binder enters the current scope.
    fn bind(&mut self, _name: &Name) {}
    /// A scope opens.
    fn open(&mut self) {}
    /// The last scope closes.
    fn close(&mut self) {}
    /// A call, before its parts.
    fn call(&mut self, _expr: &Expr, _call: &Call) {}
}

/// The calls of plain names and of `alias.name` in a block, in source order.
pub fn calls_in(block: &Block) -> Vec<Name> {
    #[derive(Default)]
    struct Calls(Vec<Name>);
    impl Visitor for Calls {
        fn call(&mut self, expr: &Expr, call: &Call) {
            let text = match &call.callee.kind {
                ExprKind::Name(text) => text.clone(),
                ExprKind::Field(base, name) => match &base.kind {
                    ExprKind::Name(alias) => format!("{alias}.{}", name.text),
                    _ => return,
                },
                _ => return,
            };
            self.0.push(Name {
                text,
                span: expr.span,
            });
        }
    }
    let mut calls = Calls::default();
    walk_block(&mut calls, block);
    calls.0
}

pub(crate) fn walk_type(visitor: &mut dyn Visitor, ty: &TypeExpr) {
    visitor.type_expr(ty);
    match &ty.kind {
        TypeExprKind::Option(item) | TypeExprKind::List(item, _) => walk_type(visitor, item),
        TypeExprKind::Unbounded
        | TypeExprKind::Text(..)
        | TypeExprKind::Bytes(..)
        | TypeExprKind::Named(_) => {}
    }
}

pub(crate) fn walk_function(visitor: &mut dyn Visitor, function: &FunctionDecl) {
    visitor.open();
    walk_params(visitor, &function.params);
    walk_type(visitor, &function.result);
    walk_block(visitor, &function.body);
    visitor.close();
}

pub(crate) fn walk_intent(visitor: &mut dyn Visitor, intent: &IntentDecl) {
    visitor.open();
    walk_params(visitor, &intent.params);
    walk_type(visitor, &intent.result);
    for clause in &intent.clauses {
        match &clause.kind {
            ClauseKind::Basis(Some(expr)) => walk_expr(visitor, expr),
            ClauseKind::Where(parts) => walk_all(visitor, parts),
            ClauseKind::Basis(None) | ClauseKind::Profile(_) | ClauseKind::Budget(_) => {}
        }
    }
    walk_block(visitor, &intent.body);
    visitor.close();
}

fn walk_params(visitor: &mut dyn Visitor, params: &[Param]) {
    for param in params {
        visitor.bind(&param.name);
        walk_type(visitor, &param.ty);
    }
}

pub(crate) fn walk_block(visitor: &mut dyn Visitor, block: &Block) {
    visitor.open();
    walk_statements(visitor, &block.statements);
    visitor.close();
}

fn walk_yield(visitor: &mut dyn Visitor, block: &YieldBlock) {
    visitor.open();
    walk_statements(visitor, &block.statements);
    walk_expr(visitor, &block.result);
    visitor.close();
}

fn walk_statements(visitor: &mut dyn Visitor, statements: &[Statement]) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Let {
                name,
                annotation,
                value,
            } => {
                if let Some(ty) = annotation {
                    walk_type(visitor, ty);
                }
                walk_let(visitor, value);
                visitor.bind(name);
            }
            StatementKind::Return(value) => walk_expr(visitor, value),
            StatementKind::Require(condition, target) => {
                walk_expr(visitor, condition);
                walk_target(visitor, target);
            }
            StatementKind::If(parts, otherwise) => {
                for (condition, block) in parts {
                    walk_expr(visitor, condition);
                    walk_block(visitor, block);
                }
                if let Some(block) = otherwise {
                    walk_block(visitor, block);
                }
            }
            StatementKind::For(head, block) => {
                walk_expr(visitor, &head.collection);
                visitor.open();
                visitor.bind(&head.item);
                walk_block(visitor, block);
                visitor.close();
            }
            StatementKind::Call(value, handler) => {
                walk_expr(visitor, value);
                walk_handler(visitor, handler.as_ref());
            }
        }
    }
}

fn walk_let(visitor: &mut dyn Visitor, value: &LetValue) {
    match value {
        LetValue::Expr(value, handler) => {
            walk_expr(visitor, value);
            walk_handler(visitor, handler.as_ref());
        }
        LetValue::Branch(condition, then, otherwise) => {
            walk_expr(visitor, condition);
            walk_yield(visitor, then);
            walk_yield(visitor, otherwise);
        }
        LetValue::Fold(fold) => {
            walk_expr(visitor, &fold.head.collection);
            walk_type(visitor, &fold.ty);
            walk_expr(visitor, &fold.initial);
            visitor.open();
            visitor.bind(&fold.head.item);
            visitor.bind(&fold.accumulator);
            walk_yield(visitor, &fold.body);
            visitor.close();
        }
    }
}

fn walk_handler(visitor: &mut dyn Visitor, handler: Option<&Handler>) {
    match handler {
        None => {}
        Some(Handler::Short(target)) => walk_target(visitor, target),
        Some(Handler::Map(arms)) => {
            for arm in arms {
                visitor.open();
                if let Some(binder) = &arm.binder {
                    visitor.bind(binder);
                }
                walk_target(visitor, &arm.target);
                visitor.close();
            }
        }
    }
}

fn walk_target(visitor: &mut dyn Visitor, target: &Target) {
    if let Some(payload) = &target.payload {
        walk_expr(visitor, payload);
    }
}

fn walk_all(visitor: &mut dyn Visitor, parts: &[Expr]) {
    for part in parts {
        walk_expr(visitor, part);
    }
}

fn walk_expr(visitor: &mut dyn Visitor, expr: &Expr) {
    match &expr.kind {
        ExprKind::Integer { .. }
        | ExprKind::Text(_)
        | ExprKind::Bytes(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_) => {}
        ExprKind::Field(part, _)
        | ExprKind::Paren(part)
        | ExprKind::Not(part)
        | ExprKind::Negate(part) => walk_expr(visitor, part),
        ExprKind::Case(owner, _, payload) => {
            walk_expr(visitor, owner);
            if let Some(payload) = payload {
                walk_expr(visitor, payload);
            }
        }
        ExprKind::Call(call) => {
            visitor.call(expr, call);
            walk_expr(visitor, &call.callee);
            for ty in &call.types {
                walk_type(visitor, ty);
            }
            walk_all(visitor, &call.arguments);
        }
        ExprKind::Record(fields) => {
            for (_, value) in fields {
                if let Some(value) = value {
                    walk_expr(visitor, value);
                }
            }
        }
        ExprKind::Binary(_, left, right) => {
            walk_expr(visitor, left);
            walk_expr(visitor, right);
        }
        ExprKind::List(parts) | ExprKind::All(parts) | ExprKind::Any(parts) => {
            walk_all(visitor, parts);
        }
        ExprKind::If(parts, otherwise) => {
            for (condition, value) in parts {
                walk_expr(visitor, condition);
                walk_expr(visitor, value);
            }
            walk_expr(visitor, otherwise);
        }
        ExprKind::Match(value, arms) => {
            walk_expr(visitor, value);
            for arm in arms {
                visitor.open();
                if let Some(binder) = &arm.binder {
                    visitor.bind(binder);
                }
                walk_expr(visitor, &arm.value);
                visitor.close();
            }
        }
    }
}
