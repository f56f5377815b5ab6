// SPDX-License-Identifier: Apache-2.0
//! The command line: one run form with options only, and the subcommands (C1–C3).

mod cache;
mod help;
pub mod number;
mod report;
mod why;

pub use cache::CacheCommand;
pub use report::{ExportFormat, ReportCommand};
pub use why::{WhyArgs, WhyNotArgs};

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use help::{
    CACHE_HELP, CHECK_HELP, FIXTURE_HELP, INIT_HELP, LOCK_HELP, REPORT_HELP, RUN_HELP, WHY_HELP,
    WHY_NOT_HELP,
};
use std::{ffi::OsString, path::PathBuf};

/// What the command line asks for.
#[derive(Debug)]
pub enum Invocation {
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
pub struct RunArgs {
    /// The suite manifest.
    #[arg(long, value_name = "PATH")]
    pub suite: PathBuf,
    /// Where the machine report is published; bodies go to PATH.artifacts.
    #[arg(long, value_name = "PATH")]
    pub report_json: Option<PathBuf>,
    /// What happens to a report that is already there.
    #[arg(long, value_enum, default_value = "refuse")]
    pub report_existing: Existing,
    /// Where bodies are kept instead of PATH.artifacts.
    #[arg(long, value_name = "DIR", requires = "report_json")]
    pub artifact_store: Option<PathBuf>,
    /// State of the action cache and of run records; default `.edict-test` beside the suite.
    #[arg(long, value_name = "DIR", conflicts_with = "no_state")]
    pub state: Option<PathBuf>,
    /// Use no state; nothing outlives the run.
    #[arg(long)]
    pub no_state: bool,
    /// Build every program, whatever the cache holds.
    #[arg(long)]
    pub fresh_build: bool,
    /// Verify every program, whatever the cache holds.
    #[arg(long)]
    pub fresh_verify: bool,
    /// Run every reused action again and fail when its bytes differ.
    #[arg(long)]
    pub verify_cache: bool,
    /// Evaluate every executed case a second time, in the verifier, and compare.
    #[arg(long)]
    pub cross_check: bool,
    /// Where the private directory of the run is made.
    #[arg(long, value_name = "DIR")]
    pub temp_root: Option<PathBuf>,
    /// Whether children must be fully isolated (required, best-effort), and whether cases get a
    /// context in one host process or a process of their own (context, process); one of each pair,
    /// joined by a comma.
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1, action = clap::ArgAction::Set)]
    #[arg(default_value = "best-effort,context")]
    pub isolation: Vec<Isolation>,
    /// How diagnostics are written to stderr.
    #[arg(long, value_enum, default_value = "jsonl")]
    pub diagnostics: DiagnosticStyle,
    /// Colors of human diagnostics.
    #[arg(long, value_enum, default_value = "auto")]
    pub color: Color,
    /// Keep the journal beside a complete report.
    #[arg(long, requires = "report_json")]
    pub keep_journal: bool,
    /// Show on stderr which case runs, if stderr is a terminal.
    #[arg(long)]
    pub progress: bool,
}

/// What happens to a file that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Existing {
    /// It stays, and the command fails.
    Refuse,
    /// It is replaced, if it is one of ours.
    Replace,
}

/// Isolation of children and of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Isolation {
    /// Anything less than full isolation ends the run.
    Required,
    /// What the kernel offers.
    BestEffort,
    /// One host process for all cases, each in a context of its own.
    Context,
    /// One host process a case.
    Process,
}

/// What is wrong with the words of `--isolation`: of each pair one at most.
pub fn contradiction(words: &[Isolation]) -> Option<String> {
    use Isolation::{BestEffort, Context, Process, Required};
    let count = |pair: [Isolation; 2]| words.iter().filter(|word| pair.contains(word)).count();
    let (first, second) = if count([Required, BestEffort]) > 1 {
        ("required", "best-effort")
    } else if count([Context, Process]) > 1 {
        ("context", "process")
    } else {
        return None;
    };
    Some(format!(
        "--isolation takes at most one of `{first}` and `{second}`"
    ))
}

/// Style of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DiagnosticStyle {
    /// One JSON object a line.
    Jsonl,
    /// Text.
    Human,
}

/// When colors are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
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
pub enum Command {
    /// Validate a suite and everything it names; execute nothing.
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Pin the toolchain of a suite, or compare a lock with what it pins.
    #[command(after_help = LOCK_HELP)]
    Lock(LockArgs),
    /// Make a running project: application, fixture, suite.
    #[command(after_help = INIT_HELP)]
    Init(InitArgs),
    /// Turn typed JSON into fixture bytes and back.
    #[command(after_help = FIXTURE_HELP)]
    Fixture {
        /// The direction.
        #[command(subcommand)]
        direction: FixtureCommand,
    },
    /// Say why the verdict of a case changed.
    #[command(after_help = WHY_HELP)]
    Why(WhyArgs),
    /// Say why an edit of a file did not change a case.
    #[command(after_help = WHY_NOT_HELP)]
    WhyNot(WhyNotArgs),
    /// Verify, compare or export machine reports.
    #[command(after_help = REPORT_HELP)]
    Report {
        /// What to do.
        #[command(subcommand)]
        action: ReportCommand,
    },
    /// Measure or bound a state directory.
    #[command(after_help = CACHE_HELP)]
    Cache {
        /// What to do.
        #[command(subcommand)]
        action: CacheCommand,
    },
}

/// Options of `check`.
#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The suite manifest.
    #[arg(long, value_name = "PATH")]
    pub suite: PathBuf,
    /// Also build and verify every program.
    #[arg(long)]
    pub build: bool,
    /// State directory for `--build`; without it nothing is reused.
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
    /// One JSON document on stdout.
    #[arg(long)]
    pub json: bool,
    /// How diagnostics are written to stderr.
    #[arg(long, value_enum, default_value = "jsonl")]
    pub diagnostics: DiagnosticStyle,
    /// Colors of human diagnostics.
    #[arg(long, value_enum, default_value = "auto")]
    pub color: Color,
}

/// What decides what a new lock pins, and so says nothing to `lock --check`.
const PINNING: [&str; 8] = [
    "shape",
    "compiler",
    "lowerer",
    "verifier",
    "host",
    "provider_package",
    "source",
    "existing",
];

/// Options of `lock`.
#[derive(Args, Debug)]
#[group(skip)]
#[command(group = ArgGroup::new("place").required(true).args(["suite", "out", "check"]))]
pub struct LockArgs {
    /// Write the lock that this suite names.
    #[arg(long, value_name = "PATH")]
    pub suite: Option<PathBuf>,
    /// Write the lock to this place.
    #[arg(long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Compare this lock with what it pins.
    #[arg(long, value_name = "LOCK", conflicts_with_all = PINNING)]
    pub check: Option<PathBuf>,
    /// The shape.
    #[arg(long, value_enum, default_value = "bundled")]
    pub shape: ShapeArg,
    /// The compiler; default `edict` beside this program.
    #[arg(long, value_name = "FILE")]
    pub compiler: Option<PathBuf>,
    /// The lowerer; default the compiler.
    #[arg(long, value_name = "FILE")]
    pub lowerer: Option<PathBuf>,
    /// The verifier; default `edict-verifier` beside this program.
    #[arg(long, value_name = "FILE")]
    pub verifier: Option<PathBuf>,
    /// The host; default `echo-host` beside this program.
    #[arg(long, value_name = "FILE")]
    pub host: Option<PathBuf>,
    /// The provider package of shape `upstream`.
    #[arg(long, value_name = "DIR")]
    pub provider_package: Option<PathBuf>,
    /// Pin the source tree of a locally built program; may be repeated.
    #[arg(long, value_name = "ROLE=DIR:PATH")]
    pub source: Vec<OsString>,
    /// What happens to a lock that is already there.
    #[arg(long, value_enum, default_value = "refuse")]
    pub existing: Existing,
}

/// Shapes of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ShapeArg {
    /// The bundled toolchain.
    Bundled,
    /// A real upstream compiler with its provider package.
    Upstream,
}

/// Options of `init`.
#[derive(Args, Debug)]
pub struct InitArgs {
    /// The directory; absent or empty.
    pub directory: PathBuf,
    /// The suite id; default the name of the directory.
    #[arg(long)]
    pub id: Option<String>,
}

/// Directions of `fixture`.
#[derive(Debug, Subcommand)]
pub enum FixtureCommand {
    /// Typed JSON to canonical CBOR.
    #[command(after_help = FIXTURE_HELP)]
    Encode(FixtureArgs),
    /// Canonical CBOR to typed JSON.
    #[command(after_help = FIXTURE_HELP)]
    Decode(FixtureArgs),
}

/// Which type a fixture has.
#[derive(Args, Debug)]
#[group(skip)]
#[command(group = ArgGroup::new("selection").required(true).args(["package", "untyped"]))]
pub struct FixtureArgs {
    /// The package whose types decide.
    #[arg(long, value_name = "FILE", requires = "part")]
    pub package: Option<PathBuf>,
    /// What the fixture is.
    #[arg(long, value_enum)]
    pub part: Option<Part>,
    /// The obstruction whose payload it is.
    #[arg(long, value_name = "C", required_if_eq("part", "payload"))]
    pub coordinate: Option<String>,
    /// Check against no type.
    #[arg(long, conflicts_with_all = ["part", "coordinate"])]
    pub untyped: bool,
    /// The file to read.
    #[arg(long = "in", value_name = "FILE")]
    pub input: PathBuf,
    /// The file to write; only for `encode`.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Parts of a package that a fixture can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// The input of the operation.
    Input,
    /// The payload of an obstruction.
    Payload,
}

/// Names that select a subcommand when they stand first.
const COMMANDS: [&str; 8] = [
    "check", "lock", "init", "fixture", "why", "why-not", "report", "cache",
];

/// Reads the command line, the program's name first. A first argument that names a subcommand
/// selects it; anything else is the run form (C1).
pub fn parse(arguments: Vec<OsString>) -> Result<Invocation, clap::Error> {
    if is_run_form(&arguments) {
        RunArgs::try_parse_from(arguments).map(Invocation::Run)
    } else {
        CommandLine::try_parse_from(arguments).map(|line| Invocation::Command(line.command))
    }
}

/// Whether no subcommand was selected, so that errors print a TAP document (C2).
pub fn is_run_form(arguments: &[OsString]) -> bool {
    !arguments
        .get(1)
        .is_some_and(|first| COMMANDS.iter().any(|name| first == name))
}

/// The whole command line as one tree: the options of the run form, and the subcommands. Only for
/// completions and manual pages; a command line is read by [`parse`].
pub fn tree() -> clap::Command {
    let commands = <CommandLine as clap::CommandFactory>::command();
    <RunArgs as clap::CommandFactory>::command()
        .subcommand_negates_reqs(true)
        .subcommands(commands.get_subcommands().cloned())
}
