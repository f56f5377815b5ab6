// SPDX-License-Identifier: Apache-2.0
//! A summary in Markdown, for job pages and pull requests.

use super::{Standing, counts, explanation, kind, suite_id};
use crate::label::visible;
use edict_test_model::report::ReadReport;
use std::fmt::Write as _;

/// The document.
pub(super) fn markdown(report: &ReadReport) -> String {
    let outcome = &report.semantic.summary.outcome;
    let mut text = format!("# {}\n\n", escaped(suite_id(report)));
    // Writing into a string cannot fail.
    _ = writeln!(text, "**{}**: {}", outcome.class.name(), counts(report));
    if let Some(primary) = &outcome.primary {
        let (stage, kind) = (primary.stage.name(), primary.kind.name());
        _ = writeln!(text, "\nPrimary failure: `{stage}/{kind}`");
    }
    if !report.complete {
        text.push_str("\nThe run is incomplete.\n");
    }
    text.push_str("\n| # | case | label | verdict | kind | message |\n");
    text.push_str("|---:|---|---|---|---|---|\n");
    for case in &report.semantic.cases {
        _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            case.index.number(),
            escaped(case.id.as_str()),
            escaped(&case.label),
            Standing::of(case).name(),
            kind(case),
            escaped(&explanation(report, case)),
        );
    }
    _ = writeln!(text, "\nSemantic digest: `{}`", report.semantic_digest);
    text
}

/// A text of one line in which no sign means anything.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for scalar in visible(text).chars() {
        match scalar {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '>' | '|' | '~' | '@' | ':' | '#' | '!' | '$' => {
                escaped.push('\\');
                escaped.push(scalar);
            }
            other => escaped.push(other),
        }
    }
    escaped
}
