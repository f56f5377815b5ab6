// SPDX-License-Identifier: Apache-2.0
//! Parses blocks, statements and failure handlers.

use super::{Parsed, Parser};
use crate::diagnostic::{Finding, Kind, Span};
use crate::syntax::ast::{
    Block, Expr, ExprKind, FoldExpr, Handler, HandlerArm, LetValue, Loop, Statement, StatementKind,
    Target, YieldBlock,
};
use crate::syntax::token::{TokenKind, UNSUPPORTED};

/// What to do about a `yield` outside.
const OUTSIDE: &str = "`yield` ends the blocks of `let x = if …` and `let x = for …` only";

impl Parser<'_> {
    fn open_block(&mut self) -> Parsed<()> {
        if self.is_sign("{") {
            self.enter()?;
        }
        self.expect_sign("{")?;
        Ok(())
    }

    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.open_block()?;
        let mut statements = Vec::new();
        while !self.is_sign("}") && self.token().kind != TokenKind::End {
            statements.push(self.statement()?);
        }
        self.expect_sign("}")?;
        self.leave();
        Ok(Block { statements })
    }

    fn yield_block(&mut self) -> Parsed<YieldBlock> {
        self.open_block()?;
        let mut statements = Vec::new();
        while !self.is_word("yield") {
            if self.is_word("return") {
                return Err(Finding::new(
                    Kind::ReturnInYieldBlock,
                    self.span(),
                    "a block in `let` position must yield",
                )
                .help("use `yield`"));
            }
            if self.is_sign("}") || self.token().kind == TokenKind::End {
                return Err(self.unexpected(
                    Kind::ExpectedToken,
                    "`yield`",
                    "insert `yield value;`",
                ));
            }
            statements.push(self.statement()?);
        }
        self.bump();
        let result = self.expr()?;
        self.expect_sign(";")?;
        self.expect_sign("}")?;
        self.leave();
        Ok(YieldBlock { statements, result })
    }

    fn statement(&mut self) -> Parsed<Statement> {
        let start = self.span();
        let word = match self.token().kind {
            TokenKind::Keyword => self.word(self.token()),
            _ => "",
        };
        let kind = match word {
            "let" => self.let_statement()?,
            "return" => {
                self.bump();
                let value = self.expr()?;
                self.expect_sign(";")?;
                StatementKind::Return(value)
            }
            "require" => {
                self.bump();
                let condition = self.expr()?;
                self.expect_word("else")?;
                let target = self.target()?;
                self.expect_sign(";")?;
                StatementKind::Require(condition, target)
            }
            "if" => self.if_statement()?,
            "for" => {
                self.bump();
                let head = self.loop_head()?;
                StatementKind::For(head, self.block()?)
            }
            "yield" => return Err(self.reserved(OUTSIDE)),
            _ if UNSUPPORTED.contains(&word) => {
                return Err(self.unsupported("use `require` with an obstruction"));
            }
            _ => self.call_statement()?,
        };
        Ok(Statement {
            kind,
            span: start.to(self.last_end()),
        })
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        let mut parts = Vec::new();
        let mut otherwise = None;
        while self.take_word("if") {
            let condition = self.expr()?;
            parts.push((condition, self.block()?));
            if !self.take_word("else") {
                break;
            }
            if !self.is_word("if") {
                otherwise = Some(self.block()?);
            }
        }
        Ok(StatementKind::If(parts, otherwise))
    }

    fn loop_head(&mut self) -> Parsed<Loop> {
        let item = self.name()?;
        self.expect_word("in")?;
        let collection = self.expr()?;
        self.expect_word("bounded")?;
        let bound = self.bound()?;
        Ok(Loop {
            item,
            collection,
            bound,
        })
    }

    fn let_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let name = self.name()?;
        let annotation = if self.take_sign(":") {
            Some(self.type_expr()?)
        } else {
            None
        };
        self.expect_sign("=")?;
        let value = if self.is_word("for") {
            self.bump();
            LetValue::Fold(Box::new(self.fold()?))
        } else if self.is_word("if") {
            self.let_if()?
        } else {
            let value = self.expr()?;
            let handler = self.handler(&value)?;
            LetValue::Expr(value, handler)
        };
        self.expect_sign(";")?;
        Ok(StatementKind::Let {
            name,
            annotation,
            value,
        })
    }

    /// After the condition, `then` starts an expression and `{` a yield branch.
    fn let_if(&mut self) -> Parsed<LetValue> {
        let start = self.span();
        self.enter()?;
        self.bump();
        let condition = self.expr()?;
        if self.is_sign("{") {
            self.leave();
            let then = self.yield_block()?;
            self.expect_word("else")?;
            let otherwise = self.yield_block()?;
            return Ok(LetValue::Branch(
                condition,
                Box::new(then),
                Box::new(otherwise),
            ));
        }
        let value = self.conditional(start, condition)?;
        let handler = self.handler(&value)?;
        Ok(LetValue::Expr(value, handler))
    }

    fn fold(&mut self) -> Parsed<FoldExpr> {
        let head = self.loop_head()?;
        self.expect_word("with")?;
        let accumulator = self.name()?;
        self.expect_sign(":")?;
        let ty = self.type_expr()?;
        self.expect_sign("=")?;
        let initial = self.expr()?;
        let body = self.yield_block()?;
        Ok(FoldExpr {
            head,
            accumulator,
            ty,
            initial,
            body,
        })
    }

    fn call_statement(&mut self) -> Parsed<StatementKind> {
        let value = self.expr()?;
        if !matches!(value.kind, ExprKind::Call(_)) {
            return Err(not_a_call(value.span));
        }
        let handler = self.handler(&value)?;
        self.expect_sign(";")?;
        Ok(StatementKind::Call(value, handler))
    }

    fn handler(&mut self, value: &Expr) -> Parsed<Option<Handler>> {
        if !self.is_word("else") {
            return Ok(None);
        }
        if !matches!(value.kind, ExprKind::Call(_)) {
            return Err(not_a_call(value.span));
        }
        self.bump();
        if !self.is_sign("{") {
            return Ok(Some(Handler::Short(self.target()?)));
        }
        self.enter()?;
        self.bump();
        if self.is_sign("}") {
            return Err(Finding::new(
                Kind::EmptyObstructionMap,
                self.span(),
                "a handler needs at least one arm",
            )
            .help("add `failure => alias.Obstruction`"));
        }
        let arms = self.list("}", Self::handler_arm)?;
        self.leave();
        Ok(Some(Handler::Map(arms)))
    }

    fn handler_arm(&mut self) -> Parsed<HandlerArm> {
        let failure = self.name()?;
        let binder = self.binder()?;
        self.expect_sign("=>")?;
        let target = self.target()?;
        Ok(HandlerArm {
            failure,
            binder,
            target,
        })
    }

    fn target(&mut self) -> Parsed<Target> {
        if self.is_word("continue")
            && self.token_after().kind == TokenKind::Ident
            && self.word(self.token_after()) == "obstructed"
        {
            return Err(self.unsupported("name the obstruction that is raised"));
        }
        let path = self.path()?;
        let payload = if self.is_sign("(") {
            self.enter()?;
            self.bump();
            let payload = self.expr()?;
            self.expect_sign(")")?;
            self.leave();
            Some(payload)
        } else {
            None
        };
        Ok(Target { path, payload })
    }
}

fn not_a_call(span: Span) -> Finding {
    Finding::new(
        Kind::NonCallEffect,
        span,
        "only calls of effects take this place",
    )
    .help("bind a value with `let`")
}
