// SPDX-License-Identifier: Apache-2.0
//! The real programs of the toolchain, started as any client starts them.

use super::JimError;
use edict_codec::{
    cbor::{Value, decode},
    json::{Json, write_record},
};
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Tools {
    directory: PathBuf,
}

/// A built and verified program.
#[derive(Clone, Debug)]
pub struct Program {
    /// The package.
    pub package: Vec<u8>,
    /// The report of the independent verifier.
    pub report: Vec<u8>,
    /// The package, decoded.
    pub content: Value,
}

impl Tools {
    /// The programs in a directory.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn below(directory: &Path) -> Result<Self, JimError> {
        for name in ["edict", "edict-verifier", "echo-host", "edict-test"] {
            if !directory.join(name).is_file() {
                let place = directory.display();
                return Err(JimError::new(format!(
                    "{name} is not in {place}; run: cargo build --workspace --bins"
                )));
            }
        }
        Ok(Self {
            directory: directory.to_path_buf(),
        })
    }

    /// The programs of the profile that the running program was built with.
    ///
    /// # Errors
    /// One of them is not there.
    pub fn beside_this() -> Result<Self, JimError> {
        let this = std::env::current_exe()?;
        let mut directory = this.parent().unwrap_or(Path::new("."));
        if directory.ends_with("deps") {
            directory = directory.parent().unwrap_or(directory);
        }
        Self::below(directory)
    }

    /// The path of a program.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Builds the lawpack that `<name>.lawpack.json` in `programs` defines.
    ///
    /// # Errors
    /// What the compiler says.
    pub fn build_lawpack(&self, programs: &Path, name: &str) -> Result<(), JimError> {
        let document = format!("{name}.lawpack.json");
        let request = settings(&[("lawpack", Json::text(document))]);
        self.ask("edict", programs, &request)
    }

    /// Builds and verifies the program that `<name>.application.json` in `programs` describes.
    ///
    /// # Errors
    /// What compiler or verifier say.
    pub fn build(&self, programs: &Path, name: &str) -> Result<Program, JimError> {
        let out = programs.join("out").join(name);
        if out.exists() {
            fs::remove_dir_all(&out)?;
        }
        let document = format!("{name}.application.json");
        let application: serde_json::Value =
            serde_json::from_slice(&fs::read(programs.join(&document))?)
                .map_err(|error| JimError::new(format!("{document}: {error}")))?;
        let request = settings(&[("application", Json::text(document))]);
        self.ask("edict", programs, &request)?;
        self.ask(
            "edict-verifier",
            programs,
            &verification(name, &application),
        )?;
        let package = fs::read(out.join("executable-operation-package.cbor"))?;
        let content =
            decode(&package).map_err(|error| JimError::new(format!("{name}: package: {error}")))?;
        Ok(Program {
            report: fs::read(out.join("verification-report.cbor"))?,
            package,
            content,
        })
    }

    /// Runs the runner in a directory.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn runner(&self, directory: &Path, arguments: &[&str]) -> Result<Output, JimError> {
        Ok(Command::new(self.path("edict-test"))
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::null())
            .output()?)
    }

    fn ask(&self, program: &str, directory: &Path, request: &Json) -> Result<(), JimError> {
        let mut child = Command::new(self.path(program))
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(write_record(request).as_bytes())?;
        }
        let output = child.wait_with_output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(JimError::new(format!(
            "{program} ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&said)
        )))
    }
}

fn settings(members: &[(&'static str, Json)]) -> Json {
    let mut all = vec![
        ("schema", Json::text("edict.compiler.settings/v1")),
        ("type", Json::text("settings")),
        ("operation", Json::text("build")),
    ];
    all.extend(members.iter().cloned());
    Json::object(all)
}

fn verification(name: &str, application: &serde_json::Value) -> Json {
    let out = |file: &str| Json::text(format!("out/{name}/{file}"));
    let lawpacks = application.get("lawpacks").and_then(|it| it.as_array());
    let lawpacks = lawpacks.into_iter().flatten().map(|pack| {
        let path = |member: &str| {
            let path = pack.get(member).and_then(serde_json::Value::as_str);
            (member.to_owned(), Json::optional(path, Json::text))
        };
        Json::object(["manifest", "exports", "adapter", "targetConfiguration"].map(path))
    });
    let source = application.pointer("/sources/0").and_then(|it| it.as_str());
    let inputs = Json::object([
        ("source", Json::optional(source, Json::text)),
        ("core", out("core.cbor")),
        ("targetIr", out("target-ir.cbor")),
        ("resultProjection", out("result-projection.cbor")),
        ("package", out("executable-operation-package.cbor")),
        ("lawpacks", Json::Array(lawpacks.collect())),
    ]);
    Json::object([
        ("schema", Json::text("edict.verifier.request/v1")),
        ("type", Json::text("verifierRequest")),
        ("operation", Json::text("verify")),
        ("output", out("verification-report.cbor")),
        ("inputs", inputs),
    ])
}

/// Builds both lawpacks in `programs` and writes their digests into every source that uses them.
///
/// # Errors
/// What the compiler says.
pub fn repin(tools: &Tools, programs: &Path) -> Result<(), JimError> {
    for (name, import) in [
        ("jim-text", "jim.text@1"),
        ("jim-textseed", "jim.textseed@1"),
    ] {
        tools.build_lawpack(programs, name)?;
        let sidecar = programs.join("vendor").join(name).join("manifest.sha256");
        let digest = fs::read_to_string(sidecar)?;
        for entry in fs::read_dir(programs.join("src"))? {
            let path = entry?.path();
            let source = fs::read_to_string(&path)?;
            let start = format!("use lawpack {import} digest \"");
            if let Some((before, rest)) = source.split_once(&start)
                && let Some((_, after)) = rest.split_once('"')
            {
                let pinned = format!("{before}{start}{}\"{after}", digest.trim());
                if pinned != source {
                    fs::write(&path, pinned)?;
                }
            }
        }
    }
    Ok(())
}
