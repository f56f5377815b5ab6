// SPDX-License-Identifier: Apache-2.0
//! Operations on bytes and texts. Sizes are charged before anything is copied.

use super::{
    super::machine::{BROKEN, Machine, Stop, bytes_of, text_of, unsigned_of},
    charge_new,
};
use crate::{eval::value::Value, meter::units_of, package::tree::Builtin};
use edict_codec::hex;

/// Runs one of the operations on bytes and texts.
pub(super) fn run(machine: &mut Machine<'_>, builtin: Builtin) -> Result<Value, Stop> {
    match builtin {
        Builtin::BytesConcat => {
            let (right, left) = (machine.pop()?, machine.pop()?);
            let (left, right) = (bytes_of(&left)?, bytes_of(&right)?);
            charge_new(machine, left.len().saturating_add(right.len()), 0)?;
            Ok(Value::bytes([left.as_slice(), right.as_slice()].concat()))
        }
        Builtin::TextConcat => {
            let (right, left) = (machine.pop()?, machine.pop()?);
            let (left, right) = (text_of(&left)?, text_of(&right)?);
            charge_new(machine, left.len().saturating_add(right.len()), 0)?;
            Ok(Value::text([left.as_str(), right.as_str()].concat()))
        }
        Builtin::Slice => {
            let (bytes, range) = range(machine)?;
            let bytes = bytes_of(&bytes)?;
            let part = range
                .and_then(|(start, end)| bytes.get(start..end))
                .ok_or(Stop::Fault("a proven slice left its bytes"))?;
            charge_new(machine, part.len(), 0)?;
            Ok(Value::bytes(part))
        }
        Builtin::CheckedSlice => {
            let (bytes, range) = range(machine)?;
            let bytes = bytes_of(&bytes)?;
            if let Some(part) = range.and_then(|(start, end)| bytes.get(start..end)) {
                charge_new(machine, part.len(), 32)?;
                Ok(Value::bytes(part).into_some()?)
            } else {
                machine.meter.charge(0, 32)?;
                Ok(Value::None)
            }
        }
        Builtin::BytesAt => {
            let index = unsigned_of(&machine.pop()?)?;
            let bytes = machine.pop()?;
            let byte = usize::try_from(index)
                .ok()
                .and_then(|index| bytes_of(&bytes).ok()?.get(index).copied());
            bytes_of(&bytes)?;
            Ok(byte.map_or(Value::None, |byte| Value::SomeUnsigned(byte.into())))
        }
        Builtin::Hex => {
            let bytes = machine.pop()?;
            let bytes = bytes_of(&bytes)?;
            charge_new(machine, bytes.len().saturating_mul(2), 0)?;
            Ok(Value::text(hex::encode(bytes)))
        }
        Builtin::ValidUtf8 => {
            let bytes = machine.pop()?;
            let bytes = bytes_of(&bytes)?;
            machine.meter.charge(units_of(bytes.len()), 0)?;
            Ok(Value::Bool(str::from_utf8(bytes).is_ok()))
        }
        Builtin::IsBoundary => {
            let index = unsigned_of(&machine.pop()?)?;
            let bytes = machine.pop()?;
            Ok(Value::Bool(is_boundary(bytes_of(&bytes)?, index)))
        }
        Builtin::Utf8Decode => {
            let bytes = machine.pop()?;
            let bytes = bytes_of(&bytes)?;
            machine.meter.charge(units_of(bytes.len()), 32)?;
            match str::from_utf8(bytes) {
                Ok(text) => {
                    charge_new(machine, text.len(), 0)?;
                    Ok(Value::text(text).into_some()?)
                }
                Err(_) => Ok(Value::None),
            }
        }
        Builtin::Utf8Encode => {
            let text = machine.pop()?;
            let text = text_of(&text)?;
            charge_new(machine, text.len(), 0)?;
            Ok(Value::bytes(text.as_bytes()))
        }
        // The caller sends only the operations above.
        _ => Err(BROKEN),
    }
}

/// Bytes and the two ends of a range; `None` for ends that no bytes can have.
fn range(machine: &mut Machine<'_>) -> Result<(Value, Option<(usize, usize)>), Stop> {
    let end = unsigned_of(&machine.pop()?)?;
    let start = unsigned_of(&machine.pop()?)?;
    let bytes = machine.pop()?;
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    Ok((bytes, range))
}

/// Whether a scalar value may begin or end at `index`.
fn is_boundary(bytes: &[u8], index: u64) -> bool {
    let Ok(index) = usize::try_from(index) else {
        return false;
    };
    match bytes.get(index) {
        _ if index == 0 || index == bytes.len() => true,
        Some(byte) => !(0x80..=0xbf).contains(byte),
        None => false,
    }
}
