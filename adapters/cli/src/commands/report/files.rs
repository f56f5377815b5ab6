// SPDX-License-Identifier: Apache-2.0
//! The files of a report: itself, its journal, its bodies, and the suite it is held against.

use crate::wire::read_argument;
use edict_codec::{
    bounded::{Budget, ByteLimit},
    json::Node,
};
use edict_test_model::{
    Failure, FailureKind, Locator, Stage,
    limits::Limit,
    ports::SnapshotPort as _,
    report::{BodyBytes, BodyEntry, MAX_REPORT_BYTES, ReportDocument, SuiteContent},
    suite::DocumentError,
};
use edict_test_snapshot::SuiteRoot;
use edict_test_store::journal::read_records;
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

/// What stands at the place of a report.
pub(super) enum Found {
    /// A report, or something that should be one.
    Report(Arc<[u8]>),
    /// No report, but the journal of a run that did not come to its end; a sentence about it.
    Journal(String),
}

/// Reads a report. Where there is none, the journal beside it tells that its run was ended (M9).
///
/// # Errors
/// The reason why neither can be read.
pub(super) fn find(path: &Path) -> Result<Found, Failure> {
    let limit = MAX_REPORT_BYTES as u64;
    let report = read_argument(path, limit);
    let journal = match &report {
        Ok(bytes) => told(bytes),
        Err(_) => read_argument(&suffixed(path, ".journal"), limit)
            .ok()
            .map(|bytes| told(&bytes).unwrap_or_else(|| broken(&bytes))),
    };
    match journal {
        Some(told) => Ok(Found::Journal(told)),
        None => report.map(Found::Report),
    }
}

fn suffixed(path: &Path, suffix: &str) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// A sentence about a journal; `None` for bytes that are none.
fn told(bytes: &[u8]) -> Option<String> {
    let journal = read_records(bytes).ok()?;
    let first = journal.records.first()?;
    let all = first
        .get("ids")
        .and_then(Node::as_array)
        .map_or(0, <[Node]>::len);
    let of_type = |name: &str| {
        let kind = |record: &&Node| record.get("type").and_then(Node::as_text) == Some(name);
        journal.records.iter().filter(kind).count()
    };
    let (cases, attempts) = (of_type("case"), of_type("attempt"));
    let torn = if journal.torn {
        ", its last record torn"
    } else {
        ""
    };
    Some(format!(
        "incomplete: only the journal of the run is there, with {cases} of {all} cases judged and \
         {attempts} attempted{torn}"
    ))
}

/// A journal whose chain does not hold, or that has not begun, is incomplete all the same.
fn broken(bytes: &[u8]) -> String {
    match read_records(bytes) {
        Ok(_) => "incomplete: the run ended before its journal began".to_owned(),
        Err(fault) => format!("incomplete: only a journal is there, and {fault}"),
    }
}

/// The outermost shape of a report.
///
/// # Errors
/// The rejection of the reader.
pub(super) fn document(path: &Path, bytes: &[u8]) -> Result<ReportDocument, Failure> {
    ReportDocument::parse(bytes).map_err(|error| rejected(path, error))
}

/// The failure of a report that the reader rejects.
pub(super) fn rejected(path: &Path, error: DocumentError) -> Failure {
    error.into_failure(Stage::Report, &path.display().to_string())
}

/// The failure of a report that cannot be used for what was asked.
pub(super) fn unusable(path: &Path, told: &str) -> Failure {
    let message = format!("`{}`: {told}", path.display());
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}

/// The bytes of the listed bodies that are there, at most 256 MiB of them. A body of another length
/// than is listed gets bytes that no check takes for it.
///
/// # Errors
/// `ArtifactBytesExceeded` before anything is read.
pub(super) fn bodies(
    path: &Path,
    artifacts: Option<&Path>,
    entries: &[BodyEntry],
) -> Result<BodyBytes, Failure> {
    let limit = Limit::ArtifactBytes.ceiling();
    let mut budget = Budget::new(limit);
    if !entries.iter().all(|entry| budget.take(entry.byte_length)) {
        let message = format!("the bodies have more than {limit} bytes");
        return Err(Failure::new(
            Stage::Report,
            FailureKind::ArtifactBytesExceeded,
            message,
        ));
    }
    let directory = artifacts.map_or_else(|| suffixed(path, ".artifacts"), Path::to_path_buf);
    let Ok(root) = SuiteRoot::open(&directory) else {
        return Ok(BodyBytes::new());
    };
    let bytes = entries.iter().filter_map(|entry| {
        let locator = Locator::parse(&BodyEntry::expected_path(&entry.blob)).ok()?;
        let bytes: Arc<[u8]> = match root.read(&locator, ByteLimit::new(entry.byte_length)) {
            Ok(file) => file.bytes,
            Err(error) if error.kind.is_none() => Arc::from(match entry.byte_length {
                1 => &b"no"[..],
                _ => &b"n"[..],
            }),
            Err(_) => return None,
        };
        Some((*entry.blob.bytes(), bytes))
    });
    Ok(bytes.collect())
}

/// A suite with everything it names.
///
/// # Errors
/// The first file or document that is unusable.
pub(super) fn suite(manifest: &Path) -> Result<SuiteContent, Failure> {
    let bytes = read_argument(manifest, Limit::ManifestBytes.ceiling())?;
    let (root, _) =
        SuiteRoot::of_manifest(manifest).map_err(|error| unusable(manifest, &error.message))?;
    let read = |locator: &Locator| match root
        .read(locator, ByteLimit::new(Limit::FixtureBytes.ceiling()))
    {
        Ok(file) => Ok(file.bytes.to_vec()),
        Err(error) => Err(error.message),
    };
    SuiteContent::read(&bytes, &read).map_err(|error| unusable(manifest, &error.to_string()))
}
