// SPDX-License-Identifier: Apache-2.0
//! Diagnostics `edict.test.diagnostic/v1`: bounded JSONL for machines, text for people (J1–J3).

mod documents;
mod excerpt;
mod record;
mod shown;
mod text;

pub use documents::Documents;
pub use record::record;

use edict_codec::json::{Json, write_record};
use edict_test_model::{Detail, Diagnostic, Severity, Stage, WarningKind, diagnostic::Notice};
use std::{fmt::Write as _, io::Write};

/// Greatest length of one line in bytes.
pub const MAX_LINE_BYTES: usize = 16 * 1024;
/// Greatest number of records of one run, the last one of kind `DiagnosticsTruncated` left out.
pub const MAX_RECORDS: usize = 1_000;
/// Greatest number of bytes of one run.
pub const MAX_BYTES: usize = 1024 * 1024;

/// How diagnostics are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// One JSON object a line.
    Jsonl,
    /// Rendered text; `color` is decided by the caller.
    Human {
        /// Whether terminal colors are written.
        color: bool,
    },
}

/// Writes diagnostics to a stream whose loss changes no verdict.
#[derive(Debug)]
pub struct DiagnosticWriter<W> {
    output: W,
    style: Style,
    documents: Documents,
    kept: Vec<Json>,
    bytes: usize,
    dropped: u64,
    lost: u64,
    /// Whether the primary failure was written; until then there is room for it.
    primary: bool,
}

impl<W: Write> DiagnosticWriter<W> {
    /// A writer that has written nothing.
    pub fn new(output: W, style: Style) -> Self {
        Self {
            output,
            style,
            documents: Documents::default(),
            kept: Vec::new(),
            bytes: 0,
            dropped: 0,
            lost: 0,
            primary: false,
        }
    }

    /// The documents in which failures are placed from now on.
    pub fn documents(&mut self) -> &mut Documents {
        &mut self.documents
    }

    /// Writes one record, or counts it as dropped when a bound of the run is reached. The primary
    /// failure may come after any number of others and is never the one that is dropped.
    pub fn write(&mut self, diagnostic: &Diagnostic) {
        let diagnostic = &match diagnostic {
            Diagnostic::Failure { failure, primary } => Diagnostic::Failure {
                failure: self.documents.place(failure),
                primary: *primary,
            },
            Diagnostic::Notice(_) => diagnostic.clone(),
        };
        let (json, line) = fitted(self.kept.len() as u64, diagnostic);
        self.primary |= matches!(diagnostic, Diagnostic::Failure { primary: true, .. });
        let (records, bytes) = if self.primary {
            (MAX_RECORDS, MAX_BYTES - MAX_LINE_BYTES)
        } else {
            (MAX_RECORDS - 1, MAX_BYTES - 2 * MAX_LINE_BYTES)
        };
        if self.kept.len() >= records
            || line.len() > MAX_LINE_BYTES
            || self.bytes + line.len() > bytes
        {
            self.dropped += 1;
            return;
        }
        self.emit(json, &line, diagnostic);
    }

    /// Writes the record that says how many were dropped, if any were, and gives all records.
    pub fn finish(mut self) -> Vec<Json> {
        if let Some(diagnostic) = self.truncated() {
            let json = record(self.kept.len() as u64, &diagnostic);
            let line = guarded(&json);
            self.emit(json, &line, &diagnostic);
        }
        self.kept
    }

    /// The records so far, as they stand in the report: if some were dropped, it says so too.
    pub fn records(&self) -> Vec<Json> {
        let last = self.truncated().map(|diagnostic| {
            let seq = self.kept.len() as u64;
            record(seq, &diagnostic)
        });
        self.kept.iter().cloned().chain(last).collect()
    }

    /// The record of the primary failure alone, counted from 0 as numbers have no gaps (J2).
    pub fn primary_alone(&self) -> Vec<Json> {
        let alone = self.kept.iter().filter_map(|record| {
            let Json::Object(members) = record else {
                return None;
            };
            let stands = |(name, value): &(_, _)| name == "primary" && *value == Json::Bool(true);
            members.iter().any(stands).then(|| {
                let counted = members.iter().cloned().map(|(name, value)| {
                    let value = if name == "seq" {
                        Json::unsigned(0)
                    } else {
                        value
                    };
                    (name, value)
                });
                Json::Object(counted.collect())
            })
        });
        alone.collect()
    }

    /// How many records were dropped, if any were.
    fn truncated(&self) -> Option<Diagnostic> {
        if self.dropped == 0 {
            return None;
        }
        let mut notice = Notice::warning(
            Stage::Report,
            WarningKind::DiagnosticsTruncated,
            "further diagnostics were dropped",
        );
        notice.severity = Severity::Note;
        notice.detail = Some(Detail::Dropped(self.dropped));
        Some(Diagnostic::Notice(notice))
    }

    /// Records that the stream did not take; counted in telemetry.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn emit(&mut self, json: Json, line: &str, diagnostic: &Diagnostic) {
        let written = match self.style {
            Style::Jsonl => writeln!(self.output, "{line}"),
            Style::Human { color } => self
                .output
                .write_all(text::render(diagnostic, color, &self.documents).as_bytes()),
        };
        if written.and_then(|()| self.output.flush()).is_err() {
            self.lost += 1;
        }
        self.bytes += line.len() + 1;
        self.kept.push(json);
    }
}

/// The record and its line. A record whose line is too long loses its excerpt, then compiler
/// diagnostics from the end, then the name of the member in its pointer, which is that of the parent
/// then, and its span: what is cut are details, never the failure.
fn fitted(seq: u64, diagnostic: &Diagnostic) -> (Json, String) {
    let json = record(seq, diagnostic);
    let line = guarded(&json);
    let Diagnostic::Failure { failure, primary } = diagnostic else {
        return (json, line);
    };
    if line.len() <= MAX_LINE_BYTES {
        return (json, line);
    }
    let mut shorter = failure.clone();
    if shorter.excerpt.take().is_none() {
        match &mut shorter.detail {
            Some(Detail::Refused { diagnostics, .. }) if !diagnostics.is_empty() => {
                diagnostics.truncate(diagnostics.len() / 2);
            }
            _ => match shorter.pointer.take() {
                Some(pointer) if !pointer.is_empty() => {
                    let parent = pointer.rfind('/').unwrap_or_default();
                    shorter.pointer = pointer.get(..parent).map(str::to_owned);
                }
                _ if shorter.span.take().is_some() => {}
                _ => return (json, line),
            },
        }
    }
    fitted(
        seq,
        &Diagnostic::Failure {
            failure: shorter,
            primary: *primary,
        },
    )
}

/// The record as one line that no log scanner takes for a command (J2): `#` and every control
/// character is an escape, and so are the two scalars that some readers take for the end of a line.
fn guarded(json: &Json) -> String {
    let mut line = String::new();
    for scalar in write_record(json).chars() {
        match scalar {
            '#' => line.push_str("\\u0023"),
            _ if scalar.is_control() || matches!(scalar, '\u{2028}' | '\u{2029}') => {
                let mut units = [0u16; 2];
                for unit in scalar.encode_utf16(&mut units) {
                    // Writing into a string cannot fail.
                    _ = write!(line, "\\u{unit:04x}");
                }
            }
            _ => line.push(scalar),
        }
    }
    line
}
