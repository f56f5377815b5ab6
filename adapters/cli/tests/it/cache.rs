// SPDX-License-Identifier: Apache-2.0
//! `cache`: counts, a plan that is printed first, and its execution.

use crate::{
    project::{decisions, project, run},
    support::{Run, Space},
};
use serde_json::Value;
use std::{fs, fs::File};

const STATE: &str = "suite/.edict-test";

fn stats(space: &Space) -> Value {
    let answer = space.edict_test(&["cache", "stats", "--state", STATE, "--json"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    serde_json::from_str(&answer.stdout).unwrap()
}

fn gc(space: &Space, more: &[&str]) -> Run {
    let mut arguments = vec!["cache", "gc", "--state", STATE];
    arguments.extend(more);
    space.edict_test(&arguments)
}

#[test]
fn counts_stand_by_kind_in_both_forms() {
    let space = project();
    run(&space, 0);
    let counts = stats(&space);
    assert_eq!(counts["kinds"]["run"]["count"], 1);
    assert_eq!(counts["kinds"]["action"]["count"], 2);
    let bytes = counts["bytes"].as_u64().unwrap();
    let sum: u64 = counts["kinds"]
        .as_object()
        .unwrap()
        .values()
        .map(|kind| kind["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(bytes, sum);
    let text = space
        .edict_test(&["cache", "stats", "--state", STATE])
        .stdout;
    let names: Vec<&str> = text
        .lines()
        .map(|it| it.split(' ').next().unwrap())
        .collect();
    assert_eq!(
        names,
        ["run", "action", "blob", "quarantined", "temporary", "total"]
    );
    assert!(
        text.lines()
            .last()
            .unwrap()
            .ends_with(&format!("{bytes} bytes"))
    );
}

#[test]
fn a_dry_run_prints_the_plan_that_is_then_carried_out() {
    let space = project();
    run(&space, 0);
    crate::project::input(&space, 1, 4, 5);
    run(&space, 0);
    let bounds = ["--keep-runs", "1", "--max-bytes", "0"];
    let planned = gc(&space, &[&bounds[..], &["--dry-run"]].concat());
    assert_eq!(planned.code, 0, "{}", planned.stderr);
    assert!(
        planned.stdout.contains("delete runs/000000000001 ("),
        "{}",
        planned.stdout
    );
    assert!(planned.stdout.ends_with("nothing was deleted: --dry-run\n"));
    assert_eq!(stats(&space)["kinds"]["run"]["count"], 2);
    let done = gc(&space, &bounds);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let lines = |run: &Run| -> Vec<String> {
        let deletions = run.stdout.lines().filter(|it| it.starts_with("delete "));
        deletions.map(str::to_owned).collect()
    };
    assert_eq!(lines(&done), lines(&planned));
    assert!(
        done.stdout.lines().last().unwrap().starts_with("deleted "),
        "{}",
        done.stdout
    );
    let left = stats(&space);
    assert_eq!(left["kinds"]["run"]["count"], 1);
    assert_eq!(
        left["kinds"]["action"]["count"], 2,
        "the kept run names them"
    );
    // The old input is gone with the old run, the builds of the kept run are not.
    assert_eq!(decisions(&run(&space, 0), "buildDecision"), "reused 1");
}

#[test]
fn without_kept_runs_everything_may_go_and_the_next_run_builds_again() {
    let space = project();
    run(&space, 0);
    let done = gc(&space, &["--keep-runs", "0", "--max-bytes", "0"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(stats(&space)["bytes"], 0);
    assert_eq!(decisions(&run(&space, 0), "buildDecision"), "built 1");
}

#[test]
fn a_state_that_a_run_uses_is_left_alone() {
    let space = project();
    run(&space, 0);
    let lock = File::open(space.path(".edict-test/lock")).unwrap();
    lock.lock_shared().unwrap();
    let busy = gc(&space, &["--keep-runs", "0", "--max-bytes", "0"]);
    assert_eq!((busy.code, busy.stdout.as_str()), (2, ""));
    assert_eq!(busy.primary().unwrap(), "arguments/StateUnusable");
    assert_eq!(stats(&space)["kinds"]["run"]["count"], 1);
}

#[test]
fn nothing_is_made_where_no_state_is() {
    let space = project();
    for command in [&["cache", "stats"][..], &["cache", "gc"]] {
        let refused = space.edict_test(&[command, &["--state", "none"]].concat());
        assert_eq!(
            (refused.code, refused.stdout.as_str()),
            (2, ""),
            "{command:?}"
        );
        assert_eq!(refused.primary().unwrap(), "arguments/StateUnusable");
        assert!(fs::metadata(space.directory.path().join("none")).is_err());
    }
}
