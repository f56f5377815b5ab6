// SPDX-License-Identifier: Apache-2.0
//! The oracle: a plain string model of one edit, judged in the written order.

use std::str;

/// The most bytes a text may have in this slice.
pub const MAX_TEXT: u64 = 65_536;

/// The retained state of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The text; UTF-8 unless it was seeded otherwise.
    pub text: Vec<u8>,
    /// Maintained number of UTF-16 code units.
    pub utf16_length: u64,
    /// Maintained number of LF.
    pub line_breaks: u64,
    /// Settled edits.
    pub sequence: u64,
    /// Settled edits, kept apart.
    pub version: u64,
}

impl State {
    /// The state right after creation with `text`.
    pub fn created(text: &str) -> Self {
        Self {
            text: text.as_bytes().to_vec(),
            utf16_length: utf16_units(text),
            line_breaks: line_feeds(text),
            sequence: 0,
            version: 0,
        }
    }
}

/// What stands at the address of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Nothing.
    Absent,
    /// A value that is no buffer.
    Foreign,
    /// A buffer.
    Buffer(State),
}

/// One edit without its basis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// First byte of the range.
    pub start: u64,
    /// First byte after the range.
    pub end: u64,
    /// The bytes that replace it.
    pub replacement: Vec<u8>,
}

/// A value in the payload of an obstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number.
    Number(u64),
    /// A word.
    Word(&'static str),
}

/// How an edit ends that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstruction {
    /// The versioned coordinate.
    pub coordinate: &'static str,
    /// The payload without the buffer id.
    pub fields: Vec<(&'static str, Field)>,
}

impl Obstruction {
    fn of<const N: usize>(coordinate: &'static str, fields: [(&'static str, Field); N]) -> Self {
        Self {
            coordinate,
            fields: fields.to_vec(),
        }
    }

    /// Whether the payload carries the buffer id: every authored one does.
    pub fn authored(&self) -> bool {
        self.coordinate.starts_with("jim.")
    }
}

fn number(name: &'static str, value: u64) -> (&'static str, Field) {
    (name, Field::Number(value))
}

fn overflow(counter: &'static str) -> Obstruction {
    Obstruction::of(
        "jim.text@1.ArithmeticOverflow",
        [("counter", Field::Word(counter))],
    )
}

/// Judges an edit; `current` says whether its basis is that of the buffer.
///
/// # Errors
/// The first judgement that fails.
pub fn judge(fact: &Fact, current: bool, edit: &Edit) -> Result<State, Obstruction> {
    let Ok(inserted) = str::from_utf8(&edit.replacement) else {
        return Err(Obstruction::of(
            "echo.obstruction.input-constraint/v1",
            [("constraint", Field::Word("where.0"))],
        ));
    };
    let state = match fact {
        Fact::Absent => return Err(Obstruction::of("jim.text@1.FactMissing", [])),
        Fact::Foreign => return Err(Obstruction::of("jim.text@1.FactMalformed", [])),
        Fact::Buffer(state) => state,
    };
    if !current {
        return Err(Obstruction::of(
            "jim.text@1.BasisNotCanonical",
            [number("sequence", state.sequence)],
        ));
    }
    let Ok(text) = str::from_utf8(&state.text) else {
        return Err(Obstruction::of("jim.text@1.FactMalformed", []));
    };
    let (start, end) = range(text, edit)?;
    apply(state, text, (start, end), inserted)
}

/// Judgements 5, 6 and 8: the range in machine words.
fn range(text: &str, edit: &Edit) -> Result<(usize, usize), Obstruction> {
    let ends = [number("startByte", edit.start), number("endByte", edit.end)];
    if edit.start > edit.end {
        return Err(Obstruction::of("jim.text@1.RangeOrderInvalid", ends));
    }
    let inside = |offset: u64| usize::try_from(offset).ok().filter(|it| *it <= text.len());
    let (Some(start), Some(end)) = (inside(edit.start), inside(edit.end)) else {
        let [first, second] = ends;
        return Err(Obstruction::of(
            "jim.text@1.RangeOutOfBounds",
            [first, second, number("byteLength", size(text))],
        ));
    };
    if start == end && !text.is_char_boundary(start) {
        return Err(boundary(edit.start));
    }
    Ok((start, end))
}

fn boundary(offset: u64) -> Obstruction {
    Obstruction::of("jim.text@1.Utf8BoundaryInvalid", [number("offset", offset)])
}

/// Judgements 10 to 17.
fn apply(
    state: &State,
    text: &str,
    (start, end): (usize, usize),
    inserted: &str,
) -> Result<State, Obstruction> {
    let removed = state.text.get(start..end).unwrap_or_default();
    if removed == inserted.as_bytes() {
        return Err(Obstruction::of(
            "jim.text@1.NoOp",
            [
                number("startByte", start as u64),
                number("endByte", end as u64),
            ],
        ));
    }
    let sequence = state
        .sequence
        .checked_add(1)
        .ok_or_else(|| overflow("sequence"))?;
    let version = state
        .version
        .checked_add(1)
        .ok_or_else(|| overflow("version"))?;
    if !text.is_char_boundary(start) {
        return Err(boundary(start as u64));
    }
    if !text.is_char_boundary(end) {
        return Err(boundary(end as u64));
    }
    let removed = text.get(start..end).unwrap_or_default();
    let mut edited = text.to_owned();
    edited.replace_range(start..end, inserted);
    if size(&edited) > MAX_TEXT {
        return Err(Obstruction::of(
            "jim.text@1.TextLimitExceeded",
            [
                number("byteLength", size(&edited)),
                number("limit", MAX_TEXT),
            ],
        ));
    }
    let moved = |old: u64, count: fn(&str) -> u64, name| {
        old.checked_sub(count(removed))
            .and_then(|kept| kept.checked_add(count(inserted)))
            .ok_or_else(|| overflow(name))
    };
    let utf16_length = moved(state.utf16_length, utf16_units, "utf16Length")?;
    let line_breaks = moved(state.line_breaks, line_feeds, "lineBreaks")?;
    line_breaks
        .checked_add(1)
        .ok_or_else(|| overflow("lineCount"))?;
    Ok(State {
        text: edited.into_bytes(),
        utf16_length,
        line_breaks,
        sequence,
        version,
    })
}

fn size(text: &str) -> u64 {
    text.len() as u64
}

fn utf16_units(text: &str) -> u64 {
    text.chars().map(|scalar| scalar.len_utf16() as u64).sum()
}

fn line_feeds(text: &str) -> u64 {
    text.chars().filter(|scalar| *scalar == '\n').count() as u64
}
