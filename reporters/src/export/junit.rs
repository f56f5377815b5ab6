// SPDX-License-Identifier: Apache-2.0
//! `JUnit` XML: `failed` is a failure, `errored` and `notRun` are errors, `skipped` is skipped (C6).

use super::{Standing, explanation, kind, suite_id};
use edict_test_model::{report::ReadReport, run::CaseReport};
use std::fmt::Write as _;

/// The document, with a final LF.
pub(super) fn junit(report: &ReadReport) -> String {
    let counts = report.semantic.summary.counts;
    let name = attribute(suite_id(report));
    let numbers = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
        counts.selected,
        counts.failed,
        counts.errored.saturating_add(counts.not_run),
        counts.skipped,
    );
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    // Writing into a string cannot fail.
    _ = writeln!(xml, "<testsuites name=\"{name}\" {numbers}>");
    _ = writeln!(xml, "  <testsuite name=\"{name}\" {numbers}>");
    properties(report, &mut xml);
    for case in &report.semantic.cases {
        test_case(report, case, &name, &mut xml);
    }
    xml.push_str("  </testsuite>\n</testsuites>\n");
    xml
}

fn properties(report: &ReadReport, xml: &mut String) {
    let outcome = &report.semantic.summary.outcome;
    let mut rows = vec![
        ("edict.class", outcome.class.name().to_owned()),
        ("edict.complete", report.complete.to_string()),
        ("edict.semanticDigest", report.semantic_digest.to_string()),
    ];
    let suite = report.semantic.suite.as_ref();
    if let Some(identity) = suite.and_then(|suite| suite.identity.as_ref()) {
        rows.push(("edict.suite", identity.to_string()));
    }
    if let Some(primary) = &outcome.primary {
        rows.push((
            "edict.primary",
            format!("{}/{}", primary.stage.name(), primary.kind.name()),
        ));
    }
    xml.push_str("    <properties>\n");
    for (name, value) in rows {
        let value = attribute(&value);
        _ = writeln!(xml, "      <property name=\"{name}\" value=\"{value}\"/>");
    }
    xml.push_str("    </properties>\n");
}

fn test_case(report: &ReadReport, case: &CaseReport, suite: &str, xml: &mut String) {
    let id = attribute(case.id.as_str());
    _ = write!(xml, "    <testcase classname=\"{suite}\" name=\"{id}\"");
    let (label, text) = (attribute(&case.label), explanation(report, case));
    let properties = format!(
        ">\n      <properties>\n        <property name=\"edict.label\" value=\"{label}\"/>\n      \
         </properties>\n"
    );
    xml.push_str(&properties);
    let message = attribute(&text);
    match Standing::of(case) {
        Standing::Passed => {}
        Standing::Skipped => _ = writeln!(xml, "      <skipped message=\"{message}\"/>"),
        standing => {
            let element = if standing == Standing::Failed {
                "failure"
            } else {
                "error"
            };
            let (kind, text) = (attribute(kind(case)), content(&text));
            _ = writeln!(
                xml,
                "      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>"
            );
        }
    }
    xml.push_str("    </testcase>\n");
}

/// A scalar that XML 1.0 has; others become U+FFFD.
fn character(scalar: char) -> char {
    match scalar {
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => scalar,
        _ => '\u{fffd}',
    }
}

/// Text between tags. A carriage return would be read as a line end, so it stands as a reference;
/// `>` is escaped because of `]]>`.
fn content(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for scalar in text.chars().map(character) {
        match scalar {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\r' => escaped.push_str("&#13;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A value between double quotes, in which a reader would make spaces of line ends and tabs.
fn attribute(text: &str) -> String {
    content(text)
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
        .replace('\t', "&#9;")
}
