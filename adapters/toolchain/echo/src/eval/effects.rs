// SPDX-License-Identifier: Apache-2.0
//! Effects on atoms: the charge lies between the judgement of the view and the work.

use super::{
    code::{EffectForm, OutputForm, PayloadForm, Role, Slot, Target, TargetFailure},
    machine::{BROKEN, Machine, Stop, field},
    read,
    value::{Symbol, Value},
    write::{self, WriteError},
};
use crate::{
    limits,
    meter::{amount, units_of},
    refusal::Refusal,
    state::view::{AtomAnswer, AtomRequest, Intrinsic},
};
use edict_codec::cbor;

/// Runs an effect on the input on the stack. Success leaves the result there; a failure returns
/// where its payload is bound, the payload, and where to go on.
pub(crate) fn run(
    machine: &mut Machine<'_>,
    form: u32,
) -> Result<Option<(Slot, Value, Target)>, Stop> {
    let form = machine.code.effects.get(form as usize).ok_or(BROKEN)?;
    let input = machine.pop()?;
    let key = role(machine, &input, &form.key)?.clone();
    let key_bytes = key_bytes(machine, form, &key)?;
    let value = match form.intrinsic {
        Intrinsic::Create | Intrinsic::Replace => {
            let value = role(machine, &input, &form.value)?.clone();
            let bytes = atom_bytes(machine, form, &value)?;
            Some((value, bytes))
        }
        Intrinsic::Read | Intrinsic::Delete => None,
    };
    let expected = match form.intrinsic {
        Intrinsic::Replace | Intrinsic::Delete => {
            version_of(role(machine, &input, &form.expected)?)?
        }
        Intrinsic::Create | Intrinsic::Read => [0; 32],
    };
    let new = value.as_ref().map(|(_, bytes)| bytes.as_slice());
    let request = match (form.intrinsic, new) {
        (Intrinsic::Read, _) => AtomRequest::Read,
        (Intrinsic::Create, Some(value)) => AtomRequest::Create { value },
        (Intrinsic::Replace, Some(value)) => AtomRequest::Replace {
            value,
            expected: &expected,
        },
        (Intrinsic::Delete, _) => AtomRequest::Delete {
            expected: &expected,
        },
        (Intrinsic::Create | Intrinsic::Replace, None) => return Err(BROKEN),
    };
    let judged = machine.view.judge(&form.space, &key_bytes, &request)?;
    let outcome = outcome(machine, form, judged, value.as_ref().map(|it| it.0.clone()));
    let (steps, bytes) = cost(form.intrinsic, key_bytes.len(), &outcome);
    machine.meter.charge(steps, bytes)?;
    machine.view.perform(&form.space, &key_bytes, &request)?;
    match outcome {
        Outcome::Done { value, version, .. } => {
            let result = result(&form.output, value, &version)?;
            machine.stack.push(result);
            Ok(None)
        }
        Outcome::Failed { failure, version } => {
            let arm = form.arms.iter().find(|arm| arm.failure == failure);
            let arm = arm.ok_or(Stop::Fault("a target failure is not mapped"))?;
            let payload = match arm.payload {
                PayloadForm::Key => key,
                PayloadForm::Empty(shape) => Value::record(shape, Vec::new())?,
                PayloadForm::Version(shape) => {
                    let version = version.ok_or(Stop::Fault("the failure has no version"))?;
                    Value::record(shape, vec![Value::bytes(version)])?
                }
            };
            Ok(Some((arm.binding, payload, arm.target)))
        }
    }
}

/// How an intrinsic ends, seen with the declared type of the atom.
enum Outcome {
    Done {
        /// The value the program may see; a delete has none.
        value: Option<Value>,
        version: [u8; 32],
        length: usize,
    },
    Failed {
        failure: TargetFailure,
        version: Option<[u8; 32]>,
    },
}

fn outcome(
    machine: &Machine<'_>,
    form: &EffectForm,
    answer: AtomAnswer,
    new: Option<Value>,
) -> Outcome {
    let failed = |failure, version| Outcome::Failed { failure, version };
    match answer {
        AtomAnswer::Missing => failed(TargetFailure::Missing, None),
        AtomAnswer::Exists(version) => failed(TargetFailure::Exists, Some(version)),
        AtomAnswer::Conflict(version) => failed(TargetFailure::Conflict, Some(version)),
        AtomAnswer::Done(atom) if form.intrinsic == Intrinsic::Read => {
            match typed(machine, form, &atom.value) {
                Some(value) => Outcome::Done {
                    value: Some(value),
                    version: atom.version,
                    length: atom.value.len(),
                },
                None => failed(TargetFailure::Malformed, Some(atom.version)),
            }
        }
        AtomAnswer::Done(atom) => Outcome::Done {
            value: new,
            version: atom.version,
            length: atom.value.len(),
        },
    }
}

/// Stored bytes as a value of the declared type; `None` if they are none.
fn typed(machine: &Machine<'_>, form: &EffectForm, bytes: &[u8]) -> Option<Value> {
    let limits = cbor::DecodeLimits {
        depth: usize::try_from(limits::MAX_CBOR_DEPTH).ok()?,
        nodes: usize::try_from(limits::MAX_CBOR_NODES).ok()?,
    };
    let value = cbor::decode_with(bytes, limits).ok()?;
    let code = machine.code;
    read::read(&code.types, &code.names, form.atom_type, &value).ok()
}

/// The charge of section 4.4.
fn cost(intrinsic: Intrinsic, key: usize, outcome: &Outcome) -> (u64, u64) {
    let steps = units_of(key).saturating_add(8);
    match (intrinsic, outcome) {
        (
            Intrinsic::Read | Intrinsic::Create | Intrinsic::Replace,
            Outcome::Done { length, .. },
        ) => (
            steps.saturating_add(units_of(*length)),
            amount(*length).saturating_add(64),
        ),
        (Intrinsic::Delete, _) | (_, Outcome::Failed { .. }) => (steps, 32),
    }
}

fn result(output: &OutputForm, value: Option<Value>, version: &[u8; 32]) -> Result<Value, Stop> {
    const ABSENT: Stop = Stop::Fault("the intrinsic gives no value");
    match output {
        OutputForm::Value => value.ok_or(ABSENT),
        OutputForm::Version => Ok(Value::bytes(*version)),
        OutputForm::Record { shape, roles } => {
            let mut fields = Vec::with_capacity(roles.len());
            for role in roles {
                fields.push(match role {
                    Role::Version => Value::bytes(*version),
                    Role::Value => value.clone().ok_or(ABSENT)?,
                });
            }
            Ok(Value::record(*shape, fields)?)
        }
    }
}

/// What stands at `path` in the input of an effect.
fn role<'v>(machine: &Machine<'_>, input: &'v Value, path: &[Symbol]) -> Result<&'v Value, Stop> {
    let mut value = input;
    for name in path {
        value = field(machine.code, value, *name)?;
    }
    Ok(value)
}

/// The key: bytes as they are, anything else as its canonical encoding.
fn key_bytes(machine: &Machine<'_>, form: &EffectForm, key: &Value) -> Result<Vec<u8>, Stop> {
    if let Value::Bytes(bytes) = key {
        return Ok(bytes.to_vec());
    }
    let code = machine.code;
    let cutoff = usize::try_from(limits::MAX_KEY_BYTES).unwrap_or(usize::MAX);
    match write::write(&code.types, &code.names, Some(form.key_type), key, cutoff) {
        Ok(written) if !written.too_large => Ok(written.bytes),
        Ok(_) | Err(WriteError::TooLong) => Err(beyond("a key")),
        Err(WriteError::Misfit) => Err(Stop::Fault("a key is none of its type")),
    }
}

fn atom_bytes(machine: &Machine<'_>, form: &EffectForm, value: &Value) -> Result<Vec<u8>, Stop> {
    let code = machine.code;
    let cutoff = usize::try_from(limits::MAX_ATOM_VALUE_BYTES).unwrap_or(usize::MAX);
    match write::write(
        &code.types,
        &code.names,
        Some(form.atom_type),
        value,
        cutoff,
    ) {
        Ok(written) if !written.too_large => Ok(written.bytes),
        Ok(_) | Err(WriteError::TooLong) => Err(beyond("an atom value")),
        Err(WriteError::Misfit) => Err(Stop::Fault("an atom value is none of its type")),
    }
}

fn version_of(value: &Value) -> Result<[u8; 32], Stop> {
    match value {
        Value::Bytes(bytes) => <[u8; 32]>::try_from(bytes.as_slice())
            .map_err(|_| Stop::Fault("a version has 32 bytes")),
        _ => Err(Stop::Fault("a version is bytes")),
    }
}

fn beyond(what: &str) -> Stop {
    Stop::from(Refusal::new(
        "state-limit",
        format!("{what} is above its limit"),
    ))
}
