// SPDX-License-Identifier: Apache-2.0
//! The table of section 4 and the arithmetic of a run: counts, class, primary failure, exit code.

use edict_codec::{digest::derive_typed, json::JsonErrorKind};
use edict_test_model::{
    CaseId, CaseIndex, Failure, FailureKind as K, Form, Stage, Verdict,
    built::Body,
    failure::{Rule, rule},
    run::{
        CaseEnding, CaseReport, Class, Counts, ExecutionOutcome, ExecutionReport, ExitCode,
        RunSummary,
    },
    verdict,
};

#[test]
fn the_table_has_exactly_its_rows() {
    let counted = Stage::ALL.map(|stage| {
        K::ALL
            .iter()
            .filter(|kind| rule(stage, **kind).is_some())
            .count()
    });
    // Manifest and lock: 13 of the reader, 25 typed ones, two of their own.
    let want = [
        4, 40, 40, 10, 15, 1, 9, 15, 5, 35, 8, 6, 16, 2, 7, 7, 2, 1, 1, 1,
    ];
    assert_eq!(counted, want);
}

#[test]
fn verdict_and_form_are_those_of_the_table() {
    use Form::{Bail, Point, PointThenBail};
    use Verdict as V;
    for (stage, kind, verdict, form) in [
        (
            Stage::Build,
            K::CompilerRefused,
            Some(V::BuildFailed),
            PointThenBail,
        ),
        (Stage::Build, K::CompilerCrashed, Some(V::BuildFailed), Bail),
        (
            Stage::Verify,
            K::ProfileMismatch,
            Some(V::BuildFailed),
            Bail,
        ),
        (Stage::Toolchain, K::ProfileMismatch, None, Bail),
        (
            Stage::Admission,
            K::InputRefused,
            Some(V::RuntimeFailed),
            PointThenBail,
        ),
        (
            Stage::Setup,
            K::InputRefused,
            Some(V::SetupFailed),
            PointThenBail,
        ),
        (Stage::Setup, K::InstallRefused, Some(V::SetupFailed), Bail),
        (Stage::Setup, K::HostLost, Some(V::SetupFailed), Bail),
        (Stage::Setup, K::WallTimeout, Some(V::SetupFailed), Bail),
        (Stage::Setup, K::BasisMismatch, Some(V::SetupFailed), Bail),
        (Stage::Execute, K::WallTimeout, Some(V::RuntimeFailed), Bail),
        (
            Stage::Execute,
            K::OutcomeLate,
            Some(V::InvalidEvidence),
            Bail,
        ),
        (
            Stage::Evidence,
            K::EvaluatorDisagreement,
            Some(V::InvalidEvidence),
            Bail,
        ),
        (
            Stage::Result,
            K::InvalidCaseResult,
            Some(V::InvalidResult),
            PointThenBail,
        ),
        (Stage::Compare, K::Skipped, Some(V::Skipped), Point),
        (
            Stage::Compare,
            K::UnexpectedSuccess,
            Some(V::AssertionFailed),
            Point,
        ),
        (
            Stage::Compare,
            K::UnexpectedObstruction,
            Some(V::UnexpectedObstruction),
            Point,
        ),
        (Stage::Report, K::ReportExists, None, Bail),
        (Stage::Arguments, K::ReportExists, None, Bail),
    ] {
        assert_eq!(rule(stage, kind), Some(Rule { verdict, form }));
    }
    for kind in [
        K::Passed,
        K::CompilerRefused,
        K::ExpectedPayloadInvalid,
        K::EvaluatorDisagreement,
        K::UsageError,
    ] {
        assert_eq!(rule(Stage::Setup, kind), None);
    }
    assert_eq!(rule(Stage::Compare, K::HostLost), None);
}

#[test]
fn names_are_unique_and_read_back() {
    for kind in K::ALL {
        assert_eq!(K::from_name(kind.name()), Some(*kind));
    }
    for stage in Stage::ALL {
        assert_eq!(Stage::from_name(stage.name()), Some(stage));
    }
    for verdict in Verdict::ALL {
        assert_eq!(Verdict::from_name(verdict.name()), Some(verdict));
    }
    let too_large = K::of_json(JsonErrorKind::TooLarge, K::LockTooLarge);
    assert_eq!(too_large, K::LockTooLarge);
    assert_eq!(
        K::of_json(JsonErrorKind::DuplicateKey, K::LockTooLarge).name(),
        "DuplicateKey"
    );
}

#[test]
fn a_pair_outside_the_table_is_a_bail_out() {
    let failure = Failure::new(Stage::Compare, K::HostLost, "never");
    assert_eq!((failure.form(), failure.verdict()), (Form::Bail, None));
}

/// A case that ended in `stage` and `kind`.
fn case(index: usize, stage: Stage, kind: K) -> CaseReport {
    let verdict = rule(stage, kind).and_then(|rule| rule.verdict).unwrap();
    let executed = matches!(stage, Stage::Compare | Stage::Result) && kind != K::Skipped;
    let body = || Body::new(*b"\xf6");
    CaseReport {
        index: CaseIndex(index),
        id: CaseId::parse(&format!("case-{index}")).unwrap(),
        label: String::new(),
        case: None,
        expectation: None,
        application: None,
        input: None,
        ending: Some(CaseEnding {
            verdict,
            stage,
            kind,
            detail: None,
        }),
        program: None,
        setup: Vec::new(),
        execution: executed.then(|| ExecutionReport {
            budget: [1; 3],
            consumed: [1; 3],
            semantic_digest: derive_typed("d/v1", b""),
            outcome: ExecutionOutcome::Result(body()),
        }),
        result: None,
        skip: None,
    }
}

fn not_run(index: usize) -> CaseReport {
    CaseReport {
        ending: None,
        execution: None,
        ..case(index, Stage::Compare, K::Passed)
    }
}

fn summary(cases: &[CaseReport], failures: &[Failure]) -> (Class, ExitCode, Option<K>, bool) {
    let summary = RunSummary::of(cases, failures);
    let primary = summary.outcome.primary.map(|it| it.kind);
    (
        summary.outcome.class,
        summary.outcome.exit_code,
        primary,
        summary.complete,
    )
}

#[test]
fn infrastructure_takes_precedence_over_assertions() {
    let passed = case(0, Stage::Compare, K::Passed);
    let failed = case(1, Stage::Compare, K::AssertionFailed);
    let invalid = case(2, Stage::Result, K::InvalidCaseResult);
    let skipped = case(3, Stage::Compare, K::Skipped);
    let comparison = Failure::new(Stage::Compare, K::AssertionFailed, "x");
    let result = Failure::new(Stage::Result, K::InvalidCaseResult, "x");
    assert_eq!(
        summary(&[passed.clone(), skipped.clone()], &[]),
        (Class::Passed, ExitCode::Passed, None, true)
    );
    assert_eq!(
        summary(
            &[passed.clone(), failed.clone()],
            std::slice::from_ref(&comparison)
        ),
        (Class::Failed, ExitCode::Failed, None, true)
    );
    let cases = [passed, failed, invalid, skipped];
    assert_eq!(
        summary(&cases, &[comparison, result]),
        (
            Class::Infrastructure,
            ExitCode::Unfaithful,
            Some(K::InvalidCaseResult),
            true
        )
    );
    let counts = Counts::of(&cases);
    assert_eq!((counts.selected, counts.executed, counts.passed), (4, 3, 1));
    assert_eq!(
        (
            counts.failed,
            counts.errored,
            counts.skipped,
            counts.not_run
        ),
        (1, 1, 1, 0)
    );
}

#[test]
fn bt_018_a_suite_without_an_executed_case_is_no_success() {
    let skipped = case(0, Stage::Compare, K::Skipped);
    let none = (
        Class::Infrastructure,
        ExitCode::Unfaithful,
        Some(K::NoExecutableCases),
        false,
    );
    assert_eq!(summary(&[skipped], &[]), none);
    assert_eq!(summary(&[], &[]), none);
}

#[test]
fn the_primary_failure_is_the_first_in_time() {
    let cases = [case(0, Stage::Compare, K::Passed), not_run(1)];
    let lost = Failure::new(Stage::Host, K::HostLost, "x").of_case(&cases[1].id);
    let cleanup = Failure::new(Stage::Cleanup, K::CleanupIncomplete, "x");
    let summary = RunSummary::of(&cases, &[lost, cleanup]);
    let primary = summary.outcome.primary.unwrap();
    assert_eq!((primary.stage, primary.kind), (Stage::Host, K::HostLost));
    assert_eq!(primary.case, Some(cases[1].id.clone()));
    assert!(!summary.complete);
}

#[test]
fn bt_024_a_run_that_lost_a_failure_is_never_green() {
    let class = |cases: &[CaseReport]| summary(cases, &[]).0;
    let passed = case(0, Stage::Compare, K::Passed);
    assert_eq!(class(&[passed.clone(), not_run(1)]), Class::Infrastructure);
    assert_eq!(
        class(&[passed.clone(), case(1, Stage::Evidence, K::EvidenceMissing)]),
        Class::Infrastructure
    );
    let unexecuted = CaseReport {
        execution: None,
        ..passed
    };
    assert_eq!(class(&[unexecuted]), Class::Infrastructure);
}

#[test]
fn a_late_bail_out_leaves_every_verdict_and_no_complete_report() {
    let cases = [case(0, Stage::Compare, K::Passed)];
    let failure = Failure::new(Stage::Report, K::ReportWriteFailed, "x");
    let (class, exit, primary, complete) = summary(&cases, &[failure]);
    assert_eq!((class, exit), (Class::Infrastructure, ExitCode::Unfaithful));
    assert_eq!((primary, complete), (Some(K::ReportWriteFailed), false));
}

#[test]
fn a_failure_of_setup_keeps_its_kind() {
    let failure = Failure::new(Stage::Host, K::HostLost, "x").in_setup(2);
    assert_eq!((failure.stage, failure.kind), (Stage::Setup, K::HostLost));
    assert_eq!(
        (failure.setup_index, failure.verdict()),
        (Some(2), Some(Verdict::SetupFailed))
    );
    let report = Failure::new(Stage::Report, K::ArtifactBytesExceeded, "x").in_setup(2);
    assert_eq!(report.stage, Stage::Report);
    assert_eq!(verdict::ending_of(&report), None);
}
