// SPDX-License-Identifier: Apache-2.0
//! The subcommands: an answer on stdout, diagnostics on stderr, no TAP (C2).

pub(crate) mod run;

mod cache;
mod check;
mod fixture;
mod init;
mod lock;
mod report;
mod state;
mod why;

use crate::{
    args::{self, Color, Command, DiagnosticStyle, Invocation},
    output::{Stderr, Stdout, stderr_takes_color},
};
use edict_codec::json::{Json, write_document};
use edict_test_model::{Diagnostic, Failure, FailureKind, Stage};
use edict_test_reporters::diagnostics::{DiagnosticWriter, Style};
use std::{ffi::OsString, io::Write as _, process::ExitCode};

/// What a subcommand says: text or one JSON document, and its exit status.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Written to stdout as it is.
    pub(crate) text: String,
    /// 0, 1 or 2.
    pub(crate) status: u8,
}

impl Answer {
    /// Success with a text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            status: 0,
        }
    }

    /// Success with a JSON document.
    pub(crate) fn json(json: &Json) -> Self {
        Self::text(write_document(json))
    }

    /// The same answer with another status.
    pub(crate) fn with_status(self, status: u8) -> Self {
        Self { status, ..self }
    }
}

/// What keeps a subcommand from answering: all problems that were found, the first one primary.
pub(crate) type Problems = Vec<Failure>;

/// Reads the command line and answers.
pub(crate) fn main(arguments: Vec<OsString>) -> ExitCode {
    let command = match args::parse(arguments) {
        Ok(Invocation::Command(command)) => command,
        Ok(Invocation::Run(_)) => return complain(vec![Failure::internal("the run form")]),
        Err(error) if !error.use_stderr() => return say(&Answer::text(error.to_string())),
        Err(error) => return complain(vec![run::usage(&error)]),
    };
    let style = match &command {
        Command::Check(check) => style(check.diagnostics, check.color),
        _ => Style::Jsonl,
    };
    let mut writer = DiagnosticWriter::new(Stderr, style);
    let answer = match command {
        Command::Check(check) => check::check(&check, writer.documents()),
        Command::Lock(lock) => lock::lock(&lock),
        Command::Fixture { direction } => fixture::fixture(&direction),
        Command::Init(init) => init::init(&init),
        Command::Why(why) => why::why(&why),
        Command::WhyNot(why) => why::why_not(&why),
        Command::Cache { action } => cache::cache(&action),
        Command::Report { action } => report::report(&action),
    };
    match answer {
        Ok(answer) => say(&answer),
        Err(problems) => explain(writer, problems),
    }
}

/// Writes a first part of an answer, which has to stand before something is done.
fn say_part(text: &str) -> Result<(), Failure> {
    Stdout.write_all(text.as_bytes()).map_err(|error| {
        Failure::new(
            Stage::Output,
            FailureKind::StdoutWriteFailed,
            error.to_string(),
        )
    })
}

fn say(answer: &Answer) -> ExitCode {
    match Stdout.write_all(answer.text.as_bytes()) {
        Ok(()) => ExitCode::from(answer.status),
        Err(error) => complain(vec![Failure::new(
            Stage::Output,
            FailureKind::StdoutWriteFailed,
            error.to_string(),
        )]),
    }
}

fn complain(problems: Problems) -> ExitCode {
    explain(DiagnosticWriter::new(Stderr, Style::Jsonl), problems)
}

fn explain(mut writer: DiagnosticWriter<Stderr>, problems: Problems) -> ExitCode {
    for (index, failure) in problems.into_iter().enumerate() {
        writer.write(&Diagnostic::Failure {
            failure,
            primary: index == 0,
        });
    }
    _ = writer.finish();
    ExitCode::from(2)
}

/// How diagnostics are written, as the options say.
fn style(diagnostics: DiagnosticStyle, color: Color) -> Style {
    match diagnostics {
        DiagnosticStyle::Jsonl => Style::Jsonl,
        DiagnosticStyle::Human => Style::Human {
            color: match color {
                Color::Always => true,
                Color::Never => false,
                Color::Auto => stderr_takes_color(),
            },
        },
    }
}
