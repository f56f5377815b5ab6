// SPDX-License-Identifier: Apache-2.0
//! The evidence of a run, read from its report and bodies and held against the oracle.

use super::{
    JimError,
    identity::{atom, basis, state_root},
    lane::{Ended, hold},
    model::Fact,
    settlement::settlement,
    story::{self, Step, Story},
    table::{Case, Table},
};
use edict_codec::{
    cbor::{Value, decode},
    digest::TypedDigest,
};
use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// A finished run on disk.
#[derive(Debug)]
pub struct Run {
    /// The report.
    pub report: Json,
    artifacts: PathBuf,
}

impl Run {
    /// Reads `report` and remembers where its bodies are.
    ///
    /// # Errors
    /// The report cannot be read.
    pub fn read(report: &Path) -> Result<Self, JimError> {
        let mut artifacts = report.as_os_str().to_owned();
        artifacts.push(".artifacts");
        let bytes = fs::read(report)
            .map_err(|error| JimError::new(format!("read {}: {error}", report.display())))?;
        Ok(Self {
            report: serde_json::from_slice(&bytes)
                .map_err(|error| JimError::new(format!("report: {error}")))?,
            artifacts: artifacts.into(),
        })
    }

    /// Every case by id with its verdict, stage and kind.
    pub fn verdicts(&self) -> BTreeMap<String, [String; 3]> {
        let word = |case: &Json, name: &str| {
            case.get(name)
                .and_then(Json::as_str)
                .unwrap_or("-")
                .to_owned()
        };
        items(&self.report, "/semantic/cases")
            .map(|it| {
                (
                    word(it, "id"),
                    ["verdict", "stage", "kind"].map(|name| word(it, name)),
                )
            })
            .collect()
    }

    /// The evidence of a case by its id; nothing where none was gathered.
    pub fn operations(&self, id: &str) -> Vec<&Json> {
        let cases = items(&self.report, "/semantic/cases");
        let index = cases
            .filter(|it| it.get("id").and_then(Json::as_str) == Some(id))
            .find_map(|it| it.get("index").cloned());
        items(&self.report, "/evidence/cases")
            .filter(|it| it.get("index").cloned() == index)
            .flat_map(|it| items(it, "/operations"))
            .collect()
    }

    /// A body that an operation names, decoded; null where it names none.
    ///
    /// # Errors
    /// The body is not there or not canonical.
    pub fn body(&self, operation: &Json, name: &str) -> Result<Value, JimError> {
        let Some(hex) = operation
            .pointer(&format!("/{name}/blob/bytes"))
            .and_then(Json::as_str)
        else {
            return Ok(Value::Null);
        };
        let (head, tail) = hex.split_at_checked(2).unwrap_or_default();
        let bytes = fs::read(self.artifacts.join("blake3").join(head).join(tail))
            .map_err(|error| JimError::new(format!("body {name}: {error}")))?;
        decode(&bytes).map_err(|error| JimError::new(format!("body {name}: {error}")))
    }
}

fn items<'a>(value: &'a Json, pointer: &str) -> impl Iterator<Item = &'a Json> {
    value
        .pointer(pointer)
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
}

/// Holds the evidence of every case of the table against the oracle; gives what differs by case.
pub fn differences(run: &Run, table: &Table) -> BTreeMap<String, String> {
    let required = table.cases.iter().filter(|it| it.required);
    required
        .filter_map(|case| {
            let error = compare(run, case).err()?;
            Some((case.id.clone(), error.to_string()))
        })
        .collect()
}

/// What a client knows while it follows the operations of one case.
#[derive(Default)]
struct Ledger {
    atoms: BTreeMap<[u8; 32], Vec<u8>>,
    tick: u64,
}

impl Ledger {
    fn basis(&self) -> Value {
        let atoms: Vec<_> = self
            .atoms
            .iter()
            .map(|(atom, value)| (*atom, value.clone()))
            .collect();
        position(self.tick, &state_root(&atoms))
    }

    /// Takes a patch: one Tick exactly if there is one.
    fn take(&mut self, ended: &Ended) -> Result<(), JimError> {
        hold("before", ended.record.get("before") == Some(&self.basis()))?;
        let entries = ended.patch.as_array().unwrap_or_default();
        self.tick += u64::from(!entries.is_empty());
        for entry in entries {
            let member = |name: &str| {
                entry
                    .get(name)
                    .and_then(Value::as_bytes)
                    .unwrap_or_default()
            };
            let atom = member("atom").try_into();
            let atom = atom.map_err(|_| JimError::new("an atom id is not 32 bytes"))?;
            self.atoms.insert(atom, member("value").to_vec());
        }
        hold("after", ended.record.get("after") == Some(&self.basis()))
    }
}

fn position(tick: u64, root: &TypedDigest) -> Value {
    Value::text_map([
        ("tick", Value::unsigned(tick)),
        ("stateRoot", root.to_value()),
    ])
}

fn compare(run: &Run, case: &Case) -> Result<(), JimError> {
    let story = Story::of(case)?;
    let mut steps: Vec<Step> = story.setup.clone();
    steps.push(story.judged.clone());
    if let Ok(state) = &story.outcome {
        steps.push(story::check(&story.buffer, state));
    }
    let operations = run.operations(&case.id);
    hold("number of operations", operations.len() == steps.len())?;
    let mut ledger = Ledger::default();
    let mut fact = Fact::Absent;
    let settled = steps.iter().filter(|it| settles(it)).count() as u64;
    for (operation, step) in operations.into_iter().zip(&steps) {
        let ended = ended(run, operation)?;
        hold_step(&story, &fact, step, &ended)
            .map_err(|error| JimError::new(format!("{}: {error}", step.program)))?;
        ledger.take(&ended)?;
        if of_buffer(&story, step) {
            fact = match (&step.after, step.program) {
                (Some(state), _) => Fact::Buffer(state.clone()),
                (None, "seed-foreign") => Fact::Foreign,
                (None, _) => fact,
            };
        }
    }
    hold("ticks", ledger.tick == settled)?;
    let foreign = steps.iter().any(|it| !of_buffer(&story, it));
    let stands = u64::from(fact != Fact::Absent) + u64::from(foreign);
    hold("atoms", ledger.atoms.len() as u64 == stands)
}

fn settles(step: &Step) -> bool {
    step.after.is_some() || step.program == "seed-foreign"
}

fn of_buffer(story: &Story, step: &Step) -> bool {
    step.input.get("bufferId") == Some(&Value::bytes(story.buffer))
}

/// Holds one operation: coordinate, result record, footprint and patch.
fn hold_step(story: &Story, fact: &Fact, step: &Step, ended: &Ended) -> Result<(), JimError> {
    let own = of_buffer(story, step);
    let id = step
        .input
        .get("bufferId")
        .and_then(Value::as_bytes)
        .unwrap_or_default();
    let id: [u8; 32] = id
        .try_into()
        .map_err(|_| JimError::new("a buffer id is not 32 bytes"))?;
    let before = match fact {
        Fact::Buffer(state) if own => Some(basis(&id, state)),
        _ => None,
    };
    match step.program {
        "replace-range" => match (&step.after, &story.outcome) {
            (Some(state), _) => {
                hold("coordinate", ended.coordinate.is_none())?;
                hold("result record", ended.body == story::result(&id, state))?;
                settlement(ended, &id, before, Some(state), "replace")
            }
            (None, Err(found)) => {
                hold(
                    "coordinate",
                    ended.coordinate.as_deref() == Some(found.coordinate),
                )?;
                hold("payload", ended.body == story::payload(&id, found))?;
                if *fact == Fact::Foreign {
                    return foreign(ended, &id);
                }
                settlement(ended, &id, before, None, "replace")
            }
            (None, Ok(_)) => Err(JimError::new("the oracle has no state for this step")),
        },
        "check-buffer" => {
            let passed = Value::text_map([
                ("status", Value::unsigned(0)),
                ("assertions", Value::unsigned(6)),
                ("message", Value::text("")),
            ]);
            hold("case result", ended.body == passed)?;
            settlement(ended, &id, before, None, "read")
        }
        "seed-foreign" => hold("coordinate", ended.coordinate.is_none()),
        _ => {
            hold("coordinate", ended.coordinate.is_none())?;
            settlement(ended, &id, before, step.after.as_ref(), "create")
        }
    }
}

/// An obstruction over a value that is no buffer: one read that saw something, no write.
fn foreign(ended: &Ended, id: &[u8; 32]) -> Result<(), JimError> {
    let reads = ended
        .footprint
        .get("reads")
        .and_then(Value::as_array)
        .unwrap_or_default();
    let [read] = reads else {
        return Err(JimError::new("not one read"));
    };
    hold(
        "read atom",
        read.get("atom") == Some(&Value::bytes(atom(id))),
    )?;
    hold("seen", read.get("seen").is_some_and(|it| !it.is_null()))?;
    hold(
        "writes",
        ended.footprint.get("writes") == Some(&Value::Array(Vec::new())),
    )?;
    hold("patch", ended.patch.is_null())
}

fn ended(run: &Run, operation: &Json) -> Result<Ended, JimError> {
    let record = run.body(operation, "record")?;
    let coordinate = record.get("outcome").and_then(|it| it.get("coordinate"));
    Ok(Ended {
        coordinate: coordinate.and_then(Value::as_text).map(str::to_owned),
        body: run.body(operation, "result")?,
        footprint: run.body(operation, "footprint")?,
        patch: run.body(operation, "patch")?,
        record,
        invocation: [0; 32],
    })
}
