// SPDX-License-Identifier: Apache-2.0
//! Built-in calls at run time; size-dependent charges come before the work.

use super::datum::Datum;
use super::machine::{Machine, Stop, fault};
use crate::cost::Cost;
use crate::decode::types::{Type, Width};
use crate::table::length;
use edict_codec::hex;
use std::rc::Rc;

/// Applies a built-in to evaluated arguments.
pub(crate) fn apply(
    machine: &mut Machine<'_>,
    callee: &str,
    types: &[Type],
    arguments: &[Datum],
) -> Result<Datum, Stop> {
    let group = callee.rsplit_once('.').map_or("", |(group, _)| group);
    let outcome = match group {
        "core.integer" => integer(machine, callee, types, arguments)?,
        "core.bytes" => bytes(machine, callee, arguments)?,
        "core.string" => string(machine, callee, arguments)?,
        "core.list" => list(callee, arguments),
        "core.utf8" => utf8(machine, callee, arguments)?,
        "core.option" => option(machine, callee, arguments)?,
        "core.nominal" => match (callee, arguments) {
            ("core.nominal.wrap" | "core.nominal.raw", [value]) => Some(value.clone()),
            _ => None,
        },
        _ => match (callee, arguments, types) {
            ("core.narrow", [value], [_, Type::Option(target)]) => narrow(machine, value, target)?,
            _ => None,
        },
    };
    match outcome {
        Some(value) => Ok(value),
        None => fault(format!("`{callee}` does not take these arguments")),
    }
}

fn count(length_of: usize) -> Datum {
    Datum::Integer(length(length_of).into())
}

fn optional(value: Option<Datum>) -> Datum {
    value.map_or(Datum::None, |value| Datum::Some(Rc::new(value)))
}

fn integer(
    machine: &mut Machine<'_>,
    callee: &str,
    types: &[Type],
    arguments: &[Datum],
) -> Result<Option<Datum>, Stop> {
    let name = callee.rsplit('.').next().unwrap_or_default();
    let Some(Type::Integer(width)) = types.first().map(|ty| machine.table.resolve(ty)) else {
        return Ok(None);
    };
    let width = *width;
    match (name, arguments) {
        ("toU64", [Datum::Integer(value)]) => Ok(Some(Datum::Integer(*value))),
        ("decimal", [Datum::Integer(value)]) => {
            let text = value.to_string();
            machine.meter.charge(Cost::fresh(length(text.len())))?;
            Ok(Some(Datum::Text(text.into())))
        }
        ("negate", [Datum::Integer(value)]) => proven(width, value.checked_neg()).map(Some),
        (_, [Datum::Integer(left), Datum::Integer(right)]) => {
            pair(machine, width, name, *left, *right)
        }
        _ => Ok(None),
    }
}

/// Integer arithmetic; nothing for a divisor of 0.
type Apply = fn(i128, i128) -> Option<i128>;

fn pair(
    machine: &mut Machine<'_>,
    width: Width,
    name: &str,
    left: i128,
    right: i128,
) -> Result<Option<Datum>, Stop> {
    // Products of 64-bit operands fit 128 bits, so only a divisor of 0 gives nothing here.
    let (checked, apply): (bool, Apply) = match name {
        "add" => (false, i128::checked_add),
        "subtract" => (false, i128::checked_sub),
        "multiply" => (false, i128::checked_mul),
        "divide" => (false, i128::checked_div),
        "remainder" => (false, i128::checked_rem),
        "checkedAdd" => (true, i128::checked_add),
        "checkedSub" => (true, i128::checked_sub),
        "checkedMul" => (true, i128::checked_mul),
        "checkedDiv" => (true, i128::checked_div),
        "checkedRem" => (true, i128::checked_rem),
        _ => return Ok(None),
    };
    if !checked {
        return proven(width, apply(left, right)).map(Some);
    }
    machine.meter.charge(Cost::CELL)?;
    let value = apply(left, right).filter(|value| width.holds(*value));
    Ok(Some(optional(value.map(Datum::Integer))))
}

fn proven(width: Width, value: Option<i128>) -> Result<Datum, Stop> {
    match value.filter(|value| width.holds(*value)) {
        Some(value) => Ok(Datum::Integer(value)),
        None => fault("arithmetic leaves its width"),
    }
}

fn bytes(
    machine: &mut Machine<'_>,
    callee: &str,
    arguments: &[Datum],
) -> Result<Option<Datum>, Stop> {
    match (callee, arguments) {
        ("core.bytes.length", [Datum::Bytes(whole)]) => Ok(Some(count(whole.len()))),
        ("core.bytes.concat", [Datum::Bytes(left), Datum::Bytes(right)]) => {
            let total = length(left.len()).saturating_add(length(right.len()));
            machine.meter.charge(Cost::fresh(total))?;
            Ok(Some(Datum::Bytes([&**left, &**right].concat().into())))
        }
        ("core.bytes.slice", [Datum::Bytes(whole), start, end]) => match range(whole, start, end) {
            Some(part) => {
                machine.meter.charge(Cost::fresh(length(part.len())))?;
                Ok(Some(Datum::Bytes(part.into())))
            }
            None => fault("a slice leaves its operand"),
        },
        ("core.bytes.checkedSlice", [Datum::Bytes(whole), start, end]) => {
            let part = range(whole, start, end);
            let cost = match part {
                Some(part) => Cost::fresh(length(part.len())).and(Cost::CELL),
                None => Cost::CELL,
            };
            machine.meter.charge(cost)?;
            Ok(Some(optional(part.map(|part| Datum::Bytes(part.into())))))
        }
        ("core.bytes.at", [Datum::Bytes(whole), Datum::Integer(index)]) => {
            let byte = usize::try_from(*index)
                .ok()
                .and_then(|index| whole.get(index));
            Ok(Some(optional(
                byte.map(|byte| Datum::Integer((*byte).into())),
            )))
        }
        ("core.bytes.hex", [Datum::Bytes(whole)]) => {
            machine
                .meter
                .charge(Cost::fresh(length(whole.len()).saturating_mul(2)))?;
            Ok(Some(Datum::Text(hex::encode(whole).into())))
        }
        _ => Ok(None),
    }
}

fn range<'a>(whole: &'a [u8], start: &Datum, end: &Datum) -> Option<&'a [u8]> {
    let (Datum::Integer(start), Datum::Integer(end)) = (start, end) else {
        return None;
    };
    whole.get(usize::try_from(*start).ok()?..usize::try_from(*end).ok()?)
}

fn string(
    machine: &mut Machine<'_>,
    callee: &str,
    arguments: &[Datum],
) -> Result<Option<Datum>, Stop> {
    match (callee, arguments) {
        ("core.string.length", [Datum::Text(text)]) => {
            machine.meter.charge(Cost::scan(length(text.len())))?;
            Ok(Some(count(text.chars().count())))
        }
        ("core.string.concat", [Datum::Text(left), Datum::Text(right)]) => {
            let total = length(left.len()).saturating_add(length(right.len()));
            machine.meter.charge(Cost::fresh(total))?;
            Ok(Some(Datum::Text([&**left, &**right].concat().into())))
        }
        _ => Ok(None),
    }
}

fn list(callee: &str, arguments: &[Datum]) -> Option<Datum> {
    match (callee, arguments) {
        ("core.list.length", [Datum::List(items)]) => Some(count(items.len())),
        ("core.list.at", [Datum::List(items), Datum::Integer(index)]) => {
            let item = usize::try_from(*index)
                .ok()
                .and_then(|index| items.get(index));
            Some(optional(item.cloned()))
        }
        _ => None,
    }
}

fn utf8(
    machine: &mut Machine<'_>,
    callee: &str,
    arguments: &[Datum],
) -> Result<Option<Datum>, Stop> {
    match (callee, arguments) {
        ("core.utf8.valid", [Datum::Bytes(whole)]) => {
            machine.meter.charge(Cost::scan(length(whole.len())))?;
            Ok(Some(Datum::Bool(str::from_utf8(whole).is_ok())))
        }
        ("core.utf8.isBoundary", [Datum::Bytes(whole), Datum::Integer(index)]) => {
            Ok(Some(Datum::Bool(is_boundary(whole, *index))))
        }
        ("core.utf8.decode", [Datum::Bytes(whole)]) => {
            let total = length(whole.len());
            machine.meter.charge(Cost::scan(total).and(Cost::CELL))?;
            let text = str::from_utf8(whole).ok();
            if text.is_some() {
                machine.meter.charge(Cost::fresh(total))?;
            }
            Ok(Some(optional(text.map(|text| Datum::Text(text.into())))))
        }
        ("core.utf8.encode", [Datum::Text(text)]) => {
            machine.meter.charge(Cost::fresh(length(text.len())))?;
            Ok(Some(Datum::Bytes(text.as_bytes().into())))
        }
        _ => Ok(None),
    }
}

fn is_boundary(whole: &[u8], index: i128) -> bool {
    match usize::try_from(index) {
        Ok(index) if index == 0 || index == whole.len() => true,
        Ok(index) => whole
            .get(index)
            .is_some_and(|byte| !(0x80..=0xbf).contains(byte)),
        Err(_) => false,
    }
}

fn option(
    machine: &mut Machine<'_>,
    callee: &str,
    arguments: &[Datum],
) -> Result<Option<Datum>, Stop> {
    match (callee, arguments) {
        ("core.option.some", [value]) => {
            machine.meter.charge(Cost::CELL)?;
            Ok(Some(optional(Some(value.clone()))))
        }
        ("core.option.none", []) => Ok(Some(Datum::None)),
        ("core.option.isSome", [value]) => Ok(Some(Datum::Bool(matches!(value, Datum::Some(_))))),
        ("core.option.unwrap", [Datum::Some(value)])
        | ("core.option.default", [Datum::Some(value), _]) => Ok(Some((**value).clone())),
        ("core.option.default", [Datum::None, fallback]) => Ok(Some(fallback.clone())),
        _ => Ok(None),
    }
}

fn narrow(machine: &mut Machine<'_>, value: &Datum, target: &Type) -> Result<Option<Datum>, Stop> {
    let scan = match value {
        Datum::Text(text) => Cost::scan(length(text.len())),
        _ => Cost::FREE,
    };
    machine.meter.charge(Cost::CELL.and(scan))?;
    let fits = match (value, machine.table.resolve(target)) {
        (Datum::Integer(value), Type::Integer(width)) => width.holds(*value),
        (Datum::Bytes(bytes), Type::Bytes { min, max }) => {
            (*min..=*max).contains(&length(bytes.len()))
        }
        (Datum::Text(text), Type::String { max }) => length(text.chars().count()) <= *max,
        (Datum::List(items), Type::List { max, .. }) => length(items.len()) <= *max,
        _ => return Ok(None),
    };
    Ok(Some(optional(fits.then(|| value.clone()))))
}
