// SPDX-License-Identifier: Apache-2.0
//! Numbers on the command line: decimal digits in the one spelling that a number has.

/// Whether a text stands for a number in any spelling, also one that is refused.
pub fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|sign| sign.is_ascii_digit())
}

/// Reads a number. The parser of the standard library also takes a sign and leading zeros: there a
/// slip of the hand, such as a number of another base, would count as another value than was meant.
///
/// # Errors
/// What a number looks like.
pub fn number(text: &str) -> Result<u64, String> {
    let is_plain = !text.is_empty()
        && text.bytes().all(|sign| sign.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    if !is_plain {
        return Err("a number has digits only, no sign and no leading zero".to_owned());
    }
    text.parse()
        .map_err(|_| format!("a number is 0 to {}", u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        for (text, value) in [
            ("0", 0),
            ("7", 7),
            ("10", 10),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(number(text), Ok(value));
            assert!(is_number(text));
        }
        for text in [
            "00", "07", "+7", "-7", " 7", "7 ", "1e3", "1_0", "0x1", "\u{0667}", "",
        ] {
            let error = number(text).unwrap_err();
            assert!(
                error.contains("no sign and no leading zero"),
                "{text}: {error}"
            );
        }
        let error = number("18446744073709551616").unwrap_err();
        assert!(error.contains("18446744073709551615"), "{error}");
        assert!(is_number("+07") && !is_number("run.json") && !is_number("+"));
    }
}
