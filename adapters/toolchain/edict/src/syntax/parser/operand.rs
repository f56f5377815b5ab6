// SPDX-License-Identifier: Apache-2.0
//! Parses literals, names, brackets, `match` and what follows an operand.

use super::declaration::unique;
use super::{Parsed, Parser};
use crate::diagnostic::{Finding, Kind, Span};
use crate::syntax::ast::{Call, Expr, ExprKind, MatchArm, Name};
use crate::syntax::token::{TokenKind, UNSUPPORTED};
use std::collections::BTreeSet;

impl Parser<'_> {
    pub(super) fn postfix(&mut self) -> Parsed<Expr> {
        let mut left = self.primary()?;
        loop {
            let list = self.type_lists.get(self.at) == Some(&true);
            if !(list || ["(", ".", "::"].iter().any(|it| self.is_sign(it))) {
                return Ok(left);
            }
            self.check_level(left.height)?;
            left = if self.is_sign(".") {
                self.field(left)?
            } else if self.take_sign("::") {
                self.case(left)?
            } else {
                self.call(left)?
            };
        }
    }

    // The functions below stay out of the frames that every level of nesting has on the stack.

    #[inline(never)]
    fn field(&mut self, left: Expr) -> Parsed<Expr> {
        self.bump();
        let name = self.any_word()?;
        let span = left.span.to(name.span);
        let height = left.height.saturating_add(1);
        self.node(ExprKind::Field(Box::new(left), name), span, height)
    }

    #[inline(never)]
    fn case(&mut self, owner: Expr) -> Parsed<Expr> {
        let case = self.upper()?;
        let mut height = owner.height;
        let payload = if self.is_sign("(") {
            let payload = self.bracketed()?;
            height = height.max(payload.height);
            Some(Box::new(payload))
        } else {
            None
        };
        let span = owner.span.to(self.last_end());
        let kind = ExprKind::Case(Box::new(owner), case, payload);
        self.node(kind, span, height.saturating_add(1))
    }

    /// `( expr )` with its level.
    fn bracketed(&mut self) -> Parsed<Expr> {
        self.enter()?;
        self.bump();
        let inner = self.expr()?;
        self.expect_sign(")")?;
        self.leave();
        Ok(inner)
    }

    #[inline(never)]
    fn call(&mut self, callee: Expr) -> Parsed<Expr> {
        let mut types = Vec::new();
        if self.is_sign("<") {
            self.enter()?;
            self.bump();
            types.push(self.type_expr()?);
            while self.take_sign(",") {
                types.push(self.type_expr()?);
            }
            self.expect_sign(">")?;
            self.leave();
        }
        self.enter()?;
        self.expect_sign("(")?;
        let arguments = self.list(")", Self::expr)?;
        self.leave();
        let height = tallest(&arguments).max(callee.height).saturating_add(1);
        let span = callee.span.to(self.last_end());
        let call = Call {
            callee,
            types,
            arguments,
        };
        self.node(ExprKind::Call(Box::new(call)), span, height)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        match self.token().kind {
            TokenKind::Sign("(") => self.parenthesis(),
            TokenKind::Sign("[") => self.list_literal(),
            TokenKind::Sign("{") => self.record(),
            TokenKind::Keyword => self.keyword(),
            _ => self.leaf(),
        }
    }

    fn parenthesis(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let inner = self.bracketed()?;
        let height = inner.height.saturating_add(1);
        let span = span.to(self.last_end());
        self.node(ExprKind::Paren(Box::new(inner)), span, height)
    }

    #[inline(never)]
    fn list_literal(&mut self) -> Parsed<Expr> {
        let span = self.span();
        self.enter()?;
        self.bump();
        let items = self.list("]", Self::expr)?;
        self.leave();
        let height = tallest(&items).saturating_add(1);
        let span = span.to(self.last_end());
        self.node(ExprKind::List(items), span, height)
    }

    #[inline(never)]
    fn leaf(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let kind = match &self.token().kind {
            TokenKind::Integer(magnitude, suffix) => ExprKind::Integer {
                magnitude: *magnitude,
                negative: false,
                suffix: *suffix,
            },
            TokenKind::Text(text) => ExprKind::Text(text.clone()),
            TokenKind::Bytes(bytes) => ExprKind::Bytes(bytes.clone()),
            TokenKind::Ident => ExprKind::Name(self.word(self.token()).to_owned()),
            TokenKind::Keyword
            | TokenKind::Sign(_)
            | TokenKind::Version
            | TokenKind::Error(_)
            | TokenKind::End => {
                return Err(self.unexpected(
                    Kind::ExpectedToken,
                    "an expression",
                    "insert an expression",
                ));
            }
        };
        self.bump();
        self.node(kind, span, 0)
    }

    #[inline(never)]
    fn keyword(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let word = self.word(self.token());
        match word {
            "true" | "false" => {
                self.bump();
                self.node(ExprKind::Bool(word == "true"), span, 0)
            }
            "match" => self.match_expr(span),
            "digest" if self.token_after().kind == TokenKind::Sign("(") => {
                Err(self.unsupported("compare the values themselves"))
            }
            _ if UNSUPPORTED.contains(&word) => {
                Err(self.unsupported("use a statement of this language"))
            }
            "if" => Err(self.reserved("put the conditional in parentheses")),
            _ => Err(self.reserved("choose another name")),
        }
    }

    #[inline(never)]
    fn record(&mut self) -> Parsed<Expr> {
        let start = self.span();
        self.enter()?;
        self.bump();
        let mut seen = BTreeSet::new();
        let fields = self.list("}", |it| {
            if it.is_sign("...") {
                return Err(it.unsupported("write every field"));
            }
            let named = it.token_after().kind == TokenKind::Sign(":");
            let name = if named { it.any_word()? } else { it.name()? };
            unique(&mut seen, &name, "field")?;
            if named {
                it.bump();
                return Ok((name, Some(it.expr()?)));
            }
            // The bare name is an expression too.
            it.node(ExprKind::Bool(false), name.span, 0)?;
            Ok((name, None))
        })?;
        self.leave();
        let height = fields
            .iter()
            .filter_map(|(_, value)| value.as_ref())
            .map(|it| it.height)
            .max()
            .unwrap_or(0);
        let span = start.to(self.last_end());
        self.node(ExprKind::Record(fields), span, height.saturating_add(1))
    }

    #[inline(never)]
    fn match_expr(&mut self, start: Span) -> Parsed<Expr> {
        self.enter()?;
        self.bump();
        let value = self.expr()?;
        self.expect_sign("{")?;
        if self.is_sign("}") {
            return Err(Finding::new(
                Kind::EmptyMatch,
                self.span(),
                "a match needs at least one arm",
            )
            .help("add an arm for every case"));
        }
        let arms = self.list("}", |it| {
            let case = it.upper()?;
            let binder = it.binder()?;
            it.expect_sign("=>")?;
            let value = it.expr()?;
            Ok(MatchArm {
                case,
                binder,
                value,
            })
        })?;
        self.leave();
        let height = arms.iter().map(|it| it.value.height).max().unwrap_or(0);
        let height = height.max(value.height).saturating_add(1);
        let span = start.to(self.last_end());
        self.node(ExprKind::Match(Box::new(value), arms), span, height)
    }

    /// `(name)` behind a case or a failure.
    pub(super) fn binder(&mut self) -> Parsed<Option<Name>> {
        if !self.take_sign("(") {
            return Ok(None);
        }
        let name = self.name()?;
        self.expect_sign(")")?;
        Ok(Some(name))
    }
}

fn tallest(items: &[Expr]) -> u16 {
    items.iter().map(|it| it.height).max().unwrap_or(0)
}
