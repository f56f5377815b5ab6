// SPDX-License-Identifier: Apache-2.0
//! The page on failures says what the code decides, pair by pair.

use edict_test_model::{
    Form, Verdict,
    failure::{FailureKind, Rule, Stage, rule},
    limits::Limit,
    suite::{LockDocument, Shape},
};
use std::{fmt::Write as _, path::Path};

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    std::fs::read_to_string(root.join("docs").join(name)).unwrap()
}

/// Verdict, form and exit status as the page spells them.
fn consequence(rule: Rule) -> String {
    let (form, exit) = match (rule.form, rule.verdict) {
        (Form::Point, Some(Verdict::Passed | Verdict::Skipped)) => ("point `ok`", 0),
        (Form::Point, _) => ("point `not ok`", 1),
        (Form::PointThenBail, _) => ("point, late bail-out", 2),
        (Form::Bail, _) => ("bail-out", 2),
    };
    let verdict = rule
        .verdict
        .map_or("-".to_owned(), |it| format!("`{}`", it.name()));
    format!("{verdict} | {form} | {exit}")
}

/// The table of the page: for each stage the kinds of equal consequence, in the order of the code.
fn table() -> String {
    let mut text = "| stage | kinds | verdict | form | exit |\n|---|---|---|---|---|\n".to_owned();
    for stage in Stage::ALL {
        let mut groups: Vec<(String, Vec<String>)> = Vec::new();
        for kind in FailureKind::ALL {
            let Some(rule) = rule(stage, *kind) else {
                continue;
            };
            let (consequence, name) = (consequence(rule), format!("`{}`", kind.name()));
            match groups.iter_mut().find(|(it, _)| *it == consequence) {
                Some((_, kinds)) => kinds.push(name),
                None => groups.push((consequence, vec![name])),
            }
        }
        for (consequence, kinds) in groups {
            let kinds = kinds.join(", ");
            writeln!(text, "| `{}` | {kinds} | {consequence} |", stage.name()).unwrap();
        }
    }
    text
}

#[test]
fn the_table_of_failures_is_that_of_the_code() {
    let page = page("failures.md");
    let rows = table();
    assert!(
        page.contains(&rows),
        "replace the table of docs/failures.md by:\n{rows}"
    );
}

#[test]
fn every_failure_kind_is_explained() {
    let page = page("failures.md");
    let (_, explained) = page.split_once("## What the kinds mean").unwrap();
    let rows: Vec<&str> = explained
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .collect();
    for kind in FailureKind::ALL {
        let name = format!("`{}`", kind.name());
        let count = rows.iter().filter(|row| row.contains(&name)).count();
        assert_eq!(count, 1, "docs/failures.md explains {name} in one row");
        let advice = match kind.advice() {
            "" => "-",
            advice => advice,
        };
        let told = explained
            .lines()
            .any(|line| line.contains(&name) && line.ends_with(&format!(" | {advice} |")));
        assert!(told, "docs/failures.md advises for {name}: {advice}");
    }
}

#[test]
fn the_page_of_limits_has_every_ceiling() {
    let page = page("limits.md");
    for limit in Limit::ALL {
        let digits = limit.ceiling().to_string();
        let mut grouped = String::new();
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index) % 3 == 0 {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        let row = format!("| `{}` | {grouped} |", limit.name());
        assert!(page.contains(&row), "docs/limits.md lacks `{row}`");
    }
}

#[test]
fn the_lock_of_shape_upstream_on_the_page_is_one() {
    let page = page("lock.md");
    let (_, block) = page.split_once("```json\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let mut text = block.to_owned();
    for digit in "123456789abc".chars() {
        text = text.replace(&format!("{digit}…"), &digit.to_string().repeat(64));
    }
    let lock = LockDocument::decode(text.as_bytes()).unwrap();
    assert_eq!(lock.shape, Shape::Upstream);
    let without_package = text.replace("\"providerPackage\"", "\"provider\"");
    assert!(LockDocument::decode(without_package.as_bytes()).is_err());
}
