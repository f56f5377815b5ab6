// SPDX-License-Identifier: Apache-2.0
//! Results of the built-in Core calls, as they follow from the type arguments.

use super::ty::{Type, Width};
use std::sync::Arc;

/// Type of a call of `core.…` with these type arguments; `None` for an unknown callee or types
/// that do not fit it.
pub fn result(callee: &str, types: &[Type]) -> Option<Type> {
    let first = types.first()?;
    Some(match callee {
        "core.bytes.length" | "core.string.length" | "core.list.length" | "core.integer.toU64" => {
            Type::Integer(Width::U64)
        }
        "core.bytes.concat" | "core.string.concat" => concat(first, types.get(1)?)?,
        "core.bytes.slice" => whole(first)?,
        "core.bytes.checkedSlice" => option(whole(first)?),
        "core.bytes.at" => option(Type::Integer(Width::U32)),
        "core.list.at" => match first {
            Type::List { item, .. } => Type::Option(item.clone()),
            _ => return None,
        },
        "core.integer.add"
        | "core.integer.subtract"
        | "core.integer.multiply"
        | "core.integer.divide"
        | "core.integer.remainder"
        | "core.integer.negate" => first.clone(),
        "core.integer.checkedAdd"
        | "core.integer.checkedSub"
        | "core.integer.checkedMul"
        | "core.integer.checkedDiv"
        | "core.integer.checkedRem" => option(first.clone()),
        "core.narrow" | "core.option.some" | "core.option.none" | "core.nominal.wrap" => {
            types.last()?.clone()
        }
        "core.integer.decimal" => match first {
            Type::Integer(Width::U32) => Type::Text { max: 10 },
            Type::Integer(Width::I32) => Type::Text { max: 11 },
            Type::Integer(_) => Type::Text { max: 20 },
            _ => return None,
        },
        "core.bytes.hex" => Type::Text {
            max: length(first)?.checked_mul(2)?,
        },
        "core.utf8.valid" | "core.utf8.isBoundary" | "core.option.isSome" => Type::Bool,
        "core.utf8.decode" => option(Type::Text {
            max: length(first)?,
        }),
        "core.utf8.encode" => Type::Bytes {
            min: 0,
            max: length(first)?.checked_mul(4)?,
        },
        "core.option.unwrap" | "core.option.default" => match first {
            Type::Option(item) => (**item).clone(),
            _ => return None,
        },
        "core.nominal.raw" => match first {
            Type::Nominal(nominal) => nominal.representation.clone(),
            _ => return None,
        },
        _ => return None,
    })
}

fn option(item: Type) -> Type {
    Type::Option(Arc::new(item))
}

/// Greatest length of text or bytes.
pub(crate) fn length(ty: &Type) -> Option<u64> {
    match ty {
        Type::Text { max } | Type::Bytes { max, .. } => Some(*max),
        _ => None,
    }
}

/// The bytes of any part of `ty`.
fn whole(ty: &Type) -> Option<Type> {
    match ty {
        Type::Bytes { max, .. } => Some(Type::Bytes { min: 0, max: *max }),
        _ => None,
    }
}

/// `None` also if the sum of the maxima is above U64.
fn concat(left: &Type, right: &Type) -> Option<Type> {
    match (left, right) {
        (Type::Text { max: a }, Type::Text { max: b }) => Some(Type::Text {
            max: a.checked_add(*b)?,
        }),
        (Type::Bytes { max: a, .. }, Type::Bytes { max: b, .. }) => Some(Type::Bytes {
            min: 0,
            max: a.checked_add(*b)?,
        }),
        _ => None,
    }
}
