// SPDX-License-Identifier: Apache-2.0
//! One diagnostic as text for people.

use crate::label::render as safe;
use edict_test_model::{Detail, Diagnostic, Failure, diagnostic::Notice};
use std::fmt::Write as _;

const RED: &str = "\u{1b}[1;31m";
const YELLOW: &str = "\u{1b}[1;33m";
const PLAIN: &str = "\u{1b}[0m";

/// The text, one or more whole lines. Nothing that an author wrote reaches it unescaped.
pub(super) fn render(diagnostic: &Diagnostic, color: bool) -> String {
    match diagnostic {
        Diagnostic::Failure { failure, .. } => of_failure(failure, color),
        Diagnostic::Notice(notice) => of_notice(notice, color),
    }
}

fn head(word: &str, paint: &str, kind: &str, message: &str, color: bool) -> String {
    let (on, off) = if color { (paint, PLAIN) } else { ("", "") };
    format!("{on}{word}[{kind}]{off}: {}\n", safe(message, kind))
}

// Writing into a string cannot fail, here and below.
fn of_failure(failure: &Failure, color: bool) -> String {
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
    if let Some(at) = &failure.span {
        let pointer = failure.pointer.as_deref().unwrap_or_default();
        _ = writeln!(
            text,
            "  at {} bytes {}..{} {}",
            safe(&at.file, "?"),
            at.span.start,
            at.span.end,
            if pointer.is_empty() {
                String::new()
            } else {
                safe(pointer, "")
            },
        );
    }
    for (name, digest) in [("expected", &failure.expected), ("actual", &failure.actual)] {
        if let Some(digest) = digest {
            _ = writeln!(text, "  {name} {digest}");
        }
    }
    if let Some(Detail::Refused { diagnostics, .. }) = &failure.detail {
        for it in diagnostics {
            _ = writeln!(
                text,
                "  {}:{}:{}: {}/{}: {}",
                safe(&it.file, "?"),
                it.line,
                it.column,
                it.stage,
                it.kind,
                safe(&it.message, "?"),
            );
            if let Some(help) = &it.help {
                _ = writeln!(text, "    help: {}", safe(help, "?"));
            }
        }
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
