// SPDX-License-Identifier: Apache-2.0
//! The measured thing is the authored program: change what it does, keep what is expected of it,
//! and the value and the verdict change.

use crate::support::{Run, Space, program, verdicts};
use serde_json::Value;
use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

/// The text of the message of a case.
fn said(report: &Value, id: &str) -> String {
    let cases = report["semantic"]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["id"] == id).unwrap();
    case["message"]["text"].as_str().unwrap_or("-").to_owned()
}

/// Core digest of the program of a case.
fn core(report: &Value, id: &str) -> Value {
    let cases = report["semantic"]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["id"] == id).unwrap();
    let program = usize::try_from(case["program"].as_u64().unwrap()).unwrap();
    report["semantic"]["programs"][program]["artifacts"][0]["identity"].clone()
}

/// Builds the lawpack of the tour anew with the public compiler, and pins it in every source.
fn rebuild_lawpack(space: &Space) {
    let programs = space.path("programs");
    let old = fs::read_to_string(programs.join("vendor/tour-kit/manifest.sha256")).unwrap();
    let mut child = Command::new(program("edict"))
        .current_dir(&programs)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let request = r#"{"schema":"edict.compiler.settings/v1","type":"settings","operation":"build","lawpack":"tour-kit.lawpack.json"}"#;
    child
        .stdin
        .take()
        .unwrap()
        .write_all(request.as_bytes())
        .unwrap();
    let built = Run::of(child.wait_with_output().unwrap());
    assert_eq!(built.code, 0, "{}", built.stderr);
    let new = fs::read_to_string(programs.join("vendor/tour-kit/manifest.sha256")).unwrap();
    assert_ne!(old, new);
    for entry in fs::read_dir(programs.join("src")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(path, text.replace(old.trim(), new.trim())).unwrap();
    }
}

#[test]
fn bt_009_a_changed_helper_of_the_program_changes_value_and_verdict() {
    let space = Space::of("tour");
    let (_, before) = space.run(&[]);
    space.edit(
        "programs/src/larger.edict",
        "value > 100 then 100",
        "value > 8 then 8",
    );
    let (run, after) = space.run(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        said(&before, "larger-by-helper"),
        "larger is 42, expected 42"
    );
    assert_eq!(said(&after, "larger-by-helper"), "larger is 8, expected 42");
    assert_eq!(
        verdicts(&after)["larger-by-helper"],
        "assertion_failed/AssertionFailed"
    );
    assert_ne!(
        core(&before, "larger-by-helper"),
        core(&after, "larger-by-helper")
    );
    // Nothing else changed.
    let mut wanted = verdicts(&before);
    for id in ["larger-by-helper", "larger-is-limited"] {
        wanted.insert(id.to_owned(), "assertion_failed/AssertionFailed".to_owned());
    }
    assert_eq!(verdicts(&after), wanted);
}

#[test]
fn bt_009_a_changed_branch_changes_value_and_verdict() {
    let space = Space::of("tour");
    let (_, before) = space.run(&[]);
    space.edit(
        "programs/src/branch.edict",
        "if input.shout {",
        "if !input.shout {",
    );
    let (run, after) = space.run(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(said(&before, "branch-loud"), "HEY Ada");
    assert_eq!(said(&after, "branch-loud"), "hi Ada");
    assert_eq!(said(&after, "branch-quiet"), "HEY Ada");
    for id in ["branch-loud", "branch-quiet"] {
        assert_eq!(verdicts(&after)[id], "assertion_failed/AssertionFailed");
    }
}

#[test]
fn bt_009_a_changed_helper_of_a_lawpack_must_be_pinned_and_then_counts() {
    let space = Space::of("tour");
    space.only(&["choose-left", "larger-by-helper"]);
    space.edit(
        "programs/lawpack/kit.edict",
        "if left < right then right else left",
        "if left < right then left else right",
    );
    // The source of a lawpack is no input of a suite: only what is built from it is.
    let (run, _) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    rebuild_lawpack(&space);
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(
        verdicts(&report)["larger-by-helper"],
        "assertion_failed/AssertionFailed"
    );
    assert_eq!(
        said(&report, "larger-by-helper"),
        "larger is 7, expected 42"
    );
    assert_eq!(verdicts(&report)["choose-left"], "passed/Passed");
}

#[test]
fn bt_009_a_stale_pin_of_a_rebuilt_lawpack_is_refused() {
    let space = Space::of("tour");
    space.only(&["larger-by-helper"]);
    let source = space.path("programs/src/larger.edict");
    let stale = fs::read(&source).unwrap();
    space.edit(
        "programs/lawpack/kit.edict",
        "left < right",
        "left <= right",
    );
    rebuild_lawpack(&space);
    fs::write(source, stale).unwrap();
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 2);
    assert_eq!(
        verdicts(&report)["larger-by-helper"],
        "build_failed/CompilerFailed"
    );
}

#[test]
fn bt_009_text_that_changes_no_behavior_changes_no_value() {
    let space = Space::of("tour");
    space.only(&["larger-by-helper"]);
    let (_, before) = space.run(&[]);
    space.edit(
        "programs/src/larger.edict",
        "// The outcome",
        "// Whatever: the outcome",
    );
    let (run, after) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        core(&before, "larger-by-helper"),
        core(&after, "larger-by-helper")
    );
    let value = |report: &Value| report["semantic"]["cases"][0]["execution"]["value"].clone();
    assert_eq!(value(&before), value(&after));
    assert_ne!(before["semanticDigest"], after["semanticDigest"]);
}

#[test]
fn bt_014_the_exact_budget_suffices_and_one_step_less_does_not() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let (_, report) = space.run(&[]);
    let consumed = &report["semantic"]["cases"][0]["consumed"];
    let steps: u64 = consumed["steps"].as_str().unwrap().parse().unwrap();
    for (limit, verdict) in [
        (steps, "passed/Passed"),
        (steps - 1, "unexpected_obstruction/UnexpectedObstruction"),
    ] {
        let space = Space::of("tour");
        space.only(&["choose-left"]);
        space.edit(
            "programs/tour-kit.lawpack.json",
            "\"maxSteps\": 65536",
            &format!("\"maxSteps\": {limit}"),
        );
        rebuild_lawpack(&space);
        let (run, report) = space.run(&[]);
        assert_eq!(verdicts(&report)["choose-left"], verdict, "{}", run.stderr);
        let case = &report["semantic"]["cases"][0];
        assert_eq!(case["budget"]["maxSteps"], limit.to_string());
        if limit < steps {
            let obstruction = &case["execution"]["obstruction"];
            assert_eq!(
                obstruction["coordinate"],
                "echo.obstruction.budget-exhausted/v1"
            );
            assert_eq!(run.code, 1);
        }
    }
}
