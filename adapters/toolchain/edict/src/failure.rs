// SPDX-License-Identifier: Apache-2.0
//! What the process reports when a request fails: source diagnostics, then one summary.

use crate::diagnostic::{Diagnostic, LineIndex};
use edict_codec::json::Span;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// How the request names the file.
    pub file: String,
    /// Bytes.
    pub span: Span,
    /// Line of the start, counted from 1.
    pub line: u32,
    /// Byte column of the start, counted from 1.
    pub column: u32,
}

impl Place {
    /// The place of `span` in `file`.
    pub fn new(file: &str, span: Span, lines: &LineIndex) -> Self {
        let (line, column) = lines.position(u32::try_from(span.start).unwrap_or(u32::MAX));
        Self {
            file: file.to_owned(),
            span,
            line,
            column,
        }
    }
}

/// One diagnostic record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// `cli`, or the stage of the compiler.
    pub stage: &'static str,
    /// The stable kind.
    pub kind: &'static str,
    /// What is wrong, prose.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// Where.
    pub place: Option<Place>,
}

impl Report {
    /// A report of the process itself.
    pub fn cli(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            stage: "cli",
            kind,
            message: message.into(),
            help: None,
            place: None,
        }
    }

    /// The report of a source diagnostic in `file`.
    pub fn source(file: &str, diagnostic: &Diagnostic) -> Self {
        let usize_of = |offset: u32| usize::try_from(offset).unwrap_or(usize::MAX);
        Self {
            stage: diagnostic.stage.as_str(),
            kind: diagnostic.kind.as_str(),
            message: diagnostic.message.clone(),
            help: diagnostic.help.clone(),
            place: Some(Place {
                file: file.to_owned(),
                span: Span {
                    start: usize_of(diagnostic.span.start),
                    end: usize_of(diagnostic.span.end),
                },
                line: diagnostic.line,
                column: diagnostic.column,
            }),
        }
    }

    /// The same report at a place.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same report with an answer.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Why a request failed. Source diagnostics come first; the summary decides the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Diagnostics of sources, in order.
    pub sources: Vec<Report>,
    /// The summary.
    pub summary: Report,
}

impl Failure {
    /// A failure of the process itself.
    pub fn cli(kind: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self::from(Report::cli(kind, message)))
    }

    /// A failure of `kind` with the diagnostics of `file`.
    pub fn source(kind: &'static str, file: &str, diagnostics: &[Diagnostic]) -> Box<Self> {
        let count = diagnostics.len();
        let mistakes = if count == 1 { "mistake" } else { "mistakes" };
        Box::new(Self {
            sources: diagnostics
                .iter()
                .map(|diagnostic| Report::source(file, diagnostic))
                .collect(),
            summary: Report::cli(kind, format!("compile `{file}`: {count} {mistakes}")),
        })
    }
}

impl From<Report> for Failure {
    fn from(summary: Report) -> Self {
        Self {
            sources: Vec::new(),
            summary,
        }
    }
}
