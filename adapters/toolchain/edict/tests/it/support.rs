// SPDX-License-Identifier: Apache-2.0
//! A directory of its own for every test, and the real program in it.

use serde_json::Value;
use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Stdio,
};

/// The workspace, where shared test data lives.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A document of `testdata/contracts`.
pub(crate) fn contract(name: &str) -> Value {
    let path = workspace().join("testdata/contracts").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// What one run of the program answered.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) exit_code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// Every record, whichever stream it stands on.
    pub(crate) fn records(&self) -> Vec<Value> {
        let lines = self.stdout.lines().chain(self.stderr.lines());
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// `stage/kind` of every diagnostic, in order.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let records = self.records();
        let diagnostics = records.iter().filter(|it| it["type"] == "diagnostic");
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        diagnostics
            .map(|it| format!("{}/{}", text(&it["stage"]), text(&it["kind"])))
            .collect()
    }

    /// The last diagnostic.
    pub(crate) fn summary(&self) -> Value {
        let records = self.records();
        let mut diagnostics = records.into_iter().filter(|it| it["type"] == "diagnostic");
        diagnostics.next_back().unwrap()
    }

    /// Kind and message of the last diagnostic.
    pub(crate) fn refusal(&self) -> String {
        let summary = self.summary();
        let text = |name: &str| summary[name].as_str().unwrap().to_owned();
        format!("{}: {}", text("kind"), text("message"))
    }
}

/// A directory that a test owns.
#[derive(Debug)]
pub(crate) struct TestSpace {
    directory: tempfile::TempDir,
}

impl TestSpace {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }

    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(directory)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Replaces text in a file; the text must be there.
    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = String::from_utf8(self.read(name)).unwrap();
        assert!(text.contains(from), "`{from}` is not in `{name}`");
        self.write(name, text.replace(from, to));
    }

    /// Runs the program with `request` on its standard input.
    pub(crate) fn edict(&self, request: &str) -> Run {
        self.edict_with(&[], None, request.as_bytes())
    }

    #[expect(
        clippy::disallowed_types,
        reason = "the test is the parent of the real program"
    )]
    pub(crate) fn edict_with(&self, arguments: &[&str], limit: Option<&str>, stdin: &[u8]) -> Run {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_edict"));
        command.args(arguments).current_dir(self.path()).env_clear();
        if let Some(limit) = limit {
            command.env("EDICT_CLI_MAX_STDIN_BYTES", limit);
        }
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses early may close the pipe.
        _ = child.stdin.take().unwrap().write_all(stdin);
        let output = child.wait_with_output().unwrap();
        Run {
            exit_code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Builds the application document of this space.
    pub(crate) fn build(&self) -> Run {
        self.edict(BUILD)
    }

    /// Builds the lawpack whose definition stands at `path`.
    pub(crate) fn lawpack(&self, path: &str) -> Run {
        self.edict(&format!(
            r#"{{"schema":"edict.compiler.settings/v1","type":"settings","operation":"build","lawpack":"{path}"}}"#
        ))
    }

    /// Builds the lawpacks of the language cases into `vendor/`, with `exact` as the budget
    /// `case.kit@1.exact` if it is given.
    pub(crate) fn vendor(&self, exact: Option<&Value>) {
        let cases = contract("language-cases.json");
        for (name, text) in cases["files"].as_object().unwrap() {
            self.write(name, text.as_str().unwrap());
        }
        for (coordinate, definition) in cases["lawpacks"].as_object().unwrap() {
            let mut definition = definition.clone();
            if let (Some(exact), "case.kit@1") = (exact, coordinate.as_str()) {
                definition["lawpack"]["targetAdapters"][0]["budgets"]["case.kit@1.exact"] =
                    exact.clone();
            }
            let file = format!("{coordinate}.json");
            self.write(&file, definition.to_string());
            let run = self.lawpack(&file);
            assert_eq!(run.exit_code, 0, "{coordinate}: {run:?}");
        }
    }

    /// Writes an application around `source`, with the right digests and the lawpacks that it
    /// imports, that of the profile first.
    pub(crate) fn application(&self, source: &str) {
        let mut source = source.to_owned();
        let mut imports = imports(&source);
        imports.sort_by_key(|(_, alias)| !source.contains(&format!("profile {alias}.")));
        let mut entries = Vec::new();
        for (coordinate, _) in imports {
            let directory = format!("vendor/{}", coordinate.split('@').next().unwrap())
                .replace("case.kit", "case-kit")
                .replace("edict.test", "edict-test")
                .replace("text.store", "text-store");
            if !self.path().join(&directory).exists() {
                continue;
            }
            let sidecar = self.read(&format!("{directory}/manifest.sha256"));
            let digest = String::from_utf8(sidecar).unwrap();
            let zeros = format!(
                "use lawpack {coordinate} digest \"sha256:{}\"",
                "0".repeat(64)
            );
            let pinned = format!("use lawpack {coordinate} digest \"{}\"", digest.trim_end());
            source = source.replace(&zeros, &pinned);
            entries.push(entry(self, &directory));
        }
        let package = source.split(['\n', ';']).next().unwrap();
        let package = package.strip_prefix("package ").unwrap_or("case.x@1");
        let document = serde_json::json!({
            "schema": "edict.application/v1", "coordinate": package, "sources": ["src/m.edict"],
            "lawpacks": entries, "target": {"profile": "echo.dpo@1"}, "outputDirectory": "out"
        });
        self.write("src/m.edict", source);
        self.write("edict.application.json", document.to_string());
    }
}

/// The request that builds the application of a space.
pub(crate) const BUILD: &str = r#"{"schema":"edict.compiler.settings/v1","type":"settings","operation":"build","application":"edict.application.json"}"#;

fn entry(space: &TestSpace, directory: &str) -> Value {
    let path = |name: &str| format!("{directory}/{name}.cbor");
    let mut entry = serde_json::json!({"manifest": path("manifest"), "exports": path("exports")});
    if space.path().join(path("adapter")).exists() {
        entry["adapter"] = path("adapter").into();
        entry["targetConfiguration"] = path("configuration").into();
    }
    entry
}

/// Coordinate and alias of every lawpack that a source imports.
fn imports(source: &str) -> Vec<(String, String)> {
    let uses = source.split("use lawpack ").skip(1);
    uses.filter_map(|rest| {
        let statement = rest.split(';').next()?;
        let coordinate = statement.split_whitespace().next()?;
        let alias = statement.split_whitespace().last()?;
        Some((coordinate.to_owned(), alias.to_owned()))
    })
    .collect()
}
