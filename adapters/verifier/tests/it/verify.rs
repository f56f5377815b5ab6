// SPDX-License-Identifier: Apache-2.0
//! Every way a verification can end (section 4, stage `verify`).

use crate::support::{accepts, answers, kind, record, request, trials, verify, verify_with};
use edict_codec::{bounded::ByteLimit, digest::frame_typed};
use edict_test_model::{
    built::{Disagreement, VerificationOutcome},
    diagnostic::Detail,
    failure::{FailureKind, Stage},
    ports::{StopFlag, VerifyRequest},
};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    trials![
        an_accepted_build_has_its_report,
        a_rejection_is_a_judgement_with_its_first_disagreement,
        the_request_and_the_staged_files_are_exact,
        an_answer_that_is_no_answer_is_a_protocol_failure,
        a_verifier_that_cannot_judge_has_failed,
        noise_on_standard_error_of_a_judgement_is_nothing,
        a_report_that_is_not_there_is_missing,
        a_report_that_is_not_canonical_is_invalid,
        another_report_than_answered_is_a_protocol_failure,
        more_than_a_report_is_a_protocol_failure,
        death_by_a_signal_is_a_crash_whatever_was_printed,
        a_slow_verification_times_out,
        a_stop_interrupts_the_verification,
        the_byte_limit_is_enforced,
    ]
}

fn an_accepted_build_has_its_report() {
    let verified = verify(&accepts()).unwrap();
    assert_eq!(verified.outcome, VerificationOutcome::Accepted);
    assert_eq!(verified.disagreement, None);
    let identity = frame_typed("edict.verification-report/v1", b"\x80");
    assert_eq!(verified.report.identity, identity);
    assert_eq!(&*verified.report.body.bytes, b"\x80");
}

fn a_rejection_is_a_judgement_with_its_first_disagreement() {
    let answer = record("rejected", "\"CoreTypeMismatch\"", "\".body\"");
    let verified = verify(&answers(&answer, 1)).unwrap();
    assert_eq!(verified.outcome, VerificationOutcome::Rejected);
    let disagreement = Disagreement {
        kind: "CoreTypeMismatch".to_owned(),
        path: ".body".to_owned(),
    };
    assert_eq!(verified.disagreement, Some(disagreement));
}

fn the_request_and_the_staged_files_are_exact() {
    let line = concat!(
        r#"{"schema":"edict.verifier.request/v1","type":"verifierRequest","operation":"verify","#,
        r#""output":"output/verification-report.cbor","inputs":{"source":"../inputs/src/m.edict","#,
        r#""core":"../artifacts/core.cbor","targetIr":"../artifacts/target-ir.cbor","#,
        r#""resultProjection":"../artifacts/result-projection.cbor","#,
        r#""package":"../artifacts/executable-operation-package.cbor","lawpacks":[{"#,
        r#""manifest":"../inputs/pack/manifest.cbor","exports":"../inputs/pack/exports.cbor","#,
        r#""adapter":"../inputs/pack/adapter.cbor","targetConfiguration":null}]}}"#,
    );
    let script = format!(
        "read line
[ \"$line\" = '{line}' ] || exit 3
read line && exit 4
[ \"$(cat ../inputs/src/m.edict ../inputs/pack/manifest.cbor ../inputs/pack/adapter.cbor)\" = sourcema ] || exit 5
[ \"$(cd ../artifacts; cat core.cbor target-ir.cbor result-projection.cbor executable-operation-package.cbor | od -An -tx1)\" = ' 01 02 03 04' ] || exit 6
[ \"$(echo output/*)\" = 'output/*' ] || exit 7
[ \"$(cd ..; echo *)\" = 'artifacts inputs private' ] || exit 8
(: > ../inputs/src/m.edict) 2>/dev/null && exit 9
{}",
        accepts(),
    );
    verify(&script).unwrap();
}

fn an_answer_that_is_no_answer_is_a_protocol_failure() {
    let accepted = record("accepted", "null", "null");
    for script in [
        "exit 0".to_owned(),
        "exit 1".to_owned(),
        "exit 2".to_owned(),
        "echo 1..9; exit 0".to_owned(),
        answers(&accepted, 1),
        answers(&record("rejected", "null", "null"), 0),
        answers(&record("accepted", "\"X\"", "null"), 0),
        answers(&record("perhaps", "null", "null"), 0),
        answers(&record("rejected", "7", "null"), 1),
        answers(&accepted.replace("result/v1", "result/v2"), 0),
        answers(&accepted.replace("\"verify\"", "\"evaluate\""), 0),
        answers(&accepted.replace("sha256", "sha512"), 0),
        answers(&format!("{accepted}\n{accepted}"), 0),
        answers(&format!("{accepted}\nnoise"), 0),
        "echo 'thread panicked' >&2; exit 101".to_owned(),
        "yes '{}' | head -c 200000; exit 0".to_owned(),
    ] {
        assert_eq!(kind(&script), FailureKind::VerifierProtocol, "{script}");
    }
}

fn a_verifier_that_cannot_judge_has_failed() {
    let diagnostic = r#"{"kind":"InputReadFailed","message":"no core","schema":"edict.cli.diagnostic/v1","severity":"error","stage":"cli","type":"diagnostic"}"#;
    let failure = verify(&format!("echo '{diagnostic}' >&2; exit 2")).unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Verify, FailureKind::VerifierFailed)
    );
    assert_eq!(
        failure.message,
        "the verifier failed: InputReadFailed: no core"
    );
    let Some(Detail::Child(child)) = &failure.detail else {
        panic!("it has no detail");
    };
    assert_eq!(
        (child.role.as_str(), child.exit_code),
        ("verifier", Some(2))
    );
}

fn noise_on_standard_error_of_a_judgement_is_nothing() {
    verify(&format!("echo 'not ok 1' >&2\n{}", accepts())).unwrap();
}

fn a_report_that_is_not_there_is_missing() {
    let answer = record("accepted", "null", "null");
    for script in [
        format!("echo '{answer}'"),
        format!("ln -s ../../artifacts/core.cbor output/verification-report.cbor; echo '{answer}'"),
        format!("mkfifo output/verification-report.cbor; echo '{answer}'"),
        format!("rmdir output; echo '{answer}'"),
    ] {
        let failure = verify(&script).unwrap_err();
        assert_eq!(
            failure.kind,
            FailureKind::VerificationReportMissing,
            "{script}"
        );
        let detail = Detail::Name("verification-report.cbor".to_owned());
        assert_eq!(failure.detail, Some(detail));
    }
}

fn a_report_that_is_not_canonical_is_invalid() {
    let script = accepts().replace("\\200", "\\030\\001");
    assert_eq!(kind(&script), FailureKind::VerificationReportInvalid);
}

fn another_report_than_answered_is_a_protocol_failure() {
    let failure = verify(&accepts().replace("\\200", "\\240")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::VerifierProtocol);
    let actual = frame_typed("edict.verification-report/v1", b"\xa0");
    assert_eq!(failure.actual, Some(actual));
}

fn more_than_a_report_is_a_protocol_failure() {
    let script = format!("echo > output/more\n{}", accepts());
    assert_eq!(kind(&script), FailureKind::VerifierProtocol);
}

fn death_by_a_signal_is_a_crash_whatever_was_printed() {
    let script = accepts().replace("exit 0", "kill -SEGV $$");
    assert_eq!(kind(&script), FailureKind::VerifierCrashed);
}

fn a_slow_verification_times_out() {
    let request = VerifyRequest {
        wall_timeout_ms: 100,
        ..request()
    };
    let failure = verify_with("while :; do :; done", &request, &StopFlag::new()).unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Verify, FailureKind::VerifyTimeout)
    );
}

fn a_stop_interrupts_the_verification() {
    let stop = StopFlag::new();
    stop.stop(2);
    let failure = verify_with("while :; do :; done", &request(), &stop).unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Interrupt, FailureKind::Interrupted)
    );
    assert_eq!(failure.detail, Some(Detail::Signal("INT".to_owned())));
}

fn the_byte_limit_is_enforced() {
    let with = |limit, script: &str| {
        let request = VerifyRequest {
            artifact_bytes: ByteLimit::new(limit),
            ..request()
        };
        verify_with(script, &request, &StopFlag::new())
    };
    with(1, &accepts()).unwrap();
    let large = "exec head -c 5000 /bin/sh > output/verification-report.cbor";
    let failure = with(4096, large).unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Report, FailureKind::ArtifactBytesExceeded)
    );
}
