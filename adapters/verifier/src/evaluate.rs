// SPDX-License-Identifier: Apache-2.0
//! The second evaluator behind the port `CrossCheck`: Core and an input in, an ending out.

use crate::{
    ReportVerifier, TASK,
    report::{digest, is, no_judgement, records},
    request::{self, ATOMS_AFTER, BODY, OUTPUT},
};
use edict_codec::{
    bounded::{BoundedReadError, read_all},
    digest::TypedDigest,
    json::{Node, Tree},
};
use edict_test_model::{
    built::Body,
    evidence::body_digest,
    failure::{Failure, FailureKind},
    package::Counters,
    ports::{CrossCheck, EvaluateRequest, Evaluation},
};
use edict_test_process::{Bounds, Ended, Task};
use std::{fs::File, path::Path};

/// The same program at its other work.
const EVALUATION: Task = Task {
    work: "evaluation",
    ..TASK
};

impl CrossCheck for ReportVerifier {
    fn evaluate(&self, request: &EvaluateRequest) -> Result<Evaluation, Failure> {
        self.with_inputs(&request::evaluation_files(request), |inputs| {
            let private = inputs.private();
            let bounds = Bounds {
                wall_timeout_ms: request.wall_timeout_ms,
                artifact_bytes: request.artifact_bytes,
            };
            let line = request::evaluation_line(request);
            let (ended, code) = EVALUATION.ask(self.place(inputs), &line, bounds)?;
            let answer = answer(&ended, code)?;
            EVALUATION.no_survivor(&ended)?;
            let body = output(private, BODY, request, &ended)?;
            if body_digest(&body.bytes) != answer.body {
                let message = "the verifier wrote another body than it answered";
                return Err(protocol(message, &ended));
            }
            let after = || output(private, ATOMS_AFTER, request, &ended);
            let evaluation = Evaluation {
                obstruction: answer.obstruction,
                body,
                consumed: answer.consumed,
                atoms: request.atoms.as_ref().map(|_| after()).transpose()?,
            };
            Ok((evaluation, ended.isolation))
        })
    }
}

/// The result record.
struct Answer {
    obstruction: Option<String>,
    body: TypedDigest,
    consumed: Counters,
}

fn answer(ended: &Ended, code: i32) -> Result<Answer, Failure> {
    if code != 0 {
        return Err(no_judgement(ended, code).unwrap_or_else(|reason| protocol(&reason, ended)));
    }
    let records = records(&ended.stdout).map_err(|reason| protocol(&reason, ended))?;
    match records.as_slice() {
        [record] => {
            read(record).ok_or_else(|| protocol("it is no result record of an evaluation", ended))
        }
        _ => Err(protocol("it is not exactly one record", ended)),
    }
}

fn read(record: &Node) -> Option<Answer> {
    let text = |name: &str| record.get(name).and_then(Node::as_text);
    if !is(record, "edict.verifier.result/v1", "verifierResult")
        || text("operation") != Some("evaluate")
    {
        return None;
    }
    let obstruction = match (text("outcome")?, &record.get("coordinate")?.tree) {
        ("result", Tree::Null) => None,
        ("obstruction", Tree::Text(coordinate)) => Some(coordinate.clone()),
        _ => return None,
    };
    let consumed = record.get("consumed")?;
    let counter = |name: &str| u64::try_from(consumed.get(name)?.as_integer()?).ok();
    Some(Answer {
        obstruction,
        body: digest(record.get("body")?)?,
        consumed: Counters {
            steps: counter("steps")?,
            allocated_bytes: counter("allocatedBytes")?,
            output_bytes: counter("outputBytes")?,
        },
    })
}

/// One file that an evaluation wrote.
fn output(
    private: &Path,
    name: &str,
    request: &EvaluateRequest,
    ended: &Ended,
) -> Result<Body, Failure> {
    let path = private.join(OUTPUT).join(name);
    let bytes = File::open(path)
        .map_err(BoundedReadError::from)
        .and_then(|mut file| read_all(&mut file, request.artifact_bytes));
    match bytes {
        Ok(bytes) => Ok(Body::new(bytes)),
        Err(BoundedReadError::TooLarge { .. }) => {
            Err(EVALUATION.too_many_bytes(request.artifact_bytes))
        }
        Err(BoundedReadError::Io(error)) => Err(protocol(
            &format!("its `{name}` cannot be read: {error}"),
            ended,
        )),
    }
}

fn protocol(reason: &str, ended: &Ended) -> Failure {
    let message = format!("the second evaluator's answer: {reason}");
    EVALUATION.failed(FailureKind::VerifierProtocol, &message, ended)
}
