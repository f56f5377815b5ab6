// SPDX-License-Identifier: Apache-2.0
//! A project made by `init`, with as many cases as a test needs, and what its state holds.

use crate::support::Space;
use serde_json::Value;
use std::{fs, path::PathBuf};

pub(crate) const SUITE: &str = "suite/edict.test-suite.json";
/// The program of the first case.
pub(crate) const SOURCE: &str = "cases/src/adds-up.edict";

/// A project of one case in `suite/`, pinned, and not yet run.
pub(crate) fn project() -> Space {
    let directory = tempfile::tempdir().unwrap();
    let suite = directory.path().join("suite");
    let space = Space { directory, suite };
    let made = space.edict_test(&["init", "suite"]);
    assert_eq!(made.code, 0, "{}", made.stderr);
    space
}

/// A project of `count` cases with a source each.
pub(crate) fn many(count: usize) -> Space {
    let space = project();
    let source = fs::read_to_string(space.path(SOURCE)).unwrap();
    let application = fs::read_to_string(space.path("cases/adds-up.application.json")).unwrap();
    change_suite(&space, |suite| {
        let first = suite["cases"][0].clone();
        let cases = (0..count).map(|number| {
            let name = format!("case-{number}");
            let own = |text: &str| {
                text.replace("adds-up", &name)
                    .replace("starter.adds@1", &format!("starter.adds{number}@1"))
            };
            fs::write(space.path(&format!("cases/src/{name}.edict")), own(&source)).unwrap();
            let path = format!("cases/{name}.application.json");
            fs::write(space.path(&path), own(&application)).unwrap();
            let mut case = first.clone();
            case["id"] = name.into();
            case["application"] = path.into();
            case
        });
        suite["cases"] = cases.collect();
    });
    space
}

/// Changes the manifest.
pub(crate) fn change_suite(space: &Space, change: impl FnOnce(&mut Value)) {
    let path = space.path("edict.test-suite.json");
    let mut suite = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut suite);
    fs::write(path, serde_json::to_vec(&suite).unwrap()).unwrap();
}

/// Writes the input of the first case.
pub(crate) fn input(space: &Space, left: u64, right: u64, sum: u64) {
    use edict_codec::cbor::{Value, encode};
    let value = Value::text_map([
        ("left", Value::unsigned(left)),
        ("right", Value::unsigned(right)),
        ("sum", Value::unsigned(sum)),
    ]);
    fs::write(space.path("fixtures/adds-up.input.bin"), encode(&value)).unwrap();
}

/// Runs the suite and demands an exit status.
pub(crate) fn run(space: &Space, code: i32) -> Value {
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    report
}

/// How often each decision stands in the telemetry of a report, as `built 1, reused 29`.
pub(crate) fn decisions(report: &Value, member: &str) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for case in report["telemetry"]["cases"].as_array().unwrap() {
        *counts.entry(case[member].as_str().unwrap()).or_insert(0) += 1;
    }
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(decision, count)| format!("{decision} {count}"))
        .collect();
    counts.join(", ")
}

/// Nonces of all contexts of a report.
pub(crate) fn contexts(report: &Value) -> Vec<String> {
    let cases = report["evidence"]["cases"].as_array().unwrap();
    cases
        .iter()
        .map(|case| case["context"]["nonce"].as_str().unwrap().to_owned())
        .collect()
}

/// The record of a run.
pub(crate) fn record(space: &Space, number: u64) -> Value {
    serde_json::from_slice(&fs::read(record_path(space, number)).unwrap()).unwrap()
}

/// Where the record of a run is.
pub(crate) fn record_path(space: &Space, number: u64) -> PathBuf {
    space.path(&format!(".edict-test/runs/{number:012}/run.json"))
}

/// Replaces the starts of digests, which differ from machine to machine.
pub(crate) fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("..") {
        let (before, after) = rest.split_at(at);
        let start = before.len().saturating_sub(4);
        let hex = before.get(start..).filter(|it| {
            it.len() == 4 && it.chars().all(|sign| matches!(sign, '0'..='9' | 'a'..='f'))
        });
        match hex {
            Some(_) => masked.extend([&before[..start], "hhhh.."]),
            None => masked.extend([before, ".."]),
        }
        rest = &after[2..];
    }
    masked + rest
}
