// SPDX-License-Identifier: Apache-2.0
//! The TAP document that a run with this report printed, and whether a stream is that (M3).

use super::text;
use crate::tap::{Point, TapError, TapWriter};
use edict_codec::json::Json;
use edict_test_model::{
    FailureKind, Form, Verdict,
    failure::rule,
    report::ReadReport,
    run::{CaseReport, Class},
};

/// The document. The text of a bail-out is that of the primary record.
pub(super) fn tap(report: &ReadReport) -> String {
    let mut bytes = Vec::new();
    // A vector takes every line; an order that the writer refuses ends the document early.
    _ = write(report, &mut TapWriter::new(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn write(report: &ReadReport, writer: &mut TapWriter<&mut Vec<u8>>) -> Result<(), TapError> {
    let cases = &report.semantic.cases;
    let outcome = &report.semantic.summary.outcome;
    if !cases.is_empty() {
        writer.plan(cases.len())?;
    }
    let primary = outcome.primary.as_ref();
    // A suite in which every case is skipped has a plan and no point (F13).
    let unexecutable = primary.is_some_and(|it| it.kind == FailureKind::NoExecutableCases);
    if !unexecutable {
        for case in cases {
            let Some(point) = point(case) else { break };
            writer.point(point, &case.label, case.id.as_str())?;
        }
    }
    if outcome.class != Class::Infrastructure {
        return writer.finish();
    }
    let kind = primary.map_or(FailureKind::InternalError, |it| it.kind);
    writer.bail_out(kind.name(), &bail_text(report))
}

/// The point of a case; none for one that was not judged or that ended the run.
fn point(case: &CaseReport) -> Option<Point<'_>> {
    let ending = case.ending.as_ref()?;
    if rule(ending.stage, ending.kind).is_none_or(|rule| rule.form == Form::Bail) {
        return None;
    }
    Some(match (ending.verdict, &case.skip) {
        (Verdict::Passed, _) => Point::Ok,
        (Verdict::Skipped, Some(skip)) => Point::Skip {
            reason: &skip.reason,
            tracking_reference: &skip.tracking_reference,
        },
        _ => Point::NotOk,
    })
}

/// What the primary record says; for a failure confined to a case, the case and how many more.
fn bail_text(report: &ReadReport) -> String {
    let primary = report
        .diagnostics
        .iter()
        .find(|record| super::member(record, "primary") == Some(&Json::Bool(true)));
    let message = primary
        .and_then(|record| text(record, "message"))
        .unwrap_or("the run was not faithful");
    let confined =
        |stage, kind| rule(stage, kind).is_some_and(|rule| rule.form == Form::PointThenBail);
    let outcome = &report.semantic.summary.outcome;
    let Some(primary) = outcome
        .primary
        .as_ref()
        .filter(|it| confined(it.stage, it.kind))
    else {
        return message.to_owned();
    };
    let failed = report
        .semantic
        .cases
        .iter()
        .filter_map(|case| case.ending.as_ref())
        .filter(|ending| confined(ending.stage, ending.kind))
        .count();
    let case = primary
        .case
        .as_ref()
        .map(|case| format!("case {case}: "))
        .unwrap_or_default();
    match failed.saturating_sub(1) {
        0 => format!("{case}{message}"),
        more => format!("{case}{message} (and {more} more)"),
    }
}

/// Whether `stream` is the standard output of a run with this report: every line but the text of a
/// bail-out. A run that failed while it published has kept its last point back (M8).
///
/// # Errors
/// The first line that differs.
pub fn agrees(report: &ReadReport, stream: &[u8]) -> Result<(), String> {
    let stream = str::from_utf8(stream).map_err(|_| "the stream is no UTF-8".to_owned())?;
    let wanted = tap(report);
    if stream == wanted {
        return Ok(());
    }
    let kind = report.semantic.summary.outcome.primary.as_ref();
    let bail = kind.map(|it| format!("Bail out! {}: ", it.kind.name()));
    let lines = |text: &str| -> Vec<String> {
        text.split_inclusive('\n')
            .map(|line| match &bail {
                Some(bail) if line.starts_with(bail.as_str()) && line.ends_with('\n') => {
                    bail.clone()
                }
                _ => line.to_owned(),
            })
            .collect()
    };
    let (mut wanted, stream) = (lines(&wanted), lines(stream));
    if wanted == stream {
        return Ok(());
    }
    let cases = &report.semantic.cases;
    let held = !report.complete && bail.is_some() && cases.iter().all(|it| point(it).is_some());
    if held && wanted.len() > 3 {
        wanted.remove(wanted.len().saturating_sub(2));
        if wanted == stream {
            return Ok(());
        }
    }
    let differs = wanted
        .iter()
        .zip(&stream)
        .position(|(left, right)| left != right);
    let line = differs.unwrap_or(wanted.len().min(stream.len()));
    Err(format!(
        "line {} of the stream is not that of the report",
        line.saturating_add(1)
    ))
}
