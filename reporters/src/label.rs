// SPDX-License-Identifier: Apache-2.0
//! The one renderer of labels, skip texts and bail-out texts (rule T6).
//!
//! Nothing that an author wrote may become protocol: line breaks, control characters and
//! invisible scalars are shown by number, backslash and hash are escaped.

use std::fmt::Write as _;
use unicode_general_category::{GeneralCategory, get_general_category};

/// Longest rendered text in bytes, before escaping.
pub const MAX_LABEL_BYTES: usize = 1024;

/// Renders `text` for one TAP line; `fallback` stands for a text of which nothing is left.
///
/// Steps of rule T6 in order: substitute, trim, truncate, protect a final `{`, escape.
pub fn render(text: &str, fallback: &str) -> String {
    let (mut shown, substituted) = substitute(text);
    let trimmed = shown.trim();
    if trimmed.is_empty() {
        return escape(fallback);
    }
    let lead = shown.len() - shown.trim_start().len();
    let trimmed = trimmed.to_owned();
    let marks: Vec<(usize, usize)> = substituted
        .into_iter()
        .filter(|(start, _)| *start >= lead)
        .map(|(start, end)| (start - lead, end - lead))
        .collect();
    shown = truncate(trimmed, &marks);
    if shown.ends_with('{') {
        shown.pop();
        shown.push_str("<U+007B>");
    }
    escape(&shown)
}

/// `text` with every scalar that no one can see shown by number (step 1 of T6).
pub(crate) fn visible(text: &str) -> String {
    substitute(text).0
}

/// The text with every scalar of the closed sets replaced, and the byte ranges of replacements.
fn substitute(text: &str) -> (String, Vec<(usize, usize)>) {
    let mut shown = String::with_capacity(text.len());
    let mut marks = Vec::new();
    for scalar in text.chars() {
        if is_hidden(scalar) {
            let start = shown.len();
            // Writing into a string cannot fail.
            _ = write!(shown, "<U+{:04X}>", u32::from(scalar));
            marks.push((start, shown.len()));
        } else {
            shown.push(scalar);
        }
    }
    (shown, marks)
}

/// Whether step 1 of T6 shows the scalar by number.
pub(crate) fn is_hidden(scalar: char) -> bool {
    let number = u32::from(scalar);
    matches!(
        get_general_category(scalar),
        GeneralCategory::Control
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
    ) || matches!(number,
        0xad | 0x61c | 0x200b | 0x200e | 0x200f | 0xfeff
            | 0x202a..=0x202e
            | 0x2060..=0x206f
            | 0xfff9..=0xfffb
            | 0xe0000..=0xe007f
            // Noncharacters: U+FDD0..U+FDEF and the last two of every plane.
            | 0xfdd0..=0xfdef)
        || number & 0xfffe == 0xfffe
}

fn truncate(text: String, marks: &[(usize, usize)]) -> String {
    let length = text.len();
    if length <= MAX_LABEL_BYTES {
        return text;
    }
    let note = format!(" [truncated, {length} bytes]");
    let mut cut = MAX_LABEL_BYTES.saturating_sub(note.len());
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    if let Some((start, _)) = marks.iter().find(|(start, end)| *start < cut && cut < *end) {
        cut = *start;
    }
    let mut shown = text;
    shown.truncate(cut);
    shown.truncate(shown.trim_end().len());
    shown + &note
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('#', "\\#")
}
