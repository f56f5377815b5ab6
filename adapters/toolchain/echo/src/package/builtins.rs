// SPDX-License-Identifier: Apache-2.0
//! The callees of the built-in operations.

use super::{
    tree::{Builtin, IntegerOp},
    types::{Type, TypeId, Types, Width},
};

/// A built-in as a call names it: how many operands and type arguments it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    make: Make,
    /// Number of operands.
    pub(crate) arity: usize,
    /// Whether the result type stands after those of the operands.
    pub(crate) names_result: bool,
}

impl Signature {
    /// Number of type arguments.
    pub(crate) fn type_arguments(self) -> usize {
        self.arity.saturating_add(usize::from(self.names_result))
    }

    /// The operation; `None` if the type arguments are none of its.
    pub(crate) fn builtin(self, types: &Types, arguments: &[TypeId]) -> Option<Builtin> {
        let width = || match types.structure(*arguments.first()?) {
            Type::Integer(width) => Some(*width),
            _ => None,
        };
        match self.make {
            Make::Plain(builtin) => Some(builtin),
            Make::Integer { op, checked } => Some(Builtin::Integer {
                op,
                width: width()?,
                checked,
            }),
            Make::Negate => match width()? {
                width @ (Width::I32 | Width::I64) => Some(Builtin::Negate(width)),
                Width::U32 | Width::U64 => None,
            },
            Make::Narrow => {
                let result = *arguments.last()?;
                match types.structure(result) {
                    Type::Option(item) => Some(Builtin::Narrow(*item)),
                    _ => Some(Builtin::Narrow(result)),
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Make {
    Plain(Builtin),
    Integer { op: IntegerOp, checked: bool },
    Negate,
    Narrow,
}

/// The built-in of that callee.
pub(crate) fn find(callee: &str) -> Option<Signature> {
    let (make, arity, names_result) = match callee.strip_prefix("core.")? {
        "bytes.length" => (Make::Plain(Builtin::BytesLength), 1, false),
        "string.length" => (Make::Plain(Builtin::TextLength), 1, false),
        "list.length" => (Make::Plain(Builtin::ListLength), 1, false),
        "bytes.concat" => (Make::Plain(Builtin::BytesConcat), 2, false),
        "string.concat" => (Make::Plain(Builtin::TextConcat), 2, false),
        "bytes.slice" => (Make::Plain(Builtin::Slice), 3, false),
        "bytes.checkedSlice" => (Make::Plain(Builtin::CheckedSlice), 3, false),
        "bytes.at" => (Make::Plain(Builtin::BytesAt), 2, false),
        "list.at" => (Make::Plain(Builtin::ListAt), 2, false),
        "integer.negate" => (Make::Negate, 1, false),
        "integer.toU64" => (Make::Plain(Builtin::ToU64), 1, false),
        "narrow" => (Make::Narrow, 1, true),
        "integer.decimal" => (Make::Plain(Builtin::Decimal), 1, false),
        "bytes.hex" => (Make::Plain(Builtin::Hex), 1, false),
        "utf8.valid" => (Make::Plain(Builtin::ValidUtf8), 1, false),
        "utf8.isBoundary" => (Make::Plain(Builtin::IsBoundary), 2, false),
        "utf8.decode" => (Make::Plain(Builtin::Utf8Decode), 1, false),
        "utf8.encode" => (Make::Plain(Builtin::Utf8Encode), 1, false),
        "option.some" => (Make::Plain(Builtin::Some), 1, true),
        "option.none" => (Make::Plain(Builtin::None), 0, true),
        "option.isSome" => (Make::Plain(Builtin::IsSome), 1, false),
        "option.unwrap" => (Make::Plain(Builtin::Unwrap), 1, false),
        "option.default" => (Make::Plain(Builtin::Default), 2, false),
        "nominal.wrap" => (Make::Plain(Builtin::Same), 1, true),
        "nominal.raw" => (Make::Plain(Builtin::Same), 1, false),
        other => (integer(other.strip_prefix("integer.")?)?, 2, false),
    };
    Some(Signature {
        make,
        arity,
        names_result,
    })
}

fn integer(name: &str) -> Option<Make> {
    let (op, checked) = match name {
        "add" => (IntegerOp::Add, false),
        "subtract" => (IntegerOp::Subtract, false),
        "multiply" => (IntegerOp::Multiply, false),
        "divide" => (IntegerOp::Divide, false),
        "remainder" => (IntegerOp::Remainder, false),
        "checkedAdd" => (IntegerOp::Add, true),
        "checkedSub" => (IntegerOp::Subtract, true),
        "checkedMul" => (IntegerOp::Multiply, true),
        "checkedDiv" => (IntegerOp::Divide, true),
        "checkedRem" => (IntegerOp::Remainder, true),
        _ => return None,
    };
    Some(Make::Integer { op, checked })
}
