// SPDX-License-Identifier: Apache-2.0
//! Checks calls of functions and helpers and finds what a callee means.

use super::{Checker, Typed, Want, short};
use crate::core::extent;
use crate::core::tree::Expr as CoreExpr;
use crate::diagnostic::{Kind, Span};
use crate::lawpack::context::Effect;
use crate::syntax::ast::{Call, Expr, ExprKind};
use crate::syntax::is_built_in;
use crate::types::environment::Signature;
use crate::types::ty::Type;

impl<'a> Checker<'_, 'a> {
    pub(super) fn call(&mut self, expr: &Expr, call: &Call, want: Want<'_>) -> Typed {
        if let ExprKind::Name(name) = &call.callee.kind {
            if is_built_in(name) {
                return self.builtin(expr, call, name, want);
            }
            if let Some(signature) = self.environment.functions.get(name) {
                let callee = format!("{}.{name}", self.environment.coordinate);
                return self.function(expr, call, callee, &signature.clone());
            }
        }
        if self.effect_of(call).is_some() {
            let message = "an effect is no expression";
            let help = "bind it with `let` first, in an intent";
            self.report(
                Kind::UnsupportedSourceShape,
                call.callee.span,
                message,
                help,
            );
            self.drain(call);
            return Typed::error();
        }
        if let ExprKind::Field(base, name) = &call.callee.kind
            && let ExprKind::Name(alias) = &base.kind
            && let Some(context) = self.lawpack(alias)
            && let Some(helper) = context.helpers.get(&name.text)
        {
            let signature = Signature {
                params: helper.parameters.iter().map(|it| it.ty.clone()).collect(),
                result: helper.result.clone(),
            };
            let callee = format!("{}.{}", context.coordinate, name.text);
            return self.function(expr, call, callee, &signature);
        }
        self.unresolved_callee(call);
        self.drain(call);
        Typed::error()
    }

    /// The effect that a callee names.
    pub(super) fn effect_of(&self, call: &Call) -> Option<&'a Effect> {
        let ExprKind::Field(base, name) = &call.callee.kind else {
            return None;
        };
        let ExprKind::Name(alias) = &base.kind else {
            return None;
        };
        self.lawpack(alias)?.effects.get(&name.text)
    }

    fn unresolved_callee(&mut self, call: &Call) {
        let (name, close) = match &call.callee.kind {
            ExprKind::Name(name) => {
                let functions = self.environment.functions.keys();
                let mut known: Vec<&str> = functions.map(String::as_str).collect();
                for name in crate::syntax::built_ins() {
                    known.push(name);
                }
                (name.clone(), self.sink.nearest(name, known))
            }
            ExprKind::Field(base, name) => match &base.kind {
                ExprKind::Name(alias) => {
                    let helpers = self.lawpack(alias).map(|it| it.helpers.keys());
                    let known = helpers.into_iter().flatten().map(String::as_str);
                    (
                        format!("{alias}.{}", name.text),
                        self.sink.nearest(&name.text, known),
                    )
                }
                _ => (name.text.clone(), None),
            },
            _ => ("this expression".to_owned(), None),
        };
        let message = format!("there is no function `{name}`");
        let help = match close {
            Some(close) => format!("did you mean `{close}`?"),
            None => "declare it with `fn`, or import a lawpack that exports it".to_owned(),
        };
        self.report(Kind::UnresolvedFunction, call.callee.span, message, &help);
    }

    /// Looks for independent mistakes in the arguments of a call that has one itself.
    pub(super) fn drain(&mut self, call: &Call) {
        for ty in &call.types {
            self.environment.resolve(ty, self.sink);
        }
        for argument in &call.arguments {
            self.expr(argument, Want::Hint(&Type::Error));
        }
    }

    pub(super) fn wrong_arity(&mut self, span: Span, takes: &str) {
        let message = format!("this call {takes}");
        self.report(Kind::SignatureMismatch, span, message, "give exactly these");
    }

    fn function(
        &mut self,
        expr: &Expr,
        call: &Call,
        callee: String,
        signature: &Signature,
    ) -> Typed {
        let n = signature.params.len();
        if !call.types.is_empty() || call.arguments.len() != n {
            let params: Vec<String> = signature.params.iter().map(short).collect();
            let takes = format!(
                "takes {n} arguments ({}) and no type arguments",
                params.join(", ")
            );
            self.wrong_arity(expr.span, &takes);
            self.drain(call);
            return Typed::error();
        }
        let mut arguments = Vec::new();
        for (argument, param) in call.arguments.iter().zip(&signature.params) {
            arguments.push(self.expr(argument, Want::Must(param)).expr());
        }
        if !self.may_copy(extent::length(&callee)) {
            return Typed::error();
        }
        let core = CoreExpr::Call {
            callee,
            type_arguments: Vec::new(),
            arguments,
        };
        Typed::new(signature.result.clone(), core)
    }
}
