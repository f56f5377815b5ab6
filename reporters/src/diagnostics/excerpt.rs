// SPDX-License-Identifier: Apache-2.0
//! The lines of a file around a span, bounded and harmless, with the span translated.

use super::shown;
use std::ops::Range;

/// Lines shown of a span over several lines; of a longer one only the first is.
const MAX_LINES: usize = 6;
/// Bytes shown of one line.
const MAX_LINE_BYTES: usize = 160;
/// Bytes of a long line that are shown before the span.
const LEAD_BYTES: usize = 60;
/// Stands where a line was cut.
const CUT: &str = "…";

/// What is shown of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    /// The lines, joined by LF.
    pub(super) text: String,
    /// Number of the first line, from 1.
    pub(super) line: usize,
    /// Column of the span in its first line, in bytes from 1, as the compiler counts.
    pub(super) column: usize,
    /// The span in `text`; empty at a place between two scalars.
    pub(super) mark: Range<usize>,
}

/// The excerpt around `span` of `file`. A span that reaches past the end is one at the end; lines
/// end at LF, and a CR before it is not shown.
pub(super) fn excerpt(file: &[u8], span: Range<usize>) -> Excerpt {
    let start = span.start.min(file.len());
    let end = span.end.clamp(start, file.len());
    let (head, rest) = file.split_at(start);
    let line_start = head.iter().rposition(|byte| *byte == b'\n');
    let line_start = line_start.map_or(0, |at| at + 1);
    let lines = lines(file, line_start, end.max(start + 1).min(start + rest.len()));
    let mut text = String::new();
    let mut mark: Option<Range<usize>> = None;
    for line in lines {
        if !text.is_empty() || mark.is_some() {
            text.push('\n');
        }
        let part = start.clamp(line.start, line.end)..end.clamp(line.start, line.end);
        let base = text.len();
        let shown = show(
            file.get(line.clone()).unwrap_or_default(),
            &(part.start - line.start..part.end - line.start),
        );
        text.push_str(&shown.0);
        let shown = base + shown.1.start..base + shown.1.end;
        mark = Some(match mark {
            None => shown,
            Some(mark) => mark.start..shown.end,
        });
    }
    Excerpt {
        text,
        line: head.split(|byte| *byte == b'\n').count(),
        column: start - line_start + 1,
        mark: mark.unwrap_or(0..0),
    }
}

/// The ranges of the lines from the one that begins at `from` to the one that holds the byte
/// before `to`, without their line ends.
fn lines(file: &[u8], from: usize, to: usize) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut at = from;
    loop {
        let rest = file.get(at..).unwrap_or_default();
        let feed = rest.iter().position(|byte| *byte == b'\n');
        let end = at + feed.unwrap_or(rest.len());
        let is_return = end > at && file.get(end - 1) == Some(&b'\r');
        lines.push(at..end - usize::from(is_return));
        if feed.is_none() || end + 1 >= to {
            return lines;
        }
        if lines.len() == MAX_LINES {
            lines.truncate(1);
            return lines;
        }
        at = end + 1;
    }
}

/// A line as it is shown, and the mark in it. Of a long line the part around the mark is shown.
fn show(line: &[u8], mark: &Range<usize>) -> (String, Range<usize>) {
    let (from, to) = part(line, mark.start);
    let mut out = String::new();
    if from > 0 {
        out.push_str(CUT);
    }
    // Places in `line` and in `out` where a scalar begins.
    let mut places = Vec::new();
    let mut at = from;
    for chunk in line.get(from..to).unwrap_or_default().utf8_chunks() {
        for scalar in chunk.valid().chars() {
            places.push((at, out.len()));
            shown::push(&mut out, scalar);
            at += scalar.len_utf8();
        }
        if !chunk.invalid().is_empty() {
            places.push((at, out.len()));
            shown::push_bytes(&mut out, chunk.invalid());
            at += chunk.invalid().len();
        }
    }
    let last = out.len();
    // A span that begins or ends inside of a scalar covers it.
    let start = places
        .iter()
        .rfind(|(at, _)| *at <= mark.start && mark.start < to);
    let end = places.iter().find(|(at, _)| *at >= mark.end);
    let start = start.map_or(last, |(_, shown)| *shown);
    let end = end.map_or(last, |(_, shown)| *shown).max(start);
    if to < line.len() {
        out.push_str(CUT);
    }
    (out, start..end)
}

/// Which bytes of a line are shown, cut between scalars.
fn part(line: &[u8], mark: usize) -> (usize, usize) {
    if line.len() <= MAX_LINE_BYTES {
        return (0, line.len());
    }
    let latest = line.len() - MAX_LINE_BYTES;
    let mut from = mark.saturating_sub(LEAD_BYTES).min(latest);
    let mut to = from + MAX_LINE_BYTES;
    let continues = |at: usize| line.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    // No scalar has more than three bytes after its first one.
    for _ in 0..3 {
        from += usize::from(continues(from) && from < mark);
        to -= usize::from(continues(to));
    }
    (from, to)
}
