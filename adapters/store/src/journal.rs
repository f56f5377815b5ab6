// SPDX-License-Identifier: Apache-2.0
//! The journal beside a report: one chained record a line, on the disk before it counts (M6).

use crate::{
    disk::{read_head, suffixed},
    publish::{ExistingReport, report_exists},
};
use edict_codec::{
    bounded::ByteLimit,
    digest::derive,
    hex,
    json::{Json, JsonLimits, Node, parse, write_record},
};
use edict_test_model::{
    diagnostic::Detail,
    failure::{Failure, FailureKind, Stage},
};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// Schema of the first record.
pub const SCHEMA: &str = "edict.test.journal/v1";
/// Context of the chain.
const CHAIN: &str = "edict.test/journal/v1";
/// Bytes of a journal that is looked at before it is replaced: its first record.
const HEAD: u64 = 1_048_576;
/// Nesting of a record: that of a report, and one more.
const DEPTH: usize = 33;

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    seq: u64,
    prev: [u8; 32],
    bytes: u64,
}

impl Journal {
    /// Creates `REPORT.journal`, which must not exist; with `Replace` a journal of ours is replaced.
    ///
    /// # Errors
    /// `ReportExists`, `ReportPathUnusable`, of stage `arguments`.
    pub fn create(report: &Path, existing: ExistingReport) -> Result<Self, Failure> {
        let path = suffixed(report, ".journal");
        let shown = path.display();
        let open = || OpenOptions::new().append(true).create_new(true).open(&path);
        let opened = match open() {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if existing == ExistingReport::Refuse || !is_journal(&path) {
                    return Err(report_exists(Stage::Arguments, &path));
                }
                fs::remove_file(&path).and_then(|()| open())
            }
            opened => opened,
        };
        let file = opened.map_err(|error| {
            let message = format!("create the journal `{shown}`: {error}");
            Failure::new(Stage::Arguments, FailureKind::ReportPathUnusable, message)
        })?;
        Ok(Self {
            file,
            path,
            seq: 0,
            prev: [0; 32],
            bytes: 0,
        })
    }

    /// Bytes written so far; they count towards `maxReportBytes`.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a record of type `kind` and waits until it is on the disk. The journal holds at most
    /// `limit` bytes.
    ///
    /// # Errors
    /// `ReportTooLarge` before anything is written, or `JournalWriteFailed`.
    pub fn append(
        &mut self,
        kind: &str,
        members: Vec<(String, Json)>,
        limit: ByteLimit,
    ) -> Result<(), Failure> {
        let mut record = vec![
            ("seq".to_owned(), Json::unsigned(self.seq)),
            ("prev".to_owned(), Json::text(hex::encode(&self.prev))),
            ("type".to_owned(), Json::text(kind)),
        ];
        record.extend(members);
        let line = write_record(&Json::object(record));
        let total = self
            .bytes
            .saturating_add(line.len() as u64)
            .saturating_add(1);
        if total > limit.get() {
            let message = format!("report and journal are larger than {} bytes", limit.get());
            let detail = Detail::Limit {
                limit: limit.get(),
                actual: Some(total),
            };
            return Err(
                Failure::new(Stage::Report, FailureKind::ReportTooLarge, message)
                    .with_detail(detail),
            );
        }
        let written = self
            .file
            .write_all(format!("{line}\n").as_bytes())
            .and_then(|()| self.file.sync_data());
        written.map_err(|error| {
            let message = format!("write the journal `{}`: {error}", self.path.display());
            Failure::new(Stage::Report, FailureKind::JournalWriteFailed, message)
        })?;
        self.prev = derive(CHAIN, line.as_bytes());
        self.seq = self.seq.saturating_add(1);
        self.bytes = total;
        Ok(())
    }

    /// Removes the journal: its report is published (M7, step 8).
    ///
    /// # Errors
    /// `JournalWriteFailed`.
    pub fn remove(self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|error| {
            let message = format!("remove the journal `{}`: {error}", self.path.display());
            Failure::new(Stage::Report, FailureKind::JournalWriteFailed, message)
        })
    }
}

/// A journal that was read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalRecords {
    /// The records in order.
    pub records: Vec<Node>,
    /// Whether a last line without an end was left out: the run was killed while writing it.
    pub torn: bool,
}

/// Why a file is no journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the journal: {reason}")]
pub struct JournalFault {
    /// Line from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads a journal and follows its chain.
///
/// # Errors
/// [`JournalFault`] at the first line that is no record, out of sequence, or does not continue the
/// line before; also for a first record that is no `begin` of this schema.
pub fn read_records(bytes: &[u8]) -> Result<JournalRecords, JournalFault> {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let whole = end.map_or(&[][..], |end| bytes.get(..end).unwrap_or_default());
    let torn = end.map_or(!bytes.is_empty(), |end| end.saturating_add(1) < bytes.len());
    let mut records = Vec::new();
    let mut prev = [0; 32];
    if end.is_some() {
        for (index, line) in whole.split(|byte| *byte == b'\n').enumerate() {
            let record = record(line, index, &prev).map_err(|reason| JournalFault {
                line: index.saturating_add(1),
                reason,
            })?;
            prev = derive(CHAIN, line);
            records.push(record);
        }
    }
    Ok(JournalRecords { records, torn })
}

fn record(line: &[u8], index: usize, prev: &[u8; 32]) -> Result<Node, String> {
    let limits = JsonLimits {
        bytes: line.len(),
        depth: DEPTH,
    };
    let record = parse(line, limits).map_err(|error| error.to_string())?;
    let text = |name: &str| record.get(name).and_then(Node::as_text);
    let seq = record.get("seq").and_then(Node::as_integer);
    if seq.and_then(|seq| usize::try_from(seq).ok()) != Some(index) {
        return Err("its `seq` is out of order".to_owned());
    }
    if text("prev") != Some(hex::encode(prev).as_str()) {
        return Err("it does not continue the line before".to_owned());
    }
    let Some(kind) = text("type") else {
        return Err("it has no `type`".to_owned());
    };
    if index == 0 && (kind != "begin" || text("schema") != Some(SCHEMA)) {
        return Err(format!("the first record is no `begin` of `{SCHEMA}`"));
    }
    Ok(record)
}

/// Whether `path` is a regular file that begins like a journal. An empty one is that of a run that was
/// killed before its first record.
fn is_journal(path: &Path) -> bool {
    let Ok(head) = read_head(path, HEAD) else {
        return false;
    };
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    head.is_empty() || record(first, 0, &[0; 32]).is_ok()
}
