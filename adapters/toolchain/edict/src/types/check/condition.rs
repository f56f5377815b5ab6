// SPDX-License-Identifier: Apache-2.0
//! Checks conditions and the chains of `&&` and `||`, with what each part tells the next.

use super::{Checker, Typed, Want, short};
use crate::core::tree::Predicate;
use crate::diagnostic::Kind;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::facts::Truth;
use crate::types::ty::Type;

impl Checker<'_, '_> {
    /// Checks an expression that must be a Bool.
    pub(super) fn condition(&mut self, expr: &Expr) -> (Predicate, Truth) {
        let is_literal = matches!(expr.bare().kind, ExprKind::Integer { .. });
        let typed = if is_literal {
            Typed::error()
        } else {
            self.expr(expr, Want::Nothing)
        };
        match &typed.ty {
            Type::Bool => {}
            Type::Error if !is_literal => {}
            other => {
                let found = if is_literal {
                    "an integer".to_owned()
                } else {
                    short(other)
                };
                let message = format!("expected Bool, found {found}");
                self.report(Kind::ExpectedPredicate, expr.span, message, "compare it");
                return (Predicate::False, Truth::default());
            }
        }
        let mut typed = typed;
        let truth = std::mem::take(&mut typed.truth);
        (typed.predicate(), truth)
    }

    pub(super) fn not(&mut self, part: &Expr) -> Typed {
        let (predicate, truth) = self.condition(part);
        Typed::condition(Predicate::Not(Box::new(predicate)), truth.not())
    }

    /// `&&` if `all`, else `||`; each part knows what must hold for it to be evaluated.
    pub(super) fn chain(&mut self, parts: &[Expr], all: bool) -> Typed {
        let mark = self.facts.mark();
        let mut predicates = Vec::new();
        let mut known = Vec::new();
        for part in parts {
            let (predicate, truth) = self.condition(part);
            predicates.push(predicate);
            let facts = if all { truth.holds } else { truth.fails };
            self.facts.learn(&facts);
            known.extend(facts);
        }
        self.facts.reset(mark);
        let nothing = Vec::new();
        let (predicate, truth) = if all {
            let truth = Truth {
                holds: known,
                fails: nothing,
            };
            (Predicate::All(predicates), truth)
        } else {
            let truth = Truth {
                holds: nothing,
                fails: known,
            };
            (Predicate::Any(predicates), truth)
        };
        Typed::condition(predicate, truth)
    }
}
