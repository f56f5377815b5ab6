// SPDX-License-Identifier: Apache-2.0
//! From a plan and what came back for it to a verdict (R5, F1-F13).

use super::{Verdict, compare::compare};
use crate::{
    diagnostic::{Child, Detail},
    evidence::{
        BoundCase, BoundFailure, BoundOutcome, CaseEvidence, ExecutionStep, OutcomeKind, Terminal,
        bind_case,
    },
    failure::{Failure, FailureKind, Stage},
    ids::ContextNonce,
    obstruction,
    plan::{CasePlan, Expectation, Operation, OperationRole},
    run::{CaseEnding, ExecutionOutcome, ExecutionReport, ResultReport},
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
    .with_detail(Detail::Check(check_of(FailureKind::ForeignContext)))
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

/// How a case ends that declares a skip.
pub fn skipped() -> CaseEnding {
    CaseEnding {
        verdict: Verdict::Skipped,
        stage: Stage::Compare,
        kind: FailureKind::Skipped,
        detail: None,
    }
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

pub(super) fn end(judged: &mut Judged, failure: Failure) {
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
    Failure::new(Stage::Evidence, FailureKind::EvidenceMissing, message)
        .of_case(&plan.id)
        .with_detail(Detail::Check(check_of(FailureKind::EvidenceMissing)))
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
    failure.excerpt.clone_from(&bound.excerpt);
    failure.detail = detail(plan, bound, operation);
    match operation.map(|it| it.role) {
        Some(OperationRole::Setup(index)) => failure.in_setup(index),
        Some(OperationRole::Case) | None => failure,
    }
}

/// The check that a kind belongs to (F11), where it was found before the checks of an operation.
const fn check_of(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::EvidenceMalformed | FailureKind::EvidenceVersionUnsupported => "V2",
        FailureKind::ForeignContext | FailureKind::ForeignInvocation => "V4",
        FailureKind::ReplayedContext => "V10",
        FailureKind::HostBuildMismatch => "V11",
        FailureKind::BasisMismatch => "V12",
        FailureKind::SettlementMismatch => "V16",
        _ => "V1",
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
            child: bound
                .child
                .clone()
                .unwrap_or_else(|| Child::not_started("host")),
            host_code: bound.host_code.clone(),
        }),
        (Stage::Execute, FailureKind::WallTimeout) | (Stage::Cleanup, _) => {
            bound.child.clone().map(Detail::Child)
        }
        (Stage::Evidence, kind) => Some(Detail::Check(bound.check.unwrap_or(check_of(kind)))),
        _ => None,
    }
}
