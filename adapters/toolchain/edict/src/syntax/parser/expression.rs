// SPDX-License-Identifier: Apache-2.0
//! Parses operators and conditionals; chains stay flat, every other operator is one level.

use super::{MAX_NODES, Parsed, Parser};
use crate::core::tree::Comparison;
use crate::diagnostic::{Finding, Kind, Span};
use crate::syntax::ast::{Expr, ExprKind, Operator};
use crate::syntax::token::TokenKind;

/// Loosest binding of the operators that are no chains: equality.
const EQUALITY: u8 = 1;

impl Parser<'_> {
    /// Makes a node around parts of at most `height` levels.
    pub(super) fn node(&mut self, kind: ExprKind, span: Span, height: u16) -> Parsed<Expr> {
        self.nodes = self.nodes.saturating_add(1);
        if self.nodes > MAX_NODES {
            return Err(Finding::new(
                Kind::LimitExceeded,
                span,
                format!("module has more than {MAX_NODES} expressions"),
            )
            .help("split the module"));
        }
        Ok(Expr { kind, span, height })
    }

    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        if self.is_word("if") {
            return self.if_expr();
        }
        self.any_chain()
    }

    #[inline(never)]
    fn if_expr(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.enter()?;
        self.bump();
        let condition = self.expr()?;
        self.conditional(start, condition)
    }

    /// The rest of a conditional after its first condition; its level is open and gets closed.
    pub(super) fn conditional(&mut self, start: Span, condition: Expr) -> Parsed<Expr> {
        let mut height = condition.height;
        let mut parts = Vec::new();
        let mut condition = condition;
        let otherwise = loop {
            self.expect_word("then")?;
            let value = self.expr()?;
            height = height.max(condition.height).max(value.height);
            parts.push((condition, value));
            self.expect_word("else")?;
            if !self.take_word("if") {
                break self.expr()?;
            }
            condition = self.expr()?;
        };
        self.leave();
        let height = height.max(otherwise.height).saturating_add(1);
        let span = start.to(otherwise.span);
        self.node(ExprKind::If(parts, Box::new(otherwise)), span, height)
    }

    fn any_chain(&mut self) -> Parsed<Expr> {
        let first = self.all_chain()?;
        if !self.is_sign("||") {
            return Ok(first);
        }
        self.chain("||", first, Self::all_chain, ExprKind::Any)
    }

    fn all_chain(&mut self) -> Parsed<Expr> {
        let first = self.binary(EQUALITY)?;
        if !self.is_sign("&&") {
            return Ok(first);
        }
        self.chain("&&", first, |it| it.binary(EQUALITY), ExprKind::All)
    }

    #[inline(never)]
    fn chain(
        &mut self,
        sign: &str,
        first: Expr,
        next: impl Fn(&mut Self) -> Parsed<Expr>,
        make: impl Fn(Vec<Expr>) -> ExprKind,
    ) -> Parsed<Expr> {
        self.check_level(first.height)?;
        self.enter()?;
        let mut height = first.height;
        let mut span = first.span;
        let mut parts = vec![first];
        while self.take_sign(sign) {
            let part = next(self)?;
            height = height.max(part.height);
            span = span.to(part.span);
            parts.push(part);
        }
        self.leave();
        self.node(make(parts), span, height.saturating_add(1))
    }

    fn operator(&self) -> Option<(Operator, u8)> {
        let TokenKind::Sign(sign) = self.token().kind else {
            return None;
        };
        Some(match sign {
            "==" => (Operator::Compare(Comparison::Equal), EQUALITY),
            "!=" => (Operator::Compare(Comparison::NotEqual), EQUALITY),
            "<" => (Operator::Compare(Comparison::Less), 2),
            "<=" => (Operator::Compare(Comparison::LessOrEqual), 2),
            ">" => (Operator::Compare(Comparison::Greater), 2),
            ">=" => (Operator::Compare(Comparison::GreaterOrEqual), 2),
            "+" => (Operator::Add, 3),
            "-" => (Operator::Subtract, 3),
            "*" => (Operator::Multiply, 4),
            "/" => (Operator::Divide, 4),
            "%" => (Operator::Remainder, 4),
            _ => return None,
        })
    }

    fn binary(&mut self, loosest: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((operator, binding)) = self.operator() {
            if binding < loosest {
                break;
            }
            left = self.infix(left, operator, binding)?;
        }
        Ok(left)
    }

    // Out of the frames that every level of nesting has on the stack, as the next one.
    #[inline(never)]
    fn infix(&mut self, left: Expr, operator: Operator, binding: u8) -> Parsed<Expr> {
        self.check_level(left.height)?;
        self.enter()?;
        self.bump();
        let right = self.binary(binding.saturating_add(1))?;
        self.leave();
        let span = left.span.to(right.span);
        let height = left.height.max(right.height).saturating_add(1);
        let kind = ExprKind::Binary(operator, Box::new(left), Box::new(right));
        self.node(kind, span, height)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        if self.is_sign("-") || self.is_sign("!") {
            return self.prefix();
        }
        self.postfix()
    }

    #[inline(never)]
    fn prefix(&mut self) -> Parsed<Expr> {
        let negate = self.is_sign("-");
        let start = self.span();
        self.enter()?;
        self.bump();
        let literal = negate && matches!(self.token().kind, TokenKind::Integer(..));
        let mut part = self.unary()?;
        self.leave();
        let span = start.to(part.span);
        if literal && let ExprKind::Integer { negative, .. } = &mut part.kind {
            *negative = true;
            part.span = span;
            part.height = part.height.saturating_add(1);
            return Ok(part);
        }
        let height = part.height.saturating_add(1);
        let kind = if negate {
            ExprKind::Negate(Box::new(part))
        } else {
            ExprKind::Not(Box::new(part))
        };
        self.node(kind, span, height)
    }
}
