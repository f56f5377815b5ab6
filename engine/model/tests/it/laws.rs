// SPDX-License-Identifier: Apache-2.0
//! A report that contradicts itself is caught before it is published (M3).

use crate::golden_run::GoldenRun;
use edict_test_model::{
    FailureKind, Stage, Verdict,
    run::{Class, ExitCode, RunReport, laws},
};

fn broken(change: impl Fn(&mut RunReport)) -> String {
    let mut report = GoldenRun::load().run_report();
    assert_eq!(laws::check(&report), Ok(()));
    change(&mut report);
    laws::check(&report).unwrap_err().0
}

#[test]
fn counts_follow_from_the_cases() {
    let text = broken(|report| report.semantic.summary.counts.passed = 2);
    assert!(text.starts_with("counts are"), "{text}");
    let text = broken(|report| drop(report.semantic.cases.pop()));
    assert!(text.starts_with("counts are"), "{text}");
}

#[test]
fn bt_024_a_verdict_forced_to_pass_contradicts_its_kind() {
    let text = broken(|report| {
        if let Some(ending) = &mut report.semantic.cases[0].ending {
            ending.stage = Stage::Evidence;
            ending.kind = FailureKind::EvidenceMissing;
        }
    });
    assert_eq!(
        text,
        "case pick: passed is no EvidenceMissing of stage evidence"
    );
}

#[test]
fn a_pass_needs_an_execution_with_evidence() {
    let text = broken(|report| report.semantic.cases[0].execution = None);
    assert!(text.starts_with("counts are"), "{text}");
    let text = broken(|report| drop(report.evidence.cases.remove(0)));
    assert_eq!(
        text,
        "case pick was executed without evidence of every operation"
    );
    let text = broken(|report| drop(report.evidence.cases[2].operations.remove(0)));
    assert_eq!(
        text,
        "case bump was executed without evidence of every operation"
    );
}

#[test]
fn a_skip_is_declared_and_never_executed() {
    let text = broken(|report| report.semantic.cases[3].skip = None);
    assert_eq!(text, "case later is skipped and declares no skip");
    let text = broken(|report| {
        let skip = report.semantic.cases[3].skip.clone();
        report.semantic.cases[0].skip = skip;
    });
    assert_eq!(text, "case pick declares a skip and was executed");
}

#[test]
fn class_exit_code_and_primary_failure_agree() {
    let text = broken(|report| report.semantic.summary.outcome.exit_code = ExitCode::Failed);
    assert_eq!(text, "the exit code is not that of the class");
    let text = broken(|report| {
        report.semantic.summary.outcome.class = Class::Infrastructure;
        report.semantic.summary.outcome.exit_code = ExitCode::Unfaithful;
    });
    assert_eq!(
        text,
        "a primary failure stands exactly in an infrastructure run"
    );
    let text = broken(|report| {
        report.semantic.summary.outcome.class = Class::Failed;
        report.semantic.summary.outcome.exit_code = ExitCode::Failed;
    });
    assert_eq!(
        text,
        "exit code 1 needs a failed comparison and nothing worse"
    );
}

#[test]
fn a_complete_report_leaves_nothing_unknown() {
    let text = broken(|report| report.semantic.cases[1].input = None);
    assert_eq!(text, "case deny has no identity in a complete report");
    let text = broken(|report| drop(report.semantic.producers.pop()));
    assert_eq!(text, "a complete report knows suite, producers and limits");
    let text = broken(|report| {
        if let Some(ending) = &mut report.semantic.cases[0].ending {
            ending.verdict = Verdict::RuntimeFailed;
            ending.stage = Stage::Host;
            ending.kind = FailureKind::HostLost;
        }
        report.semantic.summary.counts.passed = 2;
        report.semantic.summary.counts.errored = 1;
        report.semantic.summary.outcome.class = Class::Infrastructure;
        report.semantic.summary.outcome.exit_code = ExitCode::Unfaithful;
        report.semantic.summary.outcome.primary = Some(edict_test_model::run::Primary {
            stage: Stage::Host,
            kind: FailureKind::HostLost,
            case: None,
        });
    });
    assert_eq!(text, "case pick has no point in a complete report");
}
