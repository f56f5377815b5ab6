// SPDX-License-Identifier: Apache-2.0
//! The contents of string and byte string literals.

use super::lexer::Cursor;
use crate::diagnostic::{Finding, Kind};

/// What may stand in a literal.
pub(super) const ESCAPE_HELP: &str = "escapes are \\\" \\\\ \\n \\t \\r \\0, in a string \\u{H} \
     with 1 to 6 hexadecimal digits, in a byte string \\xHH";

/// Reads a string whose opening quote is at the cursor.
pub(super) fn text(cursor: &mut Cursor<'_>) -> Result<String, Finding> {
    let start = cursor.at;
    cursor.bump();
    let mut value = String::new();
    loop {
        match cursor.peek() {
            None => return Err(unclosed(cursor, start, "string")),
            Some('"') => {
                cursor.bump();
                return Ok(value);
            }
            Some('\\') => value.push(text_escape(cursor, start)?),
            Some(next) if next.is_control() && next != '\n' && next != '\t' => {
                return Err(cursor.stray());
            }
            Some(next) => {
                value.push(next);
                cursor.bump();
            }
        }
    }
}

/// Reads a byte string whose `b` is at the cursor.
pub(super) fn bytes(cursor: &mut Cursor<'_>) -> Result<Vec<u8>, Finding> {
    let start = cursor.at;
    cursor.bump();
    cursor.bump();
    let mut value = Vec::new();
    loop {
        match cursor.peek() {
            None => return Err(unclosed(cursor, start, "byte string")),
            Some('"') => {
                cursor.bump();
                return Ok(value);
            }
            Some('\\') => value.push(byte_escape(cursor, start)?),
            Some(next) => {
                let plain = next == '\n' || next == '\t' || !next.is_control();
                match u8::try_from(next) {
                    Ok(byte) if byte.is_ascii() && plain => value.push(byte),
                    Ok(_) | Err(_) => return Err(cursor.stray()),
                }
                cursor.bump();
            }
        }
    }
}

fn unclosed(cursor: &Cursor<'_>, start: usize, what: &str) -> Finding {
    Finding::new(
        Kind::Lex,
        cursor.span(start),
        format!("{what} is not closed before the end of the file"),
    )
    .help("close it with `\"`")
}

fn simple_escape(letter: char) -> Option<u8> {
    match letter {
        '"' => Some(b'"'),
        '\\' => Some(b'\\'),
        'n' => Some(b'\n'),
        't' => Some(b'\t'),
        'r' => Some(b'\r'),
        '0' => Some(0),
        _ => None,
    }
}

fn bad_escape(cursor: &Cursor<'_>, start: usize) -> Finding {
    Finding::new(Kind::Lex, cursor.span(start), "unknown escape").help(ESCAPE_HELP)
}

/// Reads an escape of the string that begins at `literal`.
fn text_escape(cursor: &mut Cursor<'_>, literal: usize) -> Result<char, Finding> {
    let start = cursor.at;
    cursor.bump();
    let Some(letter) = cursor.bump() else {
        return Err(unclosed(cursor, literal, "string"));
    };
    if let Some(byte) = simple_escape(letter) {
        return Ok(char::from(byte));
    }
    let scalar = (letter == 'u').then(|| braced_scalar(cursor)).flatten();
    scalar.ok_or_else(|| bad_escape(cursor, start))
}

/// `{H}` with 1 to 6 digits that name a scalar value.
fn braced_scalar(cursor: &mut Cursor<'_>) -> Option<char> {
    let body = cursor.rest().strip_prefix('{')?;
    let length = body.find('}').filter(|length| (1..=6).contains(length))?;
    let digits = body.get(..length)?;
    if !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let scalar = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
    cursor.at = cursor.at.saturating_add(length).saturating_add(2);
    Some(scalar)
}

/// Reads an escape of the byte string that begins at `literal`.
fn byte_escape(cursor: &mut Cursor<'_>, literal: usize) -> Result<u8, Finding> {
    let start = cursor.at;
    cursor.bump();
    let Some(letter) = cursor.bump() else {
        return Err(unclosed(cursor, literal, "byte string"));
    };
    if let Some(byte) = simple_escape(letter) {
        return Ok(byte);
    }
    if letter == 'x' {
        let digits = cursor.rest().get(..2).unwrap_or("");
        if digits.bytes().all(|it| it.is_ascii_hexdigit())
            && let Ok(byte) = u8::from_str_radix(digits, 16)
        {
            cursor.at = cursor.at.saturating_add(2);
            return Ok(byte);
        }
    }
    Err(bad_escape(cursor, start))
}
