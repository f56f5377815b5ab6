// SPDX-License-Identifier: Apache-2.0
//! `why --prove`: diagnostic executions of mixtures, and what they find.

use crate::{
    project::{SOURCE, input, project, record, record_path, run},
    support::Space,
    why::{break_source, document, longer, repin, why},
};
use std::fs;

/// Writes another verdict into the record of a run: what a nondeterministic host would leave.
fn forge(space: &Space, number: u64, verdict: &str, kind: &str) {
    let mut forged = record(space, number);
    forged["cases"][0]["ending"]["verdict"] = verdict.into();
    forged["cases"][0]["ending"]["kind"] = kind.into();
    fs::write(record_path(space, number), forged.to_string()).unwrap();
}

#[test]
fn a_changed_verdict_without_a_cause_exits_with_1_and_is_nondeterministic() {
    let space = project();
    run(&space, 0);
    run(&space, 0);
    forge(&space, 2, "assertion_failed", "AssertionFailed");
    let answer = why(&space, &["--prove", "--json"]);
    assert_eq!(answer.code, 1, "{}", answer.stderr);
    let document = document(&answer);
    assert_eq!(document["causes"], serde_json::json!(["none"]));
    assert_eq!(document["proof"]["result"], "nondeterministic");
    let text = why(&space, &[]);
    assert_eq!(text.code, 1);
    assert!(
        text.stdout
            .contains("nothing you pinned changed, and the verdict did")
    );
    assert!(text.stdout.contains("not pinned kernel, load, wall time"));
}

#[test]
fn a_proof_finds_the_one_change_that_is_sufficient() {
    let space = project();
    run(&space, 0);
    input(&space, 1, 4, 5);
    break_source(&space);
    run(&space, 1);
    let answer = document(&why(&space, &["--prove", "--json"]));
    assert_eq!(
        answer["causes"],
        serde_json::json!(["source.semantic", "fixture"])
    );
    assert_eq!(answer["proof"]["result"], "found");
    assert_eq!(
        answer["proof"]["changes"],
        serde_json::json!(["application.source[0]"])
    );
    // Trials leave no run behind.
    assert!(!record_path(&space, 3).exists());
    let one = document(&why(&space, &["--prove", "--prove-max", "2", "--json"]));
    assert_eq!(one["proof"]["result"], "limitReached");
    assert_eq!(one["proof"]["executions"], 2);
    let over = why(&space, &["--prove", "--prove-max", "65"]);
    assert_eq!(over.primary().unwrap(), "arguments/UsageError");
}

#[test]
fn a_proof_finds_two_changes_that_are_necessary_together() {
    let space = project();
    run(&space, 0);
    input(&space, 7, 3, 10);
    space.edit(
        SOURCE,
        "input.sum, sum)",
        "input.sum, if input.left == 7u32 then 9u32 else sum)",
    );
    run(&space, 1);
    let answer = why(&space, &["--prove"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(
        answer
            .stdout
            .contains("input, application.source[0] are sufficient together and each is necessary"),
        "{}",
        answer.stdout
    );
}

#[test]
fn a_changed_toolchain_is_not_swapped_and_the_proof_says_when_it_decides() {
    let space = project();
    run(&space, 0);
    repin(&space, "--host", &longer(&space, "echo-host"));
    run(&space, 0);
    forge(&space, 1, "assertion_failed", "AssertionFailed");
    let answer = document(&why(&space, &["--prove", "--json"]));
    assert_eq!(answer["causes"], serde_json::json!(["toolchain.host"]));
    assert_eq!(answer["proof"]["result"], "held");
}

#[test]
fn there_is_nothing_to_prove_about_equal_ends_or_without_a_suite() {
    let space = project();
    run(&space, 0);
    run(&space, 0);
    let equal = why(&space, &["--prove"]);
    assert_eq!(equal.primary().unwrap(), "arguments/UsageError");
    forge(&space, 2, "assertion_failed", "AssertionFailed");
    let place = ["why", "adds-up", "--state", "suite/.edict-test", "--prove"];
    let blind = space.edict_test(&place);
    assert_eq!(blind.primary().unwrap(), "arguments/UsageError");
}
