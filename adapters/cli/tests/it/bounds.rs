// SPDX-License-Identifier: Apache-2.0
//! Every limit that a suite can lower, at its value and one below what is needed.

use crate::{
    standin::refused,
    support::{Run, Space, verdicts},
};
use serde_json::{Value, json};
use std::fs;

/// Two cases of the tour with one limit.
fn limited(limit: &str, value: u64) -> (Space, Run, Value) {
    let space = Space::of("tour");
    space.only(&["choose-left", "delete"]);
    space.manifest(|manifest| manifest["limits"] = json!({limit: value}));
    let (run, report) = space.run(&["--no-state"]);
    (space, run, report)
}

fn passes(limit: &str, value: u64) {
    let (_space, run, report) = limited(limit, value);
    assert_eq!(run.code, 0, "{limit} {value}: {}", run.stderr);
    assert_eq!(report["semantic"]["limits"][limit], value);
}

/// The limit and what was measured, as the primary diagnostic states them.
fn stated(run: &Run) -> Value {
    let primary = run
        .records()
        .into_iter()
        .find(|it| it["primary"] == true)
        .unwrap();
    primary["detail"].clone()
}

#[test]
fn bt_005_limits_are_positive_and_below_their_ceilings() {
    let ceilings = [
        ("maxManifestBytes", 1_048_576),
        ("maxCases", 1_024),
        ("maxSetupOperationsPerCase", 128),
        ("maxFixtureBytes", 8_388_608),
        ("maxCaseResultBytes", 2_048),
        ("maxFrameBytes", 16_777_216),
        ("maxReportBytes", 67_108_864),
        ("maxArtifactBytes", 268_435_456),
        ("wallTimeoutMs", 30_000),
    ];
    let all: Value = ceilings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let (_, by_default) = space.run(&["--no-state"]);
    space.manifest(|manifest| manifest["limits"] = all.clone());
    let (run, report) = space.run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(report["semantic"]["limits"], all);
    // Spelling out a default changes no identity.
    let identity = |report: &Value| report["semantic"]["suite"]["identity"].clone();
    assert_eq!(identity(&report), identity(&by_default));
    for (name, ceiling) in ceilings {
        for (value, kind) in [
            (json!(ceiling + 1), "LimitAboveCeiling"),
            (json!(0), "LimitNotPositive"),
            (json!("1"), "WrongType"),
            (json!(u64::MAX), "LimitAboveCeiling"),
        ] {
            space.manifest(|manifest| manifest["limits"] = json!({name: value}));
            let (run, report) = space.run(&["--no-state"]);
            refused(&run, &report, &format!("manifest/{kind}"));
            let primary = run
                .records()
                .into_iter()
                .find(|it| it["primary"] == true)
                .unwrap();
            assert_eq!(primary["pointer"], format!("/limits/{name}"));
        }
    }
}

#[test]
fn bt_005_the_manifest_may_be_as_large_as_its_limit() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let path = space.path("edict.test-suite.json");
    let pad = |size: usize| {
        let mut text = fs::read_to_string(&path).unwrap().trim().to_owned();
        text.push_str(&" ".repeat(size - text.len()));
        fs::write(&path, text).unwrap();
    };
    pad(1_048_576);
    assert_eq!(space.run(&["--no-state"]).0.code, 0);
    pad(1_048_577);
    let (run, report) = space.run(&["--no-state"]);
    refused(&run, &report, "manifest/ManifestTooLarge");
    assert_eq!(stated(&run), json!({"limit": 1_048_576, "actual": null}));
    let span = json!({"file": "suite", "start": 0, "end": 1_048_577});
    assert_eq!(run.records()[0]["span"], span);
    // A lowered limit is judged after decoding.
    let mut text: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (slack, code) in [(0, 0), (1, 2)] {
        text["limits"] = json!({"maxManifestBytes": 4_000});
        fs::write(&path, serde_json::to_vec(&text).unwrap()).unwrap();
        pad(4_000 + slack);
        let (run, _) = space.run(&["--no-state"]);
        assert_eq!(run.code, code, "{}", run.stderr);
    }
}

/// The reader judges text and not members: no pointer, also not to the member that names the lock.
#[test]
fn bt_005_the_lock_may_be_as_large_as_its_limit() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let path = space.path("edict.test-toolchain-lock.json");
    let text = fs::read_to_string(&path).unwrap();
    let pad = |size: usize| fs::write(&path, text.clone() + &" ".repeat(size - text.len()));
    pad(1_048_576).unwrap();
    assert_eq!(space.run(&["--no-state"]).0.code, 0);
    pad(1_048_577).unwrap();
    let (run, report) = space.run(&["--no-state"]);
    refused(&run, &report, "lock/LockTooLarge");
    let record = &run.records()[0];
    assert_eq!(record["pointer"], Value::Null);
    let span = json!({"file": "lock", "start": 0, "end": 1_048_577});
    assert_eq!(record["span"], span);
}

#[test]
fn bt_005_numbers_of_cases_and_setup_operations() {
    passes("maxCases", 2);
    let (_, run, report) = limited("maxCases", 1);
    refused(&run, &report, "manifest/TooManyCases");
    assert_eq!(stated(&run), json!({"limit": 1, "actual": 2}));
    passes("maxSetupOperationsPerCase", 2);
    let (_, run, report) = limited("maxSetupOperationsPerCase", 1);
    refused(&run, &report, "manifest/TooManySetupOperations");
}

#[test]
fn bt_005_fixture_bytes_are_summed_over_distinct_paths() {
    let space = Space::of("tour");
    let names = [
        "choose-left.input.bin",
        "delete.input.bin",
        "delete.payload.bin",
        "delete.setup-0.bin",
        "delete.setup-1.bin",
    ];
    let size = |name: &&str| {
        fs::metadata(space.path("fixtures").join(name))
            .unwrap()
            .len()
    };
    let sum: u64 = names.iter().map(size).sum();
    passes("maxFixtureBytes", sum);
    let (_, run, report) = limited("maxFixtureBytes", sum - 1);
    refused(&run, &report, "snapshot/FixtureBytesExceeded");
    let (_, run, report) = limited("maxFixtureBytes", 1);
    refused(&run, &report, "snapshot/FixtureBytesExceeded");
}

#[test]
fn bt_005_a_case_result_is_measured_before_it_is_judged() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let (_, report) = space.run(&["--no-state"]);
    let size = report["semantic"]["cases"][0]["execution"]["value"]["byteLength"]
        .as_u64()
        .unwrap();
    passes("maxCaseResultBytes", size);
    let (_, run, report) = limited("maxCaseResultBytes", size - 1);
    assert_eq!(
        verdicts(&report)["choose-left"],
        "invalid_result/CaseResultTooLarge"
    );
    assert_eq!(run.code, 2);
    assert_eq!(stated(&run), json!({"limit": size - 1, "actual": size}));
    assert!(
        run.stdout.starts_with("TAP version 14\n1..2\nnot ok 1 - "),
        "{}",
        run.stdout
    );
    // The other case still runs, and passes.
    assert_eq!(verdicts(&report)["delete"], "passed/Passed");
    assert_eq!(report["semantic"]["cases"][0]["executed"], true);
}

#[test]
fn bt_005_frames_of_both_directions() {
    let (_, run, report) = limited("maxFrameBytes", 4_095);
    refused(&run, &report, "host/HandshakeFailed");
    // Large enough to greet, too small for the installation that the runner must send.
    let (_, run, report) = limited("maxFrameBytes", 4_096);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.primary().as_deref(),
        Some("host/FrameTooLarge"),
        "{}",
        run.stderr
    );
    assert_eq!(report["semantic"]["counts"]["executed"], 0);
    assert_eq!(stated(&run)["limit"], 4_096);
}

#[test]
fn bt_005_reports_and_artifacts() {
    let (space, run, _) = limited("maxReportBytes", 67_108_864);
    assert_eq!(run.code, 0);
    let report = fs::metadata(space.directory.path().join("run.json"))
        .unwrap()
        .len();
    let (space, run, report) = limited("maxReportBytes", report / 2);
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert_eq!(
        run.primary().as_deref(),
        Some("report/ReportTooLarge"),
        "{}",
        run.stderr
    );
    assert_eq!(report["complete"], false);
    assert!(run.stdout.ends_with('\n') && run.stdout.contains("Bail out! ReportTooLarge: "));
    assert!(!run.stdout.contains("ok 2 - "), "{}", run.stdout);
    // What is published instead says what the cases came to, and offers no evidence for it.
    assert_eq!(verdicts(&report)["choose-left"], "passed/Passed");
    assert_eq!(report["evidence"]["cases"], json!([]));
    assert_eq!(report["diagnostics"].as_array().unwrap().len(), 1);
    assert_eq!(report["diagnostics"][0]["primary"], true);
    assert_eq!(space.edict_test(&["report", "verify", "run.json"]).code, 2);
    // The journal alone is too large: nothing is executed, and the run still says so.
    let (_space, run, report) = limited("maxReportBytes", 1);
    refused(&run, &report, "report/ReportTooLarge");
    let (space, run, report) = limited("maxArtifactBytes", 1);
    assert_eq!(run.code, 2);
    assert_eq!(report["complete"], false);
    assert_eq!(report["diagnostics"][0]["primary"], true);
    // A point that was printed stands in the report, although no body could be kept.
    let points = run.stdout.lines().filter(|line| line.starts_with("ok "));
    let judged = report["semantic"]["counts"]["passed"].as_u64().unwrap();
    assert!(points.count() as u64 <= judged, "{}", run.stdout);
    assert_eq!(space.edict_test(&["report", "verify", "run.json"]).code, 2);
    assert_eq!(
        run.primary().as_deref(),
        Some("report/ArtifactBytesExceeded"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_has_no_room_for_all_bodies_keeps_those_that_have_room() {
    let (_, _, whole) = limited("maxArtifactBytes", 268_435_456);
    let bodies = whole["evidence"]["bodies"].as_array().unwrap();
    let needed: u64 = bodies
        .iter()
        .map(|it| it["byteLength"].as_u64().unwrap())
        .sum();
    // Without the bodies of the evidence everything has room.
    let (space, run, report) = limited("maxArtifactBytes", needed - 1);
    assert_eq!(
        run.primary().as_deref(),
        Some("report/ArtifactBytesExceeded")
    );
    assert_eq!(report["complete"], false);
    assert_eq!(report["evidence"]["cases"], json!([]));
    let listed = report["evidence"]["bodies"].as_array().unwrap();
    assert!(!listed.is_empty() && listed.len() < bodies.len());
    for body in listed {
        let length = space.body(body).len() as u64;
        assert_eq!(length, body["byteLength"].as_u64().unwrap());
    }
}

#[test]
fn bt_005_the_wall_limit_ends_what_does_not_end() {
    for (role, stage, kind) in [
        ("compiler", "build", "BuildTimeout"),
        ("verifier", "verify", "VerifyTimeout"),
        ("host", "execute", "WallTimeout"),
    ] {
        let space = Space::of("tour");
        space.only(&["choose-left"]);
        space.wrap(role, "exec sleep 600");
        space.manifest(|manifest| manifest["limits"] = json!({"wallTimeoutMs": 2_000}));
        let (run, report) = space.run(&["--no-state"]);
        refused(&run, &report, &format!("{stage}/{kind}"));
    }
}

#[test]
fn bt_005_lengths_that_lie_are_refused_before_allocation() {
    // A text that claims 2^64-1 bytes, a list of 2^32-1 items, a map of 2^62: fixtures of 9 bytes.
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    for claim in [
        b"\x7b\xff\xff\xff\xff\xff\xff\xff\xff".as_slice(),
        b"\x9a\xff\xff\xff\xff",
        b"\xbb\x40\x00\x00\x00\x00\x00\x00\x00",
        b"\x5b\x00\x00\x00\x00\x80\x00\x00\x00\x00",
    ] {
        fs::write(space.path("fixtures/choose-left.input.bin"), claim).unwrap();
        let (run, report) = space.run(&["--no-state"]);
        assert_eq!(run.code, 2);
        assert_eq!(
            verdicts(&report)["choose-left"],
            "runtime_failed/InputRefused"
        );
    }
}
