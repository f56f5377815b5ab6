// SPDX-License-Identifier: Apache-2.0
//! Suites in which nothing runs, and streams that end too early: never green.

use crate::{
    standin::refused,
    support::{Space, consumers},
};
use serde_json::{Value, json};

fn skip(case: &mut Value) {
    case["skip"] = json!({"reason": "not yet", "trackingReference": "#1"});
}

#[test]
fn bt_018_b06_b12_an_empty_suite_has_no_plan_and_no_success() {
    let space = Space::of("tour");
    space.manifest(|manifest| manifest["cases"] = json!([]));
    let (run, report) = space.run(&[]);
    refused(&run, &report, "plan/NoExecutableCases");
    assert_eq!(
        run.stdout,
        "TAP version 14\nBail out! NoExecutableCases: the suite has no cases; add one to `cases`\n"
    );
    let primary = &run.records()[0];
    assert_eq!(
        primary["detail"]["counts"],
        json!({"selected": 0, "skipped": 0})
    );
    let reading = consumers(run.stdout.as_bytes());
    assert_eq!(
        (reading.verdict.as_str(), reading.bailout),
        ("failing", true)
    );
}

#[test]
fn bt_018_b06_b12_an_all_skipped_suite_has_a_plan_and_no_point() {
    let space = Space::of("failing");
    space.only(&["passes", "assertion-fails"]);
    space.manifest(|manifest| {
        manifest["cases"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(skip);
    });
    let (run, report) = space.run(&[]);
    refused(&run, &report, "plan/NoExecutableCases");
    assert_eq!(
        run.stdout,
        "TAP version 14\n1..2\nBail out! NoExecutableCases: every one of the 2 cases declares a skip\n"
    );
    let primary = &run.records()[0];
    assert_eq!(
        primary["detail"]["counts"],
        json!({"selected": 2, "skipped": 2})
    );
    assert_eq!(primary["caseId"], Value::Null);
    for case in report["semantic"]["cases"].as_array().unwrap() {
        assert_eq!(case["verdict"], "skipped");
        assert_eq!(case["kind"], "Skipped");
        assert_eq!(case["program"], Value::Null);
    }
    assert_eq!(report["semantic"]["counts"]["skipped"], 2);
    let reading = consumers(run.stdout.as_bytes());
    assert_eq!((reading.verdict.as_str(), reading.points), ("failing", 0));
}

#[test]
fn b13_a_skipped_case_is_neither_executed_nor_passed() {
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud", "branch-quiet"]);
    space.manifest(|manifest| skip(&mut manifest["cases"][1]));
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let counts = json!({"selected": 3, "executed": 2, "passed": 2, "failed": 0, "errored": 0, "skipped": 1, "notRun": 0});
    assert_eq!(report["semantic"]["counts"], counts);
    assert_eq!(
        run.stdout.lines().nth(3).unwrap(),
        "ok 2 - the loud branch # SKIP not yet (tracking: \\#1)"
    );
    let skipped = &report["semantic"]["cases"][1];
    assert_eq!(skipped["executed"], false);
    assert_eq!(
        skipped["skip"],
        json!({"reason": "not yet", "trackingReference": "#1"})
    );
    assert!(skipped["case"].is_object() && skipped["input"].is_object());
    assert_eq!(report["evidence"]["cases"].as_array().unwrap().len(), 2);
}

#[test]
fn bt_018_a_skipped_case_is_still_validated() {
    let space = Space::of("tour");
    space.only(&["choose-left", "branch-loud"]);
    space.manifest(|manifest| {
        skip(&mut manifest["cases"][1]);
        manifest["cases"][1]["input"] = json!("fixtures/absent.bin");
    });
    let (run, report) = space.run(&[]);
    refused(&run, &report, "snapshot/InputMissing");
    let space = Space::of("tour");
    space.manifest(|manifest| {
        manifest["cases"][0]["skip"] = json!({"reason": " ", "trackingReference": "x"});
    });
    let (run, report) = space.run(&[]);
    refused(&run, &report, "manifest/EmptyString");
}

#[test]
fn bt_018_b09_no_consumer_takes_a_truncated_stream_for_a_run() {
    let space = Space::of("tour");
    let (run, _) = space.run(&[]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    for kept in 0..lines.len() {
        let stream: String = lines[..kept]
            .iter()
            .flat_map(|line| [*line, "\n"])
            .collect();
        assert_eq!(
            consumers(stream.as_bytes()).verdict,
            "malformed",
            "{kept} lines"
        );
    }
    // One point left out in the middle, and a plan that promises one more.
    let mut omitted = lines.clone();
    omitted.remove(5);
    let omitted = omitted.join("\n") + "\n";
    assert_eq!(consumers(omitted.as_bytes()).verdict, "malformed");
    let promised = run.stdout.replace("1..14", "1..15");
    assert_eq!(consumers(promised.as_bytes()).verdict, "malformed");
}

#[test]
fn b11_as_many_points_as_cases_of_mixed_verdicts() {
    let space = Space::of("failing");
    space.manifest(|manifest| {
        let cases = manifest["cases"].as_array_mut().unwrap();
        let mut many = Vec::new();
        for number in 0..211 {
            let mut case = cases[number % cases.len()].clone();
            case["id"] = format!("case-{number}").into();
            if number % 10 == 9 {
                skip(&mut case);
            }
            many.push(case);
        }
        *cases = many;
    });
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let cases = report["semantic"]["cases"].as_array().unwrap();
    let points: Vec<&str> = run.stdout.lines().skip(2).collect();
    assert_eq!((cases.len(), points.len()), (211, 211));
    assert_eq!(run.stdout.lines().nth(1), Some("1..211"));
    let count = |words: &[&str]| {
        let verdict = |case: &&Value| words.contains(&case["verdict"].as_str().unwrap());
        cases.iter().filter(verdict).count() as u64
    };
    let counts = &report["semantic"]["counts"];
    assert_eq!(counts["passed"], count(&["passed"]));
    assert_eq!(counts["skipped"], count(&["skipped"]));
    assert_eq!(
        counts["failed"],
        count(&["assertion_failed", "unexpected_obstruction"])
    );
    let bad = points
        .iter()
        .filter(|line| line.starts_with("not ok "))
        .count() as u64;
    assert_eq!(counts["failed"], bad);
    let reading = consumers(run.stdout.as_bytes());
    assert_eq!((reading.verdict.as_str(), reading.points), ("failing", 211));
}
