// SPDX-License-Identifier: Apache-2.0
//! Cases know nothing of one another, whatever their order and whatever process serves them.

use crate::support::Space;
use serde_json::Value;
use std::collections::BTreeMap;

/// What a case came to, by id: verdict, digests of its executions, consumed budget.
fn semantics(report: &Value) -> BTreeMap<String, Value> {
    let cases = report["semantic"]["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| {
            let members = [
                "verdict",
                "kind",
                "execution",
                "consumed",
                "message",
                "setup",
            ];
            let told: Vec<Value> = members
                .iter()
                .map(|name| without_positions(&case[*name]))
                .collect();
            (case["id"].as_str().unwrap().to_owned(), Value::Array(told))
        })
        .collect()
}

/// Positions of programs depend on the order of cases and on nothing else.
fn without_positions(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_positions).collect(),
        Value::Object(members) => {
            let kept = members.iter().filter(|(name, _)| *name != "program");
            kept.map(|(name, value)| (name.clone(), without_positions(value)))
                .collect()
        }
        other => other.clone(),
    }
}

#[test]
fn bt_013_stateful_cases_observe_the_same_in_either_order() {
    let space = Space::of("tour");
    let (run, forward) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let manifest = space.path("edict.test-suite.json");
    let mut suite: Value = serde_json::from_slice(&std::fs::read(&manifest).unwrap()).unwrap();
    suite["cases"].as_array_mut().unwrap().reverse();
    std::fs::write(&manifest, serde_json::to_vec(&suite).unwrap()).unwrap();
    let (run, backward) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(semantics(&forward), semantics(&backward));
    assert_eq!(semantics(&forward).len(), 14);
}

#[test]
fn bt_013_a_process_of_its_own_changes_nothing_that_a_case_observes() {
    let space = Space::of("tour");
    let (run, shared) = space.run(&["--isolation", "context"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (run, own) = space.run(&["--isolation", "process"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(shared["semantic"], own["semantic"]);
    assert_eq!(shared["evidence"]["hosts"].as_array().unwrap().len(), 1);
    let hosts = own["evidence"]["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 13, "one process for every executed case");
    let positions: Vec<u64> = own["evidence"]["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["host"].as_u64().unwrap())
        .collect();
    assert_eq!(positions, (0..13).collect::<Vec<_>>());
}

#[test]
fn b15_two_runs_are_two_reports_and_nothing_is_tried_again() {
    let space = Space::of("failing");
    let (first, one) = space.run(&[]);
    let (second, two) = space.run(&[]);
    assert_eq!((first.code, second.code), (1, 1));
    let contexts = |report: &Value| -> Vec<String> {
        let cases = report["evidence"]["cases"].as_array().unwrap();
        cases
            .iter()
            .map(|case| case["context"]["nonce"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        contexts(&one).len(),
        6,
        "one context a case, failing ones included"
    );
    assert!(
        contexts(&one)
            .iter()
            .all(|nonce| !contexts(&two).contains(nonce))
    );
    assert_eq!(one["semanticDigest"], two["semanticDigest"]);
}
