// SPDX-License-Identifier: Apache-2.0
//! The Core tree. One Rust type a shape of `docs/contracts/artifacts.md`; the order of every list
//! is the order of evaluation.

use crate::types::ty::Type;
use edict_codec::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A module: its functions and its intents.
#[derive(Clone, Debug)]
pub struct Module {
    /// `package@version`.
    pub coordinate: String,
    /// Imported lawpacks by coordinate: the digest of the manifest as written in source.
    pub imports: BTreeMap<String, [u8; 32]>,
    /// Functions of the module by name.
    pub functions: BTreeMap<String, Function>,
    /// Intents by name.
    pub intents: BTreeMap<String, Intent>,
}

/// A binder: `arg.N`, `local.N` or `obstruction.N`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binder {
    /// Which one.
    pub local: Local,
    /// The type of what it holds.
    pub ty: Type,
}

/// The name of a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Local {
    /// Parameter N.
    Argument(u32),
    /// Binder N in source order.
    Local(u32),
    /// Failure binder N.
    Obstruction(u32),
}

/// A function: bindings, then one value.
#[derive(Clone, Debug)]
pub struct Function {
    /// Parameters in order.
    pub parameters: Vec<Binder>,
    /// Declared result type.
    pub result: Type,
    /// `let` nodes and loops with an accumulator.
    pub bindings: Vec<Node>,
    /// The returned value.
    pub value: Expr,
}

/// An intent.
#[derive(Clone, Debug)]
pub struct Intent {
    /// The one parameter.
    pub parameter: Binder,
    /// Declared output type.
    pub result: Type,
    /// Coordinate of the operation profile.
    pub profile: String,
    /// The basis expression, if one is declared.
    pub basis: Option<Expr>,
    /// `where` parts by number.
    pub constraints: Vec<Predicate>,
    /// Coordinate of the budget.
    pub budget: String,
    /// The declared budget.
    pub limits: BudgetLimits,
    /// The body; its result is the returned record, leaves being locals or field paths.
    pub body: Block,
}

/// A budget triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    /// Steps.
    pub max_steps: u64,
    /// Allocated bytes.
    pub max_allocated_bytes: u64,
    /// Bytes of the encoded result or payload.
    pub max_output_bytes: u64,
}

/// Nodes and a result.
#[derive(Clone, Debug)]
pub struct Block {
    /// In order of execution.
    pub nodes: Vec<Node>,
    /// The value of the block; `None` is written as `const null` and never charged.
    pub result: Option<Expr>,
}

/// One statement.
#[derive(Clone, Debug)]
pub enum Node {
    /// Binds a value.
    Let {
        /// The binder.
        binding: Binder,
        /// The value.
        value: Expr,
    },
    /// Ends with an obstruction unless the predicate holds.
    Require {
        /// What must hold.
        predicate: Predicate,
        /// What is raised otherwise.
        failure: Raise,
    },
    /// Calls an effect.
    Effect {
        /// Binder of the result; anonymous results have one too.
        binding: Binder,
        /// Coordinate of the effect.
        effect: String,
        /// Its one argument.
        input: Expr,
        /// One arm a declared failure, by failure name.
        arms: BTreeMap<String, Arm>,
    },
    /// Chooses a block.
    Branch {
        /// The condition.
        condition: Predicate,
        /// Binder of the yielded value, for a `let`.
        binding: Option<Binder>,
        /// When it holds.
        then: Block,
        /// When it does not.
        otherwise: Block,
    },
    /// Visits the items of a list or of bytes.
    For {
        /// Binder of the item.
        item: Binder,
        /// What is visited.
        collection: Expr,
        /// Declared bound.
        bound: u64,
        /// Accumulator, for a `let`.
        fold: Option<Fold>,
        /// The body; with an accumulator its result is the next one.
        body: Block,
    },
}

/// The accumulator of a loop in `let` position.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Binder of the final value.
    pub binding: Binder,
    /// Binder inside the body.
    pub accumulator: Binder,
    /// First value.
    pub initial: Expr,
}

/// An obstruction that is raised.
#[derive(Clone, Debug)]
pub struct Raise {
    /// Coordinate of the obstruction.
    pub obstruction: String,
    /// A record literal; `None` for a bare target, which carries the empty record.
    pub payload: Option<Expr>,
}

/// What a failure of an effect becomes.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Binder of the failure's payload; numbered even if the source does not name it.
    pub binding: Binder,
    /// What is raised.
    pub raise: Raise,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant of a type.
    Const {
        /// Its type.
        ty: Type,
        /// Its canonical value.
        value: Value,
    },
    /// A local.
    Local(Local),
    /// A field of a record.
    Field {
        /// The record.
        base: Box<Expr>,
        /// The field.
        field: String,
    },
    /// A record literal, fields in written order.
    Record(Vec<(String, Expr)>),
    /// A list literal.
    List {
        /// Type of the items.
        item: Type,
        /// The items.
        items: Vec<Expr>,
    },
    /// A case of a variant.
    Variant {
        /// Coordinate of the variant.
        ty: String,
        /// The case.
        case: String,
        /// Its payload.
        payload: Option<Box<Expr>>,
    },
    /// A choice by case; cases of an Option are `Some` and `None`.
    Match {
        /// What is matched.
        value: Box<Expr>,
        /// Arms in written order.
        arms: Vec<MatchArm>,
    },
    /// A built-in, a function or a helper.
    Call {
        /// `core.…` or `package@version.name`.
        callee: String,
        /// Operand types, then the result type where the contract says so.
        type_arguments: Vec<Type>,
        /// Arguments in order.
        arguments: Vec<Expr>,
    },
    /// A conditional.
    If {
        /// The condition.
        condition: Box<Predicate>,
        /// When it holds.
        then: Box<Expr>,
        /// When it does not.
        otherwise: Box<Expr>,
    },
}

/// One arm of a match.
#[derive(Clone, Debug)]
pub struct MatchArm {
    /// The case.
    pub case: String,
    /// Binder of the payload.
    pub binding: Option<Binder>,
    /// The value.
    pub value: Expr,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Predicate {
    /// A comparison.
    Compare {
        /// The operator.
        operator: Comparison,
        /// Left operand.
        left: Box<Expr>,
        /// Right operand.
        right: Box<Expr>,
    },
    /// Every part holds; later parts are evaluated only then.
    All(Vec<Predicate>),
    /// Some part holds; later parts are evaluated only if none before did.
    Any(Vec<Predicate>),
    /// Negation.
    Not(Box<Predicate>),
    /// The literal `true`.
    True,
    /// The literal `false`.
    False,
}

/// What is derived beside the tree of an application.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Cost of section 4.3 of the language contract.
    pub static_bound: StaticBound,
    /// Greatest number of calls per effect coordinate.
    pub effect_calls: BTreeMap<String, u64>,
    /// Greatest number of calls per space and intrinsic; effects that share a pair share its row.
    pub footprint: BTreeMap<(String, String), u64>,
    /// Every obstruction that can be raised: coordinate and text of the payload type as raised.
    pub raised: BTreeSet<(String, String)>,
}

/// An upper bound of what one invocation consumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticBound {
    /// Steps.
    pub steps: u64,
    /// Allocated bytes.
    pub allocated_bytes: u64,
    /// Encoded output bytes.
    pub output_bytes: u64,
}
