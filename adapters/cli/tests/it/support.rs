// SPDX-License-Identifier: Apache-2.0
//! A suite in a directory of its own, the real programs, and the independent readers of TAP.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};
use tempfile::TempDir;

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap()
        .to_path_buf()
}

/// The running profile's directory, where all programs are built.
pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_edict-test"))
        .parent()
        .unwrap()
        .to_path_buf()
}

/// One program of the toolchain.
pub(crate) fn program(name: &str) -> PathBuf {
    let path = programs().join(name);
    assert!(
        path.is_file(),
        "{} is missing; run: cargo build --workspace --bins",
        path.display()
    );
    path
}

/// The finished run of a program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code().unwrap_or(-1),
        }
    }

    /// Kinds of all diagnostics in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        self.records()
            .iter()
            .map(|it| it["kind"].as_str().unwrap().to_owned())
            .collect()
    }

    /// All diagnostics.
    pub(crate) fn records(&self) -> Vec<serde_json::Value> {
        self.stderr
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }

    /// The primary failure as `stage/kind`.
    pub(crate) fn primary(&self) -> Option<String> {
        let records = self.records();
        let primary: Vec<_> = records.iter().filter(|it| it["primary"] == true).collect();
        assert!(
            primary.len() <= 1,
            "one primary failure at most: {primary:#?}"
        );
        primary.first().map(|it| {
            format!(
                "{}/{}",
                it["stage"].as_str().unwrap(),
                it["kind"].as_str().unwrap()
            )
        })
    }
}

/// A copy of a suite of `testdata/suites` in a temporary directory, with a lock over the programs
/// that this test run has built.
pub(crate) struct Space {
    pub(crate) directory: TempDir,
    pub(crate) suite: PathBuf,
}

impl Space {
    /// The suite `name`, pinned.
    pub(crate) fn of(name: &str) -> Self {
        let space = Self::unpinned(name);
        let pinned = space.edict_test(&["lock", "--suite", "suite/edict.test-suite.json"]);
        assert_eq!(pinned.code, 0, "{}", pinned.stderr);
        space
    }

    /// The suite `name` without a lock.
    pub(crate) fn unpinned(name: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let suite = directory.path().join("suite");
        copy(&root().join("testdata/suites").join(name), &suite);
        Self { directory, suite }
    }

    /// The path of a file of the suite.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.suite.join(relative)
    }

    /// Replaces text in a file of the suite; the old text must stand there.
    pub(crate) fn edit(&self, relative: &str, old: &str, new: &str) {
        let path = self.path(relative);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "`{old}` stands not in {relative}");
        fs::write(path, text.replace(old, new)).unwrap();
    }

    /// Runs the runner in the temporary directory.
    pub(crate) fn edict_test(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// The runner, not yet started, with an environment that must not matter.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program("edict-test"));
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs the suite with a report; returns the run and the report.
    pub(crate) fn run(&self, more: &[&str]) -> (Run, serde_json::Value) {
        let report = self.directory.path().join("run.json");
        let mut arguments = vec![
            "--suite",
            "suite/edict.test-suite.json",
            "--report-json",
            "run.json",
            "--report-existing",
            "replace",
        ];
        arguments.extend(more);
        let run = self.edict_test(&arguments);
        let report = fs::read(&report).unwrap_or_else(|_| b"null".to_vec());
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        if !report.is_null() && !more.contains(&"--artifact-store") {
            self.read_back(&report);
        }
        (run, report)
    }

    /// Whatever happened to a run, its report is sound when it is read back: whole, or incomplete.
    fn read_back(&self, report: &serde_json::Value) {
        let verified = self.edict_test(&["report", "verify", "run.json"]);
        let expected = if report["complete"] == true { 0 } else { 2 };
        let failed: Vec<&str> = verified
            .stdout
            .lines()
            .filter(|line| line.starts_with("failed"))
            .collect();
        assert_eq!(verified.code, expected, "{failed:#?} {}", verified.stderr);
    }
}

/// Copies a directory tree.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap_or_else(|error| panic!("{}: {error}", from.display())) {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Case id to `verdict/kind`, from the report.
pub(crate) fn verdicts(report: &serde_json::Value) -> BTreeMap<String, String> {
    report["semantic"]["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| {
            let word = |name: &str| case[name].as_str().unwrap_or("-").to_owned();
            (word("id"), format!("{}/{}", word("verdict"), word("kind")))
        })
        .collect()
}

/// What one independent consumer says of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    pub(crate) verdict: String,
    pub(crate) points: usize,
    pub(crate) bailout: bool,
    pub(crate) exit: i32,
}

/// Asks both independent consumers and the byte profile; all must agree.
pub(crate) fn consumers(stream: &[u8]) -> Reading {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), stream).unwrap();
    let home = programs().parent().unwrap().join("tap-consumers");
    assert!(
        home.join("node_modules/tap-parser").is_dir(),
        "the TAP consumers are not installed; run: cargo xtask test"
    );
    let readings: Vec<Reading> = [("node", "verify-tap.mjs"), ("perl", "verify-tap.pl")]
        .into_iter()
        .map(|(interpreter, script)| {
            let output = Command::new(interpreter)
                .arg(home.join(script))
                .arg(file.path())
                .output()
                .unwrap_or_else(|error| panic!("{interpreter} is needed: {error}"));
            let answer: serde_json::Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
                    panic!(
                        "{script}: {error}: {}",
                        String::from_utf8_lossy(&output.stderr)
                    )
                });
            Reading {
                verdict: answer["verdict"].as_str().unwrap().to_owned(),
                points: answer["points"].as_array().unwrap().len(),
                bailout: !answer["bailout"].is_null(),
                exit: output.status.code().unwrap(),
            }
        })
        .collect();
    assert_eq!(
        readings[0],
        readings[1],
        "{}",
        String::from_utf8_lossy(stream)
    );
    let profile = profile(stream);
    assert_eq!(
        profile,
        readings[0].verdict != "malformed",
        "the byte profile disagrees with both consumers: {}",
        String::from_utf8_lossy(stream)
    );
    readings.into_iter().next().unwrap()
}

/// The byte profile of rule T12, and the counts that a well-formed stream has.
fn profile(stream: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(stream) else {
        return false;
    };
    let Some(text) = text.strip_suffix('\n') else {
        return false;
    };
    let lines: Vec<&str> = text.split('\n').collect();
    if lines.first() != Some(&"TAP version 14") || lines.iter().any(|line| line.len() > 8192) {
        return false;
    }
    let (mut plan, mut points, mut executed, mut bailed) = (None, 0u32, 0u32, false);
    for (index, line) in lines.iter().enumerate().skip(1) {
        if bailed || line.chars().any(is_forbidden) {
            return false;
        }
        if let Some(number) = line.strip_prefix("1..") {
            plan = number
                .parse::<u32>()
                .ok()
                .filter(|it| (1..=1024).contains(it));
            if index != 1 || plan.is_none() || number.starts_with('0') {
                return false;
            }
        } else if let Some(text) = line.strip_prefix("Bail out! ") {
            bailed = is_text(text);
            if !bailed {
                return false;
            }
        } else {
            points += 1;
            let (failed, rest) = match line.strip_prefix("not ok ") {
                Some(rest) => (true, rest),
                None => match line.strip_prefix("ok ") {
                    Some(rest) => (false, rest),
                    None => return false,
                },
            };
            let Some(rest) = rest.strip_prefix(&format!("{points} - ")) else {
                return false;
            };
            if plan.is_none_or(|plan| points > plan) {
                return false;
            }
            match rest.split_once(" # SKIP ") {
                Some((label, reason)) if !failed && is_text(label) && is_text(reason) => {}
                None if is_text(rest) => executed += 1,
                _ => return false,
            }
            let label = rest.split(" # SKIP ").next().unwrap();
            if label.ends_with('{') || label.ends_with(char::is_whitespace) {
                return false;
            }
        }
    }
    bailed || (plan == Some(points) && executed > 0)
}

/// `T` of rule T12: no unescaped `#` or `\`, and no white space at either end.
fn is_text(text: &str) -> bool {
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '#' => return false,
            '\\' if !matches!(signs.next(), Some('#' | '\\')) => return false,
            _ => {}
        }
    }
    !text.is_empty() && text.trim() == text
}

/// Scalars that a producer must have replaced (T6).
fn is_forbidden(scalar: char) -> bool {
    let number = u32::from(scalar);
    scalar.is_control()
        || matches!(number, 0xad | 0x61c | 0x200b | 0x200e | 0x200f | 0x2028..=0x202e
            | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb | 0xe0000..=0xe007f | 0xfdd0..=0xfdef)
        || number & 0xfffe == 0xfffe
}
