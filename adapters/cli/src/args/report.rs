// SPDX-License-Identifier: Apache-2.0
//! The actions of `report` and what their help says.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

const VERIFY_HELP: &str = "\
Streams: stdout is one line per check, `passed`, `failed`, `notMade` or `recorded` (V1, which
only a live run can make); stderr is one JSON diagnostic a line. Exit status: 0 all passed;
1 a check failed, or with --require-green the report is sound and its class another than
passed; 2 unreadable, incomplete, or a check was not made. Limits: 64 MiB report, 256 MiB bodies.

Example:
  edict-test report verify artifacts/run.json --suite tests/edict.test-suite.json --require-green";

const DIFF_HELP: &str = "\
Streams: stdout is, for the suite and each case, the first and every differing link in the
order of the chain; stderr is one JSON diagnostic a line. Exit status: 0 equal semantics;
1 they differ; 2 not comparable. Limits: 64 MiB a report.

Example:
  edict-test report diff old/run.json new/run.json --json";

const EXPORT_HELP: &str = "\
Streams: stdout is the export, unless --out names a file, which must not exist; stderr is one
JSON diagnostic a line. Only a report whose checks hold is exported. Exit status: 0 written;
2 failure. Limits: 64 MiB report, 256 MiB bodies.

Example:
  edict-test report export artifacts/run.json --to junit --out artifacts/junit.xml";

/// Actions of `report`.
#[derive(Debug, Subcommand)]
pub enum ReportCommand {
    /// Recompute every identity, count, reference and evidence check of a report.
    #[command(after_help = VERIFY_HELP)]
    Verify {
        /// The report.
        report: PathBuf,
        /// Where bodies are kept instead of REPORT.artifacts.
        #[arg(long, value_name = "DIR")]
        artifact_store: Option<PathBuf>,
        /// Hold the report also against the suite with this manifest.
        #[arg(long, value_name = "PATH")]
        suite: Option<PathBuf>,
        /// Hold the report also against this standard output of its run.
        #[arg(long, value_name = "FILE")]
        tap: Option<PathBuf>,
        /// Exit 0 only for a complete, passed and wholly checked report.
        #[arg(long)]
        require_green: bool,
        /// One JSON document on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Compare two reports link by link.
    #[command(after_help = DIFF_HELP)]
    Diff {
        /// The older report.
        a: PathBuf,
        /// The newer report.
        b: PathBuf,
        /// One JSON document on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Write a verified report in another format.
    #[command(after_help = EXPORT_HELP)]
    Export {
        /// The report.
        report: PathBuf,
        /// The format.
        #[arg(long, value_enum)]
        to: ExportFormat,
        /// An earlier report; the page (`--to html`) then says why each case ended as it did.
        #[arg(long, value_name = "REPORT")]
        against: Option<PathBuf>,
        /// Where bodies are kept instead of REPORT.artifacts.
        #[arg(long, value_name = "DIR")]
        artifact_store: Option<PathBuf>,
        /// The file to write instead of stdout.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Formats of `report export`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// TAP 14, as the run printed it.
    Tap,
    /// `JUnit` XML.
    #[value(help = "JUnit XML")]
    Junit,
    /// Markdown.
    Markdown,
    /// Workflow commands of GitHub Actions.
    Github,
    /// One static page.
    Html,
    /// An in-toto statement.
    InToto,
}
