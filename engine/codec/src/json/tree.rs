// SPDX-License-Identifier: Apache-2.0
//! The ordered tree: every value and member name with its span, no name twice in one object.

use super::token::{JsonError, JsonErrorKind, Lexer, Span, Token};
use std::collections::BTreeSet;

/// Size and depth that a document may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonLimits {
    /// Greatest length in bytes.
    pub bytes: usize,
    /// Greatest nesting; the outermost container counts as 1.
    pub depth: usize,
}

impl JsonLimits {
    /// Depth 32 and at most `bytes` bytes: the rule for documents of the runner.
    pub const fn document(bytes: usize) -> Self {
        Self { bytes, depth: 32 }
    }
}

/// A value with its span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub tree: Tree,
}

/// A JSON value whose objects keep the order of their members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer -2^63 ..= 2^64-1.
    Integer(i128),
    /// A text after unescaping, not normalised.
    Text(String),
    /// A list.
    Array(Vec<Node>),
    /// An object, names unique, in document order.
    Object(Vec<Member>),
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name after unescaping.
    pub name: String,
    /// Where the name stands, quotes included.
    pub name_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The member `name` of an object.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.as_object()?
            .iter()
            .find(|member| member.name == name)
            .map(|member| &member.value)
    }

    /// The value that a JSON Pointer (RFC 6901) names; the empty pointer names this one.
    pub fn at(&self, pointer: &str) -> Option<&Node> {
        let mut node = self;
        let mut names = pointer.split('/');
        if !names.next()?.is_empty() {
            return None;
        }
        for name in names {
            node = match &node.tree {
                Tree::Array(items) => items.get(name.parse::<usize>().ok()?)?,
                _ => node.get(&name.replace("~1", "/").replace("~0", "~"))?,
            };
        }
        Some(node)
    }

    /// The members of an object.
    pub fn as_object(&self) -> Option<&[Member]> {
        if let Tree::Object(members) = &self.tree {
            Some(members)
        } else {
            None
        }
    }

    /// The items of a list.
    pub fn as_array(&self) -> Option<&[Node]> {
        if let Tree::Array(items) = &self.tree {
            Some(items)
        } else {
            None
        }
    }

    /// The text.
    pub fn as_text(&self) -> Option<&str> {
        if let Tree::Text(text) = &self.tree {
            Some(text)
        } else {
            None
        }
    }

    /// The integer.
    pub fn as_integer(&self) -> Option<i128> {
        if let Tree::Integer(value) = &self.tree {
            Some(*value)
        } else {
            None
        }
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        if let Tree::Bool(value) = &self.tree {
            Some(*value)
        } else {
            None
        }
    }
}

/// Reads one strict document.
///
/// # Errors
/// The first rejection in the order of `docs/contracts/strict-formats.md`.
pub fn parse(bytes: &[u8], limits: JsonLimits) -> Result<Node, JsonError> {
    let whole = Span {
        start: 0,
        end: bytes.len(),
    };
    if bytes.len() > limits.bytes {
        return Err(JsonError {
            kind: JsonErrorKind::TooLarge,
            span: whole,
        });
    }
    if bytes.is_empty() {
        return Err(JsonError {
            kind: JsonErrorKind::EmptyDocument,
            span: whole,
        });
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let span = Span { start: 0, end: 3 };
        return Err(JsonError {
            kind: JsonErrorKind::ByteOrderMark,
            span,
        });
    }
    let text = str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let end = start
            .saturating_add(error.error_len().unwrap_or(1))
            .min(bytes.len());
        JsonError {
            kind: JsonErrorKind::InvalidUtf8,
            span: Span { start, end },
        }
    })?;
    Parser {
        lexer: Lexer::new(text),
        depth: limits.depth,
        length: bytes.len(),
    }
    .document(whole)
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    depth: usize,
    length: usize,
}

impl Parser<'_> {
    fn document(mut self, whole: Span) -> Result<Node, JsonError> {
        let Some(first) = self.lexer.next()? else {
            return Err(JsonError {
                kind: JsonErrorKind::EmptyDocument,
                span: whole,
            });
        };
        let node = self.value(first, 0)?;
        // What follows need not even be a token: it is trailing data either way.
        match self.lexer.next() {
            Ok(None) => Ok(node),
            Ok(Some((_, span))) => Err(JsonError {
                kind: JsonErrorKind::TrailingData,
                span,
            }),
            Err(error) => Err(JsonError {
                kind: JsonErrorKind::TrailingData,
                span: error.span,
            }),
        }
    }

    /// Recursion is bounded by the depth limit, checked at the opening bracket.
    fn value(&mut self, (token, span): (Token, Span), depth: usize) -> Result<Node, JsonError> {
        let tree = match token {
            Token::Null => Tree::Null,
            Token::Bool(value) => Tree::Bool(value),
            Token::Integer(value) => Tree::Integer(value),
            Token::Text(text) => Tree::Text(text),
            Token::ArrayOpen | Token::ObjectOpen if depth >= self.depth => {
                return Err(JsonError {
                    kind: JsonErrorKind::NestingTooDeep,
                    span,
                });
            }
            Token::ArrayOpen => return self.array(span.start, depth.saturating_add(1)),
            Token::ObjectOpen => return self.object(span.start, depth.saturating_add(1)),
            Token::ArrayClose | Token::ObjectClose | Token::Colon | Token::Comma => {
                return Err(JsonError {
                    kind: JsonErrorKind::JsonSyntax,
                    span,
                });
            }
        };
        Ok(Node { span, tree })
    }

    fn required(&mut self) -> Result<(Token, Span), JsonError> {
        let end = Span {
            start: self.length,
            end: self.length,
        };
        self.lexer.next()?.ok_or(JsonError {
            kind: JsonErrorKind::UnexpectedEnd,
            span: end,
        })
    }

    fn array(&mut self, start: usize, depth: usize) -> Result<Node, JsonError> {
        let mut items = Vec::new();
        let mut token = self.required()?;
        if token.0 != Token::ArrayClose {
            loop {
                items.push(self.value(token, depth)?);
                token = self.required()?;
                match token.0 {
                    Token::Comma => token = self.required()?,
                    Token::ArrayClose => break,
                    _ => {
                        return Err(JsonError {
                            kind: JsonErrorKind::JsonSyntax,
                            span: token.1,
                        });
                    }
                }
            }
        }
        Ok(Node {
            span: Span {
                start,
                end: token.1.end,
            },
            tree: Tree::Array(items),
        })
    }

    fn object(&mut self, start: usize, depth: usize) -> Result<Node, JsonError> {
        let mut members = Vec::new();
        let mut names = BTreeSet::new();
        let mut token = self.required()?;
        if token.0 != Token::ObjectClose {
            loop {
                let (Token::Text(name), name_span) = token else {
                    return Err(JsonError {
                        kind: JsonErrorKind::JsonSyntax,
                        span: token.1,
                    });
                };
                if !names.insert(name.clone()) {
                    return Err(JsonError {
                        kind: JsonErrorKind::DuplicateKey,
                        span: name_span,
                    });
                }
                let colon = self.required()?;
                if colon.0 != Token::Colon {
                    return Err(JsonError {
                        kind: JsonErrorKind::JsonSyntax,
                        span: colon.1,
                    });
                }
                let first = self.required()?;
                let value = self.value(first, depth)?;
                members.push(Member {
                    name,
                    name_span,
                    value,
                });
                token = self.required()?;
                match token.0 {
                    Token::Comma => token = self.required()?,
                    Token::ObjectClose => break,
                    _ => {
                        return Err(JsonError {
                            kind: JsonErrorKind::JsonSyntax,
                            span: token.1,
                        });
                    }
                }
            }
        }
        Ok(Node {
            span: Span {
                start,
                end: token.1.end,
            },
            tree: Tree::Object(members),
        })
    }
}
