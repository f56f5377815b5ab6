// SPDX-License-Identifier: Apache-2.0
//! Mutations: authored changes of the programs, each of which must flip exactly the listed cases.

use super::{
    JimError,
    evidence::Run,
    home, suite,
    table::Table,
    toolchain::{Tools, repin},
};
use serde_json::Value as Json;
use std::{collections::BTreeSet, fs, path::Path};

/// One authored change.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Its id.
    pub id: String,
    /// What it changes.
    pub change: String,
    /// `(file below programs, old text, new text)`; the old text stands there exactly once.
    pub edits: Vec<[String; 3]>,
    /// Cases whose verdict must flip.
    pub verdict: Listed,
    /// Cases of which a setup step must fail.
    pub setup: Listed,
}

/// Cases of one kind of flip.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    /// Those named.
    pub named: BTreeSet<String>,
    /// How many there are in the public table, the named ones included.
    pub count: usize,
}

impl Listed {
    /// Why `found` is not what is listed, or nothing.
    pub fn differs(&self, found: &BTreeSet<String>) -> Option<String> {
        let missing: Vec<_> = self.named.difference(found).collect();
        let more: Vec<_> = found.difference(&self.named).collect();
        if !missing.is_empty() || found.len() != self.count {
            return Some(format!(
                "{} instead of {} cases; not flipped {missing:?}; flipped and not named {more:?}",
                found.len(),
                self.count
            ));
        }
        None
    }
}

/// What a run under a mutation did to the cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flips {
    /// Cases whose verdict flipped.
    pub verdict: BTreeSet<String>,
    /// Cases of which a setup step failed.
    pub setup: BTreeSet<String>,
    /// Cases that ended in any other way.
    pub other: BTreeSet<String>,
}

impl Mutation {
    /// All committed mutations, by number.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn all() -> Result<Vec<Self>, JimError> {
        let mut all = Vec::new();
        for number in 1..=18 {
            all.push(Self::read(
                &home().join(format!("mutations/M{number}.json")),
            )?);
        }
        Ok(all)
    }

    fn read(path: &Path) -> Result<Self, JimError> {
        let failed = |what: &str| JimError::new(format!("{}: {what}", path.display()));
        let root: Json =
            serde_json::from_slice(&fs::read(path)?).map_err(|error| failed(&error.to_string()))?;
        let word = |value: &Json, name: &str| {
            let found = value.get(name).and_then(Json::as_str).map(str::to_owned);
            found.ok_or_else(|| failed(&format!("member `{name}` is missing")))
        };
        let edits = root.get("edits").and_then(Json::as_array);
        let edits = edits
            .into_iter()
            .flatten()
            .map(|edit| Ok([word(edit, "file")?, word(edit, "old")?, word(edit, "new")?]));
        Ok(Self {
            id: word(&root, "id")?,
            change: word(&root, "change")?,
            edits: edits.collect::<Result<_, JimError>>()?,
            verdict: listed(root.get("verdict")),
            setup: listed(root.get("setup")),
        })
    }

    /// Writes the changed suite into `directory`, builds, locks and runs it.
    ///
    /// # Errors
    /// The change does not apply, or a program cannot be run.
    pub fn run(&self, tools: &Tools, table: &Table, directory: &Path) -> Result<Run, JimError> {
        let place = directory.join("suite");
        suite::write(table, &place)?;
        self.apply(tools, &place.join("programs"))?;
        run_suite(tools, directory)
    }

    /// Changes the sources in `programs`, then rebuilds and repins the lawpacks.
    ///
    /// # Errors
    /// The change does not apply, or the compiler refuses it.
    pub fn apply(&self, tools: &Tools, programs: &Path) -> Result<(), JimError> {
        for [file, old, new] in &self.edits {
            let path = programs.join(file);
            let source = fs::read_to_string(&path)?;
            if source.matches(old.as_str()).count() != 1 {
                let id = &self.id;
                return Err(JimError::new(format!(
                    "{id}: `{old}` is not once in {file}"
                )));
            }
            fs::write(&path, source.replace(old.as_str(), new))?;
        }
        repin(tools, programs)
    }
}

fn listed(value: Option<&Json>) -> Listed {
    let named: BTreeSet<String> = value
        .and_then(|it| it.get("named"))
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(|it| it.as_str().map(str::to_owned))
        .collect();
    let count = value.and_then(|it| it.get("count")).and_then(Json::as_u64);
    Listed {
        count: count
            .and_then(|it| usize::try_from(it).ok())
            .unwrap_or(named.len()),
        named,
    }
}

/// Pins and runs the suite in `directory/suite`; the report is `directory/run.json`.
///
/// # Errors
/// The lock cannot be made, or there is no report.
pub fn run_suite(tools: &Tools, directory: &Path) -> Result<Run, JimError> {
    run_suite_with(tools, directory, &[])
}

/// As [`run_suite`], with further options of the run.
///
/// # Errors
/// The same.
pub fn run_suite_with(tools: &Tools, directory: &Path, more: &[&str]) -> Result<Run, JimError> {
    let manifest = format!("suite/{}", suite::MANIFEST);
    let pinned = tools.runner(
        directory,
        &["lock", "--suite", &manifest, "--existing", "replace"],
    )?;
    if !pinned.status.success() {
        return Err(JimError::new(
            String::from_utf8_lossy(&pinned.stderr).into_owned(),
        ));
    }
    let report = "run.json";
    let options = [
        "--suite",
        &manifest,
        "--report-json",
        report,
        "--report-existing",
        "replace",
    ];
    let output = tools.runner(directory, &[&options, more].concat())?;
    Run::read(&directory.join(report)).map_err(|error| {
        JimError::new(format!(
            "{error}; {}",
            String::from_utf8_lossy(&output.stderr)
        ))
    })
}

/// How the cases ended that did not pass.
pub fn flips(run: &Run) -> Flips {
    let mut flips = Flips::default();
    for (id, [verdict, _, _]) in run.verdicts() {
        match verdict.as_str() {
            "passed" => {}
            "setup_failed" => _ = flips.setup.insert(id),
            "assertion_failed" | "unexpected_obstruction" => _ = flips.verdict.insert(id),
            _ => _ = flips.other.insert(id),
        }
    }
    flips
}
