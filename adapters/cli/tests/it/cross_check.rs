// SPDX-License-Identifier: Apache-2.0
//! `--cross-check`: the verifier evaluates Core once more, and no case passes that it sees otherwise.

use crate::support::{Run, Space};
use serde_json::Value;

/// Runs one case with a verifier that verifies like the real one and evaluates by these lines; they
/// have the request in `$line`.
fn lie(case: &str, lines: &str) -> (Space, Run, Value) {
    let space = Space::of("tour");
    space.only(&[case]);
    space.wrap(
        "verifier",
        &format!(
            "read -r line
case \"$line\" in *'\"operation\":\"evaluate\"'*) ;; *) printf '%s\\n' \"$line\" | \"$real\"; exit $?;; esac
{lines}"
        ),
    );
    let (run, report) = space.run(&["--cross-check"]);
    (space, run, report)
}

/// What the disagreement says; everything that must hold of one is checked.
fn disagreement(case: &str, lines: &str) -> Value {
    let (space, run, report) = lie(case, lines);
    let kind = "EvaluatorDisagreement";
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert_eq!(run.primary().as_deref(), Some(&*format!("evidence/{kind}")));
    let bailed = format!("TAP version 14\n1..1\nBail out! {kind}: ");
    assert!(run.stdout.starts_with(&bailed), "{}", run.stdout);
    assert_eq!(report["complete"], false);
    let judged = &report["semantic"]["cases"][0];
    assert_eq!(judged["verdict"], "invalid_evidence");
    assert_eq!(judged["stage"], "evidence");
    assert_eq!(judged["kind"], kind);
    assert_eq!(judged["execution"], Value::Null);
    assert_eq!(report["semantic"]["counts"]["executed"], 0);
    assert_eq!(report["telemetry"]["crossCheck"]["compared"], 1);
    // The host alone is believed without the second evaluation.
    assert_eq!(space.run(&[]).0.code, 0);
    run.records()
        .into_iter()
        .find(|it| it["kind"] == kind)
        .unwrap()
}

fn message(record: &Value) -> &str {
    record["message"].as_str().unwrap()
}

#[test]
fn every_case_of_the_tour_is_evaluated_twice_and_agrees() {
    let space = Space::of("tour");
    let (run, report) = space.run(&["--cross-check"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let counts = &report["telemetry"]["crossCheck"];
    assert_eq!(counts["compared"], report["semantic"]["counts"]["executed"]);
    assert_eq!(counts["leftOut"], 0);
    // It changes nothing that is equal for equal inputs, and is not done unasked.
    let (_, plain) = space.run(&[]);
    assert_eq!(plain["semantic"], report["semantic"]);
    assert_eq!(plain["telemetry"].get("crossCheck"), None);
}

#[test]
fn a_failed_comparison_is_cross_checked_too() {
    let space = Space::of("failing");
    let (run, report) = space.run(&["--cross-check"]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_ne!(report["telemetry"]["crossCheck"]["compared"], 0);
}

#[test]
fn a_verifier_that_evaluates_like_the_real_one_changes_nothing() {
    let (_, run, _) = lie("choose-left", "printf '%s\\n' \"$line\" | \"$real\"");
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn another_count_of_steps_or_bytes_is_a_disagreement() {
    for counter in ["steps", "allocatedBytes", "outputBytes"] {
        let lines = format!(
            "printf '%s\\n' \"$line\" | \"$real\" | sed 's/\"{counter}\":/\"{counter}\":1/'"
        );
        let record = disagreement("choose-left", &lines);
        assert!(message(&record).contains("the host consumed"), "{record}");
    }
}

#[test]
fn another_result_is_a_disagreement_with_both_digests() {
    // The program is evaluated on another input: left 1, right 2.
    let lines = "printf '\\242dleft\\001eright\\002' > input.cbor
printf '%s\\n' \"$line\" | sed 's,\\.\\./input.cbor,input.cbor,' | \"$real\"";
    let record = disagreement("choose-left", lines);
    assert!(message(&record).contains("another body"), "{record}");
    assert_eq!(record["expected"]["domain"], "echo/body/v1");
    assert_eq!(record["actual"]["domain"], "echo/body/v1");
    assert_ne!(record["expected"], record["actual"]);
}

#[test]
fn a_result_against_an_obstruction_is_a_disagreement() {
    // Enough is there in this input: have 5, want 2.
    let lines = "printf '\\242dhave\\005dwant\\002' > input.cbor
printf '%s\\n' \"$line\" | sed 's,\\.\\./input.cbor,input.cbor,' | \"$real\"";
    let record = disagreement("refuses-out-of-range", lines);
    assert!(
        message(&record).contains("the second evaluator in a result"),
        "{record}"
    );
}

#[test]
fn no_evaluation_is_no_agreement() {
    for lines in [
        "exit 2",
        "exit 0",
        "kill -9 $$",
        "printf '%s\\n' \"$line\" | \"$real\"; exit 1",
        "printf '%s\\n' \"$line\" | \"$real\" >/dev/null; echo '{}'",
        "printf '%s\\n' \"$line\" | \"$real\"; printf x > output/body.cbor",
        "printf '%s\\n' \"$line\" | \"$real\"; rm output/body.cbor",
        "printf '%s\\n' \"$line\" | \"$real\" | sed 's/\"coordinate\":null/\"coordinate\":\"a\"/'",
        "printf '%s\\n' \"$line\" | \"$real\" | sed 's/evaluate/verify/'",
    ] {
        let record = disagreement("choose-left", lines);
        assert!(
            message(&record).contains("there is no second evaluation"),
            "{lines}: {record}"
        );
    }
}

#[test]
fn other_atoms_before_a_program_are_a_disagreement() {
    // The evaluator does not see what the setup left.
    let lines = "printf '\\200' > atoms.cbor
printf '%s\\n' \"$line\" | sed 's,\\.\\./atoms.cbor,atoms.cbor,' | \"$real\"";
    let record = disagreement("create-and-replace", lines);
    assert!(
        message(&record).contains("the second evaluator in `"),
        "{record}"
    );
}

#[test]
fn a_setup_operation_is_evaluated_like_the_case() {
    // Only the first operation of the case begins without atoms.
    let lines = "if [ \"$(wc -c < ../atoms.cbor)\" = 1 ]; then
printf '%s\\n' \"$line\" | \"$real\" | sed 's/\"steps\":/\"steps\":1/'
else printf '%s\\n' \"$line\" | \"$real\"; fi";
    let record = disagreement("create-and-replace", lines);
    let expected = "setup operation 0: the host consumed";
    assert!(message(&record).starts_with(expected), "{record}");
}
