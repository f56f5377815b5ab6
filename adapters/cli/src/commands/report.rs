// SPDX-License-Identifier: Apache-2.0
//! `report verify|diff|export`: reports read back, recomputed, compared and rewritten (C6, C7).

mod files;

use super::{Answer, Problems};
use crate::{
    args::{ExportFormat, ReportCommand},
    wire::read_argument,
};
use edict_codec::json::Json;
use edict_test_model::{
    Failure, FailureKind, Stage,
    report::{
        BodyBytes, CheckOutcome, ReadReport, ReportCheck, Verification, diff::diff, verify::verify,
    },
};
use edict_test_reporters::{
    export::{Format, agrees, export, page},
    offline::{diff_json, diff_text, verification_json, verification_text},
};
use edict_test_store::file::write_new;
use files::{Found, bodies, document, find, suite};
use std::path::Path;

/// Greatest length of a standard output in bytes: a plan of 1,024 lines of 8,192 bytes, and more.
const MAX_TAP: u64 = 16 << 20;

/// Carries out an action.
pub(super) fn report(command: &ReportCommand) -> Result<Answer, Problems> {
    let answer = match command {
        ReportCommand::Verify {
            report,
            artifact_store,
            suite,
            tap,
            require_green,
            json,
        } => verified(
            report,
            artifact_store.as_deref(),
            (suite.as_deref(), tap.as_deref()),
            (*require_green, *json),
        ),
        ReportCommand::Diff { a, b, json } => compared(a, b, *json),
        ReportCommand::Export {
            report,
            to,
            against,
            artifact_store,
            out,
        } => exported(
            report,
            artifact_store.as_deref(),
            (*to, against.as_deref()),
            out.as_deref(),
        ),
    };
    answer.map_err(|failure| vec![failure])
}

fn verified(
    path: &Path,
    artifacts: Option<&Path>,
    (manifest, tap): (Option<&Path>, Option<&Path>),
    (require_green, json): (bool, bool),
) -> Result<Answer, Failure> {
    let bytes = match find(path)? {
        Found::Report(bytes) => bytes,
        Found::Journal(told) => return Ok(unfinished(&told, json)),
    };
    let (report, bodies) = read(path, artifacts, &bytes)?;
    let suite = manifest.map(suite).transpose()?;
    let mut verification = verify(&report, &bodies, suite.as_ref());
    if let Some(tap) = tap {
        let stream = read_argument(tap, MAX_TAP)?;
        let outcome = match agrees(&report, &stream) {
            Ok(()) => CheckOutcome::Passed,
            Err(message) => CheckOutcome::Failed(message),
        };
        verification.checks.push(ReportCheck {
            subject: "report".to_owned(),
            name: "tap".to_owned(),
            outcome,
            stated: false,
        });
    }
    let status = verification.exit_status(require_green);
    let answer = if json {
        Answer::json(&verification_json(&verification))
    } else {
        Answer::text(verification_text(&verification))
    };
    Ok(answer.with_status(status))
}

/// What is said of a run of which only the journal is left (M9).
fn unfinished(told: &str, json: bool) -> Answer {
    let answer = if json {
        Answer::json(&Json::object([
            ("schema", Json::text("edict.test.report-verification/v1")),
            ("complete", Json::Bool(false)),
            ("class", Json::Null),
            ("green", Json::Bool(false)),
            (
                "checks",
                Json::Array(vec![Json::object([
                    ("subject", Json::text("report")),
                    ("name", Json::text("complete")),
                    ("result", Json::text("notMade")),
                    ("recorded", Json::Null),
                    ("message", Json::text(told)),
                ])]),
            ),
        ]))
    } else {
        Answer::text(format!("notMade report complete: {told}\n"))
    };
    answer.with_status(2)
}

/// A report with the bytes of its bodies.
fn read(
    path: &Path,
    artifacts: Option<&Path>,
    bytes: &[u8],
) -> Result<(ReadReport, BodyBytes), Failure> {
    let document = document(path, bytes)?;
    let bodies = bodies(path, artifacts, document.bodies())?;
    let report = document
        .read(&bodies)
        .map_err(|error| files::rejected(path, error))?;
    Ok((report, bodies))
}

fn compared(a: &Path, b: &Path, json: bool) -> Result<Answer, Failure> {
    // A difference is one of what the reports say; no body is needed for it.
    let read = |path: &Path| match find(path)? {
        Found::Report(bytes) => document(path, &bytes)?
            .read(&BodyBytes::new())
            .map_err(|error| files::rejected(path, error)),
        Found::Journal(told) => Err(files::unusable(path, &told)),
    };
    let difference = diff(&read(a)?, &read(b)?).map_err(|error| {
        Failure::new(Stage::Arguments, FailureKind::UsageError, error.to_string())
    })?;
    let answer = if json {
        Answer::json(&diff_json(&difference))
    } else {
        Answer::text(diff_text(&difference))
    };
    Ok(answer.with_status(u8::from(!difference.equal)))
}

fn exported(
    path: &Path,
    artifacts: Option<&Path>,
    (to, against): (ExportFormat, Option<&Path>),
    out: Option<&Path>,
) -> Result<Answer, Failure> {
    if against.is_some() && to != ExportFormat::Html {
        let message = "--against goes with --to html, which alone says why";
        return Err(Failure::new(
            Stage::Arguments,
            FailureKind::UsageError,
            message,
        ));
    }
    let bytes = match find(path)? {
        Found::Report(bytes) => bytes,
        Found::Journal(told) => return Err(files::unusable(path, &told)),
    };
    let (report, bodies) = read(path, artifacts, &bytes)?;
    if let Some(check) = unverified(&verify(&report, &bodies, None)) {
        let told = format!(
            "{} {} is {}{}; only a verified report is exported",
            check.subject,
            check.name,
            check.outcome.name(),
            check
                .outcome
                .message()
                .map(|it| format!(": {it}"))
                .unwrap_or_default(),
        );
        return Err(files::unusable(path, &told));
    }
    let text = match against {
        Some(earlier) => page(&report, &super::why::between(earlier, path)?),
        None => export(&report, format(to)),
    };
    let Some(out) = out else {
        return Ok(Answer::text(text));
    };
    write_new(out, text.as_bytes()).map_err(|error| {
        Failure::new(
            Stage::Arguments,
            FailureKind::UsageError,
            format!("{error}; choose another name"),
        )
    })?;
    Ok(Answer::text(String::new()))
}

/// The check that keeps a report from being exported: a failed one; of a complete report also one
/// that was not made, and of any report the bodies.
fn unverified(verification: &Verification) -> Option<ReportCheck> {
    verification
        .checks
        .iter()
        .find(|check| match check.outcome {
            CheckOutcome::Failed(_) => !check.stated,
            CheckOutcome::NotMade(_) => verification.complete || check.name == "bodies",
            CheckOutcome::Passed | CheckOutcome::Recorded(_) => false,
        })
        .cloned()
}

const fn format(format: ExportFormat) -> Format {
    match format {
        ExportFormat::Tap => Format::Tap,
        ExportFormat::Junit => Format::Junit,
        ExportFormat::Markdown => Format::Markdown,
        ExportFormat::Github => Format::Github,
        ExportFormat::Html => Format::Html,
        ExportFormat::InToto => Format::InToto,
    }
}
