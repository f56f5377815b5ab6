// SPDX-License-Identifier: Apache-2.0
//! What `report verify` and `report diff` answer: lines for people, one document for programs.

use crate::label::visible;
use edict_codec::json::Json;
use edict_test_model::report::{
    CheckOutcome, Verification,
    diff::{Link, ReportDiff},
};
use std::fmt::Write as _;

/// One line per check: its result, what it is about, its name, and what differs.
pub fn verification_text(verification: &Verification) -> String {
    let mut text = String::new();
    for check in &verification.checks {
        let mut line = format!("{} {} {}", check.outcome.name(), check.subject, check.name);
        if let Some(message) = check.outcome.message() {
            // Writing into a string cannot fail.
            _ = write!(line, ": {message}");
        } else if let CheckOutcome::Recorded(result) = check.outcome {
            _ = write!(line, ": {}", result.name());
        }
        text.push_str(&visible(&line));
        text.push('\n');
    }
    text
}

/// The same as a document.
pub fn verification_json(verification: &Verification) -> Json {
    let checks = verification.checks.iter().map(|check| {
        let recorded = match check.outcome {
            CheckOutcome::Recorded(result) => Json::text(result.name()),
            _ => Json::Null,
        };
        Json::object([
            ("subject", Json::text(check.subject.as_str())),
            ("name", Json::text(check.name.as_str())),
            ("result", Json::text(check.outcome.name())),
            ("recorded", recorded),
            (
                "message",
                Json::optional(check.outcome.message(), Json::text),
            ),
        ])
    });
    Json::object([
        ("schema", Json::text("edict.test.report-verification/v1")),
        ("complete", Json::Bool(verification.complete)),
        ("class", Json::text(verification.class.name())),
        ("green", Json::Bool(verification.green())),
        ("checks", Json::Array(checks.collect())),
    ])
}

/// The first and every differing link of the suite and of each case.
pub fn diff_text(diff: &ReportDiff) -> String {
    let mut text = if diff.equal {
        "equal semantics\n".to_owned()
    } else {
        "semantics differ\n".to_owned()
    };
    subject("suite", &diff.suite, &mut text);
    for case in &diff.cases {
        subject(&format!("case {}", case.id), &case.links, &mut text);
    }
    text
}

fn subject(name: &str, links: &[Link], text: &mut String) {
    let Some(first) = links.first() else {
        // Writing into a string cannot fail.
        _ = writeln!(text, "{name}: same");
        return;
    };
    let count = links.len();
    _ = writeln!(
        text,
        "{name}: first `{}`, {count} of its links differ",
        first.name
    );
    for link in links {
        let shown = |value: &Option<String>| visible(value.as_deref().unwrap_or("(absent)"));
        _ = writeln!(text, "  {}", link.name);
        _ = writeln!(text, "    - {}", shown(&link.from));
        _ = writeln!(text, "    + {}", shown(&link.to));
    }
}

/// The same as a document.
pub fn diff_json(diff: &ReportDiff) -> Json {
    let links = |links: &[Link]| {
        let link = |link: &Link| {
            Json::object([
                ("name", Json::text(link.name.as_str())),
                ("from", Json::optional(link.from.as_deref(), Json::text)),
                ("to", Json::optional(link.to.as_deref(), Json::text)),
            ])
        };
        Json::Array(links.iter().map(link).collect())
    };
    let first =
        |links: &[Link]| Json::optional(links.first(), |link| Json::text(link.name.as_str()));
    let cases = diff.cases.iter().map(|case| {
        Json::object([
            ("id", Json::text(case.id.as_str())),
            ("first", first(&case.links)),
            ("links", links(&case.links)),
        ])
    });
    Json::object([
        ("schema", Json::text("edict.test.report-diff/v1")),
        ("equal", Json::Bool(diff.equal)),
        ("suite", links(&diff.suite)),
        ("cases", Json::Array(cases.collect())),
    ])
}
