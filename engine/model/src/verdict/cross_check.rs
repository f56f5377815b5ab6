// SPDX-License-Identifier: Apache-2.0
//! A verified outcome against a second evaluation of the same Core on the same input.

use super::judge::{Judged, end};
use crate::{
    built::Body,
    evidence::{BoundOutcome, Terminal, body_digest},
    failure::{Failure, FailureKind, Stage},
    plan::{CasePlan, OperationRole},
    ports::Evaluation,
};

/// Takes the verdict from a case whose host and second evaluator do not agree in result,
/// obstruction, payload and every counter of its operation number `at`. Without an evaluation there is no agreement: only a stop
/// and what cannot be cleaned up keep their own kind, as they take nothing from a verified outcome.
pub fn cross_checked(
    plan: &CasePlan,
    mut judged: Judged,
    at: usize,
    evaluated: &Result<Evaluation, Failure>,
) -> Judged {
    let operation = judged.bound.operations.get(at);
    let Some(terminal) = operation.and_then(|it| it.terminal.as_ref()) else {
        return judged;
    };
    let failure = match evaluated {
        Ok(evaluation) => disagreement(terminal, evaluation),
        Err(failure) if failure.verdict().is_none() => {
            judged.failure = Some(Failure::clone(failure).of_case(&plan.id));
            return judged;
        }
        Err(failure) => Some(no_evaluation(failure)),
    };
    if let Some(mut failure) = failure {
        let role = plan.operations.get(at).map(|it| it.role);
        if let Some(index) = role.and_then(OperationRole::setup_index) {
            failure.message = format!("setup operation {index}: {}", failure.message);
        }
        // What one of two evaluators denies is no verified outcome.
        judged.execution = None;
        judged.result = None;
        end(&mut judged, failure.of_case(&plan.id));
    }
    judged
}

fn no_evaluation(failure: &Failure) -> Failure {
    let message = format!("there is no second evaluation: {}", failure.message);
    let mut disagreement = disagrees(message);
    disagreement.excerpt.clone_from(&failure.excerpt);
    disagreement
}

fn disagreement(terminal: &Terminal, evaluation: &Evaluation) -> Option<Failure> {
    let (obstruction, body): (Option<&str>, &Body) = match &terminal.outcome {
        BoundOutcome::Result { body, .. } => (None, body),
        BoundOutcome::Obstruction {
            coordinate, body, ..
        } => (Some(coordinate), body),
    };
    let ending = |it: Option<&str>| it.map_or("a result".to_owned(), |it| format!("`{it}`"));
    if obstruction != evaluation.obstruction.as_deref() {
        return Some(disagrees(format!(
            "the host ended in {}, the second evaluator in {}",
            ending(obstruction),
            ending(evaluation.obstruction.as_deref())
        )));
    }
    if body.bytes != evaluation.body.bytes {
        let (host, second) = (
            body_digest(&body.bytes),
            body_digest(&evaluation.body.bytes),
        );
        let message = format!("{} has another body than Core gives", ending(obstruction));
        return Some(disagrees(message).mismatch(&second, &host));
    }
    let (host, second) = (terminal.consumed, evaluation.consumed);
    let counters = |it: crate::package::Counters| {
        format!(
            "{} steps, {} allocated and {} output bytes",
            it.steps, it.allocated_bytes, it.output_bytes
        )
    };
    (host != second).then(|| {
        disagrees(format!(
            "the host consumed {}, the second evaluator {}",
            counters(host),
            counters(second)
        ))
    })
}

fn disagrees(message: String) -> Failure {
    Failure::new(Stage::Evidence, FailureKind::EvaluatorDisagreement, message)
}
