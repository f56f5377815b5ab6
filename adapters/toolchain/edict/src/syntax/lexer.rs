// SPDX-License-Identifier: Apache-2.0
//! Splits a source into tokens; the first impossible place becomes the last token.

use super::literal;
use super::token::{KEYWORDS, SHORT_SIGNS, SIGNS, Suffix, Token, TokenKind};
use crate::diagnostic::{Finding, Kind, Span};

/// A position in the text that is being split.
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
}

impl Cursor<'_> {
    pub(super) fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at = self.at.saturating_add(next.len_utf8());
        Some(next)
    }

    /// The range from `start` to here.
    pub(super) fn span(&self, start: usize) -> Span {
        Span::new(offset(start), offset(self.at))
    }

    /// The character at the cursor as a finding.
    pub(super) fn stray(&self) -> Finding {
        let next = self.peek().map_or(0, char::len_utf8);
        let span = Span::new(offset(self.at), offset(self.at.saturating_add(next)));
        let shown = self
            .peek()
            .map_or_else(String::new, |it| it.escape_default().to_string());
        Finding::new(
            Kind::Lex,
            span,
            format!("character `{shown}` is not allowed here"),
        )
        .help(literal::ESCAPE_HELP)
    }

    fn skip_while(&mut self, keep: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&keep) {
            self.bump();
        }
    }
}

/// Sources are at most 1 MiB, so every offset fits.
pub(super) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// All tokens of `text`, ended by `End` or `Error`.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut cursor = Cursor { text, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        let after_at = tokens
            .last()
            .is_some_and(|it| it.kind == TokenKind::Sign("@"));
        let token = match next(&mut cursor, after_at) {
            Ok(token) => token,
            Err(finding) => Token {
                span: finding.span,
                kind: TokenKind::Error(Box::new(finding)),
            },
        };
        let last = matches!(token.kind, TokenKind::End | TokenKind::Error(_));
        tokens.push(token);
        if last {
            return tokens;
        }
    }
}

fn next(cursor: &mut Cursor<'_>, after_at: bool) -> Result<Token, Finding> {
    skip_space(cursor)?;
    let start = cursor.at;
    let Some(first) = cursor.peek() else {
        return Ok(Token {
            kind: TokenKind::End,
            span: cursor.span(start),
        });
    };
    let kind = if first.is_ascii_digit() && after_at {
        cursor.skip_while(|it| is_word(it) || it == '.' || it == '-');
        TokenKind::Version
    } else if first.is_ascii_digit() {
        integer(cursor)?
    } else if first == '"' {
        TokenKind::Text(literal::text(cursor)?)
    } else if cursor.rest().starts_with("b\"") {
        TokenKind::Bytes(literal::bytes(cursor)?)
    } else if first.is_ascii_alphabetic() || first == '_' {
        cursor.skip_while(is_word);
        let word = cursor.text.get(start..cursor.at).unwrap_or("");
        if KEYWORDS.contains(&word) {
            TokenKind::Keyword
        } else {
            TokenKind::Ident
        }
    } else {
        sign(cursor)?
    };
    Ok(Token {
        kind,
        span: cursor.span(start),
    })
}

fn is_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

fn sign(cursor: &mut Cursor<'_>) -> Result<TokenKind, Finding> {
    let found = SIGNS
        .iter()
        .chain(SHORT_SIGNS)
        .find(|it| cursor.rest().starts_with(**it));
    let Some(sign) = found else {
        return Err(cursor.stray());
    };
    cursor.at = cursor.at.saturating_add(sign.len());
    Ok(TokenKind::Sign(sign))
}

fn skip_space(cursor: &mut Cursor<'_>) -> Result<(), Finding> {
    loop {
        cursor.skip_while(|it| matches!(it, ' ' | '\t' | '\n' | '\r'));
        if cursor.rest().starts_with("//") {
            cursor.skip_while(|it| it != '\n');
        } else if cursor.rest().starts_with("/*") {
            let start = cursor.at;
            let body = cursor.text.get(start.saturating_add(2)..).unwrap_or("");
            if let Some(length) = body.find("*/") {
                cursor.at = start.saturating_add(length).saturating_add(4);
            } else {
                cursor.at = cursor.text.len();
                return Err(Finding::new(
                    Kind::Lex,
                    cursor.span(start),
                    "comment is not closed before the end of the file",
                )
                .help("close it with `*/`"));
            }
        } else {
            return Ok(());
        }
    }
}

fn integer(cursor: &mut Cursor<'_>) -> Result<TokenKind, Finding> {
    let start = cursor.at;
    cursor.skip_while(|it| it.is_ascii_digit() || it == '_');
    let digits = cursor.text.get(start..cursor.at).unwrap_or("").to_owned();
    let suffix_start = cursor.at;
    cursor.skip_while(is_word);
    let suffix = cursor.text.get(suffix_start..cursor.at).unwrap_or("");
    if digits.ends_with('_') || digits.contains("__") {
        return Err(Finding::new(
            Kind::Lex,
            cursor.span(start),
            "misplaced underscore in a number",
        )
        .help("write digits on both sides of each underscore"));
    }
    let suffix = match suffix {
        "" => None,
        "u32" => Some(Suffix::U32),
        "u64" => Some(Suffix::U64),
        "i32" => Some(Suffix::I32),
        "i64" => Some(Suffix::I64),
        other => {
            return Err(Finding::new(
                Kind::InvalidInteger,
                cursor.span(start),
                format!("unknown integer suffix `{other}`"),
            )
            .help("use one of u32 u64 i32 i64"));
        }
    };
    let magnitude = digits
        .bytes()
        .filter(u8::is_ascii_digit)
        .fold(0u128, |sum, digit| {
            sum.saturating_mul(10)
                .saturating_add(u128::from(digit.saturating_sub(b'0')))
        });
    Ok(TokenKind::Integer(magnitude, suffix))
}
