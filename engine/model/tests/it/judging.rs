// SPDX-License-Identifier: Apache-2.0
//! From bound evidence to verdicts: what passes, what fails, and what is no test result at all.

use crate::golden::Liar;
use crate::golden_run::GoldenRun;
use edict_codec::cbor::{Value, encode};
use edict_test_model::{
    FailureKind, Form, Stage, Verdict,
    built::Body,
    evidence::{CaseEvidence, ExecutionFailure, ExecutionStep, OutcomeKind},
    plan::{CasePlan, Expectation, OperationRole},
    verdict::{self, Judged, judge},
};

/// Verdict, stage and kind of the case at `position` after a change of plan and evidence.
fn ending(
    position: usize,
    change: impl Fn(&mut CasePlan, &mut CaseEvidence),
) -> (Option<Verdict>, Stage, FailureKind, Judged) {
    let golden = GoldenRun::load();
    let mut plan = golden.plan(position);
    let (nonce, mut evidence) = golden.evidence(position);
    change(&mut plan, &mut evidence);
    let judged = judge(&plan, nonce, &evidence);
    let (stage, kind) = match (&judged.ending, &judged.failure) {
        (Some(ending), _) => (ending.stage, ending.kind),
        (None, Some(failure)) => (failure.stage, failure.kind),
        (None, None) => panic!("a case ends or fails"),
    };
    (
        judged.ending.as_ref().map(|it| it.verdict),
        stage,
        kind,
        judged,
    )
}

/// The last outcome replaced by another value, everything about it coherent.
fn returns(evidence: &mut CaseEvidence, value: &Value) {
    let last = evidence.operations.last_mut().unwrap();
    let mut liar = Liar::new(last);
    liar.body(value);
    liar.record(
        "consumed.outputBytes",
        Value::unsigned(encode(value).len() as u64),
    );
    *last = liar.sealed();
}

fn result(status: u64, assertions: u64, message: &str) -> Value {
    Value::text_map([
        ("status", Value::unsigned(status)),
        ("assertions", Value::unsigned(assertions)),
        ("message", Value::text(message)),
    ])
}

#[test]
fn the_status_decides_and_nothing_else_does() {
    let (verdict, stage, kind, judged) = ending(0, |_, evidence| {
        returns(evidence, &result(1, 3, "left was 3"));
    });
    assert_eq!(
        (verdict, stage, kind),
        (
            Some(Verdict::AssertionFailed),
            Stage::Compare,
            FailureKind::AssertionFailed
        )
    );
    let decoded = judged.result.unwrap();
    assert_eq!(
        (decoded.assertions, decoded.message.as_str()),
        (3, "left was 3")
    );
    assert!(judged.execution.is_some());
    let (verdict, ..) = ending(0, |_, evidence| {
        returns(evidence, &result(0, 65_535, "failed"));
    });
    assert_eq!(verdict, Some(Verdict::Passed));
}

#[test]
fn bt_004_a_value_that_is_no_case_result_is_invalid_and_executed() {
    let detail = |value: Value| {
        let (verdict, stage, kind, judged) = ending(0, |_, evidence| returns(evidence, &value));
        assert_eq!(
            (verdict, stage),
            (Some(Verdict::InvalidResult), Stage::Result)
        );
        assert_eq!(kind, FailureKind::InvalidCaseResult);
        assert!(judged.execution.is_some() && judged.result.is_none());
        judged.ending.unwrap().detail.unwrap()
    };
    assert_eq!(detail(result(2, 1, "")), "statusRange");
    assert_eq!(detail(result(0, 0, "")), "assertionsRange");
    assert_eq!(detail(result(0, 65_536, "")), "assertionsRange");
}

#[test]
fn bt_005_the_size_of_a_case_result_is_limited_exactly() {
    let length = encode(&result(0, 1, "")).len() as u64;
    let with = |limit: u64| {
        ending(0, |plan, _| {
            plan.limits
                .lower(edict_test_model::Limit::CaseResultBytes, limit.into())
                .unwrap();
        })
    };
    assert_eq!(with(length).0, Some(Verdict::Passed));
    let (verdict, stage, kind, judged) = with(length - 1);
    assert_eq!(
        (verdict, stage, kind),
        (
            Some(Verdict::InvalidResult),
            Stage::Result,
            FailureKind::CaseResultTooLarge
        )
    );
    let limit = edict_test_model::Detail::Limit {
        limit: length - 1,
        actual: Some(length),
    };
    assert_eq!(judged.failure.unwrap().detail, Some(limit));
    assert_eq!(judged.ending.unwrap().detail, None);
}

#[test]
fn bt_011_an_obstruction_matches_by_coordinate_and_typed_payload() {
    let wants = |coordinate: &str, payload: Value| {
        let coordinate = edict_test_model::Coordinate::parse(coordinate).unwrap();
        let payload = Body::new(encode(&payload));
        ending(1, move |plan, _| {
            plan.expectation = Expectation::Obstruction {
                coordinate: coordinate.clone(),
                fixture: plan.expectation_identity.clone(),
                payload: payload.clone(),
            };
        })
    };
    let golden = GoldenRun::load();
    let Expectation::Obstruction { payload, .. } = golden.plan(1).expectation else {
        panic!("the case expects an obstruction");
    };
    let payload = edict_codec::cbor::decode(&payload.bytes).unwrap();
    let outcome = |it: (Option<Verdict>, Stage, FailureKind, Judged)| (it.0.unwrap(), it.2);
    assert_eq!(
        outcome(wants("demo.kit@1.OutOfRange", payload.clone())),
        (Verdict::Passed, FailureKind::Passed)
    );
    let unexpected = Verdict::UnexpectedObstruction;
    assert_eq!(
        outcome(wants("demo.kit@2.OutOfRange", payload)),
        (unexpected, FailureKind::ObstructionCoordinateMismatch)
    );
    assert_eq!(
        outcome(wants("demo.kit@1.OutOfRange", Value::Null)),
        (unexpected, FailureKind::ObstructionPayloadMismatch)
    );
    let value = ending(1, |plan, _| plan.expectation = Expectation::CaseResult);
    assert_eq!(
        outcome(value),
        (unexpected, FailureKind::UnexpectedObstruction)
    );
    let success = ending(0, |plan, _| plan.expectation = golden.plan(1).expectation);
    assert_eq!(success.2, FailureKind::UnexpectedSuccess);
    assert_eq!(success.0, Some(Verdict::AssertionFailed));
    assert!(success.3.result.is_none() && success.3.execution.is_some());
}

#[test]
fn bt_012_an_obstructed_setup_is_no_expected_obstruction() {
    let golden = GoldenRun::load();
    let (verdict, stage, kind, judged) = ending(1, |plan, _| {
        let mut own = plan.operations[0].clone();
        plan.operations[0].role = OperationRole::Setup(0);
        own.input = golden.plan(0).operations[0].input.clone();
        plan.operations.push(own);
    });
    assert_eq!(
        (verdict, stage, kind),
        (
            Some(Verdict::SetupFailed),
            Stage::Setup,
            FailureKind::SetupObstructed
        )
    );
    assert_eq!(judged.execution, None);
    assert_eq!(
        judged.setup[0].as_ref().map(|it| it.0),
        Some(OutcomeKind::Obstruction)
    );
    let failure = judged.failure.unwrap();
    assert_eq!(
        (failure.setup_index, failure.form()),
        (Some(0), Form::PointThenBail)
    );
}

fn port_failure(step: ExecutionStep, kind: FailureKind) -> ExecutionFailure {
    ExecutionFailure {
        step,
        kind,
        host_code: Some("code".to_owned()),
        child: None,
        excerpt: None,
        message: "it failed".to_owned(),
    }
}

#[test]
fn what_fails_in_a_setup_operation_is_of_stage_setup() {
    for (step, position, stage, verdict) in [
        (
            ExecutionStep::Invoke(0),
            2,
            Stage::Setup,
            Verdict::SetupFailed,
        ),
        (
            ExecutionStep::Invoke(1),
            2,
            Stage::Admission,
            Verdict::RuntimeFailed,
        ),
        (
            ExecutionStep::Invoke(0),
            0,
            Stage::Admission,
            Verdict::RuntimeFailed,
        ),
    ] {
        let got = ending(position, |_, evidence| {
            let reached = usize::from(step == ExecutionStep::Invoke(1));
            evidence.operations.truncate(reached);
            evidence.failure = Some(port_failure(step, FailureKind::InputRefused));
        });
        assert_eq!(
            (got.0, got.1, got.2),
            (Some(verdict), stage, FailureKind::InputRefused)
        );
        assert_eq!(got.3.failure.unwrap().form(), Form::PointThenBail);
    }
}

#[test]
fn a_missing_foreign_or_doubled_outcome_fails_closed() {
    let (verdict, _, kind, judged) = ending(0, |_, evidence| evidence.operations.clear());
    assert_eq!(
        (verdict, kind),
        (Some(Verdict::InvalidEvidence), FailureKind::EvidenceMissing)
    );
    assert_eq!(judged.execution, None);
    let (verdict, _, kind, _) = ending(0, |_, evidence| {
        let again = evidence.operations[0].clone();
        evidence.operations.push(again);
    });
    assert_eq!(
        (verdict, kind),
        (Some(Verdict::InvalidEvidence), FailureKind::OutcomeUnknown)
    );
    let golden = GoldenRun::load();
    let (verdict, _, kind, judged) = ending(0, |_, evidence| *evidence = golden.evidence(1).1);
    let check = judged.failure.unwrap().detail.clone();
    assert_eq!(check, Some(edict_test_model::Detail::Check("V4")));
    assert_eq!(
        (verdict, kind),
        (Some(Verdict::InvalidEvidence), FailureKind::ForeignContext)
    );
    let (verdict, _, kind, _) = ending(0, |_, evidence| {
        evidence.context = None;
        evidence.operations.clear();
    });
    assert_eq!(
        (verdict, kind),
        (Some(Verdict::InvalidEvidence), FailureKind::EvidenceMissing)
    );
}

#[test]
fn a_host_lost_while_closing_takes_the_point_but_not_the_execution() {
    let (verdict, stage, kind, judged) = ending(0, |_, evidence| {
        evidence.failure = Some(port_failure(ExecutionStep::Close, FailureKind::HostLost));
    });
    assert_eq!(
        (verdict, stage, kind),
        (
            Some(Verdict::RuntimeFailed),
            Stage::Host,
            FailureKind::HostLost
        )
    );
    assert!(judged.execution.is_some());
    let (verdict, _, _, judged) = ending(0, |_, evidence| {
        evidence.failure = Some(port_failure(
            ExecutionStep::Close,
            FailureKind::CleanupIncomplete,
        ));
    });
    assert_eq!(verdict, Some(Verdict::Passed));
    assert_eq!(judged.failure.unwrap().kind, FailureKind::CleanupIncomplete);
}

#[test]
fn an_interrupted_case_is_not_judged() {
    let (verdict, stage, kind, _) = ending(0, |_, evidence| {
        evidence.operations.clear();
        evidence.failure = Some(port_failure(
            ExecutionStep::Invoke(0),
            FailureKind::Interrupted,
        ));
    });
    assert_eq!(
        (verdict, stage, kind),
        (None, Stage::Interrupt, FailureKind::Interrupted)
    );
}

#[test]
fn an_expected_payload_must_be_one_the_program_can_raise() {
    let golden = GoldenRun::load();
    let admitted = |payload: Value| {
        let mut plan = golden.plan(1);
        if let Expectation::Obstruction { payload: body, .. } = &mut plan.expectation {
            *body = Body::new(encode(&payload));
        }
        verdict::admit(&plan).map_err(|failure| (failure.stage, failure.kind, failure.verdict()))
    };
    assert_eq!(verdict::admit(&golden.plan(0)), Ok(()));
    assert_eq!(verdict::admit(&golden.plan(1)), Ok(()));
    assert_eq!(admitted(Value::Map(Vec::new())), Ok(()));
    let refused = (
        Stage::Admission,
        FailureKind::ExpectedPayloadInvalid,
        Some(Verdict::RuntimeFailed),
    );
    assert_eq!(admitted(Value::text("x")), Err(refused));
}

#[test]
fn bt_003_a_stale_attempt_is_foreign_evidence_and_nothing_was_executed() {
    let plan = GoldenRun::load().plan(2);
    let judged = verdict::unsubmitted(&plan, verdict::stale_attempt(&plan));
    let ending = judged.ending.unwrap();
    assert_eq!(
        (ending.verdict, ending.stage, ending.kind),
        (
            Verdict::InvalidEvidence,
            Stage::Evidence,
            FailureKind::ForeignContext
        )
    );
    assert_eq!((judged.execution, judged.setup), (None, vec![None]));
}
