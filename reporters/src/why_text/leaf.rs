// SPDX-License-Identifier: Apache-2.0
//! The lines of differing leaves: what, where, before and after.

use edict_test_model::{
    Locator,
    recipe::LeafValue,
    why::{Cause, DifferingLeaf, Explanation},
};
use std::fmt::Write as _;

/// One line a leaf, its columns aligned.
pub(super) fn leaf_lines(explanation: &Explanation, leaves: &[DifferingLeaf]) -> String {
    let rows: Vec<[String; 4]> = leaves.iter().map(|it| row(explanation, it)).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let (first, second, third) = (width(0).max(9), width(1), width(2));
    let mut text = String::new();
    for [label, place, change, note] in &rows {
        let mut line = format!("               {label:<first$}");
        if second > 0 {
            // Writing into a string cannot fail.
            _ = write!(line, " {place:<second$}");
        }
        _ = write!(line, "   {change:<third$}   {note}");
        _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn row(explanation: &Explanation, leaf: &DifferingLeaf) -> [String; 4] {
    let difference = &leaf.difference;
    let label = match difference.label.strip_prefix("application.") {
        Some("source[0]") => "source",
        Some(rest) => rest,
        None => &difference.label,
    };
    let value = |value: &Option<LeafValue>| value.as_ref().map_or("none".to_owned(), shown);
    let note = if difference.label == "application.source[0]" {
        core_note(explanation)
    } else {
        String::new()
    };
    [
        label.to_owned(),
        place(&leaf.locators),
        format!("{} -> {}", value(&difference.from), value(&difference.to)),
        note,
    ]
}

fn place(locators: &[Option<Locator>; 2]) -> String {
    match locators {
        [Some(from), Some(to)] if from == to => to.to_string(),
        [Some(from), Some(to)] => format!("{from} -> {to}"),
        [Some(only), None] | [None, Some(only)] => only.to_string(),
        [None, None] => String::new(),
    }
}

/// Whether the change of a source reached Core.
fn core_note(explanation: &Explanation) -> String {
    let one_sided = [Cause::CaseAdded, Cause::CaseRemoved];
    if one_sided.iter().any(|it| explanation.causes.contains(it)) {
        return String::new();
    }
    match (&explanation.from.core, &explanation.to.core) {
        (Some(from), Some(to)) if from == to => {
            format!("not semantic (Core {} in both)", short(&to.hex()))
        }
        (Some(from), Some(to)) => {
            let (from, to) = (short(&from.hex()), short(&to.hex()));
            format!("semantic (Core {from} -> {to})")
        }
        (_, None) => "no Core: it does not build".to_owned(),
        (None, Some(_)) => "no Core before: it did not build".to_owned(),
    }
}

fn shown(value: &LeafValue) -> String {
    match value {
        LeafValue::Digest(digest) => short(&digest.hex()),
        LeafValue::Text(text) => format!("{text:?}"),
        LeafValue::Number(number) => number.to_string(),
        LeafValue::Absent => "none".to_owned(),
    }
}

/// The start of a hexadecimal text.
pub(super) fn short(hex: &str) -> String {
    let start: String = hex.chars().take(4).collect();
    format!("{start}..")
}
