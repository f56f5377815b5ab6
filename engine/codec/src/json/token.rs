// SPDX-License-Identifier: Apache-2.0
//! Tokens of RFC 8259 with byte spans; integers only.

/// A half-open range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
}

/// Why text is no strict document. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// More bytes than the limit.
    TooLarge,
    /// No bytes, or white space only.
    EmptyDocument,
    /// A byte order mark.
    ByteOrderMark,
    /// Not UTF-8.
    InvalidUtf8,
    /// A raw control character in a string.
    ControlCharacter,
    /// An escape that does not exist.
    InvalidEscape,
    /// Half a surrogate pair.
    LoneSurrogate,
    /// The input ends inside a token or container.
    UnexpectedEnd,
    /// A member name stands twice in one object.
    DuplicateKey,
    /// A fraction, an exponent or `-0`.
    NumberForm,
    /// An integer outside -2^63 ..= 2^64-1.
    NumberRange,
    /// Any other unexpected character.
    JsonSyntax,
    /// Containers nest too deep.
    NestingTooDeep,
    /// Something after the value.
    TrailingData,
}

impl JsonErrorKind {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "TooLarge",
            Self::EmptyDocument => "EmptyDocument",
            Self::ByteOrderMark => "ByteOrderMark",
            Self::InvalidUtf8 => "InvalidUtf8",
            Self::ControlCharacter => "ControlCharacter",
            Self::InvalidEscape => "InvalidEscape",
            Self::LoneSurrogate => "LoneSurrogate",
            Self::UnexpectedEnd => "UnexpectedEnd",
            Self::DuplicateKey => "DuplicateKey",
            Self::NumberForm => "NumberForm",
            Self::NumberRange => "NumberRange",
            Self::JsonSyntax => "JsonSyntax",
            Self::NestingTooDeep => "NestingTooDeep",
            Self::TrailingData => "TrailingData",
        }
    }
}

/// A rejection and the span of the offending token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at bytes {}..{}", kind.name(), span.start, span.end)]
pub struct JsonError {
    /// Why.
    pub kind: JsonErrorKind,
    /// Where.
    pub span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    ArrayOpen,
    ArrayClose,
    ObjectOpen,
    ObjectClose,
    Colon,
    Comma,
    Text(String),
    Integer(i128),
    Bool(bool),
    Null,
}

/// Cuts text into tokens, one call a token.
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, position: 0 }
    }

    /// The next token and its span; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Result<Option<(Token, Span)>, JsonError> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.step(1);
        }
        let start = self.position;
        let Some(first) = self.peek() else {
            return Ok(None);
        };
        let token = match first {
            b'[' => self.sign(Token::ArrayOpen),
            b']' => self.sign(Token::ArrayClose),
            b'{' => self.sign(Token::ObjectOpen),
            b'}' => self.sign(Token::ObjectClose),
            b':' => self.sign(Token::Colon),
            b',' => self.sign(Token::Comma),
            b'"' => self.string(start)?,
            b'-' | b'0'..=b'9' => self.number(start)?,
            _ => self.word(start)?,
        };
        Ok(Some((
            token,
            Span {
                start,
                end: self.position,
            },
        )))
    }

    /// The span of one character at the position, empty at the end.
    pub(super) fn here(&self) -> Span {
        let end = self.rest().chars().next().map_or(self.position, |found| {
            self.position.saturating_add(found.len_utf8())
        });
        Span {
            start: self.position,
            end,
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn step(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes);
    }

    fn sign(&mut self, token: Token) -> Token {
        self.step(1);
        token
    }

    fn fail<T>(&self, kind: JsonErrorKind, start: usize) -> Result<T, JsonError> {
        Err(JsonError {
            kind,
            span: Span {
                start,
                end: self.position.max(start),
            },
        })
    }

    fn word(&mut self, start: usize) -> Result<Token, JsonError> {
        for (word, token) in [
            ("true", Token::Bool(true)),
            ("false", Token::Bool(false)),
            ("null", Token::Null),
        ] {
            let rest = self.rest();
            if rest.starts_with(word) {
                self.step(word.len());
                return Ok(token);
            }
            if word.starts_with(rest) {
                self.step(rest.len());
                return self.fail(JsonErrorKind::UnexpectedEnd, start);
            }
        }
        Err(JsonError {
            kind: JsonErrorKind::JsonSyntax,
            span: self.here(),
        })
    }

    fn digits(&mut self) -> usize {
        let start = self.position;
        while let Some(b'0'..=b'9') = self.peek() {
            self.step(1);
        }
        self.position.saturating_sub(start)
    }

    fn number(&mut self, start: usize) -> Result<Token, JsonError> {
        if self.peek() == Some(b'-') {
            self.step(1);
        }
        match self.peek() {
            None => return self.fail(JsonErrorKind::UnexpectedEnd, start),
            Some(b'0') => {
                self.step(1);
                if let Some(b'0'..=b'9') = self.peek() {
                    self.digits();
                    return self.fail(JsonErrorKind::JsonSyntax, start);
                }
            }
            Some(b'1'..=b'9') => {
                self.digits();
            }
            Some(_) => {
                self.step(self.here().end.saturating_sub(self.position));
                return self.fail(JsonErrorKind::JsonSyntax, start);
            }
        }
        let integer = self.text.get(start..self.position).unwrap_or_default();
        let mut form = integer == "-0";
        if self.peek() == Some(b'.') {
            self.step(1);
            form = true;
            if self.digits() == 0 {
                return self.fail(JsonErrorKind::JsonSyntax, start);
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.step(1);
            form = true;
            if let Some(b'+' | b'-') = self.peek() {
                self.step(1);
            }
            if self.digits() == 0 {
                return self.fail(JsonErrorKind::JsonSyntax, start);
            }
        }
        if form {
            return self.fail(JsonErrorKind::NumberForm, start);
        }
        match integer.parse::<i128>() {
            Ok(value) if (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&value) => {
                Ok(Token::Integer(value))
            }
            _ => self.fail(JsonErrorKind::NumberRange, start),
        }
    }

    fn string(&mut self, start: usize) -> Result<Token, JsonError> {
        self.step(1);
        let mut text = String::new();
        loop {
            let rest = self.rest();
            let plain = rest
                .find(|found: char| found == '"' || found == '\\' || found < ' ')
                .unwrap_or(rest.len());
            text.push_str(rest.get(..plain).unwrap_or_default());
            self.step(plain);
            match self.peek() {
                None => return self.fail(JsonErrorKind::UnexpectedEnd, start),
                Some(b'"') => {
                    self.step(1);
                    return Ok(Token::Text(text));
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => {
                    let span = self.here();
                    return Err(JsonError {
                        kind: JsonErrorKind::ControlCharacter,
                        span,
                    });
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.position;
        self.step(1);
        let Some(sign) = self.peek() else {
            return self.fail(JsonErrorKind::UnexpectedEnd, start);
        };
        let plain = match sign {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(start),
            _ => {
                self.step(self.here().end.saturating_sub(self.position));
                return self.fail(JsonErrorKind::InvalidEscape, start);
            }
        };
        self.step(1);
        Ok(plain)
    }

    fn unicode(&mut self, start: usize) -> Result<char, JsonError> {
        self.step(1);
        let first = self.four(start)?;
        if let Some(scalar) = char::from_u32(first) {
            return Ok(scalar);
        }
        if first >= 0xdc00 {
            return self.fail(JsonErrorKind::LoneSurrogate, start);
        }
        let high_end = self.position;
        if !self.rest().starts_with("\\u") {
            return self.fail(JsonErrorKind::LoneSurrogate, start);
        }
        self.step(2);
        let second = self.four(high_end)?;
        if !(0xdc00..=0xdfff).contains(&second) {
            self.position = high_end;
            return self.fail(JsonErrorKind::LoneSurrogate, start);
        }
        let high = first.wrapping_sub(0xd800) << 10;
        let low = second.wrapping_sub(0xdc00);
        match char::from_u32((high | low).wrapping_add(0x1_0000)) {
            Some(scalar) => Ok(scalar),
            None => self.fail(JsonErrorKind::LoneSurrogate, start),
        }
    }

    fn four(&mut self, start: usize) -> Result<u32, JsonError> {
        let mut value = 0u32;
        for _ in 0..4 {
            let Some(sign) = self.peek() else {
                return self.fail(JsonErrorKind::UnexpectedEnd, start);
            };
            let Some(digit) = char::from(sign).to_digit(16) else {
                self.step(self.here().end.saturating_sub(self.position));
                return self.fail(JsonErrorKind::InvalidEscape, start);
            };
            value = value << 4 | digit;
            self.step(1);
        }
        Ok(value)
    }
}
