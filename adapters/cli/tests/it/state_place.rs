// SPDX-License-Identifier: Apache-2.0
//! The place of a state directory: apart from everything that a suite declares.

use crate::{
    project::{SOURCE, SUITE, project, run},
    support::program,
};
use std::fs;

/// A source is declared by an application document, which is read after the plan.
#[test]
fn nothing_that_is_declared_stands_below_the_state() {
    let space = project();
    run(&space, 0);
    fs::copy(space.path(SOURCE), space.path(".edict-test/main.edict")).unwrap();
    let document = "cases/adds-up.application.json";
    fs::rename(space.path(document), space.path("adds-up.application.json")).unwrap();
    space.edit(
        "edict.test-suite.json",
        document,
        "adds-up.application.json",
    );
    space.edit(
        "adds-up.application.json",
        "src/adds-up.edict",
        ".edict-test/main.edict",
    );
    space.edit("adds-up.application.json", "vendor/", "cases/vendor/");
    let (refused, report) = space.run(&[]);
    assert_eq!(refused.primary().unwrap(), "arguments/StateUnusable");
    assert!(
        refused.stderr.contains(".edict-test/main.edict"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stdout.contains("1..1\nBail out! StateUnusable: "),
        "{}",
        refused.stdout
    );
    assert_eq!(report["semantic"]["counts"]["notRun"], 1);
    let checked = space.edict_test(&["check", "--suite", SUITE]);
    assert_eq!(checked.primary().unwrap(), "arguments/StateUnusable");
    // Without a state there, the place is like any other.
    assert_eq!(space.run(&["--no-state"]).0.code, 0);
    assert_eq!(space.run(&["--state", "elsewhere"]).0.code, 0);
}

#[test]
fn no_program_of_the_lock_stands_below_the_state() {
    let space = project();
    run(&space, 0);
    fs::copy(program("echo-host"), space.path(".edict-test/echo-host")).unwrap();
    space.pin(&["--host", "suite/.edict-test/echo-host"]);
    let (refused, _) = space.run(&[]);
    assert_eq!(refused.primary().unwrap(), "arguments/StateUnusable");
    assert_eq!(space.run(&["--state", "elsewhere"]).0.code, 0);
}
