// SPDX-License-Identifier: Apache-2.0
//! Every dependency edge is one that the plan draws, and foreign crates stay with their owners.

use crate::support::root;
use serde_json::Value;
use std::{collections::BTreeMap, process::Command};

/// Crate, then the workspace crates that it may name, development dependencies included.
const EDGES: &[(&str, &[&str])] = &[
    ("edict-codec", &[]),
    ("edict-test-model", &["edict-codec"]),
    ("edict-test-queries", &["edict-codec", "edict-test-model"]),
    ("edict-test-reporters", &["edict-codec", "edict-test-model"]),
    ("edict-test-snapshot", &["edict-codec", "edict-test-model"]),
    ("edict-test-process", &["edict-codec", "edict-test-model"]),
    ("edict-test-store", &["edict-codec", "edict-test-model"]),
    (
        "edict-test-compiler",
        &["edict-codec", "edict-test-model", "edict-test-process"],
    ),
    (
        "edict-test-verifier",
        &["edict-codec", "edict-test-model", "edict-test-process"],
    ),
    (
        "edict-test-echo",
        &["edict-codec", "edict-test-model", "edict-test-process"],
    ),
    (
        "edict-test",
        &[
            "edict-codec",
            "edict-test-compiler",
            "edict-test-echo",
            "edict-test-model",
            "edict-test-process",
            "edict-test-queries",
            "edict-test-reporters",
            "edict-test-snapshot",
            "edict-test-store",
            "edict-test-verifier",
        ],
    ),
    ("xtask", &["edict-codec"]),
    ("edict", &["edict-codec"]),
    ("edict-verifier", &["edict-codec"]),
    ("echo-host", &["edict-codec"]),
];

/// Foreign crate, then the workspace crates that may name it.
const OWNERS: &[(&str, &[&str])] = &[
    ("salsa", &["edict-test-queries"]),
    ("rayon", &["edict-test-queries"]),
    ("sha1", &["edict-test-snapshot"]),
    ("sha2", &["edict-codec"]),
    ("blake3", &["edict-codec"]),
    ("annotate-snippets", &["edict-test-reporters"]),
    ("landlock", &["edict-test-process"]),
    ("nix", &["edict-test-process"]),
    ("getrandom", &["edict-test"]),
    (
        "rustix",
        &[
            "edict-test-snapshot",
            "edict-test-process",
            "edict-test-store",
            "edict-test",
            "echo-host",
        ],
    ),
];

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Package name, then the names of its dependencies of every kind.
fn dependencies() -> BTreeMap<String, Vec<String>> {
    metadata()["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| {
            let names = package["dependencies"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it["name"].as_str().unwrap().to_owned())
                .collect();
            (package["name"].as_str().unwrap().to_owned(), names)
        })
        .collect()
}

#[test]
fn every_workspace_edge_is_drawn_in_the_plan() {
    let found = dependencies();
    let planned: BTreeMap<&str, &[&str]> = EDGES.iter().copied().collect();
    assert_eq!(
        found.keys().map(String::as_str).collect::<Vec<_>>(),
        planned.keys().copied().collect::<Vec<_>>(),
        "the crates of the workspace are those of the plan"
    );
    for (name, dependencies) in &found {
        for dependency in dependencies.iter().filter(|it| found.contains_key(*it)) {
            assert!(
                planned[name.as_str()].contains(&dependency.as_str()),
                "`{name}` may not depend on `{dependency}`; see docs/architecture.md"
            );
        }
    }
}

#[test]
fn nothing_links_a_program_of_the_toolchain() {
    let programs = ["edict", "edict-verifier", "echo-host"];
    for (name, dependencies) in dependencies() {
        for program in programs {
            assert!(
                !dependencies.iter().any(|it| it == program),
                "`{name}` links `{program}`"
            );
        }
    }
}

#[test]
fn foreign_crates_stay_with_their_owners() {
    for (name, dependencies) in dependencies() {
        for (foreign, owners) in OWNERS {
            if dependencies.iter().any(|it| it == foreign) {
                assert!(
                    owners.contains(&name.as_str()),
                    "`{name}` may not name `{foreign}`"
                );
            }
        }
    }
}

#[test]
fn salsa_is_named_in_the_queries_crate_alone() {
    for (path, source) in crate::support::sources() {
        let names_it = source.contains("salsa::") || source.contains("use salsa");
        if names_it && !path.starts_with("adapters/xtask/") {
            assert!(path.starts_with("queries/"), "{path} names salsa");
        }
    }
}
