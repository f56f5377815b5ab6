// SPDX-License-Identifier: Apache-2.0
//! `why` over real runs: each edit has its cause, what is printed is verified again.

use crate::{
    project::{SOURCE, SUITE, change_suite, input, masked, project, record_path, run},
    support::{Run, Space, program},
};
use expect_test::{Expect, expect};
use serde_json::Value;
use std::fs;

pub(crate) fn why(space: &Space, more: &[&str]) -> Run {
    let mut arguments = vec!["why", "adds-up", "--suite", SUITE];
    arguments.extend(more);
    space.edict_test(&arguments)
}

pub(crate) fn check(run: &Run, code: i32, text: &Expect) {
    assert_eq!(run.code, code, "{}{}", run.stdout, run.stderr);
    text.assert_eq(&masked(&run.stdout));
}

pub(crate) fn document(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {}", run.stderr))
}

/// Causes between the last two runs.
fn causes(space: &Space) -> String {
    let answer = why(space, &["--json"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let document = document(&answer);
    let causes = document["causes"].as_array().unwrap();
    let causes: Vec<&str> = causes.iter().map(|it| it.as_str().unwrap()).collect();
    causes.join(", ")
}

/// Makes the first case fail.
pub(crate) fn break_source(space: &Space) {
    space.edit(SOURCE, "input.sum, sum)", "input.sum, 4u32)");
}

#[test]
fn a_changed_source_is_told_down_to_core_and_to_the_fields_of_the_result() {
    let space = project();
    run(&space, 0);
    break_source(&space);
    run(&space, 1);
    check(
        &why(&space, &[]),
        0,
        &expect![[r#"
        adds-up: passed -> assertion_failed   (run 1 -> run 2)

          build      built       1 of 18 inputs differs
                       source    cases/src/adds-up.edict   hhhh.. -> hhhh..   semantic (Core hhhh.. -> hhhh..)
          verify     verified    the package changed
          execute    executed    always: context hhhh.. is new; executions are never reused
          verdict    changed     status 0 -> 1, message "left + right: expected 5, got 4"

          unchanged  toolchain (11 roles), lawpacks (2), input, expectation, setup, skip, limits, order
          cause      source.semantic   the only differing leaf
    "#]],
    );
}

#[test]
fn a_comment_is_built_again_and_cut_off_at_core() {
    let space = project();
    let before = run(&space, 0);
    space.edit(SOURCE, "// One case:", "// The one case:");
    let after = run(&space, 0);
    assert_ne!(before["semanticDigest"], after["semanticDigest"]);
    check(
        &why(&space, &[]),
        0,
        &expect![[r"
        adds-up: passed -> passed   (run 1 -> run 2)

          build      built       1 of 18 inputs differs
                       source    cases/src/adds-up.edict   hhhh.. -> hhhh..   not semantic (Core hhhh.. in both)
          verify     verified    Core is equal; the report names every input of the build
          execute    executed    always: context hhhh.. is new; executions are never reused
          verdict    unchanged   the same result

          unchanged  toolchain (11 roles), lawpacks (2), input, expectation, setup, skip, limits, order
          cause      source.nonsemantic   the only differing leaf
    "]],
    );
}

#[test]
fn nothing_changed_is_a_positive_statement_with_everything_that_was_compared() {
    let space = project();
    run(&space, 0);
    run(&space, 0);
    check(
        &why(&space, &[]),
        0,
        &expect![[r"
        adds-up: passed -> passed   (run 1 -> run 2)

          build      reused      none of 18 inputs differs
          verify     reused      nothing it reads changed
          execute    executed    always: context hhhh.. is new; executions are never reused
          verdict    unchanged   the same result

          compared   limits.maxManifestBytes, limits.maxCases, limits.maxSetupOperationsPerCase,
                     limits.maxFixtureBytes, limits.maxCaseResultBytes, limits.maxFrameBytes,
                     limits.maxReportBytes, limits.maxArtifactBytes, limits.wallTimeoutMs,
                     toolchain.providerPackage, toolchain.runner.kind,
                     toolchain.runner.coordinate, toolchain.runner, toolchain.runner.source,
                     toolchain.compiler.kind, toolchain.compiler.coordinate, toolchain.compiler,
                     toolchain.compiler.source, toolchain.lowerer.kind,
                     toolchain.lowerer.coordinate, toolchain.lowerer, toolchain.lowerer.source,
                     toolchain.verifier.kind, toolchain.verifier.coordinate, toolchain.verifier,
                     toolchain.verifier.source, toolchain.host.kind, toolchain.host.coordinate,
                     toolchain.host, toolchain.host.source, toolchain.targetProfile.kind,
                     toolchain.targetProfile.coordinate, toolchain.targetProfile,
                     toolchain.targetProfile.source, toolchain.interpreterProfile.kind,
                     toolchain.interpreterProfile.coordinate, toolchain.interpreterProfile,
                     toolchain.interpreterProfile.source, toolchain.codecAbi.kind,
                     toolchain.codecAbi.coordinate, toolchain.codecAbi,
                     toolchain.codecAbi.source, toolchain.transportAbi.kind,
                     toolchain.transportAbi.coordinate, toolchain.transportAbi,
                     toolchain.transportAbi.source, toolchain.verificationReportAbi.kind,
                     toolchain.verificationReportAbi.coordinate, toolchain.verificationReportAbi,
                     toolchain.verificationReportAbi.source, toolchain.runReportAbi.kind,
                     toolchain.runReportAbi.coordinate, toolchain.runReportAbi,
                     toolchain.runReportAbi.source, id, application.buildKind,
                     application.coordinate, application.source[0],
                     application.lawpack[0].manifest, application.lawpack[0].exports,
                     application.lawpack[0].adapter, application.lawpack[0].targetConfiguration,
                     application.lawpack[1].manifest, application.lawpack[1].exports,
                     application.lawpack[1].adapter, application.lawpack[1].targetConfiguration,
                     application.targetProfile, input, expectation.kind, expectation.schema,
                     skip
          not pinned kernel, load, wall time
          cause      none   nothing you pinned changed, nor did the verdict
    "]],
    );
}

#[test]
fn each_edit_has_its_cause() {
    let space = project();
    run(&space, 0);
    input(&space, 1, 4, 5);
    run(&space, 0);
    assert_eq!(causes(&space), "fixture");
    change_suite(&space, |suite| {
        suite["cases"][0]["description"] = "five".into();
    });
    run(&space, 0);
    assert_eq!(causes(&space), "presentation");
    change_suite(&space, |suite| {
        suite["limits"] = serde_json::json!({"wallTimeoutMs": 20000});
    });
    run(&space, 0);
    assert_eq!(causes(&space), "limits");
    change_suite(&space, |suite| {
        let case = &mut suite["cases"][0];
        case["setup"] = serde_json::json!([
            {"application": case["application"], "input": case["input"]}
        ]);
    });
    run(&space, 0);
    assert_eq!(causes(&space), "setup");
    change_suite(&space, |suite| {
        let mut second = suite["cases"][0].clone();
        second["id"] = "second".into();
        suite["cases"].as_array_mut().unwrap().push(second);
    });
    run(&space, 0);
    assert_eq!(causes(&space), "none");
    change_suite(&space, |suite| {
        suite["cases"].as_array_mut().unwrap().swap(0, 1);
    });
    run(&space, 0);
    assert_eq!(causes(&space), "suite.order");
    change_suite(&space, |suite| {
        suite["cases"][1]["skip"] =
            serde_json::json!({"reason": "later", "trackingReference": "t/1"});
    });
    run(&space, 0);
    assert_eq!(causes(&space), "skip");
    change_suite(&space, |suite| {
        suite["cases"].as_array_mut().unwrap().truncate(1);
    });
    run(&space, 0);
    assert_eq!(causes(&space), "case.removed");
}

#[test]
fn an_expectation_and_a_source_that_does_not_build_are_causes_with_their_stage() {
    let space = project();
    run(&space, 0);
    change_suite(&space, |suite| {
        suite["cases"][0]["expect"] = serde_json::json!({
            "kind": "obstruction", "stage": "execution", "coordinate": "starter.kit@1.Never",
            "payload": "fixtures/adds-up.input.bin",
        });
    });
    run(&space, 1);
    assert_eq!(causes(&space), "expectation");
    space.edit(SOURCE, "let sum", "let");
    run(&space, 2);
    assert_eq!(causes(&space), "source.semantic, infrastructure");
}

/// A program whose file has one byte more and that does the same.
pub(crate) fn longer(space: &Space, name: &str) -> String {
    let path = space.path(&format!("../{name}"));
    let mut bytes = fs::read(program(name)).unwrap();
    bytes.push(0);
    fs::write(&path, bytes).unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(&path, permissions).unwrap();
    path.to_str().unwrap().to_owned()
}

pub(crate) fn repin(space: &Space, option: &str, program: &str) {
    let pinned = space.edict_test(&[
        "lock",
        "--suite",
        SUITE,
        "--existing",
        "replace",
        option,
        program,
    ]);
    assert_eq!(pinned.code, 0, "{}", pinned.stderr);
}

#[test]
fn another_host_or_verifier_is_named_by_its_role_and_rebuilds_nothing() {
    let space = project();
    run(&space, 0);
    repin(&space, "--host", &longer(&space, "echo-host"));
    run(&space, 0);
    let answer = document(&why(&space, &["--json"]));
    assert_eq!(answer["causes"], serde_json::json!(["toolchain.host"]));
    assert_eq!(answer["steps"][2]["decision"], "reused");
    assert_eq!(answer["steps"][3]["decision"], "reused");
    assert_eq!(
        answer["steps"][4]["differing"][0]["label"],
        "toolchain.host"
    );
    repin(&space, "--verifier", &longer(&space, "edict-verifier"));
    run(&space, 0);
    let answer = document(&why(&space, &["--json"]));
    assert_eq!(
        answer["causes"],
        serde_json::json!(["toolchain.verifier", "toolchain.host"])
    );
    assert_eq!(answer["steps"][2]["decision"], "reused");
    assert_eq!(answer["steps"][3]["decision"], "verified");
}

#[test]
fn numbers_name_any_two_runs_and_a_missing_one_is_refused() {
    let space = project();
    let early = why(&space, &[]);
    assert_eq!((early.code, early.stdout.as_str()), (2, ""));
    assert_eq!(early.primary().unwrap(), "arguments/StateUnusable");
    run(&space, 0);
    let alone = why(&space, &[]);
    assert_eq!(alone.primary().unwrap(), "arguments/UsageError");
    break_source(&space);
    run(&space, 1);
    run(&space, 1);
    assert_eq!(causes(&space), "none");
    let wide = document(&why(&space, &["--from", "1", "--to", "3", "--json"]));
    assert_eq!((&wide["from"], &wide["to"]), (&1.into(), &3.into()));
    assert_eq!(wide["causes"], serde_json::json!(["source.semantic"]));
    let lost = why(&space, &["--from", "9"]);
    assert_eq!((lost.code, lost.stdout.as_str()), (2, ""));
    assert!(
        lost.stderr.contains("the complete ones are 1 to 3"),
        "{}",
        lost.stderr
    );
    let unknown = space.edict_test(&["why", "other", "--suite", SUITE]);
    assert_eq!(unknown.primary().unwrap(), "arguments/UsageError");
}

#[test]
fn two_reports_of_two_machines_are_compared_without_a_state() {
    let (one, other) = (project(), project());
    run(&one, 0);
    input(&other, 2, 3, 6);
    let (failed, _) = other.run(&["--no-state"]);
    assert_eq!(failed.code, 1);
    let second = other.directory.path().join("run.json");
    let second = second.to_str().unwrap();
    let reports = ["why", "adds-up", "--from", "run.json", "--to", second];
    let answer = one.edict_test(&reports);
    let shown = Run {
        stdout: answer.stdout.replace(second, "other.json"),
        ..answer
    };
    check(
        &shown,
        0,
        &expect![[r#"
        adds-up: passed -> assertion_failed   (run.json -> other.json)

          case       changed     1 of 4 inputs differs
                       input       hhhh.. -> hhhh..
          build      built       none of 11 inputs differs
          verify     verified    nothing it reads changed
          execute    executed    always: context hhhh.. is new; executions are never reused
          verdict    changed     status 0 -> 1, message "left + right: expected 6, got 5"

          unchanged  toolchain (11 roles), source, lawpacks (2), expectation, setup, skip, limits, order
          cause      fixture   the only differing leaf
    "#]],
    );
    // A report whose content is another one than its digest says is told apart, not believed.
    let text = fs::read_to_string(second).unwrap();
    fs::write(second, text.replace("expected 6", "expected 7")).unwrap();
    let spoiled = document(&one.edict_test(&[&reports[..], &["--json"]].concat()));
    assert_eq!(
        spoiled["causes"],
        serde_json::json!(["fixture", "unverified"])
    );
    assert_eq!(spoiled["unverified"].as_array().unwrap().len(), 1);
    let mixed = one.edict_test(&["why", "adds-up", "--suite", SUITE, "--from", "run.json"]);
    assert_eq!(mixed.primary().unwrap(), "arguments/UsageError");
}

#[test]
fn what_is_no_longer_in_the_store_is_marked_unverified() {
    let space = project();
    run(&space, 0);
    break_source(&space);
    run(&space, 1);
    for lost in ["blob", "action"] {
        fs::remove_dir_all(space.path(&format!(".edict-test/{lost}"))).unwrap();
    }
    let answer = document(&why(&space, &["--json"]));
    assert_eq!(
        answer["causes"],
        serde_json::json!(["source.semantic", "unverified"])
    );
    assert_eq!(
        answer["unverified"],
        serde_json::json!([
            "application.source[0] of run 1: its bytes are not in the store",
            "Core of run 1: its build is not in the store",
            "application.source[0] of run 2: its bytes are not in the store",
            "Core of run 2: its build is not in the store",
        ])
    );
}

#[test]
fn a_record_whose_leaves_are_not_those_of_its_identities_is_marked_unverified() {
    let space = project();
    run(&space, 0);
    run(&space, 0);
    let text = fs::read_to_string(record_path(&space, 1)).unwrap();
    let changed = text.replace("\"value\":30000", "\"value\":20000");
    assert_ne!(changed, text);
    fs::write(record_path(&space, 1), changed).unwrap();
    let answer = document(&why(&space, &["--json"]));
    assert_eq!(
        answer["causes"],
        serde_json::json!(["limits", "unverified"])
    );
    assert_eq!(
        answer["unverified"],
        serde_json::json!(["run 1: its content is not what its identities say"])
    );
}
