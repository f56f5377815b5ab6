// SPDX-License-Identifier: Apache-2.0
//! From a plan and what came back for it to a verdict (R5, F1-F13).

use super::Verdict;
use crate::{
    binding, case_result,
    diagnostic::Detail,
    evidence::{
        BoundCase, BoundFailure, BoundOutcome, CaseEvidence, ExecutionStep, OutcomeKind, Terminal,
        bind_case,
    },
    failure::{Failure, FailureKind, Stage},
    ids::{CaseIndex, ContextNonce, ProgramIndex},
    obstruction::{self, ObstructionMatch},
    plan::{CasePlan, Expectation, Operation, OperationRole, Program},
    run::{
        CaseEnding, CaseEvidenceReport, ContextReport, ExecutionOutcome, ExecutionReport,
        HostReport, OperationReport, ResultReport,
    },
};
use edict_codec::digest::TypedDigest;

/// What became of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// How the case ended; `None` when it was not judged, because of a failure that is not its own.
    pub ending: Option<CaseEnding>,
    /// What is to be told about it, in the order of time: at most one failure, of stage `compare`
    /// for a comparison that failed.
    pub failure: Option<Failure>,
    /// Outcome of each setup entry, in order; `None` when it was not reached or not verified.
    pub setup: Vec<Option<(OutcomeKind, TypedDigest)>>,
    /// Set exactly when a terminal outcome of the case invocation was verified.
    pub execution: Option<ExecutionReport>,
    /// Set exactly when a valid case result was decoded.
    pub result: Option<ResultReport>,
    /// The evidence with the result of every check.
    pub bound: BoundCase,
}

/// Judges a plan before anything is submitted: an expected payload must be one that the program
/// could raise (F12).
///
/// # Errors
/// `ExpectedPayloadInvalid`.
pub fn admit(plan: &CasePlan) -> Result<(), Failure> {
    let (
        Expectation::Obstruction {
            coordinate,
            fixture,
            payload,
        },
        Some(operation),
    ) = (&plan.expectation, plan.case_operation())
    else {
        return Ok(());
    };
    let package = &operation.program.executable.package;
    if obstruction::payload_possible(package, coordinate.as_str(), &payload.bytes) {
        return Ok(());
    }
    let message = format!("the expected payload is no value that `{coordinate}` carries here");
    Err(Failure::new(
        Stage::Admission,
        FailureKind::ExpectedPayloadInvalid,
        message,
    )
    .of_case(&plan.id)
    .with_detail(Detail::Fixture {
        fixture: fixture.clone(),
        host_code: None,
    }))
}

/// Judges what an execution port received for `plan` in the context `nonce`.
pub fn judge(plan: &CasePlan, nonce: ContextNonce, evidence: &CaseEvidence) -> Judged {
    let bound = bind_case(plan, &nonce, evidence);
    let terminals: Vec<Option<&Terminal>> = plan
        .operations
        .iter()
        .enumerate()
        .map(|(index, _)| bound.operations.get(index)?.terminal.as_ref())
        .collect();
    let (setup, case) = match terminals.split_last() {
        Some((case, setup)) => (setup, *case),
        None => (&[] as &[_], None),
    };
    let outcome = |terminal: &Terminal| (kind(terminal), terminal.semantic_digest.clone());
    let mut judged = Judged {
        ending: None,
        failure: None,
        setup: setup.iter().map(|it| it.map(outcome)).collect(),
        execution: case.map(execution),
        result: None,
        bound: bound.clone(),
    };
    match (&bound.failure, case) {
        (None, Some(terminal)) => compare(plan, terminal, &mut judged),
        (None, None) => end(&mut judged, obstructed_setup(plan, &bound)),
        (Some(failure), terminal) => {
            let failure = bound_failure(plan, failure);
            match terminal {
                // A run that is stopped or cannot clean up takes nothing from a verified outcome.
                Some(terminal) if failure.verdict().is_none() => {
                    compare(plan, terminal, &mut judged);
                    judged.failure = Some(failure);
                }
                _ => end(&mut judged, failure),
            }
        }
    }
    judged
}

/// The verdict of an attempt whose plan is no longer that of its case: its evidence is foreign.
pub fn stale_attempt(plan: &CasePlan) -> Failure {
    Failure::new(
        Stage::Evidence,
        FailureKind::ForeignContext,
        "the inputs of the case changed after its execution was planned",
    )
    .of_case(&plan.id)
}

/// A case that ends with `failure` without having been submitted.
pub fn unsubmitted(plan: &CasePlan, failure: Failure) -> Judged {
    let setup = plan.operations.len().saturating_sub(1);
    let mut judged = Judged {
        ending: None,
        failure: None,
        setup: vec![None; setup],
        execution: None,
        result: None,
        bound: BoundCase {
            operations: Vec::new(),
            failure: None,
        },
    };
    end(&mut judged, failure);
    judged
}

/// The ending that a failure gives to its case, if it gives one.
pub fn ending_of(failure: &Failure) -> Option<CaseEnding> {
    failure.verdict().map(|verdict| CaseEnding {
        verdict,
        stage: failure.stage,
        kind: failure.kind,
        detail: None,
    })
}

fn end(judged: &mut Judged, failure: Failure) {
    judged.ending = ending_of(&failure);
    judged.failure = Some(failure);
}

fn kind(terminal: &Terminal) -> OutcomeKind {
    match terminal.outcome {
        BoundOutcome::Result { .. } => OutcomeKind::Result,
        BoundOutcome::Obstruction { .. } => OutcomeKind::Obstruction,
    }
}

fn execution(terminal: &Terminal) -> ExecutionReport {
    let (budget, consumed) = (terminal.budget, terminal.consumed);
    ExecutionReport {
        budget: [
            budget.max_steps,
            budget.max_allocated_bytes,
            budget.max_output_bytes,
        ],
        consumed: [
            consumed.steps,
            consumed.allocated_bytes,
            consumed.output_bytes,
        ],
        semantic_digest: terminal.semantic_digest.clone(),
        outcome: match &terminal.outcome {
            BoundOutcome::Result { body, .. } => ExecutionOutcome::Result(body.clone()),
            BoundOutcome::Obstruction {
                coordinate, body, ..
            } => ExecutionOutcome::Obstruction {
                coordinate: coordinate.clone(),
                payload: body.clone(),
            },
        },
    }
}

/// A binding without failure and without a case outcome ended in an obstructed setup entry.
fn obstructed_setup(plan: &CasePlan, bound: &BoundCase) -> Failure {
    let last = bound.operations.len().saturating_sub(1);
    let role = plan.operations.get(last).map(|operation| operation.role);
    let terminal = bound.operations.last().and_then(|it| it.terminal.as_ref());
    if let (Some(OperationRole::Setup(index)), Some(terminal)) = (role, terminal)
        && let BoundOutcome::Obstruction {
            coordinate, body, ..
        } = &terminal.outcome
    {
        return Failure::new(
            Stage::Setup,
            FailureKind::SetupObstructed,
            format!("setup operation {index} ended in `{coordinate}`"),
        )
        .of_case(&plan.id)
        .in_setup(index)
        .with_detail(Detail::Obstruction {
            coordinate: coordinate.clone(),
            payload: body.blob.clone(),
        });
    }
    let message = "there is no evidence of the case's own operation";
    Failure::new(Stage::Evidence, FailureKind::EvidenceMissing, message).of_case(&plan.id)
}

/// The failure of the exchange or of a check, moved to stage `setup` where F6 says so.
fn bound_failure(plan: &CasePlan, bound: &BoundFailure) -> Failure {
    let operation = match bound.step {
        ExecutionStep::Install(index) | ExecutionStep::Invoke(index) => plan.operations.get(index),
        ExecutionStep::Start | ExecutionStep::Open | ExecutionStep::Close => None,
    };
    let mut failure =
        Failure::new(bound.stage, bound.kind, bound.message.clone()).of_case(&plan.id);
    failure.expected.clone_from(&bound.expected);
    failure.actual.clone_from(&bound.actual);
    failure.detail = detail(plan, bound, operation);
    match operation.map(|it| it.role) {
        Some(OperationRole::Setup(index)) => failure.in_setup(index),
        Some(OperationRole::Case) | None => failure,
    }
}

/// The members that J3 asks for.
fn detail(plan: &CasePlan, bound: &BoundFailure, operation: Option<&Operation>) -> Option<Detail> {
    let limit = |limit| Detail::Limit {
        limit,
        actual: None,
    };
    match (bound.stage, bound.kind) {
        (_, FailureKind::FrameTooLarge) => Some(limit(plan.limits.max_frame_bytes())),
        (_, FailureKind::ArtifactBytesExceeded) => Some(limit(plan.limits.max_artifact_bytes())),
        (_, FailureKind::InputRefused) => Some(Detail::Fixture {
            fixture: operation?.fixture.clone(),
            host_code: bound.host_code.clone(),
        }),
        (Stage::Admission, _) => bound.host_code.clone().map(Detail::HostCode),
        (Stage::Host, _) => Some(Detail::Host {
            child: bound.child.clone()?,
            host_code: bound.host_code.clone(),
        }),
        (Stage::Execute | Stage::Cleanup, _) => bound.child.clone().map(Detail::Child),
        (Stage::Evidence, _) => bound.check.map(Detail::Check),
        _ => None,
    }
}

/// Compares a verified outcome with the expectation (F8).
fn compare(plan: &CasePlan, terminal: &Terminal, judged: &mut Judged) {
    match (&plan.expectation, &terminal.outcome) {
        (Expectation::CaseResult, BoundOutcome::Result { body, .. }) => {
            case_result(plan, &body.bytes, judged);
        }
        (Expectation::Obstruction { coordinate, .. }, BoundOutcome::Result { .. }) => {
            let message = format!("the program returned a value where `{coordinate}` was expected");
            differs(plan, FailureKind::UnexpectedSuccess, message, None, judged);
        }
        (
            expectation,
            BoundOutcome::Obstruction {
                coordinate,
                payload,
                body,
                ..
            },
        ) => {
            let detail = Detail::Obstruction {
                coordinate: coordinate.clone(),
                payload: body.blob.clone(),
            };
            match obstruction_kind(expectation, coordinate, payload) {
                None => passed(judged),
                Some((kind, message)) => differs(plan, kind, message, Some(detail), judged),
            }
        }
    }
}

/// How a terminal obstruction differs from what was expected; `None` when it does not.
fn obstruction_kind(
    expectation: &Expectation,
    coordinate: &str,
    payload: &edict_codec::cbor::Value,
) -> Option<(FailureKind, String)> {
    let Expectation::Obstruction {
        coordinate: wanted,
        payload: fixture,
        ..
    } = expectation
    else {
        let message = format!("the program ended in `{coordinate}` where a value was expected");
        return Some((FailureKind::UnexpectedObstruction, message));
    };
    match obstruction::compare(wanted.as_str(), &fixture.bytes, coordinate, payload) {
        ObstructionMatch::Equal => None,
        ObstructionMatch::OtherCoordinate => Some((
            FailureKind::ObstructionCoordinateMismatch,
            format!("the program ended in `{coordinate}` where `{wanted}` was expected"),
        )),
        ObstructionMatch::OtherPayload => Some((
            FailureKind::ObstructionPayloadMismatch,
            format!("`{coordinate}` carries another payload than was expected"),
        )),
    }
}

/// Reads a bound value as a case result (1.3).
fn case_result(plan: &CasePlan, bytes: &[u8], judged: &mut Judged) {
    let limit = plan.limits.max_case_result_bytes();
    let length = bytes.len() as u64;
    if length > limit {
        let failure = Failure::new(
            Stage::Result,
            FailureKind::CaseResultTooLarge,
            format!("the case result has {length} bytes, more than {limit}"),
        )
        .of_case(&plan.id)
        .with_detail(Detail::Limit {
            limit,
            actual: Some(length),
        });
        return end(judged, failure);
    }
    let Some(operation) = plan.case_operation() else {
        return end(judged, Failure::internal("a plan without an operation"));
    };
    let declared = &operation.program.executable.package.output;
    match case_result::decode_bound(bytes, declared) {
        Err(reason) => {
            let message = format!("the value is no case result: {reason}");
            let failure = Failure::new(Stage::Result, FailureKind::InvalidCaseResult, message)
                .of_case(&plan.id);
            end(judged, failure);
            if let Some(ending) = &mut judged.ending {
                ending.detail = Some(reason.name().to_owned());
            }
        }
        Ok(result) => {
            judged.result = Some(ResultReport {
                assertions: result.assertions,
                message: result.message,
            });
            if result.passed {
                passed(judged);
            } else {
                let message = "an assertion of the program failed".to_owned();
                differs(plan, FailureKind::AssertionFailed, message, None, judged);
            }
        }
    }
}

fn passed(judged: &mut Judged) {
    judged.ending = Some(CaseEnding {
        verdict: Verdict::Passed,
        stage: Stage::Compare,
        kind: FailureKind::Passed,
        detail: None,
    });
}

fn differs(
    plan: &CasePlan,
    kind: FailureKind,
    message: String,
    detail: Option<Detail>,
    judged: &mut Judged,
) {
    let mut failure = Failure::new(Stage::Compare, kind, message).of_case(&plan.id);
    failure.detail = detail;
    end(judged, failure);
}

/// The evidence entry of a case that opened a context; `None` when none was opened. `hosts` are the
/// processes of the run, `position` gives the place of a program in the report.
pub fn evidence_report(
    index: CaseIndex,
    hosts: &[HostReport],
    plan: &CasePlan,
    evidence: &CaseEvidence,
    bound: &BoundCase,
    position: &dyn Fn(&Program) -> ProgramIndex,
) -> Option<CaseEvidenceReport> {
    let (host, context) = (evidence.host.as_ref()?, evidence.context.as_ref()?);
    let worldline =
        crate::evidence::worldline(context.nonce.bytes(), &context.subject, context.storage);
    let operations = plan
        .operations
        .iter()
        .zip(&evidence.operations)
        .zip(&bound.operations)
        .map(|((planned, received), bound)| OperationReport {
            role: planned.role,
            program: position(&planned.program),
            installation: planned.program.executable.installation.clone(),
            invocation: received.invocation,
            ordinal: bound.ordinal,
            request: received.request.clone(),
            input: received.input.clone(),
            record: received.record.clone(),
            receipt: received.receipt.clone(),
            result: received.body.clone(),
            footprint: received.footprint.clone(),
            patch: received.patch.clone(),
            settlement: bound.settlement.clone(),
            checks: bound.checks.clone(),
        });
    Some(CaseEvidenceReport {
        index,
        host: hosts.iter().position(|it| it == host)?,
        context: ContextReport {
            nonce: context.nonce,
            worldline,
            storage: context.storage,
            grants: context.grants.clone(),
        },
        operations: operations.collect(),
        checks: binding::case_checks(plan),
    })
}
