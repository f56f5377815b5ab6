// SPDX-License-Identifier: Apache-2.0
//! One static page without script: cases, verdicts, evidence chain, why.

use super::{
    Standing, Why, counts, explanation, kind,
    page_parts::{STYLE, escaped, short},
    suite_id,
};
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    CaseId,
    built::{Artifact, ArtifactRole},
    report::ReadReport,
    run::{CaseEvidenceReport, CaseReport, CheckResult, ExecutionOutcome, ProgramReport},
};
use std::{collections::BTreeMap, fmt::Write as _};

/// The page.
pub(super) fn html(report: &ReadReport, whys: &BTreeMap<CaseId, Why>) -> String {
    // Nothing but text stands in a title, and a suite id needs no escape.
    let (name, title) = (suite_id(report), escaped(suite_id(report)));
    let class = report.semantic.summary.outcome.class.name();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{name}: {class}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
    );
    header(report, &title, &mut page);
    page.push_str("<main>\n");
    for case in &report.semantic.cases {
        self::case(report, case, whys.get(&case.id), &mut page);
    }
    page.push_str("</main>\n");
    pins(report, &mut page);
    page.push_str("</body>\n</html>\n");
    page
}

fn header(report: &ReadReport, title: &str, page: &mut String) {
    let outcome = &report.semantic.summary.outcome;
    let class = outcome.class.name();
    // Writing into a string cannot fail.
    _ = writeln!(
        page,
        "<header>\n<h1>{title}</h1>\n<p><strong class=\"{class}\">{class}</strong> {}{}</p>",
        counts(report),
        if report.complete {
            ""
        } else {
            " — incomplete"
        },
    );
    if let Some(primary) = &outcome.primary {
        let case = primary.case.as_ref().map(|case| format!(" in case {case}"));
        _ = writeln!(
            page,
            "<p>Primary failure: <code>{}/{}</code>{}</p>",
            primary.stage.name(),
            primary.kind.name(),
            escaped(&case.unwrap_or_default()),
        );
    }
    page.push_str("</header>\n");
}

fn case(report: &ReadReport, case: &CaseReport, why: Option<&Why>, page: &mut String) {
    let standing = Standing::of(case);
    let open = if matches!(standing, Standing::Passed | Standing::Skipped) {
        ""
    } else {
        " open"
    };
    _ = writeln!(
        page,
        "<details class=\"case\"{open}>\n<summary><span class=\"mark {}\">{}</span> \
         <span class=\"number\">{}</span> <span class=\"label\">{}</span></summary>",
        standing.name().replace(' ', "-"),
        standing.name(),
        case.index.number(),
        escaped(&case.label),
    );
    let mut rows = vec![
        ("id", escaped(case.id.as_str())),
        ("kind", escaped(kind(case))),
    ];
    let explained = explanation(report, case);
    if !explained.is_empty() {
        rows.push(("message", escaped(&explained)));
    }
    rows.extend(chain(report, case));
    page.push_str("<dl>\n");
    for (name, value) in rows {
        _ = writeln!(page, "<dt>{name}</dt><dd>{value}</dd>");
    }
    page.push_str("</dl>\n");
    let entry = report
        .evidence
        .cases
        .iter()
        .find(|entry| entry.index == case.index);
    if let Some(entry) = entry {
        checks(entry, page);
    }
    if let Some(why) = why {
        self::why(why, page);
    }
    page.push_str("</details>\n");
}

/// What changed since the earlier run; open when that changed the verdict.
fn why(why: &Why, page: &mut String) {
    let open = if why.changed { " open" } else { "" };
    page.push_str("<details class=\"why\"");
    // Each line by itself, so that no text turns around more than its own.
    let lines: Vec<String> = why.text.lines().map(escaped).collect();
    _ = writeln!(
        page,
        "{open}>\n<summary>why: {}</summary>\n<pre>{}</pre>\n</details>",
        escaped(&why.causes),
        lines.join("\n"),
    );
}

/// The chain from source to result, as far as the case got.
fn chain(report: &ReadReport, case: &CaseReport) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    let program = case
        .program
        .and_then(|index| report.semantic.programs.get(index.0));
    if let Some(program) = program {
        rows.extend(artifacts(program));
    }
    let mut add = |name, digest: Option<&TypedDigest>| {
        rows.extend(digest.map(|digest| (name, short(digest))));
    };
    add("input", case.input.as_ref());
    add("expectation", case.expectation.as_ref());
    for entry in &case.setup {
        add("setup", entry.outcome.as_ref().map(|(_, digest)| digest));
    }
    if let Some(execution) = &case.execution {
        add("execution", Some(&execution.semantic_digest));
        let [steps, allocated, output] = execution.consumed;
        rows.push((
            "consumed",
            format!("{steps} steps, {allocated} and {output} bytes"),
        ));
        rows.push(match &execution.outcome {
            ExecutionOutcome::Result(body) => ("result", short(&body.blob)),
            ExecutionOutcome::Obstruction {
                coordinate,
                payload,
            } => (
                "obstruction",
                format!(
                    "<code>{}</code> {}",
                    escaped(coordinate),
                    short(&payload.blob)
                ),
            ),
        });
    }
    rows
}

/// What was given, then what was made of it.
fn artifacts(program: &ProgramReport) -> Vec<(&'static str, String)> {
    let mut rows = vec![(
        "program",
        format!("<code>{}</code>", escaped(&program.coordinate)),
    )];
    let closure = |role| matches!(role, ArtifactRole::Source | ArtifactRole::LawpackExports);
    let (given, made): (Vec<_>, Vec<_>) = program
        .artifacts
        .iter()
        .partition(|artifact| closure(artifact.role));
    let row = |artifact: &Artifact| (artifact.role.name(), short(&artifact.identity));
    rows.extend(given.into_iter().chain(made).map(row));
    rows
}

/// The checks of the case and of each operation, by result.
fn checks(entry: &CaseEvidenceReport, page: &mut String) {
    page.push_str("<table>\n<tr><th>evidence</th><th>passed</th><th>not applicable</th>");
    page.push_str("<th>failed</th></tr>\n");
    let programs = [("programs".to_owned(), &entry.checks)];
    let operations = entry.operations.iter().map(|operation| {
        let index = operation.role.setup_index();
        let name = index.map_or_else(|| "case".to_owned(), |index| format!("setup {index}"));
        (name, &operation.checks)
    });
    for (name, checks) in programs.into_iter().chain(operations) {
        _ = write!(page, "<tr><td>{name}</td>");
        for result in [
            CheckResult::Passed,
            CheckResult::NotApplicable,
            CheckResult::Failed,
        ] {
            let names: Vec<&str> = checks
                .iter()
                .filter(|check| check.result == result)
                .map(|check| check.name)
                .collect();
            _ = write!(page, "<td>{}</td>", names.join(" "));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

fn pins(report: &ReadReport, page: &mut String) {
    page.push_str("<footer>\n<h2>Pinned</h2>\n<dl>\n");
    _ = writeln!(
        page,
        "<dt>this run</dt><dd>{}</dd>",
        short(&report.semantic_digest)
    );
    let suite = report.semantic.suite.as_ref();
    if let Some(identity) = suite.and_then(|suite| suite.identity.as_ref()) {
        _ = writeln!(page, "<dt>suite</dt><dd>{}</dd>", short(identity));
    }
    for producer in &report.semantic.producers {
        let identity = short(&producer.identity);
        _ = writeln!(page, "<dt>{}</dt><dd>{identity}</dd>", producer.role.name());
    }
    page.push_str("</dl>\n</footer>\n");
}
