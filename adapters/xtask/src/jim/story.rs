// SPDX-License-Identifier: Apache-2.0
//! What happens in one case: which programs run on which inputs, and what the oracle expects.

use super::{
    JimError, identity,
    model::{Edit, Fact, Field, Obstruction, State, judge},
    table::{Basis, Case, Seed},
};
use edict_codec::cbor::Value;

/// One invocation.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name of the program.
    pub program: &'static str,
    /// Its input.
    pub input: Value,
    /// The state of the buffer after it, if it settles.
    pub after: Option<State>,
}

/// A whole case.
#[derive(Clone, Debug)]
pub struct Story {
    /// The buffer under judgement.
    pub buffer: [u8; 32],
    /// What stands there before the judged edit.
    pub before: Fact,
    /// The invocations before the judged edit.
    pub setup: Vec<Step>,
    /// The judged edit.
    pub judged: Step,
    /// What the judgement is.
    pub outcome: Result<State, Obstruction>,
}

impl Story {
    /// The story of a case.
    ///
    /// # Errors
    /// A step before the judged edit does not settle.
    pub fn of(case: &Case) -> Result<Self, JimError> {
        let buffer = identity::buffer_id(&case.buffer_key);
        let (mut fact, first) = beginning(case, &buffer);
        let initial = current(&buffer, &fact);
        let mut setup: Vec<Step> = first.into_iter().collect();
        let mut foreign = None;
        if case.basis == Basis::ForeignBuffer {
            let other = identity::buffer_id(&format!("{}-other", case.id));
            let state = State::created("other");
            foreign = Some(identity::basis(&other, &state));
            setup.push(Step {
                after: Some(state),
                ..create(&other, "other")
            });
        }
        for (index, edit) in case.setup.iter().enumerate() {
            let state = judge(&fact, true, edit).map_err(|it| {
                JimError::new(format!("setup edit {index} ends in {}", it.coordinate))
            })?;
            let mut step = replace(&buffer, &current(&buffer, &fact), edit);
            step.after = Some(state.clone());
            setup.push(step);
            fact = Fact::Buffer(state);
        }
        let basis = match case.basis {
            Basis::Current => current(&buffer, &fact),
            Basis::Initial => initial,
            Basis::ForeignBuffer => foreign.unwrap_or(NO_BASIS),
            Basis::Unknown => NO_BASIS,
        };
        let outcome = judge(&fact, basis == current(&buffer, &fact), &case.edit);
        let mut judged = replace(&buffer, &basis, &case.edit);
        judged.after = outcome.as_ref().ok().cloned();
        Ok(Self {
            buffer,
            before: fact,
            setup,
            judged,
            outcome,
        })
    }
}

/// Thirty-two bytes that are no basis of any state.
pub const NO_BASIS: [u8; 32] = [0xA5; 32];

/// The basis of what stands at a buffer; where no state stands there is none.
pub fn current(buffer: &[u8; 32], fact: &Fact) -> [u8; 32] {
    match fact {
        Fact::Buffer(state) => identity::basis(buffer, state),
        Fact::Absent | Fact::Foreign => NO_BASIS,
    }
}

/// What stands there first, and the step that puts it there.
fn beginning(case: &Case, buffer: &[u8; 32]) -> (Fact, Option<Step>) {
    let mut state = State::created(&case.initial);
    match &case.seed {
        None => {
            let step = Step {
                after: Some(state.clone()),
                ..create(buffer, &case.initial)
            };
            (Fact::Buffer(state), Some(step))
        }
        Some(Seed::Absent) => (Fact::Absent, None),
        Some(Seed::Foreign) => (Fact::Foreign, Some(seed_foreign(buffer))),
        Some(Seed::Fields(fields)) => {
            for (name, value) in fields {
                match name.as_str() {
                    "sequence" => state.sequence = *value,
                    "version" => state.version = *value,
                    "utf16Length" => state.utf16_length = *value,
                    _ => state.line_breaks = *value,
                }
            }
            let step = seed(buffer, &state);
            (Fact::Buffer(state), Some(step))
        }
    }
}

fn id(buffer: &[u8; 32]) -> (&'static str, Value) {
    ("bufferId", Value::bytes(*buffer))
}

/// Creates a buffer with that text.
pub fn create(buffer: &[u8; 32], text: &str) -> Step {
    Step {
        program: "create-buffer",
        input: Value::text_map([id(buffer), ("text", Value::bytes(text.as_bytes()))]),
        after: None,
    }
}

/// Stores a whole state.
pub fn seed(buffer: &[u8; 32], state: &State) -> Step {
    Step {
        program: "seed-buffer",
        input: Value::text_map([id(buffer), ("state", identity::state_value(state))]),
        after: Some(state.clone()),
    }
}

/// Stores a value that is no buffer.
pub fn seed_foreign(buffer: &[u8; 32]) -> Step {
    let note = Value::text_map([("note", Value::text("not a buffer"))]);
    Step {
        program: "seed-foreign",
        input: Value::text_map([id(buffer), ("note", note)]),
        after: None,
    }
}

/// Edits a buffer on a basis.
pub fn replace(buffer: &[u8; 32], basis: &[u8; 32], edit: &Edit) -> Step {
    Step {
        program: "replace-range",
        input: Value::text_map([
            id(buffer),
            ("basis", Value::bytes(*basis)),
            ("startByte", Value::unsigned(edit.start)),
            ("endByte", Value::unsigned(edit.end)),
            ("replacement", Value::bytes(edit.replacement.clone())),
        ]),
        after: None,
    }
}

/// Compares a buffer with a state.
pub fn check(buffer: &[u8; 32], state: &State) -> Step {
    Step {
        program: "check-buffer",
        input: Value::text_map([
            id(buffer),
            ("basis", Value::bytes(identity::basis(buffer, state))),
            ("text", Value::bytes(state.text.clone())),
            ("utf16Length", Value::unsigned(state.utf16_length)),
            ("lineBreaks", Value::unsigned(state.line_breaks)),
            ("sequence", Value::unsigned(state.sequence)),
            ("version", Value::unsigned(state.version)),
        ]),
        after: None,
    }
}

/// The result record of a settled edit; the line count is one more than the breaks.
pub fn result(buffer: &[u8; 32], state: &State) -> Value {
    Value::text_map([
        id(buffer),
        ("basis", Value::bytes(identity::basis(buffer, state))),
        ("byteLength", Value::unsigned(state.text.len() as u64)),
        ("utf16Length", Value::unsigned(state.utf16_length)),
        (
            "lineCount",
            Value::unsigned(state.line_breaks.saturating_add(1)),
        ),
        ("sequence", Value::unsigned(state.sequence)),
        ("version", Value::unsigned(state.version)),
    ])
}

/// The payload of an obstruction.
pub fn payload(buffer: &[u8; 32], obstruction: &Obstruction) -> Value {
    let mut entries: Vec<(&str, Value)> = obstruction
        .fields
        .iter()
        .map(|(name, field)| match field {
            Field::Number(value) => (*name, Value::unsigned(*value)),
            Field::Word(word) => (*name, Value::text(*word)),
        })
        .collect();
    if obstruction.authored() {
        entries.push(id(buffer));
    }
    Value::text_map(entries)
}
