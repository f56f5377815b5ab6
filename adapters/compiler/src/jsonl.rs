// SPDX-License-Identifier: Apache-2.0
//! Settings out, records in: what the answer of the compiler means (F7).

use crate::TASK;
use edict_codec::json::{Json, JsonLimits, Node, Span, parse, write_record};
use edict_test_model::{
    diagnostic::{Detail, SourceDiagnostic},
    failure::{Failure, FailureKind, Stage},
    ports::StagedFile,
};
use edict_test_process::{Capture, Ended};
use std::sync::Arc;

/// Kinds that say that the author is wrong (F7).
const REFUSALS: [&str; 6] = [
    "InvalidApplicationSource",
    "ApplicationCompilationFailed",
    "ApplicationCoordinateMismatch",
    "TargetLoweringFailed",
    "ResultProjectionUnavailable",
    "ProviderLowererRefused",
];
/// Diagnostics kept of a refusal (J3).
const MAX_DIAGNOSTICS: usize = 100;
/// Greatest nesting of a record: that of a request.
const DEPTH: usize = 64;

/// The one line that asks for a build.
pub(crate) fn request(document: &str) -> String {
    let settings = Json::object([
        ("schema", Json::text("edict.compiler.settings/v1")),
        ("type", Json::text("settings")),
        ("operation", Json::text("build")),
        ("application", Json::text(document)),
    ]);
    format!("{}\n", write_record(&settings))
}

/// Whether the records say, together with the exit code, that the build succeeded.
pub(crate) fn judge(ended: &Ended, code: i32, files: &[StagedFile]) -> Result<(), Failure> {
    let protocol = |reason: &str| {
        let message = format!("the compiler's answer: {reason}");
        TASK.failed(FailureKind::CompilerProtocol, &message, ended)
    };
    // Successes stand on standard output, failures on standard error; the other stream is no answer.
    let stream = if code == 0 {
        &ended.stdout
    } else {
        &ended.stderr
    };
    let records = records(stream).map_err(|reason| protocol(&reason))?;
    let Some((event, records)) = records.split_last() else {
        return Err(protocol("it holds no record"));
    };
    let stated = event.get("exitCode").and_then(Node::as_integer);
    if !is(event, "edict.cli.event/v1", "event") {
        return Err(protocol("the last record is no terminal event"));
    }
    match event.get("event").and_then(Node::as_text) {
        Some("completed") if code == 0 && stated == Some(0) => Ok(()),
        Some("failed") if code != 0 && stated == Some(code.into()) => {
            Err(refusal(records, ended, files))
        }
        _ => Err(protocol("the terminal event disagrees with the exit code")),
    }
}

fn refusal(records: &[Node], ended: &Ended, files: &[StagedFile]) -> Failure {
    let diagnostics: Vec<&Node> = records
        .iter()
        .filter(|record| is(record, "edict.cli.diagnostic/v1", "diagnostic"))
        .collect();
    let text = |name: &str| {
        let summary = diagnostics.last()?;
        summary.get(name).and_then(Node::as_text)
    };
    let kind = text("kind").unwrap_or_default();
    let message = text("message").unwrap_or_default();
    if !REFUSALS.contains(&kind) {
        let message = format!("the compiler failed: {kind}: {message}");
        return TASK.failed(FailureKind::CompilerFailed, &message, ended);
    }
    let message = format!("the compiler refuses the application: {kind}: {message}");
    Failure::new(Stage::Build, FailureKind::CompilerRefused, message).with_detail(Detail::Refused {
        failure_kind: kind.to_owned(),
        diagnostics: diagnostics
            .into_iter()
            .filter_map(|record| source_diagnostic(record, files))
            .take(MAX_DIAGNOSTICS)
            .collect(),
    })
}

/// A diagnostic about a place in a source; summaries are about none. The text is that of the file
/// that was staged under the name, whatever became of the copy.
fn source_diagnostic(record: &Node, files: &[StagedFile]) -> Option<SourceDiagnostic> {
    let text = |name: &str| Some(record.get(name)?.as_text()?.to_owned());
    let number = |node: &Node, name: &str| u64::try_from(node.get(name)?.as_integer()?).ok();
    let span = record.get("span")?;
    let file = text("file")?;
    let staged = files.iter().find(|it| it.path.as_str() == file);
    Some(SourceDiagnostic {
        text: staged.map(|it| Arc::clone(&it.bytes)),
        file,
        span: Span {
            start: usize::try_from(number(span, "start")?).ok()?,
            end: usize::try_from(number(span, "end")?).ok()?,
        },
        line: number(record, "line")?,
        column: number(record, "column")?,
        stage: text("stage")?,
        kind: text("kind")?,
        message: text("message")?,
        help: text("help"),
    })
}

fn is(record: &Node, schema: &str, kind: &str) -> bool {
    let text = |name: &str| record.get(name).and_then(Node::as_text);
    text("schema") == Some(schema) && text("type") == Some(kind)
}

/// The records of a stream. Of one that was cut in the middle, the records of both ends.
fn records(stream: &Capture) -> Result<Vec<Node>, String> {
    let mut records = Vec::new();
    if let Some(bytes) = stream.complete() {
        lines(&bytes, &mut records)?;
        return Ok(records);
    }
    let (head, tail) = (stream.head(), stream.tail());
    let end = head.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    lines(head.get(..end).unwrap_or_default(), &mut records)?;
    let start = tail.iter().position(|byte| *byte == b'\n');
    let start = start.map_or(tail.len(), |at| at.saturating_add(1));
    lines(tail.get(start..).unwrap_or_default(), &mut records)?;
    Ok(records)
}

fn lines(bytes: &[u8], records: &mut Vec<Node>) -> Result<(), String> {
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.is_empty() {
            continue;
        }
        let limits = JsonLimits {
            bytes: line.len(),
            depth: DEPTH,
        };
        let record =
            parse(line, limits).map_err(|error| format!("a line is no record: {error}"))?;
        if record.as_object().is_none() {
            return Err("a line is no JSON object".to_owned());
        }
        records.push(record);
    }
    Ok(())
}
