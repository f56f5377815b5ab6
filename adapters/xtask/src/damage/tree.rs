// SPDX-License-Identifier: Apache-2.0
//! Damaged canonical data: most often a tree of which one part is another one, sometimes bytes.

use crate::random::Tape;
use edict_codec::cbor::{Integer, Value, decode, encode};

/// Texts that mean something in artifacts.
const TEXTS: [&str; 10] = [
    "",
    "U64",
    "Bool",
    "Option<U64>",
    "List<U64,max=18446744073709551615>",
    "Bytes<exact=32>",
    "local.0",
    "$local0",
    "core.integer.add",
    "rand.kit@1.half",
];

/// The item with one part replaced, or with damaged bytes.
pub(super) fn damaged(tape: &mut Tape, bytes: &[u8]) -> Vec<u8> {
    match decode(bytes) {
        Ok(value) if !tape.chance(20) => {
            let mut parts = Vec::new();
            collect(&value, &mut parts);
            let mut value = value.clone();
            for _ in 0..=tape.below(2) {
                let mut target = tape.below(parts.len());
                let kind = parts.get(target).map(|it| std::mem::discriminant(*it));
                let alike: Vec<&Value> = parts
                    .iter()
                    .filter(|it| tape.chance(10) || Some(std::mem::discriminant(**it)) == kind)
                    .copied()
                    .collect();
                let other = tape.pick(&alike).map_or(Value::Null, |it| (*it).clone());
                change(tape, &mut value, &mut target, &other);
            }
            encode(&value)
        }
        _ => damaged_bytes(tape, bytes),
    }
}

/// The bytes with one to four changes.
pub(super) fn damaged_bytes(tape: &mut Tape, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=tape.below(4) {
        let at = tape.below(bytes.len());
        let Some(byte) = bytes.get_mut(at) else {
            return bytes;
        };
        let drawn = u8::try_from(tape.below(256)).unwrap_or(0);
        match tape.below(5) {
            0 => *byte = drawn,
            1 => *byte ^= 1 << tape.below(8),
            2 => _ = bytes.remove(at),
            3 => bytes.insert(at, drawn),
            _ => {
                let end = (at + tape.below(64)).min(bytes.len());
                let part = bytes.get(at..end).unwrap_or_default().to_vec();
                let to = tape.below(bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
    bytes
}

/// Every part, outer ones first. Recursion is bounded by the depth of canonical data, as below.
fn collect<'v>(value: &'v Value, parts: &mut Vec<&'v Value>) {
    parts.push(value);
    match value {
        Value::Array(items) => items.iter().for_each(|it| collect(it, parts)),
        Value::Map(entries) => entries.iter().for_each(|(_, it)| collect(it, parts)),
        Value::Integer(_) | Value::Bytes(_) | Value::Text(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Changes the part of that number, counted as [`collect`] does; whether it was met.
fn change(tape: &mut Tape, value: &mut Value, target: &mut usize, other: &Value) -> bool {
    let Some(left) = target.checked_sub(1) else {
        *value = changed(tape, value, other);
        return true;
    };
    *target = left;
    match value {
        Value::Array(items) => items.iter_mut().any(|it| change(tape, it, target, other)),
        Value::Map(entries) => entries
            .iter_mut()
            .any(|(_, it)| change(tape, it, target, other)),
        Value::Integer(_) | Value::Bytes(_) | Value::Text(_) | Value::Bool(_) | Value::Null => {
            false
        }
    }
}

fn changed(tape: &mut Tape, value: &Value, other: &Value) -> Value {
    match (tape.below(8), value) {
        (0..5, _) => other.clone(),
        (_, Value::Integer(number)) => {
            let number = number.get() + i128::try_from(tape.below(5)).unwrap_or(0) - 2;
            Integer::new(number).map_or(Value::Null, Value::Integer)
        }
        (_, Value::Bool(truth)) => Value::Bool(!truth),
        (_, Value::Text(_)) => Value::text(tape.pick(&TEXTS).copied().unwrap_or_default()),
        (_, Value::Bytes(bytes)) => Value::Bytes(damaged_bytes(tape, bytes)),
        (5, Value::Array(items)) if !items.is_empty() => {
            let mut items = items.clone();
            items.remove(tape.below(items.len()));
            Value::Array(items)
        }
        (_, Value::Array(items)) => {
            let mut items = items.clone();
            items.insert(tape.below(items.len() + 1), other.clone());
            Value::Array(items)
        }
        (_, Value::Map(entries)) if !entries.is_empty() => {
            let mut entries = entries.clone();
            entries.remove(tape.below(entries.len()));
            Value::Map(entries)
        }
        (_, Value::Map(_) | Value::Null) => other.clone(),
    }
}
