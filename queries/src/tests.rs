// SPDX-License-Identifier: Apache-2.0
//! Which queries run after which change, and that an execution is never repeated. The ports are
//! in-memory twins over a recorded run; what they answer is no evidence of anything.

mod support;

use crate::{execute::mint, inputs::Suite, plan::plan, snapshot::snapshot, verdict::verdict};
use edict_test_model::{
    ContextNonce, Failure, FailureKind, Verdict, ports::StopFlag, run::NullSink,
};
use std::collections::BTreeMap;
use support::Space;

fn counts(expected: &[(&str, u64)]) -> BTreeMap<String, u64> {
    expected
        .iter()
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

/// Prepares and runs; the counts of queries that ran, `applications` and `snapshot` included.
fn run(space: &Space) -> BTreeMap<String, u64> {
    let mut next = space.nonces();
    let prepared = space.runner.prepare().unwrap();
    let mut fresh = || Ok::<_, Failure>(next());
    let outcome = space
        .runner
        .run(&prepared, &mut fresh, &StopFlag::new(), &mut NullSink)
        .unwrap();
    assert_eq!(outcome.cases.len(), 4);
    space.runner.events().take()
}

#[test]
fn a_first_run_builds_every_program_once_and_executes_every_case() {
    let space = Space::new();
    let ran = run(&space);
    assert_eq!(
        ran,
        counts(&[
            ("applications", 1),
            ("build", 2),
            ("execute", 3),
            ("plan", 3),
            ("program", 2),
            ("snapshot", 1),
            ("verdict", 3),
            ("verify", 2),
        ])
    );
    assert_eq!(
        (space.builds(), space.verifications(), space.submissions()),
        (2, 2, 3)
    );
}

#[test]
fn a_second_run_in_the_same_process_builds_nothing_and_executes_everything() {
    let space = Space::new();
    run(&space);
    assert_eq!(run(&space), counts(&[("execute", 3), ("verdict", 3)]));
    assert_eq!(
        (space.builds(), space.verifications(), space.submissions()),
        (2, 2, 6)
    );
}

#[test]
fn editing_one_source_rebuilds_one_program() {
    let mut space = Space::new();
    run(&space);
    space.write(
        "cases/bump/src/main.edict",
        b"package demo.bump@1; // edited\n",
    );
    space.load();
    assert_eq!(
        run(&space),
        counts(&[
            ("build", 1),
            ("execute", 3),
            ("plan", 1),
            ("program", 1),
            ("verdict", 3),
            ("verify", 1),
        ])
    );
    assert_eq!((space.builds(), space.verifications()), (3, 3));
}

#[test]
fn a_fixture_changes_the_plans_of_the_cases_that_use_it_and_no_build() {
    let mut space = Space::new();
    run(&space);
    space.write("fixtures/nine.bin", b"\xa1\x61n\x08");
    space.load();
    assert_eq!(
        run(&space),
        counts(&[("execute", 3), ("plan", 1), ("verdict", 3)])
    );
}

#[test]
fn a_label_changes_the_snapshot_alone() {
    let mut space = Space::new();
    run(&space);
    space.replace(
        "edict.test-suite.json",
        "denies a value out of range",
        "denies it",
    );
    space.load();
    assert_eq!(
        run(&space),
        counts(&[("execute", 3), ("snapshot", 1), ("verdict", 3)])
    );
}

#[test]
fn a_new_host_rebuilds_nothing() {
    let mut space = Space::new();
    run(&space);
    let pinned = "c0c3206db01ba133e935d1399f7ac838e3eb55b2282ee5d968f9651ebdb8d1ba";
    space.replace("edict.test-toolchain-lock.json", pinned, &"ab".repeat(32));
    space.load();
    assert_eq!(
        run(&space),
        counts(&[("execute", 3), ("plan", 3), ("program", 2), ("verdict", 3)])
    );
    assert_eq!(space.builds(), 2);
}

#[test]
fn bt_003_a_stale_attempt_becomes_an_evidence_error_and_reaches_no_host() {
    let mut space = Space::new();
    space.runner.prepare().unwrap();
    let attempts: Vec<_> = {
        let engine = &space.runner.engine;
        let cases = snapshot(engine, Suite::get(engine));
        let nonce = ContextNonce::new([7; 32]);
        cases[..3]
            .iter()
            .map(|case| mint(engine, &plan(engine, *case).unwrap(), nonce))
            .collect()
    };
    space.write("fixtures/nine.bin", b"\xa1\x61n\x08");
    space.load();
    let engine = &space.runner.engine;
    let cases = snapshot(engine, Suite::get(engine));
    let decided = verdict(engine, cases[1], attempts[1]);
    let ending = decided.judged.ending.clone().unwrap();
    assert_eq!(
        (ending.verdict, ending.kind),
        (Verdict::InvalidEvidence, FailureKind::ForeignContext)
    );
    assert!(decided.evidence.is_none());
    assert_eq!(space.submissions(), 0);
    // An attempt whose inputs did not change is still good.
    verdict(engine, cases[0], attempts[0]);
    assert_eq!(space.submissions(), 1);
    verdict(engine, cases[0], attempts[0]);
    assert_eq!(
        space.submissions(),
        1,
        "an attempt is submitted once, however often it is asked for"
    );
}

#[test]
fn a_failed_build_is_told_before_anything_is_executed() {
    let space = Space::new();
    space.refuse("demo.bump@1");
    let prepared = space.runner.prepare().unwrap();
    let mut next = space.nonces();
    let mut fresh = || Ok::<_, Failure>(next());
    let outcome = space
        .runner
        .run(&prepared, &mut fresh, &StopFlag::new(), &mut NullSink)
        .unwrap();
    let ending = outcome.cases[2].ending.as_ref().unwrap();
    // The first program that `bump` needs is that of its setup entry.
    assert_eq!(ending.kind, FailureKind::SetupBuildRefused);
    assert_eq!(outcome.failures[0].kind, FailureKind::SetupBuildRefused);
    assert_eq!(space.submissions(), 2);
    assert_eq!(outcome.summary().outcome.exit_code as u8, 2);
}

#[test]
fn a_set_stop_flag_starts_no_case() {
    let space = Space::new();
    let prepared = space.runner.prepare().unwrap();
    let stop = StopFlag::new();
    stop.stop(15);
    let mut next = space.nonces();
    let mut fresh = || Ok::<_, Failure>(next());
    let outcome = space
        .runner
        .run(&prepared, &mut fresh, &stop, &mut NullSink)
        .unwrap();
    assert_eq!(
        outcome.failures.last().unwrap().kind,
        FailureKind::Interrupted
    );
    assert_eq!(space.submissions(), 0);
}
