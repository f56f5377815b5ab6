// SPDX-License-Identifier: Apache-2.0
//! Real builds in a space of their own, and requests about them.

use edict_codec::digest::frame;
use edict_codec::hex;
use edict_verifier::LawpackFiles;
use edict_verifier::verify::Inputs;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
#[expect(clippy::disallowed_types, reason = "these tests run the real programs")]
use std::process::Command;
use std::process::Stdio;

/// What a program said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a program in `directory` with `stdin`.
pub(crate) fn run(program: &Path, directory: &Path, arguments: &[&str], stdin: &[u8]) -> Said {
    #[expect(clippy::disallowed_types, reason = "these tests run the real programs")]
    let mut child = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    let output = child.wait_with_output().unwrap();
    Said {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The program under test.
pub(crate) fn verifier() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_edict-verifier"))
}

/// The real compiler, which stands beside the program under test.
pub(crate) fn compiler() -> PathBuf {
    let path = verifier().with_file_name("edict");
    assert!(
        path.exists(),
        "`{}` is missing; build it with `cargo build -p edict`",
        path.display()
    );
    path
}

/// The case table of the language contract.
pub(crate) fn table() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/contracts/language-cases.json");
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Lawpacks built once per budget, and applications built with them.
#[derive(Debug)]
pub(crate) struct Workshop {
    directory: tempfile::TempDir,
    table: Json,
    lawpacks: BTreeMap<(String, String), PathBuf>,
    applications: usize,
}

/// A built application.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) directory: PathBuf,
    pub(crate) out: PathBuf,
    pub(crate) lawpacks: Vec<PathBuf>,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            table: table(),
            lawpacks: BTreeMap::new(),
            applications: 0,
        }
    }

    /// Replaces the value at `pointer` of the definition of the lawpack `coordinate`.
    pub(crate) fn redefine(&mut self, coordinate: &str, pointer: &str, value: Json) {
        *self.table["lawpacks"][coordinate]
            .pointer_mut(pointer)
            .unwrap() = value;
    }

    /// Builds the lawpack `coordinate`; `budget` replaces the one called `exact`.
    fn lawpack(&mut self, coordinate: &str, budget: &Json) -> PathBuf {
        let key = (coordinate.to_owned(), budget.to_string());
        if let Some(path) = self.lawpacks.get(&key) {
            return path.clone();
        }
        let directory = self
            .directory
            .path()
            .join(format!("lawpack-{}", self.lawpacks.len()));
        fs::create_dir_all(directory.join("src")).unwrap();
        for (name, text) in self.table["files"].as_object().unwrap() {
            fs::write(directory.join(name), text.as_str().unwrap()).unwrap();
        }
        let mut document = self.table["lawpacks"][coordinate].clone();
        document["outputDirectory"] = json!("out");
        let exact = document.pointer_mut("/lawpack/targetAdapters/0/budgets/case.kit@1.exact");
        if let (Some(exact), false) = (exact, budget.is_null()) {
            *exact = budget.clone();
        }
        fs::write(directory.join("lawpack.json"), document.to_string()).unwrap();
        let said = run(
            &compiler(),
            &directory,
            &[],
            br#"{"schema":"edict.compiler.settings/v1","operation":"build","lawpack":"lawpack.json"}"#,
        );
        assert_eq!(said.code, 0, "{coordinate}: {}", said.stderr);
        let out = directory.join("out");
        self.lawpacks.insert(key, out.clone());
        out
    }

    /// Builds a source as an application of exactly the lawpacks that it imports.
    pub(crate) fn build(&mut self, source: &str, budget: &Json) -> Result<Built, Said> {
        let mut source = source.to_owned();
        let mut imported = Vec::new();
        let lines: Vec<String> = source.lines().map(str::to_owned).collect();
        for line in &lines {
            for part in line.split("use lawpack ").skip(1) {
                let coordinate = part.split_whitespace().next().unwrap().to_owned();
                imported.push(coordinate);
            }
        }
        let profile = source
            .split(" profile ")
            .nth(1)
            .map(|rest| rest.split('.').next().unwrap().to_owned());
        let mut ordered = Vec::new();
        for coordinate in imported {
            let output = self.lawpack(&coordinate, budget);
            let digest = frame(
                "edict.lawpack/v1",
                &fs::read(output.join("manifest.cbor")).unwrap(),
            );
            let import = format!("use lawpack {coordinate} digest \"sha256:");
            let at = source.find(&import).unwrap() + import.len();
            source.replace_range(at..at + 64, &hex::encode(&digest));
            let alias = source[at..].split(" as ").nth(1).unwrap();
            let alias = alias.split(';').next().unwrap().to_owned();
            ordered.push((Some(alias) != profile, output));
        }
        ordered.sort_by_key(|(later, _)| *later);
        let lawpacks: Vec<PathBuf> = ordered.into_iter().map(|(_, path)| path).collect();
        self.applications += 1;
        let directory = self
            .directory
            .path()
            .join(format!("application-{}", self.applications));
        fs::create_dir_all(&directory).unwrap();
        Self::application(&directory, &source, &lawpacks)
    }

    fn application(directory: &Path, source: &str, lawpacks: &[PathBuf]) -> Result<Built, Said> {
        let mut rows = Vec::new();
        let mut copied = Vec::new();
        for (index, lawpack) in lawpacks.iter().enumerate() {
            let name = format!("vendor/{index}");
            let target = directory.join(&name);
            fs::create_dir_all(&target).unwrap();
            for entry in fs::read_dir(lawpack).unwrap() {
                let entry = entry.unwrap();
                fs::copy(entry.path(), target.join(entry.file_name())).unwrap();
            }
            let mut row = json!({
                "manifest": format!("{name}/manifest.cbor"),
                "exports": format!("{name}/exports.cbor"),
            });
            if target.join("adapter.cbor").exists() {
                row["adapter"] = json!(format!("{name}/adapter.cbor"));
                row["targetConfiguration"] = json!(format!("{name}/configuration.cbor"));
            }
            rows.push(row);
            copied.push(target);
        }
        let package = source.split("package ").nth(1).unwrap();
        let package = package.split(';').next().unwrap();
        let document = json!({
            "schema": "edict.application/v1",
            "coordinate": package,
            "sources": ["main.edict"],
            "lawpacks": rows,
            "target": {"profile": "echo.dpo@1"},
            "outputDirectory": "out",
        });
        fs::write(directory.join("main.edict"), source).unwrap();
        fs::write(directory.join("application.json"), document.to_string()).unwrap();
        let said = run(
            &compiler(),
            directory,
            &[],
            br#"{"schema":"edict.compiler.settings/v1","operation":"build","application":"application.json"}"#,
        );
        if said.code != 0 {
            return Err(said);
        }
        Ok(Built {
            directory: directory.to_path_buf(),
            out: directory.join("out"),
            lawpacks: copied,
        })
    }
}

impl Built {
    /// The files as the library takes them.
    pub(crate) fn inputs(&self) -> Inputs {
        let out = |name: &str| fs::read(self.out.join(name)).unwrap();
        Inputs {
            source: fs::read(self.directory.join("main.edict")).unwrap(),
            core: out("core.cbor"),
            target_ir: out("target-ir.cbor"),
            projection: out("result-projection.cbor"),
            package: out("executable-operation-package.cbor"),
            lawpacks: self
                .lawpacks
                .iter()
                .map(|path| LawpackFiles {
                    manifest: fs::read(path.join("manifest.cbor")).unwrap(),
                    exports: fs::read(path.join("exports.cbor")).unwrap(),
                    adapter: fs::read(path.join("adapter.cbor")).ok(),
                    configuration: fs::read(path.join("configuration.cbor")).ok(),
                })
                .collect(),
        }
    }

    fn rows(&self) -> Vec<Json> {
        let there = |path: &Path, name: &str| {
            let path = path.join(name);
            if path.exists() {
                json!(path)
            } else {
                Json::Null
            }
        };
        self.lawpacks
            .iter()
            .map(|path| {
                json!({
                    "manifest": path.join("manifest.cbor"),
                    "exports": path.join("exports.cbor"),
                    "adapter": there(path, "adapter.cbor"),
                    "targetConfiguration": there(path, "configuration.cbor"),
                })
            })
            .collect()
    }

    /// A request to verify this build.
    pub(crate) fn verify_request(&self, output: &str) -> Json {
        json!({
            "schema": "edict.verifier.request/v1",
            "type": "verifierRequest",
            "operation": "verify",
            "output": output,
            "inputs": {
                "source": "main.edict",
                "core": "out/core.cbor",
                "targetIr": "out/target-ir.cbor",
                "resultProjection": "out/result-projection.cbor",
                "package": "out/executable-operation-package.cbor",
                "lawpacks": self.rows(),
            },
        })
    }

    /// A request to evaluate this build on `input.bin`.
    pub(crate) fn evaluate_request(&self, intent: &str, output: &str) -> Json {
        json!({
            "schema": "edict.verifier.request/v1",
            "type": "verifierRequest",
            "operation": "evaluate",
            "output": output,
            "inputs": {
                "core": "out/core.cbor",
                "lawpacks": self.rows(),
                "input": "input.bin",
                "intent": intent,
            },
        })
    }

    /// Sends a request to the program under test.
    pub(crate) fn ask(&self, request: &Json) -> Said {
        run(
            &verifier(),
            &self.directory,
            &[],
            request.to_string().as_bytes(),
        )
    }
}
