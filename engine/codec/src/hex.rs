// SPDX-License-Identifier: Apache-2.0
//! Lower-case hexadecimal text of bytes.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Lower-case hexadecimal of `bytes`, two digits a byte.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(2));
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.push(char::from(
                DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0'),
            ));
        }
    }
    text
}

/// Bytes of lower-case hexadecimal `text`; `None` for an odd length, upper case or another sign.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

/// As [`decode`], for exactly 32 bytes.
pub fn decode_32(text: &str) -> Option<[u8; 32]> {
    decode(text)?.try_into().ok()
}

fn digit(sign: u8) -> Option<u8> {
    match sign {
        b'0'..=b'9' => Some(sign.wrapping_sub(b'0')),
        b'a'..=b'f' => Some(sign.wrapping_sub(b'a').wrapping_add(10)),
        _ => None,
    }
}
