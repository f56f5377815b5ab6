// SPDX-License-Identifier: Apache-2.0
//! The suites that are measured: as many distinct programs as cases, or one program for all.

use crate::{
    command::capture,
    job::{Failure, copy_tree},
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const MANIFEST: &str = "edict.test-suite.json";
/// What `init` names its one case.
const FIRST: &str = "adds-up";
/// What each program says in its own way, so that no two are equal.
const TEXT: &str = "\"left + right\"";

/// A suite on the disk and the program that runs it.
#[derive(Debug)]
pub(super) struct Suite {
    program: PathBuf,
    directory: PathBuf,
    /// How many cases it has.
    pub(super) cases: u32,
    /// Whether all of them run one program.
    shared: bool,
}

impl Suite {
    /// Writes a suite of so many cases below `space`, pinned to the programs in `programs`.
    pub(super) fn write(programs: &Path, space: &Path, cases: u32) -> Result<Self, Failure> {
        Self::written(programs, space.join(format!("suite-{cases}")), cases, false)
    }

    /// The same with one program, which every case runs on an input of its own.
    pub(super) fn of_one_program(
        programs: &Path,
        space: &Path,
        cases: u32,
    ) -> Result<Self, Failure> {
        Self::written(programs, space.join(format!("shared-{cases}")), cases, true)
    }

    fn written(
        programs: &Path,
        directory: PathBuf,
        cases: u32,
        shared: bool,
    ) -> Result<Self, Failure> {
        let suite = Self {
            program: programs.join("edict-test"),
            directory,
            cases,
            shared,
        };
        let directory = suite.directory.display().to_string();
        suite.answer(&["init", &directory, "--id", "bench"])?;
        let manifest = suite.directory.join(MANIFEST);
        let mut document = read_json(&manifest)?;
        let first = document
            .pointer("/cases/0")
            .cloned()
            .ok_or_else(|| Failure::new("`init` made no case"))?;
        let rows = (0..cases).map(|number| {
            if shared {
                suite.row(number, &first)
            } else {
                suite.case(number, &first)
            }
        });
        let rows = rows.collect::<Result<Vec<_>, Failure>>()?;
        put(&mut document, "cases", Value::Array(rows))?;
        fs::write(&manifest, document.to_string())?;
        Ok(suite)
    }

    /// What rows say of its cases.
    pub(super) fn title(&self) -> String {
        let programs = if self.shared { " of one program" } else { "" };
        format!("{}{programs}", self.cases)
    }

    /// Writes the files of one case and gives its row of the manifest.
    fn case(&self, number: u32, first: &Value) -> Result<Value, Failure> {
        let at = |name: &str| self.directory.join(name);
        let source = fs::read_to_string(at(&format!("cases/src/{FIRST}.edict")))?;
        fs::write(
            self.source(number),
            source.replace(TEXT, &format!("\"sum {number}\"")),
        )?;
        let mut application = read_json(&at(&format!("cases/{FIRST}.application.json")))?;
        let sources = vec![Value::from(format!("src/{number}.edict"))];
        put(&mut application, "sources", Value::Array(sources))?;
        let name = format!("cases/{number}.application.json");
        fs::write(at(&name), application.to_string())?;
        let mut row = self.row(number, first)?;
        put(&mut row, "application", Value::from(name))?;
        Ok(row)
    }

    /// Writes the input of one case and gives a row of the manifest that runs the first program.
    fn row(&self, number: u32, first: &Value) -> Result<Value, Failure> {
        let at = |name: &str| self.directory.join(name);
        let input = format!("fixtures/{number}.bin");
        fs::copy(at(&format!("fixtures/{FIRST}.input.bin")), at(&input))?;
        let mut row = first.clone();
        put(&mut row, "id", Value::from(format!("case-{number}")))?;
        put(&mut row, "input", Value::from(input))?;
        Ok(row)
    }

    fn source(&self, number: u32) -> PathBuf {
        self.directory.join(format!("cases/src/{number}.edict"))
    }

    /// Changes what one program says.
    pub(super) fn edit(&self, number: u32, revision: u32) -> Result<(), Failure> {
        let text = fs::read_to_string(self.source(number))?;
        let (before, rest) = text
            .split_once("\"sum ")
            .ok_or_else(|| Failure::new("a program says nothing"))?;
        let (_, after) = rest
            .split_once('"')
            .ok_or_else(|| Failure::new("a program does not end what it says"))?;
        let text = format!("{before}\"sum {number} in revision {revision}\"{after}");
        Ok(fs::write(self.source(number), text)?)
    }

    /// The run form on this suite, its points in a pipe.
    pub(super) fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--suite")
            .arg(self.directory.join(MANIFEST))
            .args(options)
            .current_dir(&self.directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the suite; every case must pass.
    pub(super) fn run(&self, options: &[&str]) -> Result<(), Failure> {
        let output = self.command(options).output()?;
        let points = String::from_utf8_lossy(&output.stdout);
        let passed = points.lines().filter(|it| it.starts_with("ok ")).count();
        if output.status.success() && u32::try_from(passed) == Ok(self.cases) {
            return Ok(());
        }
        Err(Failure::new(format!(
            "the run ended with {} and {passed} points: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )))
    }

    /// A subcommand about this suite; it must answer.
    pub(super) fn ask(&self, command: &str, arguments: &[&str]) -> Result<(), Failure> {
        let manifest = self.directory.join(MANIFEST).display().to_string();
        let own = [command, "--suite", &manifest];
        let all: Vec<&str> = own.into_iter().chain(arguments.iter().copied()).collect();
        self.answer(&all)
    }

    fn answer(&self, arguments: &[&str]) -> Result<(), Failure> {
        let parent = self.directory.parent().unwrap_or(Path::new("."));
        let output = capture(parent, &self.program, arguments)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::new(format!(
            "`edict-test {}` ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )))
    }

    /// The build phase alone, with or without the store of the suite.
    pub(super) fn build(&self, stored: bool) -> Result<(), Failure> {
        let state = self.directory.join(".edict-test").display().to_string();
        let options = ["--build", "--state", &state];
        self.ask(
            "check",
            options
                .get(..if stored { 3 } else { 1 })
                .unwrap_or_default(),
        )
    }

    /// The same without a store, on one core only.
    pub(super) fn build_on_one_core(&self) -> Result<(), Failure> {
        let manifest = self.directory.join(MANIFEST).display().to_string();
        let program = self.program.display().to_string();
        let arguments = [
            "-c", "0", &program, "check", "--build", "--suite", &manifest,
        ];
        let output = capture(&self.directory, Path::new("taskset"), &arguments)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::new("the build on one core failed"))
    }

    /// A copy of the files of this suite, for whoever wants to read as many bytes.
    pub(super) fn copy_to(&self, place: &Path) -> Result<(), Failure> {
        copy_tree(&self.directory, place)
    }
}

fn read_json(path: &Path) -> Result<Value, Failure> {
    let bytes = fs::read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::new(format!("`{}`: {error}", path.display())))
}

fn put(document: &mut Value, member: &str, value: Value) -> Result<(), Failure> {
    let members = document
        .as_object_mut()
        .ok_or_else(|| Failure::new("a document is no object"))?;
    members.insert(member.to_owned(), value);
    Ok(())
}
