// SPDX-License-Identifier: Apache-2.0
//! Foreign text as a terminal and a scanner of logs may see it.
//!
//! Whatever an author, a compiler or a host wrote reaches people through here: scalars that drive
//! a terminal or that no one can see are shown by number, and no two `#` stand together, because
//! that is how log scanners begin a command (J2).

use crate::label::is_hidden;
use std::fmt::Write as _;

/// Greatest length of one message in bytes.
const MAX_MESSAGE_BYTES: usize = 1_024;
/// What a tab becomes, wherever it stands.
const TAB: &str = "    ";

/// A message on one line, cut at 1,024 bytes.
pub(super) fn message(text: &str) -> String {
    let mut out = String::new();
    for (at, scalar) in text.char_indices() {
        if out.len() >= MAX_MESSAGE_BYTES {
            // Writing into a string cannot fail.
            _ = write!(out, " [{} more bytes]", text.len() - at);
            break;
        }
        push(&mut out, scalar);
    }
    out
}

/// Appends one scalar of a text.
pub(super) fn push(out: &mut String, scalar: char) {
    match scalar {
        '\t' => out.push_str(TAB),
        _ if is_hidden(scalar) || (scalar == '#' && out.ends_with('#')) => {
            // Writing into a string cannot fail.
            _ = write!(out, "<U+{:04X}>", u32::from(scalar));
        }
        _ => out.push(scalar),
    }
}

/// Appends bytes that are no text.
pub(super) fn push_bytes(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing into a string cannot fail.
        _ = write!(out, "<{byte:02X}>");
    }
}
