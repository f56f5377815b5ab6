// SPDX-License-Identifier: Apache-2.0
//! A verified outcome against the expectation of its case (F8, 1.3).

use super::{
    Verdict,
    judge::{Judged, end},
};
use crate::{
    case_result,
    diagnostic::Detail,
    evidence::{BoundOutcome, Terminal},
    failure::{Failure, FailureKind, Stage},
    obstruction::{self, ObstructionMatch},
    plan::{CasePlan, Expectation},
    run::{CaseEnding, ResultReport},
};
use edict_codec::cbor::Value;

/// Compares a verified outcome with the expectation (F8).
pub(super) fn compare(plan: &CasePlan, terminal: &Terminal, judged: &mut Judged) {
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
    payload: &Value,
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
                let message = match judged.result.as_ref().map(|it| it.message.as_str()) {
                    None | Some("") => "an assertion of the program failed".to_owned(),
                    Some(text) => format!("an assertion of the program failed: {text}"),
                };
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
