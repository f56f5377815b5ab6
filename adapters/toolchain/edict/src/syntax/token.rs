// SPDX-License-Identifier: Apache-2.0
//! The tokens of the language and the words that are reserved.

use crate::diagnostic::{Finding, Span};

/// The fixed width an integer literal may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suffix {
    /// `i32`
    I32,
    /// `i64`
    I64,
    /// `u32`
    U32,
    /// `u64`
    U64,
}

/// What a token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// A name that is no keyword.
    Ident,
    /// One of [`KEYWORDS`].
    Keyword,
    /// Digits; the magnitude saturates far above every width.
    Integer(u128, Option<Suffix>),
    /// A string with its escapes resolved.
    Text(String),
    /// A byte string with its escapes resolved.
    Bytes(Vec<u8>),
    /// Everything after `@`.
    Version,
    /// One of [`SIGNS`] or [`SHORT_SIGNS`].
    Sign(&'static str),
    /// A place where no token is possible; the last token of its source.
    Error(Box<Finding>),
    /// The end of the source.
    End,
}

/// One token and its place.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) span: Span,
}

/// Signs of two and three bytes, longest first.
pub(crate) const SIGNS: &[&str] = &["...", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "::"];

/// Signs of one byte.
pub(crate) const SHORT_SIGNS: &[&str] = &[
    "{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", ".", "@", "=", "+", "-", "*", "/", "%",
    "!",
];

/// Words that are reserved as names.
pub(crate) const KEYWORDS: &[&str] = &[
    "package",
    "use",
    "type",
    "enum",
    "variant",
    "intent",
    "returns",
    "profile",
    "implements",
    "basis",
    "footprint",
    "budget",
    "where",
    "let",
    "request",
    "return",
    "require",
    "guarantee",
    "assert",
    "if",
    "then",
    "else",
    "for",
    "in",
    "bounded",
    "yield",
    "match",
    "as",
    "digest",
    "fn",
    "const",
    "true",
    "false",
];

/// Words of the upstream language that introduce something this language does not have.
pub(crate) const UNSUPPORTED: &[&str] = &[
    "const",
    "assert",
    "guarantee",
    "request",
    "implements",
    "footprint",
];

/// Names that nothing may declare or bind.
pub(crate) const PRELUDE: &[&str] = &[
    "Bool",
    "Bytes",
    "CapabilityRef",
    "I32",
    "I64",
    "List",
    "Map",
    "Option",
    "String",
    "U32",
    "U64",
    "digest",
    "false",
    "hash",
    "len",
    "none",
    "some",
    "true",
];

/// Built-ins that are found in call position only; no function may take their names.
pub(crate) const BUILT_INS: &[&str] = &[
    "at",
    "checkedAdd",
    "checkedDiv",
    "checkedMul",
    "checkedRem",
    "checkedSlice",
    "checkedSub",
    "decimal",
    "default",
    "hex",
    "isSome",
    "isUtf8Boundary",
    "narrow",
    "raw",
    "slice",
    "toU64",
    "unwrap",
    "utf8Decode",
    "utf8Encode",
    "validUtf8",
    "wrap",
];
