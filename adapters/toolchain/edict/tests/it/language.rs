// SPDX-License-Identifier: Apache-2.0
//! Every language case through `edict build`.

use crate::support::{Run, TestSpace, contract};
use serde_json::Value;
use std::{collections::BTreeMap, fs};

/// `stage/kind at line:column` of every source diagnostic.
fn found(run: &Run) -> Vec<String> {
    let records = run.records();
    let diagnostics = records
        .iter()
        .filter(|it| it["type"] == "diagnostic" && it["stage"] != "cli");
    diagnostics.map(row).collect()
}

fn row(it: &Value) -> String {
    let text = |name: &str| it[name].as_str().unwrap().to_owned();
    let place = format!("{}:{}", it["line"], it["column"]);
    format!("{}/{} at {place}", text("stage"), text("kind"))
}

#[test]
fn every_language_case_builds_or_is_refused_as_stated() {
    let cases = contract("language-cases.json");
    let mut spaces: BTreeMap<String, TestSpace> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases["cases"].as_array().unwrap() {
        let budget = case.get("budget");
        let space = spaces
            .entry(budget.map(Value::to_string).unwrap_or_default())
            .or_insert_with(|| {
                let space = TestSpace::new();
                space.vendor(budget);
                space
            });
        space.application(case["source"].as_str().unwrap());
        let run = space.build();
        let expected: Vec<String> = case["expect"]["diagnostics"]
            .as_array()
            .map(|rows| rows.iter().map(row).collect())
            .unwrap_or_default();
        let exit_code = if expected.is_empty() { 0 } else { 2 };
        if run.exit_code != exit_code || found(&run) != expected {
            wrong.push(format!("{}: expected {expected:?}, {run:?}", case["id"]));
        }
        let output = space.path().join("out");
        assert_eq!(output.exists(), run.exit_code == 0, "{}", case["id"]);
        if output.exists() {
            fs::remove_dir_all(output).unwrap();
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
