// SPDX-License-Identifier: Apache-2.0
//! A directory with vendored lawpacks in which one program after the other is built, verified and
//! evaluated.

use super::{Atoms, ChainError, Programs};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::derive_typed,
    hex,
};
use serde_json::{Value as Json, json};
use std::path::Path;

/// The directory.
#[derive(Debug)]
pub struct Workshop {
    programs: Programs,
    directory: tempfile::TempDir,
    uses: u64,
}

/// A program that was built and accepted.
#[derive(Clone, Debug)]
pub struct Built {
    /// The executable operation package.
    pub package: Vec<u8>,
    /// The verification report.
    pub report: Vec<u8>,
    /// The intent.
    pub intent: String,
    output: String,
    lawpacks: Vec<Json>,
}

/// A source that the compiler refused: its diagnostics as `(stage, kind, line, column)`.
pub type Refused = Vec<(String, String, u64, u64)>;

/// How a build ended.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// It is accepted by the compiler.
    Built(Built),
    /// The source is refused.
    Refused(Refused),
    /// It failed in another way than by diagnostics of the source.
    Failed(super::Answer),
}

/// What the second evaluator made of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// The coordinate of an obstruction.
    pub coordinate: Option<String>,
    /// Result or payload.
    pub body: Vec<u8>,
    /// Steps, allocated bytes and output bytes.
    pub consumed: [u64; 3],
    /// The atoms afterwards, if there were some before.
    pub atoms: Option<Atoms>,
}

impl Built {
    /// Whether the program calls effects.
    pub fn is_effectful(&self) -> bool {
        let package = decode(&self.package).ok();
        let kind = package.as_ref().and_then(|it| it.get("kind")?.as_text());
        kind == Some("effectful")
    }

    /// The path of an artifact of the build, or of one that is made beside them.
    pub fn artifact(&self, name: &str) -> String {
        format!("{}/{name}.cbor", self.output)
    }

    /// The lawpacks as a request names them.
    pub fn lawpacks(&self) -> &[Json] {
        &self.lawpacks
    }
}

impl Workshop {
    /// An empty directory.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(programs: &Programs) -> Result<Self, ChainError> {
        Ok(Self {
            programs: programs.clone(),
            directory: tempfile::tempdir()?,
            uses: 0,
        })
    }

    /// Writes a file below the directory.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), ChainError> {
        let path = self.directory.path().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        Ok(std::fs::write(path, content)?)
    }

    /// Reads a file below the directory.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, ChainError> {
        std::fs::read(self.directory.path().join(name))
            .map_err(|error| ChainError::new(format!("{name}: {error}")))
    }

    /// Builds a lawpack from its definition.
    ///
    /// # Errors
    /// When the compiler refuses it.
    pub fn lawpack(&self, definition: &Json) -> Result<(), ChainError> {
        self.write("lawpack.json", definition.to_string().as_bytes())?;
        let request = json!({
            "schema": "edict.compiler.settings/v1", "operation": "build",
            "lawpack": "lawpack.json",
        });
        let answer = self.ask("edict", &request)?;
        answer.success("edict").map(|_| ())
    }

    /// Asks a program in this directory.
    ///
    /// # Errors
    /// As [`Programs::ask`].
    pub fn ask(&self, program: &str, request: &Json) -> Result<super::Answer, ChainError> {
        self.programs.ask(program, self.directory.path(), request)
    }

    /// The source with the digest of every imported lawpack in place of zeros or dots, and the
    /// entries of its closure, the lawpack of the profile first.
    fn closure(&self, source: &str) -> (String, Vec<Json>) {
        let mut source = source.to_owned();
        let mut imports = imports(&source);
        imports.sort_by_key(|(_, alias)| !source.contains(&format!("profile {alias}.")));
        let mut entries = Vec::new();
        for (coordinate, _) in imports {
            let id = coordinate.split('@').next().unwrap_or_default();
            let directory = format!("vendor/{}", id.replace('.', "-"));
            let Ok(digest) = self.read(&format!("{directory}/manifest.sha256")) else {
                continue;
            };
            let digest = String::from_utf8_lossy(&digest);
            let pinned = format!("lawpack {coordinate} digest \"{}\"", digest.trim_end());
            for blank in ["0".repeat(64), "…".to_owned()] {
                let blank = format!("lawpack {coordinate} digest \"sha256:{blank}\"");
                source = source.replace(&blank, &pinned);
            }
            entries.push(self.entry(&directory));
        }
        (source, entries)
    }

    fn entry(&self, directory: &str) -> Json {
        let path = |name: &str| format!("{directory}/{name}.cbor");
        let mut entry = json!({"manifest": path("manifest"), "exports": path("exports")});
        let exists = |name: &str| self.directory.path().join(path(name)).exists();
        if let (true, Some(entry)) = (exists("adapter"), entry.as_object_mut()) {
            entry.insert("adapter".to_owned(), path("adapter").into());
            entry.insert(
                "targetConfiguration".to_owned(),
                path("configuration").into(),
            );
        }
        entry
    }

    /// Builds an application of one source.
    ///
    /// # Errors
    /// When the compiler fails in another way than by diagnostics of the source.
    pub fn compile(&mut self, source: &str) -> Result<Result<Built, Refused>, ChainError> {
        match self.attempt(source)? {
            Attempt::Built(built) => Ok(Ok(built)),
            Attempt::Refused(found) => Ok(Err(found)),
            Attempt::Failed(answer) => Err(ChainError::new(format!("edict: {:?}", answer.errors))),
        }
    }

    /// The same, whatever comes of it.
    ///
    /// # Errors
    /// When the compiler cannot be asked, or its artifacts cannot be read.
    pub fn attempt(&mut self, source: &str) -> Result<Attempt, ChainError> {
        self.uses += 1;
        let output = format!("out{}", self.uses);
        let (source, entries) = self.closure(source);
        let package = source.split(';').next().unwrap_or_default();
        let package = package.trim_start().trim_start_matches("package ").trim();
        let application = json!({
            "schema": "edict.application/v1", "coordinate": package, "sources": ["src/m.edict"],
            "lawpacks": entries, "target": {"profile": "echo.dpo@1"}, "outputDirectory": output,
        });
        self.write("src/m.edict", source.as_bytes())?;
        self.write("edict.application.json", application.to_string().as_bytes())?;
        let request = json!({
            "schema": "edict.compiler.settings/v1", "operation": "build",
            "application": "edict.application.json",
        });
        let answer = self.ask("edict", &request)?;
        if answer.code != Some(0) {
            let found = diagnostics(&answer.errors);
            return Ok(if found.is_empty() {
                Attempt::Failed(answer)
            } else {
                Attempt::Refused(found)
            });
        }
        let first = answer.output.first();
        let operation = first.and_then(|record| record.get("operation")?.as_str());
        let intent = operation.and_then(|it| it.rsplit('.').next());
        Ok(Attempt::Built(Built {
            package: self.read(&format!("{output}/executable-operation-package.cbor"))?,
            report: Vec::new(),
            intent: intent.unwrap_or_default().to_owned(),
            output,
            lawpacks: entries.into_iter().map(whole).collect(),
        }))
    }

    /// Verifies what was just built.
    ///
    /// # Errors
    /// When the verifier does not accept it.
    pub fn verify(&self, built: &mut Built) -> Result<(), ChainError> {
        let at = |name: &str| format!("{}/{name}.cbor", built.output);
        let request = json!({
            "schema": "edict.verifier.request/v1", "type": "verifierRequest",
            "operation": "verify", "output": at("report"),
            "inputs": {
                "source": "src/m.edict", "core": at("core"), "targetIr": at("target-ir"),
                "resultProjection": at("result-projection"),
                "package": at("executable-operation-package"), "lawpacks": &built.lawpacks,
            },
        });
        let answer = self.ask("edict-verifier", &request)?;
        if answer.code != Some(0) {
            return Err(ChainError::new(format!(
                "edict-verifier ended with {:?}: {:?}{:?}",
                answer.code, answer.output, answer.errors
            )));
        }
        built.report = self.read(&at("report"))?;
        Ok(())
    }

    /// Evaluates Core once more, in the verifier, on these atoms.
    ///
    /// # Errors
    /// When there is no evaluation, or the body is not the one it answers.
    pub fn evaluate(
        &mut self,
        built: &Built,
        input: &[u8],
        atoms: Option<&Atoms>,
    ) -> Result<Evaluated, ChainError> {
        self.uses += 1;
        let after = format!("{}/atoms{}.cbor", built.output, self.uses);
        let output = format!("{}/body{}.cbor", built.output, self.uses);
        let core = format!("{}/core.cbor", built.output);
        self.write("input.bin", input)?;
        let mut request = json!({
            "schema": "edict.verifier.request/v1", "type": "verifierRequest",
            "operation": "evaluate", "output": output,
            "inputs": {
                "core": core, "lawpacks": built.lawpacks, "input": "input.bin",
                "intent": built.intent,
            },
        });
        if let (Some(atoms), Some(inputs)) = (atoms, request.pointer_mut("/inputs")) {
            self.write("atoms.bin", &listed(atoms))?;
            if let Some(inputs) = inputs.as_object_mut() {
                let paths = json!({"before": "atoms.bin", "after": after});
                inputs.insert("atoms".to_owned(), paths);
            }
        }
        let record = self
            .ask("edict-verifier", &request)?
            .success("edict-verifier")?;
        let body = self.read(&output)?;
        let member = |name: &str| record.get(name).cloned().unwrap_or_default();
        let stated = member("body");
        let stated = stated.get("bytes").and_then(Json::as_str);
        if stated.and_then(hex::decode_32) != Some(*derive_typed("echo/body/v1", &body).bytes()) {
            return Err(ChainError::new(format!(
                "another body than stated: {record}"
            )));
        }
        let consumed = member("consumed");
        let counter = |name: &str| {
            consumed
                .get(name)
                .and_then(Json::as_u64)
                .unwrap_or(u64::MAX)
        };
        Ok(Evaluated {
            coordinate: member("coordinate").as_str().map(str::to_owned),
            body,
            consumed: ["steps", "allocatedBytes", "outputBytes"].map(counter),
            atoms: match atoms {
                Some(_) => Some(unlisted(&self.read(&after)?)?),
                None => None,
            },
        })
    }

    /// Core of a build.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn core(&self, built: &Built) -> Result<Vec<u8>, ChainError> {
        self.read(&format!("{}/core.cbor", built.output))
    }

    /// Removes what a build left.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn discard(&self, built: &Built) -> Result<(), ChainError> {
        Ok(std::fs::remove_dir_all(self.path().join(&built.output))?)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Atoms as the verifier reads them.
fn listed(atoms: &Atoms) -> Vec<u8> {
    let rows = atoms.iter().map(|((space, key), value)| {
        Value::text_map([
            ("key", Value::bytes(&**key)),
            ("space", Value::text(&**space)),
            ("value", Value::bytes(&**value)),
        ])
    });
    encode(&Value::Array(rows.collect()))
}

/// Atoms as the verifier writes them.
fn unlisted(bytes: &[u8]) -> Result<Atoms, ChainError> {
    let broken = || ChainError::new("the verifier wrote no list of atoms");
    let list = decode(bytes).map_err(|_| broken())?;
    let atom = |row: &Value| {
        let bytes = |name: &str| Some(row.get(name)?.as_bytes()?.to_vec());
        let space = row.get("space")?.as_text()?.to_owned();
        Some(((space, bytes("key")?), bytes("value")?))
    };
    let rows = list.as_array().ok_or_else(broken)?.iter().map(atom);
    rows.collect::<Option<Atoms>>().ok_or_else(broken)
}

/// Diagnostics that have a place in the source, in order.
fn diagnostics(records: &[Json]) -> Refused {
    let placed = records.iter().filter_map(|record| {
        let text = |name: &str| Some(record.get(name)?.as_str()?.to_owned());
        let number = |name: &str| record.get(name)?.as_u64();
        Some((
            text("stage")?,
            text("kind")?,
            number("line")?,
            number("column")?,
        ))
    });
    placed.collect()
}

/// All four artifacts of a lawpack, null where it has none.
fn whole(mut entry: Json) -> Json {
    if let Some(members) = entry.as_object_mut() {
        for key in ["adapter", "targetConfiguration"] {
            members.entry(key).or_insert(Json::Null);
        }
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
