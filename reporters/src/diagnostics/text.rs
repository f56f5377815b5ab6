// SPDX-License-Identifier: Apache-2.0
//! One diagnostic as text for people: what is wrong, where it stands in the text, what to do.

use super::{
    documents::Documents,
    excerpt::{Excerpt, excerpt},
    shown::message,
};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use edict_test_model::{
    Detail, Diagnostic, Failure, FileSpan,
    diagnostic::{Notice, SourceDiagnostic},
};
use std::fmt::Write as _;

const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const PLAIN: &str = "\u{1b}[0m";
/// Columns that no excerpt reaches, so that nothing is cut a second time.
const WIDE: usize = 4_096;
/// Lines shown of what a child wrote.
const MAX_OUTPUT_LINES: usize = 20;

/// The text, one or more whole lines. Nothing that an author wrote reaches it unescaped.
pub(super) fn render(diagnostic: &Diagnostic, color: bool, documents: &Documents) -> String {
    match diagnostic {
        Diagnostic::Failure { failure, .. } => of_failure(failure, color, documents),
        Diagnostic::Notice(notice) => of_notice(notice, color),
    }
}

fn head(word: &str, paint: &str, kind: &str, text: &str, color: bool) -> String {
    let (on, off) = if color { (paint, PLAIN) } else { ("", "") };
    format!("{on}{word}[{kind}]{off}: {}\n", message(text))
}

// Writing into a string cannot fail, here and below.
fn of_failure(failure: &Failure, color: bool, documents: &Documents) -> String {
    let mut text = head("error", RED, failure.kind.name(), &failure.message, color);
    if let Some(case) = &failure.case {
        _ = write!(text, "  case {case}");
        if let Some(index) = failure.setup_index {
            _ = write!(text, ", setup operation {index}");
        }
        text.push('\n');
    }
    if let Some(role) = failure.role {
        _ = writeln!(text, "  role {}", role.name());
    }
    for (name, digest) in [("expected", &failure.expected), ("actual", &failure.actual)] {
        if let Some(digest) = digest {
            _ = writeln!(text, "  {name} {digest}");
        }
    }
    if let Some(at) = &failure.span {
        let pointer = message(failure.pointer.as_deref().unwrap_or_default());
        text.push_str(&place(at, &documents.path(&at.file), &pointer, color));
    }
    if let Some(Detail::Refused { diagnostics, .. }) = &failure.detail {
        for it in diagnostics {
            let path = documents.source_path(failure, &it.file);
            text.push_str(&of_source(it, &path, color));
        }
    }
    if let Some(excerpt) = &failure.excerpt {
        text.push_str(&said(&excerpt.text));
    }
    if !failure.kind.advice().is_empty() {
        _ = writeln!(text, "  help: {}", failure.kind.advice());
    }
    text
}

/// The first lines of what a child wrote.
fn said(output: &str) -> String {
    let mut text = String::new();
    let mut lines = output.lines();
    for line in lines.by_ref().take(MAX_OUTPUT_LINES) {
        _ = writeln!(text, "  | {}", message(line));
    }
    match lines.count() {
        0 => {}
        more => _ = writeln!(text, "  | [{more} more lines]"),
    }
    text
}

fn of_notice(notice: &Notice, color: bool) -> String {
    head(
        notice.severity.name(),
        YELLOW,
        notice.kind.name(),
        &notice.message,
        color,
    )
}

/// The place of a failure, with the member at fault as the word beside its mark.
fn place(at: &FileSpan, path: &str, pointer: &str, color: bool) -> String {
    let Some(bytes) = &at.text else {
        let (file, span) = (message(path), at.span);
        let line = format!("  at {file} bytes {}..{} {pointer}", span.start, span.end);
        return format!("{}\n", line.trim_end());
    };
    let excerpt = excerpt(bytes, at.span.start..at.span.end);
    let group = Group::with_level(Level::ERROR).element(snippet(&excerpt, pointer));
    let arrow = arrow(
        path,
        (excerpt.line as u64, excerpt.column as u64),
        Some(&excerpt),
    );
    arrow + &drawn(group, color)
}

/// A mistake in a source. Line and column are those that the compiler stated.
fn of_source(it: &SourceDiagnostic, path: &str, color: bool) -> String {
    let kind = message(&format!("{}/{}", it.stage, it.kind));
    let excerpt = it
        .text
        .as_deref()
        .map(|bytes| excerpt(bytes, it.span.start..it.span.end));
    let mut group = Group::with_level(Level::ERROR);
    if let Some(excerpt) = &excerpt {
        group = group.element(snippet(excerpt, ""));
    }
    if let Some(help) = &it.help {
        group = group.element(Level::HELP.message(message(help)));
    }
    let mut text = head("error", RED, &kind, &it.message, color);
    text.push_str(&arrow(path, (it.line, it.column), excerpt.as_ref()));
    if !group.is_empty() {
        text.push_str(&drawn(group, color));
    }
    text
}

/// The line that names the place; the arrow stands where the numbers of the lines end.
fn arrow(path: &str, (line, column): (u64, u64), excerpt: Option<&Excerpt>) -> String {
    let last = excerpt.map_or(1, |it| it.line + it.text.matches('\n').count());
    let digits = last.to_string().len();
    format!("{:digits$}--> {}:{line}:{column}\n", "", message(path))
}

fn snippet<'a>(excerpt: &'a Excerpt, word: &'a str) -> Snippet<'a, Annotation<'a>> {
    let mark = AnnotationKind::Primary.span(excerpt.mark.clone());
    Snippet::source(&*excerpt.text)
        .line_start(excerpt.line)
        .annotation(mark.label((!word.is_empty()).then_some(word)))
}

fn drawn(group: Group<'_>, color: bool) -> String {
    let renderer = if color {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    format!("{}\n", renderer.term_width(WIDE).render(&[group]))
}
