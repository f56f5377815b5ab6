// SPDX-License-Identifier: Apache-2.0
//! Programs for the host, built by the compiler and accepted by the verifier.

use crate::job::{Failure, copy_tree, root};
use serde_json::{Value as Json, json};
use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// A private copy of the programs of the tour, and the toolchain that builds them.
#[derive(Debug)]
pub(crate) struct Workshop {
    tools: PathBuf,
    directory: tempfile::TempDir,
}

/// Package and report bytes.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) package: Vec<u8>,
    pub(crate) report: Vec<u8>,
}

impl Workshop {
    /// Takes the programs `edict` and `edict-verifier` from `tools`.
    pub(crate) fn new(tools: &Path) -> Result<Self, Failure> {
        let directory = tempfile::tempdir()?;
        copy_tree(
            &root().join("testdata/suites/tour/programs"),
            directory.path(),
        )?;
        Ok(Self {
            tools: tools.to_owned(),
            directory,
        })
    }

    /// Puts a source and its application document beside those of the tour.
    pub(crate) fn add(&self, name: &str, source: &str) -> Result<(), Failure> {
        let at = |path: String| self.directory.path().join(path);
        let model = std::fs::read_to_string(at("costly.application.json".to_owned()))?;
        std::fs::write(
            at(format!("{name}.application.json")),
            model.replace("costly", name),
        )?;
        // The pin of the lawpack is that of the tour's own sources.
        let pinned = std::fs::read_to_string(at("src/costly.edict".to_owned()))?;
        let pin = pinned.split('"').nth(1).unwrap_or_default();
        std::fs::write(at(format!("src/{name}.edict")), source.replace("PIN", pin))?;
        Ok(())
    }

    /// Builds and verifies one application of the directory.
    pub(crate) fn build(&self, name: &str) -> Result<Built, Failure> {
        let document = format!("{name}.application.json");
        let application: Json =
            serde_json::from_slice(&std::fs::read(self.directory.path().join(&document))?)
                .map_err(|error| Failure::new(format!("{document}: {error}")))?;
        self.run(
            "edict",
            &json!({
                "schema": "edict.compiler.settings/v1", "type": "settings", "operation": "build",
                "application": document,
            }),
        )?;
        let output = application
            .get("outputDirectory")
            .and_then(Json::as_str)
            .unwrap_or_default();
        let at = |file: &str| format!("{output}/{file}.cbor");
        self.run(
            "edict-verifier",
            &json!({
                "schema": "edict.verifier.request/v1", "type": "verifierRequest",
                "operation": "verify", "output": at("report"),
                "inputs": {
                    "source": application.pointer("/sources/0"),
                    "core": at("core"), "targetIr": at("target-ir"),
                    "resultProjection": at("result-projection"),
                    "package": at("executable-operation-package"),
                    "lawpacks": application.get("lawpacks"),
                },
            }),
        )?;
        let read = |file: &str| std::fs::read(self.directory.path().join(at(file)));
        Ok(Built {
            package: read("executable-operation-package")?,
            report: read("report")?,
        })
    }

    fn run(&self, program: &str, request: &Json) -> Result<(), Failure> {
        let path = self.tools.join(program);
        let mut child = Command::new(&path)
            .current_dir(self.directory.path())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::new(format!("start `{}`: {error}", path.display())))?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(format!("{request}\n").as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stdout);
        Err(Failure::new(format!(
            "`{program}` ended with {}: {said}",
            output.status
        )))
    }
}
