// SPDX-License-Identifier: Apache-2.0
//! The one program: creates the attachment of a node if there is none, and obstructs otherwise.

use super::envelope::{Envelope, Expression, Program, Projection};
use crate::{
    executable::{Decision, Evaluated, Executable, Facts, Origin},
    limits,
    meter::amount,
    pin::{Budget, Consumed},
    refusal::Refusal,
    state::view::{AtomAnswer, AtomRequest, AtomView},
};
use edict_codec::{
    cbor::{DecodeLimits, Value, decode_with, encode},
    digest::sha256,
};

/// One step looks for the attachment, one creates it.
pub(super) const MOST_STEPS: u64 = 2;

/// An admitted package of this kind.
#[derive(Debug)]
pub struct AnchoredOperation {
    facts: Facts,
    space: String,
    obstruction: String,
    key_path: Vec<String>,
    value_path: Vec<String>,
    max_replacement_bytes: u64,
    projection: Projection,
}

impl AnchoredOperation {
    pub(super) fn new(
        facts: Facts,
        envelope: &Envelope<'_>,
        program: &Program,
        projection: Projection,
    ) -> Self {
        let owned = |path: &[&str]| path.iter().map(|it| (*it).to_owned()).collect();
        Self {
            facts,
            space: program.space(),
            obstruction: envelope.obstruction.to_owned(),
            key_path: owned(&envelope.key_path),
            value_path: owned(&envelope.value_path),
            max_replacement_bytes: program.max_replacement_bytes,
            projection,
        }
    }

    fn obstructed(&self) -> Decision {
        Decision::Obstruction {
            origin: Origin::Authored,
            coordinate: self.obstruction.clone(),
            body: encode(&Value::Map(Vec::new())),
        }
    }

    /// The name of the node and the value of its attachment.
    fn operands<'a>(&self, input: &'a Value) -> Result<(&'a str, &'a [u8]), Refusal> {
        let key = find(input, &self.key_path)?;
        let key = key
            .as_text()
            .ok_or_else(|| wrong(&self.key_path, "a text names the node"))?;
        let value = find(input, &self.value_path)?;
        let value = value
            .as_bytes()
            .ok_or_else(|| wrong(&self.value_path, "the replacement is a byte string"))?;
        if amount(value.len()) > self.max_replacement_bytes {
            let most = self.max_replacement_bytes;
            return Err(wrong(
                &self.value_path,
                &format!("a replacement has at most {most} bytes"),
            ));
        }
        Ok((key, value))
    }
}

/// The value of an expression over the application input.
fn project(expression: &Expression, input: &Value) -> Result<Value, Refusal> {
    match expression {
        Expression::Input(path) => find(input, path).cloned(),
        Expression::Record(fields) => {
            let mut entries = Vec::with_capacity(fields.len());
            for (name, field) in fields {
                entries.push((name.clone(), project(field, input)?));
            }
            Ok(Value::text_map(entries))
        }
    }
}

/// The value at a path of records.
fn find<'a>(input: &'a Value, path: &[String]) -> Result<&'a Value, Refusal> {
    let mut at = input;
    for step in path {
        at = at
            .get(step)
            .ok_or_else(|| wrong(path, "the program needs this field"))?;
    }
    Ok(at)
}

fn wrong(path: &[String], message: &str) -> Refusal {
    Refusal::at("input-type", format!(".{}", path.join(".")), message)
}

impl Executable for AnchoredOperation {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn decode_input(&self, input: &[u8]) -> Result<Value, Refusal> {
        let limits = DecodeLimits {
            depth: usize::try_from(limits::MAX_CBOR_DEPTH).unwrap_or(usize::MAX),
            nodes: usize::try_from(limits::MAX_CBOR_NODES).unwrap_or(usize::MAX),
        };
        let value = decode_with(input, limits)
            .map_err(|error| Refusal::new("input-noncanonical", error.to_string()))?;
        if value.as_map().is_none() {
            return Err(Refusal::at("input-type", ".", "a record must stand here"));
        }
        self.operands(&value)?;
        project(&self.projection.expression, &value)?;
        Ok(value)
    }

    fn run(
        &self,
        input: Value,
        budget: Budget,
        view: &mut dyn AtomView,
    ) -> Result<Evaluated, Refusal> {
        let (key, replacement) = self.operands(&input)?;
        let node = sha256(key.as_bytes());
        let value = encode(&Value::bytes(replacement));
        let request = AtomRequest::Create { value: &value };
        let body = encode(&project(&self.projection.expression, &input)?);
        let mut meter = Meter {
            budget,
            consumed: Consumed::default(),
        };
        let is_absent = matches!(
            view.judge(&self.space, &node, &request)?,
            AtomAnswer::Done(_)
        );
        let most = self.projection.max_output_bytes;
        let charged = meter.charge(is_absent, replacement, &body, most);
        let decision = if let Err(exhausted) = charged {
            exhausted
        } else {
            view.perform(&self.space, &node, &request)?;
            if is_absent {
                Decision::Result { body }
            } else {
                self.obstructed()
            }
        };
        Ok(Evaluated {
            decision,
            basis: None,
            consumed: meter.consumed,
        })
    }
}

/// Steps, bytes read and bytes written. A charge that does not fit is not made.
struct Meter {
    budget: Budget,
    consumed: Consumed,
}

impl Meter {
    /// Charges the look at the attachment, of which no byte is read, and its creation if there is
    /// none; holds the result against the bytes it may have.
    fn charge(
        &mut self,
        is_absent: bool,
        replacement: &[u8],
        body: &[u8],
        most: u64,
    ) -> Result<(), Decision> {
        self.step()?;
        if !is_absent {
            return Ok(());
        }
        self.step()?;
        let written = amount(replacement.len());
        if written > self.budget.max_output_bytes {
            return Err(exhausted("write-bytes", self.budget.max_output_bytes));
        }
        if amount(body.len()) > most {
            return Err(exhausted("result-bytes", most));
        }
        self.consumed.output_bytes = written;
        Ok(())
    }

    fn step(&mut self) -> Result<(), Decision> {
        if self.consumed.steps >= self.budget.max_steps {
            return Err(exhausted("steps", self.budget.max_steps));
        }
        self.consumed.steps = self.consumed.steps.saturating_add(1);
        Ok(())
    }
}

fn exhausted(resource: &str, limit: u64) -> Decision {
    Decision::Obstruction {
        origin: Origin::Budget,
        coordinate: "echo.obstruction.budget-exhausted/v1".to_owned(),
        body: encode(&Value::text_map([
            ("limit", Value::unsigned(limit)),
            ("resource", Value::text(resource)),
        ])),
    }
}
