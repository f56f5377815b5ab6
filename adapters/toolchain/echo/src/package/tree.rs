// SPDX-License-Identifier: Apache-2.0
//! The tree of a program as read from Target IR and the functions it reaches.

use super::types::{TypeId, Width};
use crate::{
    eval::value::{Symbol, Value},
    state::view::Intrinsic,
};
use std::collections::BTreeMap;

/// The name of a local: `arg.N`, `local.N` or `obstruction.N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Local {
    Argument(u32),
    Binder(u32),
    Obstruction(u32),
}

/// An expression.
#[derive(Debug)]
pub(crate) enum Expr {
    Const(Value),
    Local(Local),
    Field {
        base: Box<Self>,
        name: Symbol,
    },
    Record(Vec<(Symbol, Self)>),
    List(Vec<Self>),
    Case {
        name: Symbol,
        payload: Option<Box<Self>>,
    },
    Match {
        value: Box<Self>,
        arms: Vec<Arm>,
    },
    Builtin {
        builtin: Builtin,
        args: Vec<Self>,
    },
    Call {
        function: usize,
        args: Vec<Self>,
    },
    If {
        condition: Box<Predicate>,
        then: Box<Self>,
        otherwise: Box<Self>,
    },
}

/// One arm of a match.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) case: Symbol,
    pub(crate) binding: Option<Local>,
    pub(crate) value: Expr,
}

/// A condition.
#[derive(Debug)]
pub(crate) enum Predicate {
    Compare {
        op: Comparison,
        left: Expr,
        right: Expr,
    },
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Literal(bool),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// An integer operation on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// A built-in operation (language page, 2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    BytesLength,
    TextLength,
    ListLength,
    BytesConcat,
    TextConcat,
    Slice,
    CheckedSlice,
    BytesAt,
    ListAt,
    Integer {
        op: IntegerOp,
        width: Width,
        checked: bool,
    },
    Negate(Width),
    ToU64,
    Narrow(TypeId),
    Decimal,
    Hex,
    ValidUtf8,
    IsBoundary,
    Utf8Decode,
    Utf8Encode,
    Some,
    None,
    IsSome,
    Unwrap,
    Default,
    /// `wrap` and `raw`: a nominal value is its representation.
    Same,
}

/// An index into the statements of a unit.
pub(crate) type StatementId = usize;

/// Statements in order, then a value where the block has one.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) order: Vec<StatementId>,
    pub(crate) result: Option<Expr>,
}

/// A statement.
#[derive(Debug)]
pub(crate) enum Statement {
    Let {
        binding: Local,
        value: Expr,
    },
    Require {
        predicate: Predicate,
        raise: Raise,
    },
    Effect(Box<Effect>),
    Branch {
        condition: Predicate,
        binding: Option<Local>,
        then: Block,
        otherwise: Block,
    },
    For(Box<For>),
}

/// A loop over the items of a list or of bytes.
#[derive(Debug)]
pub(crate) struct For {
    pub(crate) item: Local,
    pub(crate) collection: Expr,
    pub(crate) bound: u64,
    pub(crate) fold: Option<Fold>,
    pub(crate) body: Block,
}

/// What a loop accumulates.
#[derive(Debug)]
pub(crate) struct Fold {
    pub(crate) binding: Local,
    pub(crate) accumulator: Local,
    pub(crate) initial: Expr,
}

/// An obstruction that is raised.
#[derive(Debug)]
pub(crate) struct Raise {
    pub(crate) coordinate: String,
    pub(crate) payload: Option<Expr>,
    /// Where it stands, from the root of the package.
    pub(crate) path: String,
}

/// An effect on an atom.
#[derive(Debug)]
pub(crate) struct Effect {
    pub(crate) binding: Local,
    pub(crate) coordinate: String,
    pub(crate) intrinsic: Option<Intrinsic>,
    pub(crate) configuration: Configuration,
    pub(crate) input: Expr,
    pub(crate) failures: BTreeMap<String, Failure>,
    pub(crate) arms: BTreeMap<String, FailureArm>,
    /// Where it stands, from the root of the package.
    pub(crate) path: String,
}

/// How an effect uses its intrinsic.
#[derive(Debug)]
pub(crate) struct Configuration {
    pub(crate) space: String,
    pub(crate) atom_type: (String, TypeId),
    pub(crate) key_type: (String, TypeId),
    pub(crate) key: Vec<Symbol>,
    pub(crate) value: Option<Vec<Symbol>>,
    pub(crate) expected: Option<Vec<Symbol>>,
    pub(crate) output: Output,
}

/// What the result of an effect is.
#[derive(Debug)]
pub(crate) enum Output {
    Value,
    Version,
    Record {
        value: Option<Symbol>,
        version: Option<Symbol>,
    },
}

/// A declared failure.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) target: String,
    pub(crate) payload: TypeId,
}

/// What is raised for a failure.
#[derive(Debug)]
pub(crate) struct FailureArm {
    pub(crate) binding: Local,
    pub(crate) raise: Raise,
}

/// A function.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) parameters: Vec<Local>,
    pub(crate) statements: Vec<Statement>,
    pub(crate) body: Block,
    /// Where it stands, from the root of the package.
    pub(crate) path: String,
    /// Where each statement stands.
    pub(crate) places: Vec<String>,
}

/// The intent of a package.
#[derive(Debug)]
pub(crate) struct Intent {
    pub(crate) parameter: Local,
    pub(crate) basis: Option<Expr>,
    pub(crate) constraints: Vec<Predicate>,
    pub(crate) statements: Vec<Statement>,
    /// The id of each statement.
    pub(crate) ids: Vec<String>,
    pub(crate) body: Block,
    /// Where it stands, from the root of the package.
    pub(crate) path: String,
    /// Where each statement stands.
    pub(crate) places: Vec<String>,
}

/// A whole program.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) intent: Intent,
    pub(crate) functions: Vec<Function>,
}
