// SPDX-License-Identifier: Apache-2.0
//! A verified report in the formats of other tools: pure functions, never read back (C6).

mod github;
mod html;
mod in_toto;
mod junit;
mod markdown;
mod page_parts;
mod tap;

pub use tap::agrees;

use edict_codec::json::Json;
use edict_test_model::{CaseId, Verdict, report::ReadReport, run::CaseReport};
use std::collections::BTreeMap;

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TAP 14, as the run printed it.
    Tap,
    /// `JUnit` XML.
    Junit,
    /// Markdown.
    Markdown,
    /// Workflow commands of GitHub Actions.
    Github,
    /// One static page.
    Html,
    /// An in-toto statement with a test result.
    InToto,
}

/// Why a case ended as it did, beside an earlier run, as `why` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// The causes in one line.
    pub causes: String,
    /// The whole explanation.
    pub text: String,
    /// Whether the verdict is another one.
    pub changed: bool,
}

/// The page of `report` with what is known of why its cases ended as they did.
pub fn page(report: &ReadReport, whys: &BTreeMap<CaseId, Why>) -> String {
    html::html(report, whys)
}

/// `report` in `format`.
pub fn export(report: &ReadReport, format: Format) -> String {
    match format {
        Format::Tap => tap::tap(report),
        Format::Junit => junit::junit(report),
        Format::Markdown => markdown::markdown(report),
        Format::Github => github::github(report),
        Format::Html => page(report, &BTreeMap::new()),
        Format::InToto => in_toto::in_toto(report),
    }
}

/// How a case counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Passed,
    Failed,
    Errored,
    Skipped,
    NotRun,
}

impl Standing {
    fn of(case: &CaseReport) -> Self {
        match case.verdict() {
            Some(Verdict::Passed) => Self::Passed,
            Some(Verdict::AssertionFailed | Verdict::UnexpectedObstruction) => Self::Failed,
            Some(Verdict::Skipped) => Self::Skipped,
            Some(_) => Self::Errored,
            None => Self::NotRun,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Errored => "errored",
            Self::Skipped => "skipped",
            Self::NotRun => "not run",
        }
    }
}

/// The kind of a case's ending; `NotRun` when it has none.
fn kind(case: &CaseReport) -> &'static str {
    case.ending.as_ref().map_or("NotRun", |it| it.kind.name())
}

/// One sentence about how a case ended: what the program said, else what the run said.
fn explanation(report: &ReadReport, case: &CaseReport) -> String {
    if let Some(skip) = &case.skip {
        return format!("{} (tracking: {})", skip.reason, skip.tracking_reference);
    }
    if let Some(result) = case.result.as_ref().filter(|it| !it.message.is_empty()) {
        return result.message.clone();
    }
    let told = report.diagnostics.iter().find(|record| {
        text(record, "caseId") == Some(case.id.as_str())
            && text(record, "severity") == Some("error")
    });
    match told.and_then(|record| text(record, "message")) {
        Some(message) => message.to_owned(),
        None if case.ending.is_none() => "the run ended before this case".to_owned(),
        None => String::new(),
    }
}

/// A text member of an object.
fn text<'a>(json: &'a Json, name: &str) -> Option<&'a str> {
    match member(json, name) {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    }
}

fn member<'a>(json: &'a Json, name: &str) -> Option<&'a Json> {
    let Json::Object(members) = json else {
        return None;
    };
    members
        .iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}

/// The suite id; a run without a manifest has none.
fn suite_id(report: &ReadReport) -> &str {
    report
        .semantic
        .suite
        .as_ref()
        .map_or("unknown suite", |suite| suite.id.as_str())
}

/// Counts in words: `3 passed, 1 skipped`.
fn counts(report: &ReadReport) -> String {
    let counts = report.semantic.summary.counts;
    let parts: Vec<String> = [
        (counts.passed, "passed"),
        (counts.failed, "failed"),
        (counts.errored, "errored"),
        (counts.skipped, "skipped"),
        (counts.not_run, "not run"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, name)| format!("{count} {name}"))
    .collect();
    if parts.is_empty() {
        "no cases".to_owned()
    } else {
        parts.join(", ")
    }
}
