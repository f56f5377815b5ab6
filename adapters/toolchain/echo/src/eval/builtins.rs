// SPDX-License-Identifier: Apache-2.0
//! The built-in operations and what they charge (language page, 2.6).

mod bytes;
mod integer;

pub(crate) use integer::{integer, unsigned};

use super::{
    machine::{BROKEN, Machine, Stop, bytes_of, text_of, unsigned_of},
    read::{fits_length, fits_text},
    value::Value,
    write::fits_width,
};
use crate::{
    meter::{amount, units_of},
    package::{
        tree::Builtin,
        types::{Type, TypeId, Width},
    },
};

/// Runs a built-in on the operands on the stack, and leaves its value there.
pub(crate) fn run(machine: &mut Machine<'_>, builtin: Builtin) -> Result<(), Stop> {
    let value = match builtin {
        Builtin::IsSome => Value::Bool(held(&machine.pop()?)?.is_some()),
        Builtin::Unwrap => {
            held(&machine.pop()?)?.ok_or(Stop::Fault("an empty Option was unwrapped"))?
        }
        Builtin::Some => {
            machine.meter.charge(0, 32)?;
            machine.pop()?.into_some()?
        }
        Builtin::None => Value::None,
        Builtin::BytesLength => Value::Unsigned(amount(bytes_of(&machine.pop()?)?.len())),
        Builtin::ListLength => match machine.pop()? {
            Value::List(items) => Value::Unsigned(amount(items.parts().len())),
            _ => return Err(Stop::Fault("expected a list")),
        },
        Builtin::TextLength => {
            let value = machine.pop()?;
            let text = text_of(&value)?;
            machine.meter.charge(units_of(text.len()), 0)?;
            Value::Unsigned(amount(text.chars().count()))
        }
        Builtin::ListAt => {
            let index = unsigned_of(&machine.pop()?)?;
            match machine.pop()? {
                Value::List(items) => {
                    let index = usize::try_from(index).unwrap_or(usize::MAX);
                    match items.parts().get(index) {
                        Some(item) => item.clone().into_some()?,
                        None => Value::None,
                    }
                }
                _ => return Err(Stop::Fault("expected a list")),
            }
        }
        Builtin::Narrow(ty) => narrow(machine, ty)?,
        // Compiled to instructions of their own, or to none.
        Builtin::Integer { .. } | Builtin::Default | Builtin::Same | Builtin::ToU64 => {
            return Err(BROKEN);
        }
        Builtin::Negate(width) => integer::negate(width, &machine.pop()?)?,
        Builtin::Decimal => integer::decimal(machine)?,
        Builtin::BytesConcat
        | Builtin::TextConcat
        | Builtin::Slice
        | Builtin::CheckedSlice
        | Builtin::BytesAt
        | Builtin::Hex
        | Builtin::ValidUtf8
        | Builtin::IsBoundary
        | Builtin::Utf8Decode
        | Builtin::Utf8Encode => bytes::run(machine, builtin)?,
    };
    machine.stack.push(value);
    Ok(())
}

/// What an Option holds, or the other value.
#[inline]
pub(crate) fn or(option: &Value, other: Value) -> Result<Value, Stop> {
    Ok(held(option)?.unwrap_or(other))
}

/// What an Option holds.
fn held(value: &Value) -> Result<Option<Value>, Stop> {
    value.held().ok_or(Stop::Fault("expected an Option"))
}

/// `new n`: fresh text or bytes of `length` bytes, and `extra` bytes with it.
fn charge_new(machine: &mut Machine<'_>, length: usize, extra: u64) -> Result<(), Stop> {
    let bytes = amount(length).saturating_add(32).saturating_add(extra);
    Ok(machine.meter.charge(units_of(length), bytes)?)
}

/// Another width or other bounds; none if the value does not fit them.
fn narrow(machine: &mut Machine<'_>, ty: TypeId) -> Result<Value, Stop> {
    let value = machine.pop()?;
    let scanned = match &value {
        Value::Text(text) => units_of(text.len()),
        _ => 0,
    };
    machine.meter.charge(scanned, 32)?;
    let (value, fits) = match (machine.code.types.structure(ty), value) {
        (Type::Integer(width), value) => {
            let value = convert(*width, &value)?;
            let fits = fits_width(*width, &value);
            (value, fits)
        }
        (Type::Text { max }, Value::Text(text)) => {
            let fits = fits_text(&text, *max);
            (Value::Text(text), fits)
        }
        (Type::Bytes { min, max }, Value::Bytes(bytes)) => {
            let fits = fits_length(bytes.len(), *min, *max);
            (Value::Bytes(bytes), fits)
        }
        (Type::List { max, .. }, Value::List(items)) => {
            let fits = fits_length(items.parts().len(), 0, *max);
            (Value::List(items), fits)
        }
        _ => return Err(Stop::Fault("a value was narrowed to another kind of type")),
    };
    if fits {
        Ok(value.into_some()?)
    } else {
        Ok(Value::None)
    }
}

/// The integer in the signedness of `width`; one that has no place there stays as it is.
fn convert(width: Width, value: &Value) -> Result<Value, Stop> {
    let number = match value {
        Value::Unsigned(value) => i128::from(*value),
        Value::Signed(value) => i128::from(*value),
        _ => return Err(Stop::Fault("expected an integer")),
    };
    let converted = match width {
        Width::U32 | Width::U64 => u64::try_from(number).ok().map(Value::Unsigned),
        Width::I32 | Width::I64 => i64::try_from(number).ok().map(Value::Signed),
    };
    Ok(converted.unwrap_or_else(|| value.clone()))
}
