// SPDX-License-Identifier: Apache-2.0
//! Parses written types.

use super::{Parsed, Parser};
use crate::diagnostic::{Kind, Span};
use crate::syntax::ast::{Bound, TypeExpr, TypeExprKind};
use crate::syntax::token::TokenKind;

impl Parser<'_> {
    pub(super) fn type_expr(&mut self) -> Parsed<TypeExpr> {
        let start = self.span();
        let word = match self.token().kind {
            TokenKind::Ident => self.word(self.token()),
            _ => "",
        };
        let kind = match word {
            "Map" | "CapabilityRef" | "ExternalActionRequest" => {
                return Err(self.unsupported("use records, `List` and lawpack types"));
            }
            "String" | "Bytes" => {
                self.bump();
                if self.is_sign("<") {
                    self.scalar(word == "String")?
                } else {
                    TypeExprKind::Unbounded
                }
            }
            "Option" => {
                self.bump();
                self.open_types()?;
                let item = self.type_expr()?;
                self.close_types()?;
                TypeExprKind::Option(Box::new(item))
            }
            "List" => {
                self.bump();
                self.open_types()?;
                let item = self.type_expr()?;
                self.expect_sign(",")?;
                let max = self.named_bound("max")?;
                self.close_types()?;
                TypeExprKind::List(Box::new(item), max)
            }
            _ => {
                let path = self.path()?;
                if self.is_sign("<") {
                    return Err(
                        self.unsupported("types have no parameters; declare one type a use")
                    );
                }
                TypeExprKind::Named(path)
            }
        };
        Ok(TypeExpr {
            kind,
            span: start.to(self.last_end()),
        })
    }

    fn open_types(&mut self) -> Parsed<()> {
        if self.is_sign("<") {
            self.enter()?;
        }
        self.expect_sign("<")?;
        Ok(())
    }

    /// Takes `>`; of `>=` only the first byte.
    fn close_types(&mut self) -> Parsed<()> {
        let at = self.at;
        if self.is_sign(">=")
            && let Some(token) = self.tokens.get_mut(at)
        {
            token.kind = TokenKind::Sign("=");
            token.span = Span::new(token.span.start.saturating_add(1), token.span.end);
        } else {
            self.expect_sign(">")?;
        }
        self.leave();
        Ok(())
    }

    fn named_bound(&mut self, word: &str) -> Parsed<Bound> {
        self.expect_word(word)?;
        self.expect_sign("=")?;
        self.bound()
    }

    fn scalar(&mut self, is_text: bool) -> Parsed<TypeExprKind> {
        self.open_types()?;
        let kind = if is_text {
            let max = self.named_bound("max")?;
            let policy = if self.take_sign(",") {
                Some(self.policy()?)
            } else {
                None
            };
            TypeExprKind::Text(max, policy.filter(|it| it != "raw-utf8"))
        } else if self.is_word("exact") {
            let bound = self.named_bound("exact")?;
            TypeExprKind::Bytes(Some(bound.clone()), bound)
        } else if self.is_word("min") {
            let min = self.named_bound("min")?;
            self.expect_sign(",")?;
            TypeExprKind::Bytes(Some(min), self.named_bound("max")?)
        } else if self.is_word("max") {
            TypeExprKind::Bytes(None, self.named_bound("max")?)
        } else {
            return Err(self.unexpected(
                Kind::ExpectedKeyword,
                "`max`, `exact` or `min`",
                "write `max=N`, `exact=N` or `min=M, max=N`",
            ));
        };
        self.close_types()?;
        Ok(kind)
    }

    /// `canonical=word-word-…`
    fn policy(&mut self) -> Parsed<String> {
        self.expect_word("canonical")?;
        self.expect_sign("=")?;
        let mut policy = self.any_word()?.text;
        while self.take_sign("-") {
            policy.push('-');
            policy.push_str(&self.any_word()?.text);
        }
        Ok(policy)
    }
}
