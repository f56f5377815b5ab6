// SPDX-License-Identifier: Apache-2.0
//! Workflow commands of GitHub Actions: one line a case that did not pass, and a summary.

use super::{Standing, counts, explanation, kind, suite_id};
use crate::label::visible;
use edict_test_model::{report::ReadReport, run::CaseReport};
use std::fmt::Write as _;

/// The commands, one a line.
pub(super) fn github(report: &ReadReport) -> String {
    let mut text = String::new();
    for case in &report.semantic.cases {
        if let Some(level) = level(case) {
            let mut message = format!("{}: {}", Standing::of(case).name(), case.label);
            let explained = explanation(report, case);
            if !explained.is_empty() {
                // Writing into a string cannot fail.
                _ = write!(message, ": {explained}");
            }
            let title = property(&format!("{} {}", case.id, kind(case)));
            _ = writeln!(text, "::{level} title={title}::{}", data(&message));
        }
    }
    let outcome = &report.semantic.summary.outcome;
    let level = if outcome.exit_code as u8 == 0 {
        "notice"
    } else {
        "error"
    };
    let title = property(&format!("edict-test {}", suite_id(report)));
    let mut message = format!("{}: {}", outcome.class.name(), counts(report));
    if let Some(primary) = &outcome.primary {
        _ = write!(
            message,
            ": {}/{}",
            primary.stage.name(),
            primary.kind.name()
        );
    }
    _ = writeln!(text, "::{level} title={title}::{}", data(&message));
    text
}

fn level(case: &CaseReport) -> Option<&'static str> {
    match Standing::of(case) {
        Standing::Passed => None,
        Standing::Skipped => Some("notice"),
        Standing::Failed | Standing::Errored | Standing::NotRun => Some("error"),
    }
}

/// Data of a command: one line, in which nothing ends it.
fn data(text: &str) -> String {
    visible(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a command, which colon and comma would end.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
