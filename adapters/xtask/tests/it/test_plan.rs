// SPDX-License-Identifier: Apache-2.0
//! Rows of the test plan and tests in the tree name each other.

use crate::support::{root, sources};
use std::collections::{BTreeMap, BTreeSet};

/// One row of a table in `docs/test-plan.md`.
struct Row {
    id: String,
    tests: Vec<String>,
    status: String,
}

fn rows() -> Vec<Row> {
    let plan = std::fs::read_to_string(root().join("docs/test-plan.md")).unwrap();
    plan.lines()
        .filter(|line| line.starts_with("| BT-") || line.starts_with("| B"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let tests = cells[cells.len() - 2]
                .split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect();
            Row {
                id: cells[0].to_owned(),
                tests,
                status: cells[cells.len() - 1].to_owned(),
            }
        })
        .collect()
}

/// Names of all functions that carry the test attribute.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, source) in sources() {
        let mut marked = false;
        for line in source.lines().map(str::trim) {
            if line == "#[test]" {
                marked = true;
            } else if let Some(rest) = line.strip_prefix("fn ") {
                if marked && let Some((name, _)) = rest.split_once('(') {
                    names.insert(name.to_owned());
                }
                marked = false;
            }
        }
    }
    names
}

#[test]
fn every_row_has_a_known_status_and_names_tests_that_exist() {
    let tests = tests();
    for row in rows() {
        match row.status.as_str() {
            "implemented" => assert!(!row.tests.is_empty(), "{}: no test named", row.id),
            status if status.starts_with("open") => {
                assert!(
                    status.len() > "open: ".len(),
                    "{}: say whose issue it is",
                    row.id
                );
            }
            status => panic!("{}: unknown status `{status}`", row.id),
        }
        for test in &row.tests {
            assert!(
                tests.contains(test),
                "{}: no test is called `{test}`",
                row.id
            );
        }
    }
}

#[test]
fn every_requirement_has_exactly_one_row() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in rows() {
        *counts.entry(row.id).or_default() += 1;
    }
    for number in 1..=25 {
        assert_eq!(
            counts.get(&format!("BT-{number:03}")),
            Some(&1),
            "BT-{number:03}"
        );
    }
    for number in 1..=32 {
        assert_eq!(
            counts.get(&format!("B{number:02}")),
            Some(&1),
            "B{number:02}"
        );
    }
}

#[test]
fn every_numbered_test_stands_in_the_row_of_its_number() {
    let rows = rows();
    for test in tests() {
        let Some(number) = test.strip_prefix("bt_").and_then(|rest| rest.get(..3)) else {
            continue;
        };
        let id = format!("BT-{number}");
        let row = rows.iter().find(|row| row.id == id);
        assert!(
            row.is_some_and(|row| row.tests.contains(&test)),
            "`{test}` is missing in the row {id} of docs/test-plan.md"
        );
    }
}
