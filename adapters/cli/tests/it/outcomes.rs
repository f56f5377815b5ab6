// SPDX-License-Identifier: Apache-2.0
//! Every way in which a case goes wrong, with its exact verdict, stage, kind, point and exit status.

use crate::{
    standin::refused,
    support::{Reading, Space, consumers},
};
use serde_json::{Value, json};

/// Index, id, verdict, stage, kind, detail, executed of each case.
fn rows(report: &Value) -> Vec<String> {
    let cases = report["semantic"]["cases"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let row = |case: &Value| {
        let words = ["id", "verdict", "stage", "kind", "detail"].map(|name| text(&case[name]));
        format!("{} {}", words.join(" "), case["executed"])
    };
    cases.iter().map(row).collect()
}

#[test]
fn bt_008_comparisons_that_fail_are_failures_of_executed_cases() {
    let space = Space::of("failing");
    let (run, report) = space.run(&[]);
    assert_eq!(
        run.stdout,
        "TAP version 14\n1..6\nok 1 - passes\nnot ok 2 - assertion-fails\n\
         not ok 3 - unexpected-obstruction\nnot ok 4 - wrong-coordinate\nnot ok 5 - wrong-payload\n\
         not ok 6 - unexpected-success\n"
    );
    assert_eq!(run.code, 1);
    assert_eq!(run.primary(), None);
    let counts = json!({"selected": 6, "executed": 6, "passed": 1, "failed": 5, "errored": 0, "skipped": 0, "notRun": 0});
    assert_eq!(report["semantic"]["counts"], counts);
    assert_eq!(
        report["semantic"]["outcome"],
        json!({"exitCode": 1, "class": "failed", "primary": null})
    );
    assert_eq!(report["complete"], true);
    let failed = &report["semantic"]["cases"][1];
    assert_eq!(failed["execution"]["outcome"], "result");
    assert_eq!(failed["assertions"], 1);
    // The value of a failed assertion is evidence like any other.
    let value = space.body(&failed["execution"]["value"]);
    assert_eq!(&value[..9], b"\xa3\x66status\x01");
    let program = &report["semantic"]["programs"][0];
    assert_eq!(program["verification"]["outcome"], "accepted");
    assert_eq!(failed["program"], report["semantic"]["cases"][0]["program"]);
}

#[test]
fn bt_011_only_the_exact_obstruction_passes() {
    let space = Space::of("failing");
    let (_, report) = space.run(&[]);
    assert_eq!(
        rows(&report),
        [
            "passes passed compare Passed - true",
            "assertion-fails assertion_failed compare AssertionFailed - true",
            "unexpected-obstruction unexpected_obstruction compare UnexpectedObstruction - true",
            "wrong-coordinate unexpected_obstruction compare ObstructionCoordinateMismatch - true",
            "wrong-payload unexpected_obstruction compare ObstructionPayloadMismatch - true",
            "unexpected-success assertion_failed compare UnexpectedSuccess - true",
        ]
    );
    let tour = Space::of("tour");
    tour.only(&[
        "refuses-out-of-range",
        "input-constraint",
        "budget-exhausted",
    ]);
    let (run, report) = tour.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let said = |index: usize| {
        let case = &report["semantic"]["cases"][index];
        case["execution"]["obstruction"]["coordinate"].clone()
    };
    assert_eq!(said(0), "tour.kit@1.OutOfRange");
    assert_eq!(said(1), "echo.obstruction.input-constraint/v1");
    assert_eq!(said(2), "echo.obstruction.budget-exhausted/v1");
}

#[test]
fn bt_012_infrastructure_failures_win_over_failed_comparisons() {
    let space = Space::of("broken");
    let (run, report) = space.run(&[]);
    assert_eq!(
        run.stdout,
        "TAP version 14\n1..6\nok 1 - passes\nnot ok 2 - assertion-fails\n\
         not ok 3 - does-not-compile\nnot ok 4 - invalid-result\nnot ok 5 - setup-obstructs\n\
         not ok 6 - input-refused\n\
         Bail out! CompilerRefused: case does-not-compile: the compiler refuses the application: \
         ApplicationCompilationFailed: compile `src/broken.edict`: 1 mistake (and 3 more)\n"
    );
    assert_eq!(run.code, 2);
    assert_eq!(run.primary().as_deref(), Some("build/CompilerRefused"));
    assert_eq!(
        rows(&report),
        [
            "passes passed compare Passed - true",
            "assertion-fails assertion_failed compare AssertionFailed - true",
            "does-not-compile build_failed build CompilerRefused - false",
            "invalid-result invalid_result result InvalidCaseResult assertionsRange true",
            "setup-obstructs setup_failed setup SetupObstructed - false",
            "input-refused runtime_failed admission InputRefused - false",
        ]
    );
    let counts = json!({"selected": 6, "executed": 3, "passed": 1, "failed": 1, "errored": 4, "skipped": 0, "notRun": 0});
    assert_eq!(report["semantic"]["counts"], counts);
    let outcome = &report["semantic"]["outcome"];
    assert_eq!(outcome["class"], "infrastructure");
    assert_eq!(outcome["primary"]["caseId"], "does-not-compile");
    let setup = report["semantic"]["cases"][4]["setup"].as_array().unwrap();
    assert_eq!(setup[0]["outcome"], "result");
    assert_eq!(setup[1]["outcome"], "obstruction");
    assert_eq!(
        consumers(run.stdout.as_bytes()),
        Reading {
            verdict: "failing".to_owned(),
            points: 6,
            bailout: true,
            exit: 2
        }
    );
}

#[test]
fn bt_012_nothing_before_execution_satisfies_an_expected_obstruction() {
    let expectation = json!({"kind": "obstruction", "stage": "execution", "coordinate": "tour.kit@1.Exists", "payload": "fixtures/exists.bin"});
    let cases = [
        (
            "does-not-compile",
            "build_failed build CompilerRefused - false",
        ),
        (
            "setup-obstructs",
            "setup_failed setup SetupObstructed - false",
        ),
        (
            "input-refused",
            "runtime_failed admission InputRefused - false",
        ),
    ];
    for (id, row) in cases {
        let space = Space::of("broken");
        // The very obstruction that the setup ends in: {key: ...} of `tour.kit@1.Exists`.
        let (_, report) = space.run(&["--no-state"]);
        let setup = report["evidence"]["cases"].as_array().unwrap();
        let setup = setup.iter().find(|it| it["index"] == 5).unwrap();
        let payload = space.body(&setup["operations"][1]["result"]);
        std::fs::write(space.path("fixtures/exists.bin"), payload).unwrap();
        space.only(&[id]);
        space.manifest(|manifest| manifest["cases"][0]["expect"] = expectation.clone());
        let (run, report) = space.run(&["--no-state"]);
        assert_eq!(rows(&report), [format!("{id} {row}")]);
        assert_eq!(run.code, 2);
        assert!(run.stdout.starts_with(&format!(
            "TAP version 14\n1..1\nnot ok 1 - {id}\nBail out! "
        )));
    }
}

#[test]
fn bt_012_a_timed_out_build_is_no_obstruction() {
    let space = Space::of("tour");
    space.only(&["refuses-out-of-range"]);
    space.wrap("compiler", "exec sleep 600");
    space.manifest(|manifest| manifest["limits"] = json!({"wallTimeoutMs": 300}));
    let (run, report) = space.run(&[]);
    refused(&run, &report, "build/BuildTimeout");
    assert_eq!(
        rows(&report),
        ["refuses-out-of-range build_failed build BuildTimeout - false"]
    );
}

#[test]
fn bt_004_values_that_are_no_case_results_never_pass() {
    // (body of the returned record in `zero.edict`, detail)
    let rows_of = [
        ("status: 0, assertions: 0, message: \"\"", "assertionsRange"),
        (
            "status: 0, assertions: 65536, message: \"\"",
            "assertionsRange",
        ),
        ("status: 2, assertions: 1, message: \"\"", "statusRange"),
        (
            "status: 4294967295, assertions: 1, message: \"\"",
            "statusRange",
        ),
    ];
    for (fields, detail) in rows_of {
        let space = Space::of("broken");
        space.only(&["invalid-result"]);
        let path = space.path("programs/src/zero.edict");
        let source = std::fs::read_to_string(&path).unwrap();
        let start = source.find("return {").unwrap();
        let source = format!("{}return {{ {fields} }};\n}}\n", &source[..start]);
        std::fs::write(path, source).unwrap();
        let (run, report) = space.run(&[]);
        assert_eq!(
            rows(&report),
            [format!(
                "invalid-result invalid_result result InvalidCaseResult {detail} true"
            )],
            "{}",
            run.stderr
        );
        assert_eq!(run.code, 2);
        assert_eq!(report["semantic"]["cases"][0]["assertions"], Value::Null);
    }
}

#[test]
fn bt_004_a_record_of_another_type_is_no_case_result_even_when_its_bytes_are() {
    let space = Space::of("broken");
    space.only(&["invalid-result"]);
    let path = space.path("programs/src/zero.edict");
    let source = std::fs::read_to_string(&path).unwrap();
    let start = source.find("return {").unwrap();
    let source = source[..start].replace("assertions: U32", "assertions: U64");
    std::fs::write(
        path,
        format!("{source}return {{ status: 0, assertions: 1, message: \"\" }};\n}}\n"),
    )
    .unwrap();
    let (run, report) = space.run(&[]);
    assert_eq!(
        rows(&report),
        ["invalid-result invalid_result result InvalidCaseResult outputTypeMismatch true"],
        "{}",
        run.stderr
    );
}
