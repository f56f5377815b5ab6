// SPDX-License-Identifier: Apache-2.0
//! Expressions of the syntax tree.

use super::{Name, Suffix, TypeExpr};
use crate::core::tree::Comparison;
use crate::diagnostic::Span;

/// An expression.
#[derive(Debug, Clone)]
pub struct Expr {
    /// What was written.
    pub kind: ExprKind,
    /// All of it.
    pub span: Span,
    /// Levels of nesting inside, for the limit of 256.
    pub height: u16,
}

impl Expr {
    /// The expression inside any parentheses.
    pub fn bare(&self) -> &Self {
        let mut inner = self;
        while let ExprKind::Paren(next) = &inner.kind {
            inner = next;
        }
        inner
    }
}

/// Two-sided operators, chains of `&&` and `||` excepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// A comparison.
    Compare(Comparison),
}

/// The forms of an expression.
#[derive(Debug, Clone)]
pub enum ExprKind {
    /// An integer literal; the sign directly before it belongs to it.
    Integer {
        /// Saturated far above every width.
        magnitude: u128,
        /// Whether `-` stands before it.
        negative: bool,
        /// The named width.
        suffix: Option<Suffix>,
    },
    /// A string literal.
    Text(String),
    /// A byte string literal.
    Bytes(Vec<u8>),
    /// `true` or `false`.
    Bool(bool),
    /// A name.
    Name(String),
    /// `base.name`
    Field(Box<Expr>, Name),
    /// `owner::Case(payload)`
    Case(Box<Expr>, Name, Option<Box<Expr>>),
    /// `callee<types>(arguments)`
    Call(Box<Call>),
    /// `{ name: value, name }`; a bare name stands for itself.
    Record(Vec<(Name, Option<Expr>)>),
    /// `[ … ]`
    List(Vec<Expr>),
    /// `( … )`
    Paren(Box<Expr>),
    /// `!part`
    Not(Box<Expr>),
    /// `-part`
    Negate(Box<Expr>),
    /// `left operator right`
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// `a && b && …` as written without parentheses.
    All(Vec<Expr>),
    /// `a || b || …` as written without parentheses.
    Any(Vec<Expr>),
    /// `if a then b else if c then d else e`, all parts in one list.
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `match value { … }`
    Match(Box<Expr>, Vec<MatchArm>),
}

/// A call.
#[derive(Debug, Clone)]
pub struct Call {
    /// What is called.
    pub callee: Expr,
    /// Type arguments.
    pub types: Vec<TypeExpr>,
    /// Arguments.
    pub arguments: Vec<Expr>,
}

/// One arm of a `match`.
#[derive(Debug, Clone)]
pub struct MatchArm {
    /// The case.
    pub case: Name,
    /// Binder of the payload.
    pub binder: Option<Name>,
    /// The value.
    pub value: Expr,
}
