// SPDX-License-Identifier: Apache-2.0
//! Sources with damaged tokens, most of which still parse.

use crate::random::Tape;

/// Literals near the edges of what types hold.
const LITERALS: [&str; 12] = [
    "0",
    "1",
    "256",
    "4294967295",
    "4294967296u64",
    "18446744073709551615",
    "9223372036854775807i64",
    "2147483647i32",
    "\"\"",
    "b\"\"",
    "true",
    "[]",
];
/// Signs that may stand for each other.
const SIGNS: [&[&str]; 3] = [
    &["==", "!=", "<", "<=", ">", ">="],
    &["+", "-", "*", "/", "%"],
    &["&&", "||"],
];

/// The source with one or two tokens replaced, removed, repeated, moved or spliced.
pub(super) fn damaged(tape: &mut Tape, source: &str) -> String {
    let mut tokens = tokens(source);
    for _ in 0..=tape.below(2) {
        let solid: Vec<usize> = (0..tokens.len())
            .filter(|at| tokens.get(*at).is_some_and(|it| !it.trim().is_empty()))
            .collect();
        let (Some(at), Some(from)) = (tape.pick(&solid).copied(), tape.pick(&solid).copied())
        else {
            break;
        };
        let found = tokens.get(at).cloned().unwrap_or_default();
        let replacement = match tape.below(10) {
            0..7 => alike(tape, &tokens, &found),
            7 => tokens.get(from).cloned().unwrap_or_default(),
            8 if tape.chance(50) => String::new(),
            8 => format!("{found} {found}"),
            _ => {
                let end = (from + 1 + tape.below(12)).min(tokens.len());
                tokens.get(from..end).unwrap_or_default().concat()
            }
        };
        if let Some(slot) = tokens.get_mut(at) {
            *slot = replacement;
        }
    }
    tokens.concat()
}

/// A token of the same kind: another name of the source, another literal, another operator.
fn alike(tape: &mut Tape, tokens: &[String], found: &str) -> String {
    let first = found.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() || first == '"' {
        return tape.pick(&LITERALS).copied().unwrap_or("0").to_owned();
    }
    if first.is_ascii_alphabetic() {
        let is_upper = first.is_ascii_uppercase();
        let names: Vec<&String> = tokens
            .iter()
            .filter(|it| {
                let first = it.chars().next().unwrap_or(' ');
                first.is_ascii_alphabetic() && first.is_ascii_uppercase() == is_upper
            })
            .collect();
        return tape
            .pick(&names)
            .map_or_else(String::new, |it| (*it).clone());
    }
    let group = SIGNS.iter().find(|signs| signs.contains(&found));
    let other = group.and_then(|signs| tape.pick(signs));
    other.map_or_else(|| found.to_owned(), |it| (*it).to_owned())
}

/// Words, literals, signs and the spaces between them; together they are the source again.
fn tokens(source: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let length = if word(first) {
            rest.find(|it| !word(it)).unwrap_or(rest.len())
        } else if first.is_whitespace() {
            rest.find(|it: char| !it.is_whitespace())
                .unwrap_or(rest.len())
        } else if first == '"' {
            closing(rest)
        } else {
            let signs = SIGNS.iter().flat_map(|it| it.iter());
            let two = signs
                .chain(&["=>", "->", "::"])
                .find(|it| it.len() == 2 && rest.starts_with(**it));
            two.map_or(first.len_utf8(), |it| it.len())
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token.to_owned());
        rest = after;
    }
    tokens
}

/// The length of a string literal at the start of a text.
fn closing(text: &str) -> usize {
    let mut escaped = false;
    for (at, sign) in text.char_indices().skip(1) {
        match sign {
            '"' if !escaped => return at + 1,
            _ => escaped = sign == '\\' && !escaped,
        }
    }
    text.len()
}
