// SPDX-License-Identifier: Apache-2.0
//! Programs of the language, built and verified by the real compiler and verifier.

use serde_json::{Value as Json, json};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

/// A directory with vendored lawpacks in which one application after the other is built.
#[derive(Debug)]
pub(crate) struct Workshop {
    directory: tempfile::TempDir,
    builds: usize,
}

/// Package and report bytes.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) package: Vec<u8>,
    pub(crate) report: Vec<u8>,
    core: String,
    lawpacks: Vec<Json>,
}

/// What the evaluator of the verifier made of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Second {
    /// The coordinate of an obstruction.
    pub(crate) coordinate: Option<String>,
    /// Result or payload.
    pub(crate) body: Vec<u8>,
    /// Steps, allocated bytes and output bytes.
    pub(crate) consumed: [u64; 3],
}

/// The machine-readable cases of the language.
pub(crate) fn cases() -> Json {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../testdata/contracts/language-cases.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

impl Workshop {
    /// The lawpacks of the cases, with `exact` as the budget `case.kit@1.exact` if it is given.
    pub(crate) fn new(cases: &Json, exact: Option<&Json>) -> Self {
        let workshop = Self {
            directory: tempfile::tempdir().unwrap(),
            builds: 0,
        };
        for (name, text) in cases["files"].as_object().unwrap() {
            workshop.write(name, text.as_str().unwrap().as_bytes());
        }
        for (coordinate, definition) in cases["lawpacks"].as_object().unwrap() {
            let mut definition = definition.clone();
            if let (Some(exact), "case.kit@1") = (exact, coordinate.as_str()) {
                definition["lawpack"]["targetAdapters"][0]["budgets"]["case.kit@1.exact"] =
                    exact.clone();
            }
            let file = format!("{coordinate}.json");
            workshop.write(&file, definition.to_string().as_bytes());
            let request = json!({
                "schema": "edict.compiler.settings/v1", "type": "settings", "operation": "build",
                "lawpack": file,
            });
            workshop.run("edict", &request);
        }
        workshop
    }

    /// Builds and verifies a module with exactly the lawpacks it imports.
    pub(crate) fn build(&mut self, source: &str) -> Built {
        self.builds += 1;
        let output = format!("out{}", self.builds);
        let mut source = source.to_owned();
        let mut imports = imports(&source);
        imports.sort_by_key(|(_, alias)| !source.contains(&format!("profile {alias}.")));
        let mut entries = Vec::new();
        for (coordinate, _) in imports {
            let directory = format!(
                "vendor/{}",
                coordinate.split('@').next().unwrap().replace('.', "-")
            );
            let digest = self.read(&format!("{directory}/manifest.sha256"));
            let digest = String::from_utf8(digest).unwrap();
            let zeros = format!("lawpack {coordinate} digest \"sha256:{}\"", "0".repeat(64));
            let pinned = format!("lawpack {coordinate} digest \"{}\"", digest.trim_end());
            source = source.replace(&zeros, &pinned);
            entries.push(self.entry(&directory));
        }
        let package = source.split(';').next().unwrap();
        let package = package.trim_start_matches("package ");
        let application = json!({
            "schema": "edict.application/v1", "coordinate": package, "sources": ["src/m.edict"],
            "lawpacks": entries, "target": {"profile": "echo.dpo@1"}, "outputDirectory": output,
        });
        self.write("src/m.edict", source.as_bytes());
        self.write("edict.application.json", application.to_string().as_bytes());
        self.run(
            "edict",
            &json!({
                "schema": "edict.compiler.settings/v1", "type": "settings", "operation": "build",
                "application": "edict.application.json",
            }),
        );
        let at = |name: &str| format!("{output}/{name}.cbor");
        let lawpacks: Vec<Json> = entries.into_iter().map(whole).collect();
        self.run(
            "edict-verifier",
            &json!({
                "schema": "edict.verifier.request/v1", "type": "verifierRequest",
                "operation": "verify", "output": at("report"),
                "inputs": {
                    "source": "src/m.edict", "core": at("core"), "targetIr": at("target-ir"),
                    "resultProjection": at("result-projection"),
                    "package": at("executable-operation-package"), "lawpacks": &lawpacks,
                },
            }),
        );
        Built {
            package: self.read(&at("executable-operation-package")),
            report: self.read(&at("report")),
            core: at("core"),
            lawpacks,
        }
    }

    /// Evaluates Core once more, in the verifier.
    pub(crate) fn evaluate(&mut self, built: &Built, intent: &str, input: &[u8]) -> Second {
        self.builds += 1;
        let (file, output) = (
            format!("in{}.bin", self.builds),
            format!("body{}.cbor", self.builds),
        );
        self.write(&file, input);
        let record = self.run(
            "edict-verifier",
            &json!({
                "schema": "edict.verifier.request/v1", "type": "verifierRequest",
                "operation": "evaluate", "output": output,
                "inputs": {
                    "core": built.core, "lawpacks": built.lawpacks, "input": file,
                    "intent": intent,
                },
            }),
        );
        let consumed = |name: &str| record["consumed"][name].as_u64().unwrap();
        Second {
            coordinate: record["coordinate"].as_str().map(str::to_owned),
            body: self.read(&output),
            consumed: ["steps", "allocatedBytes", "outputBytes"].map(consumed),
        }
    }

    fn entry(&self, directory: &str) -> Json {
        let path = |name: &str| format!("{directory}/{name}.cbor");
        let mut entry = json!({"manifest": path("manifest"), "exports": path("exports")});
        if self.directory.path().join(path("adapter")).exists() {
            entry["adapter"] = path("adapter").into();
            entry["targetConfiguration"] = path("configuration").into();
        }
        entry
    }

    fn write(&self, name: &str, content: &[u8]) {
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.directory.path().join(name)).unwrap()
    }

    /// Runs a program of the toolchain, which must succeed; gives its first record.
    #[expect(
        clippy::disallowed_types,
        reason = "the test is the parent of the real programs"
    )]
    fn run(&self, program: &str, request: &Json) -> Json {
        let mut child = std::process::Command::new(binary(program))
            .current_dir(self.directory.path())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let request = format!("{request}\n");
        child
            .stdin
            .take()
            .unwrap()
            .write_all(request.as_bytes())
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{program}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    }
}

/// All four artifacts of a lawpack, null where it has none.
fn whole(mut entry: Json) -> Json {
    for key in ["adapter", "targetConfiguration"] {
        if entry.get(key).is_none() {
            entry[key] = Json::Null;
        }
    }
    entry
}

/// A program beside the directory of this test.
fn binary(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.pop();
    path.push(name);
    assert!(
        path.exists(),
        "`{}` is missing; run `cargo build -p {name}` with the same profile",
        path.display()
    );
    path
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
