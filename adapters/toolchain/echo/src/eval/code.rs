// SPDX-License-Identifier: Apache-2.0
//! The flat executable form of a program. Single steps of the cost law are collected into groups
//! that are charged before the first thing that anyone could observe.

use super::{
    names::Names,
    value::{ShapeId, Symbol, Value},
};
use crate::{
    package::{
        tree::{Builtin, Comparison, IntegerOp},
        types::{TypeId, Types, Width},
    },
    state::view::Intrinsic,
};

/// A program that can run.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    pub(crate) constants: Vec<Value>,
    /// Field names of all paths, one after the other.
    pub(crate) fields: Vec<Symbol>,
    pub(crate) records: Vec<RecordForm>,
    /// Arms ascending by case.
    pub(crate) matches: Vec<Vec<MatchArm>>,
    pub(crate) functions: Vec<Entry>,
    pub(crate) effects: Vec<EffectForm>,
    pub(crate) raises: Vec<RaiseForm>,
    pub(crate) types: Types,
    pub(crate) names: Names,
    pub(crate) input: TypeId,
    pub(crate) output: TypeId,
    /// The names of the cases of an Option.
    pub(crate) some: Symbol,
    pub(crate) none: Symbol,
}

/// A place in the code.
pub(crate) type Target = u32;

/// A local of the current call.
pub(crate) type Slot = u32;

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    /// On the stack; of two, the right one is on top.
    Stack,
    Local(Slot),
    Const(u32),
}

/// An instruction. `units` are single steps charged first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Units(u32),
    Const(u32),
    Local(Slot),
    /// A field path from a local: `count` names from `first`.
    Path {
        slot: Slot,
        first: u32,
        count: u32,
    },
    Field(Symbol),
    Record(u32),
    List(u32),
    Case(Symbol),
    Store(Slot),
    Integer {
        op: IntegerOp,
        width: Width,
        checked: bool,
        left: Operand,
        right: Operand,
    },
    Builtin(Builtin),
    /// What the Option on the stack holds, or the operand.
    Default(Operand),
    /// Jumps if the comparison is `when`.
    Compare {
        op: Comparison,
        when: bool,
        units: u32,
        left: Operand,
        right: Operand,
        target: Target,
    },
    Jump(Target),
    Match(u32),
    Call(u32),
    Return,
    /// Takes the collection; jumps to `exit` if it is empty.
    LoopStart {
        item: Slot,
        bound: u32,
        exit: Target,
    },
    /// Takes the next value of the accumulator and the next item; jumps to `start` if there is one.
    LoopNext {
        item: Slot,
        accumulator: Option<Slot>,
        start: Target,
    },
    /// Takes the input of the effect, leaves its result or jumps to an arm.
    Effect(u32),
    Raise(u32),
    ConstraintFailed(u32),
    /// Takes the value of the basis expression.
    Basis,
    /// Takes the result.
    End,
}

/// A record literal: its shape, and for each field of the shape its place in written order.
#[derive(Debug)]
pub(crate) struct RecordForm {
    pub(crate) shape: ShapeId,
    /// `None` if the written order is that of the shape.
    pub(crate) order: Option<Vec<usize>>,
    pub(crate) count: usize,
}

/// One arm of a match.
#[derive(Debug)]
pub(crate) struct MatchArm {
    pub(crate) case: Symbol,
    pub(crate) binding: Option<Slot>,
    pub(crate) target: Target,
}

/// A function: where it starts and how many operands it takes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Entry {
    pub(crate) target: Target,
    pub(crate) arity: usize,
}

/// An effect on an atom.
#[derive(Debug)]
pub(crate) struct EffectForm {
    pub(crate) intrinsic: Intrinsic,
    pub(crate) space: String,
    pub(crate) atom_type: TypeId,
    pub(crate) key_type: TypeId,
    pub(crate) key: Vec<Symbol>,
    pub(crate) value: Vec<Symbol>,
    pub(crate) expected: Vec<Symbol>,
    pub(crate) output: OutputForm,
    pub(crate) arms: Vec<ArmForm>,
}

/// What the result of an effect is.
#[derive(Debug)]
pub(crate) enum OutputForm {
    Value,
    Version,
    /// A record with these roles in the order of its shape.
    Record {
        shape: ShapeId,
        roles: Vec<Role>,
    },
}

/// A role of the result of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Value,
    Version,
}

/// What happens on a failure.
#[derive(Debug)]
pub(crate) struct ArmForm {
    pub(crate) failure: TargetFailure,
    pub(crate) payload: PayloadForm,
    pub(crate) binding: Slot,
    pub(crate) target: Target,
}

/// What a failure binder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadForm {
    Key,
    Empty(ShapeId),
    /// A record whose one field is the version.
    Version(ShapeId),
}

/// A target failure that occurs (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetFailure {
    Missing,
    Malformed,
    Exists,
    Conflict,
    /// A name that may be mapped and never occurs.
    Never,
}

impl TargetFailure {
    /// The failure of that name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "echo.atom-missing/v1" | "echo.fact-missing/v1" => Some(Self::Missing),
            "echo.atom-type-mismatch/v1" => Some(Self::Malformed),
            "echo.atom-exists/v1" => Some(Self::Exists),
            "echo.atom-version-mismatch/v1" => Some(Self::Conflict),
            "echo.atom-required/v1" | "echo.atom-byte-bound-exceeded/v1" => Some(Self::Never),
            _ => None,
        }
    }
}

/// An obstruction that is raised; the payload is the empty record if it is bare.
#[derive(Debug)]
pub(crate) struct RaiseForm {
    pub(crate) coordinate: String,
    pub(crate) payload: Option<TypeId>,
}
