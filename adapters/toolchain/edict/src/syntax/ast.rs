// SPDX-License-Identifier: Apache-2.0
//! The syntax tree: what was written, with the place of every name.

mod expr;

pub use super::token::Suffix;
pub use expr::{Call, Expr, ExprKind, MatchArm, Operator};

use crate::diagnostic::{LineIndex, Span};

/// A whole module.
#[derive(Debug, Clone)]
pub struct Ast {
    /// `package path@version`.
    pub package: PackageRef,
    /// `use` lines in order.
    pub imports: Vec<Import>,
    /// Declarations in order.
    pub declarations: Vec<Declaration>,
    /// Lines of the source the tree was read from.
    pub lines: LineIndex,
}

/// A name and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// Names joined by dots.
#[derive(Debug, Clone)]
pub struct Path {
    /// At least one.
    pub segments: Vec<Name>,
    /// From the first to the last.
    pub span: Span,
}

impl Path {
    /// The dotted spelling.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.segments.iter().map(|it| it.text.as_str()).collect();
        names.join(".")
    }

    /// The two names of `alias.name`.
    pub fn qualified(&self) -> Option<(&str, &str)> {
        match self.segments.as_slice() {
            [alias, name] => Some((&alias.text, &name.text)),
            _ => None,
        }
    }
}

/// `path@version`.
#[derive(Debug, Clone)]
pub struct PackageRef {
    /// `path@version` as one text.
    pub coordinate: String,
    /// All of it.
    pub span: Span,
}

/// What a `use` line pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportKind {
    /// `use lawpack`.
    Lawpack,
    /// `use target`.
    Target,
}

/// One `use` line.
#[derive(Debug, Clone)]
pub struct Import {
    /// What it pins.
    pub kind: ImportKind,
    /// The package.
    pub package: PackageRef,
    /// The pinned digest and its literal, quotes included.
    pub digest: Option<([u8; 32], Span)>,
    /// The alias.
    pub alias: Name,
}

/// A declaration.
#[derive(Debug, Clone)]
pub enum Declaration {
    /// `type` or `enum`.
    Type(TypeDecl),
    /// `fn`.
    Function(FunctionDecl),
    /// `intent`.
    Intent(IntentDecl),
}

impl Declaration {
    /// The declared name.
    pub fn name(&self) -> &Name {
        match self {
            Self::Type(it) => &it.name,
            Self::Function(it) => &it.name,
            Self::Intent(it) => &it.name,
        }
    }
}

/// `type Name = …` or `enum Name { … }`.
#[derive(Debug, Clone)]
pub struct TypeDecl {
    /// The name.
    pub name: Name,
    /// What it means.
    pub body: TypeBody,
}

/// The right side of a type declaration.
#[derive(Debug, Clone)]
pub enum TypeBody {
    /// Another name of a type.
    Alias(TypeExpr),
    /// A record with its fields in written order.
    Record(Vec<(Name, TypeExpr)>),
    /// A variant or an enum with its cases in written order.
    Variant(Vec<(Name, Option<TypeExpr>)>),
}

/// A written type.
#[derive(Debug, Clone)]
pub struct TypeExpr {
    /// What was written.
    pub kind: TypeExprKind,
    /// All of it.
    pub span: Span,
}

/// The forms of a written type.
#[derive(Debug, Clone)]
pub enum TypeExprKind {
    /// `String` or `Bytes` without a bound.
    Unbounded,
    /// `String<max=…>`, perhaps with another policy than `raw-utf8`.
    Text(Bound, Option<String>),
    /// `Bytes<…>`: least and greatest length; `exact` gives the same bound twice.
    Bytes(Option<Bound>, Bound),
    /// `Option<…>`.
    Option(Box<TypeExpr>),
    /// `List<…, max=…>`.
    List(Box<TypeExpr>, Bound),
    /// A name.
    Named(Path),
}

/// A length.
#[derive(Debug, Clone)]
pub enum Bound {
    /// A number.
    Integer(u128, Span),
    /// A constant.
    Constant(Path),
}

impl Bound {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Self::Integer(_, span) => *span,
            Self::Constant(path) => path.span,
        }
    }
}

/// A parameter.
#[derive(Debug, Clone)]
pub struct Param {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: TypeExpr,
}

/// `fn`.
#[derive(Debug, Clone)]
pub struct FunctionDecl {
    /// Its name.
    pub name: Name,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Declared result.
    pub result: TypeExpr,
    /// The body.
    pub body: Block,
}

/// `intent` or `action`.
#[derive(Debug, Clone)]
pub struct IntentDecl {
    /// Its name.
    pub name: Name,
    /// Parameters in order; only one is legal.
    pub params: Vec<Param>,
    /// Declared output.
    pub result: TypeExpr,
    /// Clauses in written order, repetitions included.
    pub clauses: Vec<Clause>,
    /// The body.
    pub body: Block,
}

/// A clause of an intent with its keyword.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The keyword.
    pub keyword: Span,
    /// What it says.
    pub kind: ClauseKind,
}

/// The clauses of an intent.
#[derive(Debug, Clone)]
pub enum ClauseKind {
    /// `profile path`.
    Profile(Path),
    /// `basis none` or `basis expr`.
    Basis(Option<Expr>),
    /// `budget <= path`.
    Budget(Path),
    /// `where expr, …`.
    Where(Vec<Expr>),
}

/// Statements in braces.
#[derive(Debug, Clone)]
pub struct Block {
    /// In order.
    pub statements: Vec<Statement>,
}

/// Statements and one yielded value in braces.
#[derive(Debug, Clone)]
pub struct YieldBlock {
    /// In order.
    pub statements: Vec<Statement>,
    /// The value.
    pub result: Expr,
}

/// A statement.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// From its first token to its last.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// `let name: type = …;`
    Let {
        /// The binder.
        name: Name,
        /// The annotation.
        annotation: Option<TypeExpr>,
        /// The right side.
        value: LetValue,
    },
    /// `return expr;`
    Return(Expr),
    /// `require expr else target;`
    Require(Expr, Target),
    /// `if … { … } else if … { … } else { … }`, all parts in one list.
    If(Vec<(Expr, Block)>, Option<Block>),
    /// `for item in collection bounded bound { … }`
    For(Loop, Block),
    /// `call else handler;`
    Call(Expr, Option<Handler>),
}

/// The head of a loop.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Binder of the item.
    pub item: Name,
    /// What is visited.
    pub collection: Expr,
    /// The bound.
    pub bound: Bound,
}

/// The right side of a `let`.
#[derive(Debug, Clone)]
pub enum LetValue {
    /// An expression, or a call with a handler.
    Expr(Expr, Option<Handler>),
    /// `if expr { … yield … } else { … yield … }`
    Branch(Expr, Box<YieldBlock>, Box<YieldBlock>),
    /// `for … with accumulator: type = initial { … yield … }`
    Fold(Box<FoldExpr>),
}

/// A loop with an accumulator.
#[derive(Debug, Clone)]
pub struct FoldExpr {
    /// Item, collection and bound.
    pub head: Loop,
    /// Binder of the accumulator.
    pub accumulator: Name,
    /// Its type.
    pub ty: TypeExpr,
    /// Its first value.
    pub initial: Expr,
    /// The body.
    pub body: YieldBlock,
}

/// What happens with the failures of an effect.
#[derive(Debug, Clone)]
pub enum Handler {
    /// `else target`, for the only failure.
    Short(Target),
    /// `else { failure(binder) => target, … }`
    Map(Vec<HandlerArm>),
}

/// One arm of a handler.
#[derive(Debug, Clone)]
pub struct HandlerArm {
    /// The failure.
    pub failure: Name,
    /// Binder of its payload.
    pub binder: Option<Name>,
    /// What is raised.
    pub target: Target,
}

/// An obstruction with an optional payload.
#[derive(Debug, Clone)]
pub struct Target {
    /// `alias.Name`.
    pub path: Path,
    /// The payload.
    pub payload: Option<Expr>,
}
