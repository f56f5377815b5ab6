// SPDX-License-Identifier: Apache-2.0
//! The parser: tokens in, tree out; it stops at the first mistake and at 256 levels of nesting.

mod declaration;
mod expression;
mod operand;
mod statement;
mod types;

use super::ast::{Ast, Bound, Name, Path};
use super::lexer;
use super::token::{Token, TokenKind};
use crate::deep_stack::on_deep_stack;
use crate::diagnostic::{Diagnostic, Finding, Kind, LineIndex, Span, Stage};

/// Most bytes of one source.
const MAX_SOURCE_BYTES: usize = 1_048_576;
/// Deepest nesting.
const MAX_LEVELS: u16 = 256;
/// Most expression nodes of one module.
const MAX_NODES: u32 = 65_536;

type Parsed<T> = Result<T, Finding>;

/// Reads a source of any bytes.
///
/// # Errors
/// The first mistake, stage `parse`: kinds as in section 7 of the language; a source above
/// 1 MiB or above 65,536 expressions is `LimitExceeded`, bytes that are not UTF-8
/// are `Lex`.
pub fn parse(source: &[u8]) -> Result<Ast, Diagnostic> {
    let lines = LineIndex::new(source);
    on_deep_stack(|| read(source))
        .unwrap_or_else(|| Err(internal()))
        .map(|mut ast| {
            ast.lines.clone_from(&lines);
            ast
        })
        .map_err(|finding| lines.diagnostic(Stage::Parse, finding))
}

/// Never seen: the work either runs or its panic goes on.
fn internal() -> Finding {
    Finding::new(
        Kind::LimitExceeded,
        Span::new(0, 0),
        "the source was not read",
    )
}

fn read(source: &[u8]) -> Parsed<Ast> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Finding::new(
            Kind::LimitExceeded,
            Span::new(0, 0),
            format!(
                "source has {} bytes, the limit is {MAX_SOURCE_BYTES}",
                source.len()
            ),
        )
        .help("split the module"));
    }
    let text = std::str::from_utf8(source).map_err(|error| {
        let start = error.valid_up_to();
        let length = error.error_len().unwrap_or(1);
        let span = Span::new(
            lexer::offset(start),
            lexer::offset(start.saturating_add(length)),
        );
        Finding::new(Kind::Lex, span, "source is not UTF-8 here").help("save the file as UTF-8")
    })?;
    Parser::new(text).module()
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// For a `<` at this index: whether a matching `> (` follows, so that it opens a type list.
    type_lists: Vec<bool>,
    at: usize,
    level: u16,
    nodes: u32,
    end: Token,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let tokens = lexer::tokens(text);
        let at = lexer::offset(text.len());
        Self {
            text,
            type_lists: type_lists(&tokens),
            tokens,
            at: 0,
            level: 0,
            nodes: 0,
            end: Token {
                kind: TokenKind::End,
                span: Span::new(at, at),
            },
        }
    }

    fn token(&self) -> &Token {
        self.tokens.get(self.at).unwrap_or(&self.end)
    }

    fn token_after(&self) -> &Token {
        self.tokens
            .get(self.at.saturating_add(1))
            .unwrap_or(&self.end)
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The end of the token before the current one.
    fn last_end(&self) -> Span {
        self.at
            .checked_sub(1)
            .and_then(|at| self.tokens.get(at))
            .map_or(Span::default(), |it| it.span)
    }

    fn word(&self, token: &Token) -> &'a str {
        let start = usize::try_from(token.span.start).unwrap_or(usize::MAX);
        let end = usize::try_from(token.span.end).unwrap_or(usize::MAX);
        self.text.get(start..end).unwrap_or("")
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        self.at = self.at.saturating_add(1);
        span
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token().kind, TokenKind::Sign(found) if found == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token().kind, TokenKind::Ident | TokenKind::Keyword)
            && self.word(self.token()) == word
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.bump();
        }
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.bump();
        }
        found
    }

    /// The current token as a mistake; an impossible place is reported as itself, with its own help.
    fn unexpected(&self, kind: Kind, expected: &str, help: &str) -> Finding {
        let token = self.token();
        let found = match &token.kind {
            TokenKind::Error(finding) => return (**finding).clone(),
            TokenKind::End => "the end of the file".to_owned(),
            TokenKind::Ident
            | TokenKind::Keyword
            | TokenKind::Integer(..)
            | TokenKind::Text(_)
            | TokenKind::Bytes(_)
            | TokenKind::Version
            | TokenKind::Sign(_) => {
                let word: String = self.word(token).chars().take(40).collect();
                format!("`{word}`")
            }
        };
        Finding::new(
            kind,
            token.span,
            format!("expected {expected}, found {found}"),
        )
        .help(help)
    }

    fn expect_sign(&mut self, sign: &str) -> Parsed<Span> {
        if self.is_sign(sign) {
            return Ok(self.bump());
        }
        let sign = format!("`{sign}`");
        Err(self.unexpected(Kind::ExpectedToken, &sign, &format!("insert {sign}")))
    }

    fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.is_word(word) {
            return Ok(self.bump());
        }
        let word = format!("`{word}`");
        Err(self.unexpected(Kind::ExpectedKeyword, &word, &format!("insert {word}")))
    }

    /// A name that is declared or bound.
    fn name(&mut self) -> Parsed<Name> {
        match self.token().kind {
            TokenKind::Ident => Ok(self.any_name()),
            TokenKind::Keyword => Err(self.reserved("choose another name")),
            _ => Err(self.unexpected(
                Kind::ExpectedIdentifier,
                "a name",
                "a name starts with a letter or an underscore; there are no floating point numbers",
            )),
        }
    }

    fn reserved(&self, help: &str) -> Finding {
        let word = self.word(self.token());
        let message = format!("`{word}` is a reserved word");
        Finding::new(Kind::ReservedKeyword, self.span(), message).help(help)
    }

    fn any_name(&mut self) -> Name {
        let text = self.word(self.token()).to_owned();
        let span = self.bump();
        Name { text, span }
    }

    /// A name where reserved words are legal too.
    fn any_word(&mut self) -> Parsed<Name> {
        match self.token().kind {
            TokenKind::Ident | TokenKind::Keyword => Ok(self.any_name()),
            _ => self.name(),
        }
    }

    /// The name of a type or a case.
    fn upper(&mut self) -> Parsed<Name> {
        let name = self.name()?;
        if name.text.starts_with(|it: char| it.is_ascii_uppercase()) {
            return Ok(name);
        }
        Err(Finding::new(
            Kind::InvalidName,
            name.span,
            format!("`{}` must start with a capital letter", name.text),
        )
        .help("names of types and cases start with A-Z"))
    }

    fn path(&mut self) -> Parsed<Path> {
        let first = self.name()?;
        let mut span = first.span;
        let mut segments = vec![first];
        while self.take_sign(".") {
            let next = self.any_word()?;
            span = span.to(next.span);
            segments.push(next);
        }
        Ok(Path { segments, span })
    }

    fn bound(&mut self) -> Parsed<Bound> {
        if let TokenKind::Integer(value, _) = self.token().kind {
            return Ok(Bound::Integer(value, self.bump()));
        }
        Ok(Bound::Constant(self.path()?))
    }

    /// Opens a level at the current token; it is closed by `leave`.
    fn enter(&mut self) -> Parsed<()> {
        self.check_level(0)?;
        self.level = self.level.saturating_add(1);
        Ok(())
    }

    fn leave(&mut self) {
        self.level = self.level.saturating_sub(1);
    }

    /// Whether the current token may put one level around something of `height` levels.
    fn check_level(&self, height: u16) -> Parsed<()> {
        if self.level.saturating_add(height) < MAX_LEVELS {
            return Ok(());
        }
        Err(Finding::new(
            Kind::NestingTooDeep,
            self.span(),
            format!("more than {MAX_LEVELS} levels of nesting"),
        )
        .help("split the expression with `let` or `fn`"))
    }

    fn unsupported(&self, instead: &str) -> Finding {
        Finding::new(
            Kind::UnsupportedSyntax,
            self.span(),
            format!("`{}` is not part of this language", self.word(self.token())),
        )
        .help(instead)
    }

    /// Items separated by commas up to `close`, which is taken; a last comma is legal.
    fn list<T>(
        &mut self,
        close: &str,
        mut item: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        while !self.is_sign(close) {
            items.push(item(self)?);
            if !self.take_sign(",") {
                break;
            }
        }
        self.expect_sign(close)?;
        Ok(items)
    }
}

/// Finds, in one pass, every `<` after a name that closes before a `(` with nothing but types
/// between. A `<` after anything else compares, and types hold none.
fn type_lists(tokens: &[Token]) -> Vec<bool> {
    let mut open: Vec<usize> = Vec::new();
    let mut found = vec![false; tokens.len()];
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::Sign("<") if follows_name(tokens, index) => open.push(index),
            TokenKind::Sign(">") => {
                let call = tokens
                    .get(index.saturating_add(1))
                    .is_some_and(|next| next.kind == TokenKind::Sign("("));
                if let Some(slot) = open.pop().and_then(|start| found.get_mut(start)) {
                    *slot = call;
                }
            }
            TokenKind::Ident
            | TokenKind::Keyword
            | TokenKind::Integer(..)
            | TokenKind::Sign("." | "," | "=" | "-") => {}
            TokenKind::Text(_)
            | TokenKind::Bytes(_)
            | TokenKind::Version
            | TokenKind::Sign(_)
            | TokenKind::Error(_)
            | TokenKind::End => open.clear(),
        }
    }
    found
}

fn follows_name(tokens: &[Token], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|at| tokens.get(at));
    before.is_some_and(|it| matches!(it.kind, TokenKind::Ident | TokenKind::Keyword))
}
