// SPDX-License-Identifier: Apache-2.0
//! The command line: one run form with options only, and the subcommands (C1–C3).

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::{ffi::OsString, path::PathBuf};

const RUN_HELP: &str = "\
Streams: stdout is TAP 14 and nothing else; stderr is one JSON diagnostic a line
(--diagnostics human renders text). Exit status: 0 every executed case passed; 1 a
comparison failed; 2 the suite could not be completed faithfully, and the last line of
stdout is a bail-out.

Ceilings, which a suite may lower: 1 MiB manifest, 1,024 cases, 128 setup operations a
case, 8 MiB fixtures, 2,048 bytes a case result, 16 MiB a frame, 64 MiB report, 256 MiB
artifacts, 30 s an operation.

Example:
  edict-test --suite tests/edict.test-suite.json --report-json artifacts/run.json

Subcommands: check, lock, init, fixture, why, report, cache; each has --help.";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Invocation {
    /// Run a suite.
    Run(RunArgs),
    /// Anything else.
    Command(Command),
}

/// Run Edict behavioral tests on Echo and report TAP 14.
#[derive(Debug, Parser)]
#[command(name = "edict-test", version, after_help = RUN_HELP, infer_long_args = false)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one flag of the command line"
)]
pub(crate) struct RunArgs {
    /// The suite manifest.
    #[arg(long, value_name = "PATH")]
    pub(crate) suite: PathBuf,
    /// Where the machine report is published; bodies go to PATH.artifacts.
    #[arg(long, value_name = "PATH")]
    pub(crate) report_json: Option<PathBuf>,
    /// What happens to a report that is already there.
    #[arg(long, value_enum, default_value = "refuse")]
    pub(crate) report_existing: Existing,
    /// Where bodies are kept instead of PATH.artifacts.
    #[arg(long, value_name = "DIR", requires = "report_json")]
    pub(crate) artifact_store: Option<PathBuf>,
    /// State of the action cache and of run records; default `.edict-test` beside the suite.
    #[arg(long, value_name = "DIR", conflicts_with = "no_state")]
    pub(crate) state: Option<PathBuf>,
    /// Use no state; nothing outlives the run.
    #[arg(long)]
    pub(crate) no_state: bool,
    /// Build every program, whatever the cache holds.
    #[arg(long)]
    pub(crate) fresh_build: bool,
    /// Verify every program, whatever the cache holds.
    #[arg(long)]
    pub(crate) fresh_verify: bool,
    /// Run every reused action again and fail when its bytes differ.
    #[arg(long)]
    pub(crate) verify_cache: bool,
    /// Evaluate every executed pure case a second time, in the verifier, and compare.
    #[arg(long)]
    pub(crate) cross_check: bool,
    /// Where the private directory of the run is made.
    #[arg(long, value_name = "DIR")]
    pub(crate) temp_root: Option<PathBuf>,
    /// Whether children must be fully isolated.
    #[arg(long, value_enum, default_value = "best-effort")]
    pub(crate) isolation: Isolation,
    /// How diagnostics are written to stderr.
    #[arg(long, value_enum, default_value = "jsonl")]
    pub(crate) diagnostics: DiagnosticStyle,
    /// Colors of human diagnostics.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) color: Color,
    /// Keep the journal beside a complete report.
    #[arg(long, requires = "report_json")]
    pub(crate) keep_journal: bool,
}

/// What happens to a file that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Existing {
    /// It stays, and the command fails.
    Refuse,
    /// It is replaced, if it is one of ours.
    Replace,
}

/// Isolation of children.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Isolation {
    /// Anything less than full isolation ends the run.
    Required,
    /// What the kernel offers.
    BestEffort,
}

/// Style of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiagnosticStyle {
    /// One JSON object a line.
    Jsonl,
    /// Text.
    Human,
}

/// When colors are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` or `TERM=dumb` says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Parser)]
#[command(name = "edict-test", version, infer_subcommands = false)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands. Their answer is on stdout, diagnostics on stderr; no TAP.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Validate a suite and everything it names; execute nothing.
    #[command(
        after_help = "Exit status: 0 valid, 2 not. Example:\n  edict-test check --suite tests/edict.test-suite.json --json"
    )]
    Check(CheckArgs),
    /// Pin the toolchain of a suite, or compare a lock with what it pins.
    #[command(
        after_help = "Exit status: 0, 1 drift with --check, 2 failure. Example:\n  edict-test lock --suite tests/edict.test-suite.json"
    )]
    Lock(LockArgs),
    /// Make a running project: application, fixture, suite.
    #[command(after_help = "Exit status: 0, 2. Example:\n  edict-test init my-tests")]
    Init(InitArgs),
    /// Turn typed JSON into fixture bytes and back.
    #[command(
        after_help = "Exit status: 0, 2. Example:\n  edict-test fixture encode --untyped --in value.json --out value.bin"
    )]
    Fixture {
        /// The direction.
        #[command(subcommand)]
        direction: FixtureCommand,
    },
    /// Say why the verdict of a case changed.
    #[command(
        after_help = "Exit status: 0 explained, 1 changed with no pinned cause, 2. Example:\n  edict-test why choose-left --suite tests/edict.test-suite.json"
    )]
    Why(WhyArgs),
    /// Verify, compare or export machine reports.
    #[command(
        after_help = "Exit status: see each subcommand. Example:\n  edict-test report verify artifacts/run.json --require-green"
    )]
    Report {
        /// What to do.
        #[command(subcommand)]
        action: ReportCommand,
    },
    /// Measure or bound a state directory.
    #[command(
        after_help = "Exit status: 0, 2. Example:\n  edict-test cache gc --state .edict-test --max-bytes 100000000 --dry-run"
    )]
    Cache {
        /// What to do.
        #[command(subcommand)]
        action: CacheCommand,
    },
}

/// Options of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckArgs {
    /// The suite manifest.
    #[arg(long, value_name = "PATH")]
    pub(crate) suite: PathBuf,
    /// Also build and verify every program.
    #[arg(long)]
    pub(crate) build: bool,
    /// State directory for `--build`; without it nothing is reused.
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// One JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of `lock`.
#[derive(Args, Debug)]
#[group(required = true, multiple = true, id = "place", args = ["suite", "out", "check"])]
pub(crate) struct LockArgs {
    /// Write the lock that this suite names.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["out", "check"])]
    pub(crate) suite: Option<PathBuf>,
    /// Write the lock to this place.
    #[arg(long, value_name = "PATH", conflicts_with = "check")]
    pub(crate) out: Option<PathBuf>,
    /// Compare this lock with what it pins.
    #[arg(long, value_name = "LOCK")]
    pub(crate) check: Option<PathBuf>,
    /// The shape.
    #[arg(long, value_enum, default_value = "bundled")]
    pub(crate) shape: ShapeArg,
    /// The compiler; default `edict` beside this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) compiler: Option<PathBuf>,
    /// The lowerer; default the compiler.
    #[arg(long, value_name = "FILE")]
    pub(crate) lowerer: Option<PathBuf>,
    /// The verifier; default `edict-verifier` beside this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) verifier: Option<PathBuf>,
    /// The host; default `echo-host` beside this program.
    #[arg(long, value_name = "FILE")]
    pub(crate) host: Option<PathBuf>,
    /// The provider package of shape `upstream`.
    #[arg(long, value_name = "DIR")]
    pub(crate) provider_package: Option<PathBuf>,
    /// Pin the source tree of a locally built program; may be repeated.
    #[arg(long, value_name = "ROLE=DIR:PATH")]
    pub(crate) source: Vec<OsString>,
    /// What happens to a lock that is already there.
    #[arg(long, value_enum, default_value = "refuse")]
    pub(crate) existing: Existing,
}

/// Shapes of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShapeArg {
    /// The bundled toolchain.
    Bundled,
    /// A real upstream compiler with its provider package.
    Upstream,
}

/// Options of `init`.
#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// The directory; absent or empty.
    pub(crate) directory: PathBuf,
    /// The suite id; default the name of the directory.
    #[arg(long)]
    pub(crate) id: Option<String>,
}

/// Directions of `fixture`.
#[derive(Debug, Subcommand)]
pub(crate) enum FixtureCommand {
    /// Typed JSON to canonical CBOR.
    Encode(FixtureArgs),
    /// Canonical CBOR to typed JSON.
    Decode(FixtureArgs),
}

/// Which type a fixture has.
#[derive(Args, Debug)]
#[group(required = true, multiple = true, id = "selection", args = ["package", "untyped"])]
pub(crate) struct FixtureArgs {
    /// The package whose types decide.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "untyped",
        requires = "part"
    )]
    pub(crate) package: Option<PathBuf>,
    /// What the fixture is.
    #[arg(long, value_enum, requires = "package")]
    pub(crate) part: Option<Part>,
    /// The obstruction whose payload it is.
    #[arg(long, value_name = "C", required_if_eq("part", "payload"))]
    pub(crate) coordinate: Option<String>,
    /// Check against no type.
    #[arg(long)]
    pub(crate) untyped: bool,
    /// The file to read.
    #[arg(long = "in", value_name = "FILE")]
    pub(crate) input: PathBuf,
    /// The file to write; only for `encode`.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Parts of a package that a fixture can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// The input of the operation.
    Input,
    /// The payload of an obstruction.
    Payload,
}

/// Options of `why`.
#[derive(Args, Debug)]
pub(crate) struct WhyArgs {
    /// The case; not with `--file`.
    #[arg(required_unless_present_any = ["file", "not"])]
    pub(crate) case: Option<String>,
    /// The suite manifest, whose state is read.
    #[arg(long, value_name = "PATH")]
    pub(crate) suite: Option<PathBuf>,
    /// The state directory.
    #[arg(long, value_name = "DIR", conflicts_with = "suite")]
    pub(crate) state: Option<PathBuf>,
    /// The run compared from: a number, a report file, or `previous`.
    #[arg(long, value_name = "N", default_value = "previous")]
    pub(crate) from: OsString,
    /// The run compared to: a number, a report file, or `latest`.
    #[arg(long, value_name = "N", default_value = "latest")]
    pub(crate) to: OsString,
    /// Confirm causes by executing with single inputs swapped back.
    #[arg(long)]
    pub(crate) prove: bool,
    /// Most executions of a proof.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) prove_max: u32,
    /// What depends on this file.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["case", "not"])]
    pub(crate) file: Option<String>,
    /// Why an edit did not change this case.
    #[arg(
        long,
        value_name = "CASE",
        requires = "edited",
        conflicts_with = "case"
    )]
    pub(crate) not: Option<String>,
    /// The file that was edited.
    #[arg(long, value_name = "PATH")]
    pub(crate) edited: Option<String>,
    /// One JSON document on stdout.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Actions of `report`.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Recompute every identity, count, reference and evidence check of a report.
    #[command(
        after_help = "Exit status: 0 all passed, 1 a check failed, 2 unreadable or incomplete."
    )]
    Verify {
        /// The report.
        report: PathBuf,
        /// Where bodies are kept instead of REPORT.artifacts.
        #[arg(long, value_name = "DIR")]
        artifact_store: Option<PathBuf>,
        /// Exit 0 only for a complete, passed and wholly checked report.
        #[arg(long)]
        require_green: bool,
        /// One JSON document on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Compare two reports link by link.
    #[command(after_help = "Exit status: 0 equal semantics, 1 they differ, 2 not comparable.")]
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
    Export {
        /// The report.
        report: PathBuf,
        /// The format.
        #[arg(long, value_enum)]
        to: ExportFormat,
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
pub(crate) enum ExportFormat {
    /// TAP 14, as the run printed it.
    Tap,
    /// `JUnit` XML.
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

/// Actions of `cache`.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheCommand {
    /// Counts and bytes by kind.
    Stats {
        /// The state directory.
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
        /// One JSON document on stdout.
        #[arg(long)]
        json: bool,
    },
    /// Print a deletion plan, then carry it out.
    Gc {
        /// The state directory.
        #[arg(long, value_name = "DIR")]
        state: PathBuf,
        /// Most bytes kept.
        #[arg(long, value_name = "N")]
        max_bytes: Option<u64>,
        /// Greatest age of an unused entry in days.
        #[arg(long, value_name = "N")]
        max_age_days: Option<u64>,
        /// Newest runs that are kept with what they name.
        #[arg(long, value_name = "N", default_value_t = 20)]
        keep_runs: u64,
        /// Print the plan only.
        #[arg(long)]
        dry_run: bool,
    },
}

/// Reads the command line, the program's name first. A first argument that names a subcommand
/// selects it; anything else is the run form (C1).
pub(crate) fn parse(arguments: Vec<OsString>) -> Result<Invocation, clap::Error> {
    let names = ["check", "lock", "init", "fixture", "why", "report", "cache"];
    let selects = arguments
        .get(1)
        .is_some_and(|first| names.iter().any(|name| first == name));
    if selects {
        CommandLine::try_parse_from(arguments).map(|line| Invocation::Command(line.command))
    } else {
        RunArgs::try_parse_from(arguments).map(Invocation::Run)
    }
}

/// Whether the first argument selects a subcommand, so that errors print no TAP (C2).
pub(crate) fn is_run_form(arguments: &[OsString]) -> bool {
    let names = ["check", "lock", "init", "fixture", "why", "report", "cache"];
    !arguments
        .get(1)
        .is_some_and(|first| names.iter().any(|name| first == name))
}
