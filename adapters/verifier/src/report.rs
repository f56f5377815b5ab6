// SPDX-License-Identifier: Apache-2.0
//! What the verifier answered and what it wrote.

use crate::{
    TASK,
    request::{OUTPUT, REPORT},
};
use edict_codec::{
    bounded::{BoundedReadError, read_all},
    digest::{Algorithm, TypedDigest},
    hex,
    json::{JsonLimits, Node, Tree, parse},
};
use edict_test_model::{
    built::{Artifact, ArtifactRole, Disagreement, VerificationOutcome, Verified},
    diagnostic::Detail,
    failure::{Failure, FailureKind, Stage},
    ports::VerifyRequest,
};
use edict_test_process::{Capture, Ended};
use std::{
    fs::{self, File},
    path::Path,
};

/// Greatest nesting of a record: that of a request.
const DEPTH: usize = 64;
/// Exit code of a verifier that accepted.
const ACCEPTED: i32 = 0;
/// Exit code of a verifier that rejected.
const REJECTED: i32 = 1;

/// The result record.
#[derive(Debug)]
pub(crate) struct Judgement {
    outcome: VerificationOutcome,
    disagreement: Option<Disagreement>,
    report: TypedDigest,
}

/// The judgement that record and exit code state together.
pub(crate) fn judge(ended: &Ended, code: i32) -> Result<Judgement, Failure> {
    let protocol = |reason: &str| {
        let message = format!("the verifier's answer: {reason}");
        TASK.failed(FailureKind::VerifierProtocol, &message, ended)
    };
    if !matches!(code, ACCEPTED | REJECTED) {
        return Err(no_judgement(ended, code).unwrap_or_else(|reason| protocol(&reason)));
    }
    let records = records(&ended.stdout).map_err(|reason| protocol(&reason))?;
    let [record] = records.as_slice() else {
        return Err(protocol("it is not exactly one record"));
    };
    let judgement =
        judgement(record).ok_or_else(|| protocol("it is no result record of a verification"))?;
    let stated = match judgement.outcome {
        VerificationOutcome::Accepted => ACCEPTED,
        VerificationOutcome::Rejected => REJECTED,
    };
    if stated == code {
        Ok(judgement)
    } else {
        Err(protocol("its outcome disagrees with the exit code"))
    }
}

/// Reads the report that the judgement names.
pub(crate) fn read(
    private: &Path,
    judgement: Judgement,
    request: &VerifyRequest,
    ended: &Ended,
) -> Result<Verified, Failure> {
    let directory = private.join(OUTPUT);
    let path = directory.join(REPORT);
    // Nothing changes the directory any more: the process tree of the verifier is gone.
    if !fs::symlink_metadata(&path).is_ok_and(|it| it.is_file()) {
        let message = format!("the verifier answered without writing `{REPORT}`");
        return Err(about(FailureKind::VerificationReportMissing, message));
    }
    if fs::read_dir(&directory).is_ok_and(|entries| entries.count() > 1) {
        let message = "the verifier wrote more than its report";
        return Err(TASK.failed(FailureKind::VerifierProtocol, message, ended));
    }
    let bytes = File::open(&path)
        .map_err(BoundedReadError::from)
        .and_then(|mut file| read_all(&mut file, request.artifact_bytes))
        .map_err(|error| match error {
            BoundedReadError::TooLarge { .. } => TASK.too_many_bytes(request.artifact_bytes),
            BoundedReadError::Io(error) => about(
                FailureKind::VerificationReportInvalid,
                format!("read the verification report: {error}"),
            ),
        })?;
    let role = ArtifactRole::VerificationReport;
    let report = Artifact::item(role, role.domain().unwrap_or_default(), bytes)
        .map_err(|error| about(FailureKind::VerificationReportInvalid, error.to_string()))?;
    if report.identity != judgement.report {
        let message = "the verifier wrote another report than it answered";
        return Err(TASK
            .failed(FailureKind::VerifierProtocol, message, ended)
            .mismatch(&judgement.report, &report.identity));
    }
    Ok(Verified {
        report,
        outcome: judgement.outcome,
        disagreement: judgement.disagreement,
    })
}

/// A verifier that could not judge says why on standard error.
pub(crate) fn no_judgement(ended: &Ended, code: i32) -> Result<Failure, String> {
    let records = records(&ended.stderr)?;
    let reason = records
        .iter()
        .rev()
        .find(|record| is(record, "edict.cli.diagnostic/v1", "diagnostic"))
        .ok_or_else(|| format!("exit code {code} without a diagnostic record"))?;
    let text = |name: &str| reason.get(name).and_then(Node::as_text).unwrap_or_default();
    let message = format!("the verifier failed: {}: {}", text("kind"), text("message"));
    Ok(TASK.failed(FailureKind::VerifierFailed, &message, ended))
}

fn judgement(record: &Node) -> Option<Judgement> {
    let text = |name: &str| record.get(name).and_then(Node::as_text);
    if !is(record, "edict.verifier.result/v1", "verifierResult")
        || text("operation") != Some("verify")
    {
        return None;
    }
    let named = |name: &str| {
        matches!(
            record.get(name).map(|it| &it.tree),
            Some(Tree::Null | Tree::Text(_))
        )
    };
    let outcome = match text("outcome")? {
        "accepted" if text("kind").is_none() => VerificationOutcome::Accepted,
        "rejected" => VerificationOutcome::Rejected,
        _ => return None,
    };
    (named("kind") && named("path")).then_some(())?;
    Some(Judgement {
        outcome,
        disagreement: text("kind").map(|kind| Disagreement {
            kind: kind.to_owned(),
            path: text("path").unwrap_or_default().to_owned(),
        }),
        report: digest(record.get("report")?)?,
    })
}

pub(crate) fn digest(node: &Node) -> Option<TypedDigest> {
    let text = |name: &str| node.get(name).and_then(Node::as_text);
    Some(TypedDigest::new(
        text("domain")?,
        Algorithm::from_name(text("algorithm")?)?,
        hex::decode_32(text("bytes")?)?,
    ))
}

pub(crate) fn is(record: &Node, schema: &str, kind: &str) -> bool {
    let text = |name: &str| record.get(name).and_then(Node::as_text);
    text("schema") == Some(schema) && text("type") == Some(kind)
}

pub(crate) fn records(stream: &Capture) -> Result<Vec<Node>, String> {
    let bytes = stream
        .complete()
        .ok_or_else(|| format!("it has {} bytes", stream.total()))?;
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| {
            let limits = JsonLimits {
                bytes: line.len(),
                depth: DEPTH,
            };
            let record = parse(line, limits);
            record.map_err(|error| format!("a line is no record: {error}"))
        })
        .collect()
}

fn about(kind: FailureKind, message: String) -> Failure {
    Failure::new(Stage::Verify, kind, message).with_detail(Detail::Name(REPORT.to_owned()))
}
