// SPDX-License-Identifier: Apache-2.0
//! Random values: as canonical data for inputs, as literals for sources.

use super::{
    tape::Tape,
    types::{Ty, Types, Width},
};
use edict_codec::cbor::{Integer, Value};
use std::fmt::Write as _;

/// Scalars of one to four bytes, escapes among them.
const SCALARS: [char; 12] = [
    'a',
    'b',
    ' ',
    '"',
    '\\',
    '\n',
    '0',
    'é',
    '€',
    '\u{ffff}',
    '😀',
    '\u{10ffff}',
];
/// Pieces that make well-formed and broken UTF-8.
const PIECES: [&[u8]; 12] = [
    b"a",
    b"0",
    b"\n",
    &[0],
    &[0xff],
    &[0xc3, 0xa9],
    &[0xe2, 0x82, 0xac],
    &[0xf0, 0x9f, 0x98, 0x80],
    &[0xc3],
    &[0x80],
    &[0xed, 0xa0, 0x80],
    &[0xc0, 0xaf],
];

/// An integer of the width, most often near a bound.
pub(crate) fn integer(tape: &mut Tape, width: Width) -> i128 {
    let (low, high) = width.range();
    let drawn = match tape.below(9) {
        0 | 1 => i128::try_from(tape.below(5)).unwrap_or(0),
        2 => i128::try_from(tape.below(300)).unwrap_or(0),
        3 => high - i128::try_from(tape.below(3)).unwrap_or(0),
        4 => low + i128::try_from(tape.below(3)).unwrap_or(0),
        5 => -1,
        6 => 1 << tape.below(64),
        7 => (1 << tape.below(64)) - 1,
        _ => i128::try_from(tape.below(1 << 31) * tape.below(1 << 31)).unwrap_or(0),
    };
    drawn.clamp(low, high)
}

/// A length in a range, most often near a bound.
fn length(tape: &mut Tape, min: u64, max: u64) -> u64 {
    let span = usize::try_from(max - min).unwrap_or(0);
    let drawn = match tape.below(4) {
        0 => tape.below(span.min(3) + 1),
        1 => span,
        _ => tape.below(span + 1),
    };
    min + u64::try_from(drawn).unwrap_or(0)
}

/// Bytes with a length in the range, often UTF-8.
pub(crate) fn bytes(tape: &mut Tape, min: u64, max: u64) -> Vec<u8> {
    let wanted = usize::try_from(length(tape, min, max)).unwrap_or(0);
    let mut bytes = Vec::new();
    while bytes.len() < wanted {
        bytes.extend_from_slice(tape.pick(&PIECES).copied().unwrap_or(b"a"));
    }
    bytes.truncate(wanted);
    bytes
}

/// A text of at most `max` scalars.
pub(crate) fn string(tape: &mut Tape, max: u64) -> String {
    (0..length(tape, 0, max))
        .map(|_| tape.pick(&SCALARS).copied().unwrap_or('a'))
        .collect()
}

/// A value of the type as canonical data.
pub(crate) fn value(tape: &mut Tape, types: &Types, ty: &Ty) -> Value {
    match ty {
        Ty::Bool => Value::Bool(tape.chance(50)),
        Ty::Int(width) => Integer::new(integer(tape, *width)).map_or(Value::Null, Value::Integer),
        Ty::Str(max) => Value::Text(string(tape, *max)),
        Ty::Bytes(min, max) => Value::Bytes(bytes(tape, *min, *max)),
        Ty::Opt(item) => {
            if tape.chance(70) {
                value(tape, types, item)
            } else {
                Value::Null
            }
        }
        Ty::List(item, max) => {
            let count = length(tape, 0, *max);
            Value::Array((0..count).map(|_| value(tape, types, item)).collect())
        }
        Ty::Record(at) => {
            let fields = types.fields(*at).iter();
            Value::text_map(
                fields
                    .map(|(name, ty)| (name.clone(), value(tape, types, ty)))
                    .collect::<Vec<_>>(),
            )
        }
        Ty::Variant(at) => {
            let mut items = Vec::new();
            if let Some((name, payload)) = tape.pick(types.cases(*at)) {
                items.push(Value::text(name.clone()));
                items.extend(payload.as_ref().map(|ty| value(tape, types, ty)));
            }
            Value::Array(items)
        }
        Ty::Tag => Value::Bytes(bytes(tape, 4, 4)),
    }
}

/// A string literal.
pub(crate) fn string_literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for scalar in text.chars() {
        match scalar {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            // Writing into a string cannot fail.
            '\u{fff0}'.. => _ = write!(literal, "\\u{{{:x}}}", u32::from(scalar)),
            other => literal.push(other),
        }
    }
    literal.push('"');
    literal
}

/// A byte string literal.
pub(crate) fn bytes_literal(bytes: &[u8]) -> String {
    let mut literal = String::from("b\"");
    for byte in bytes {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b' ' => literal.push(char::from(*byte)),
            b'\n' => literal.push_str("\\n"),
            0 => literal.push_str("\\0"),
            other => _ = write!(literal, "\\x{other:02x}"),
        }
    }
    literal.push('"');
    literal
}
