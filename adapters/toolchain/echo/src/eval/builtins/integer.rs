// SPDX-License-Identifier: Apache-2.0
//! Integer operations. Proven ones that leave their width are a broken promise.

use super::{
    super::machine::{Machine, Stop},
    charge_new,
};
use crate::{
    eval::value::Value,
    package::{tree::IntegerOp, types::Width},
};

/// An operation on two integers of `width`.
#[inline]
pub(crate) fn integer(
    op: IntegerOp,
    width: Width,
    checked: bool,
    left: &Value,
    right: &Value,
) -> Result<Value, Stop> {
    match (width, left, right) {
        (Width::U32 | Width::U64, Value::Unsigned(left), Value::Unsigned(right)) => {
            match (unsigned(op, width, *left, *right), checked) {
                (Some(value), true) => Ok(Value::SomeUnsigned(value)),
                (Some(value), false) => Ok(Value::Unsigned(value)),
                (None, true) => Ok(Value::None),
                (None, false) => Err(OUTSIDE),
            }
        }
        (Width::I32 | Width::I64, Value::Signed(left), Value::Signed(right)) => {
            let value = signed(op, *left, *right).filter(|value| within(width, *value));
            match (value, checked) {
                (Some(value), true) => Ok(Value::SomeSigned(value)),
                (Some(value), false) => Ok(Value::Signed(value)),
                (None, true) => Ok(Value::None),
                (None, false) => Err(OUTSIDE),
            }
        }
        _ => Err(Stop::Fault("expected two integers of the declared width")),
    }
}

const OUTSIDE: Stop = Stop::Fault("a proven integer operation left its width");

fn within(width: Width, value: i64) -> bool {
    width == Width::I64 || i32::try_from(value).is_ok()
}

/// The value of an operation on two unsigned integers, if it has a place in `width`.
#[inline]
pub(crate) fn unsigned(op: IntegerOp, width: Width, left: u64, right: u64) -> Option<u64> {
    let value = match op {
        IntegerOp::Add => left.checked_add(right),
        IntegerOp::Subtract => left.checked_sub(right),
        IntegerOp::Multiply => left.checked_mul(right),
        IntegerOp::Divide => left.checked_div(right),
        IntegerOp::Remainder => left.checked_rem(right),
    };
    value.filter(|value| width == Width::U64 || u32::try_from(*value).is_ok())
}

/// Division truncates toward zero; the remainder has the sign of the dividend.
fn signed(op: IntegerOp, left: i64, right: i64) -> Option<i64> {
    match op {
        IntegerOp::Add => left.checked_add(right),
        IntegerOp::Subtract => left.checked_sub(right),
        IntegerOp::Multiply => left.checked_mul(right),
        IntegerOp::Divide => left.checked_div(right),
        // The least value has the remainder 0 by -1, although its quotient has no place.
        IntegerOp::Remainder if right == -1 => Some(0),
        IntegerOp::Remainder => left.checked_rem(right),
    }
}

/// The negative of a signed integer.
pub(super) fn negate(width: Width, value: &Value) -> Result<Value, Stop> {
    let Value::Signed(value) = value else {
        return Err(Stop::Fault("expected a signed integer"));
    };
    value
        .checked_neg()
        .filter(|value| within(width, *value))
        .map(Value::Signed)
        .ok_or(Stop::Fault("a proven negation left its width"))
}

/// The decimal text of an integer.
pub(super) fn decimal(machine: &mut Machine<'_>) -> Result<Value, Stop> {
    let text = match machine.pop()? {
        Value::Unsigned(value) => value.to_string(),
        Value::Signed(value) => value.to_string(),
        _ => return Err(Stop::Fault("expected an integer")),
    };
    charge_new(machine, text.len(), 0)?;
    Ok(Value::text(text))
}
