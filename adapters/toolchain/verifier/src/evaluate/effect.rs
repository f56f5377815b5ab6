// SPDX-License-Identifier: Apache-2.0
//! Effects at run time: the atom is judged, the charge comes before the work, a failure is raised.

use super::atoms::{Address, Atoms, version};
use super::datum::Datum;
use super::machine::{Frame, Machine, Stop, fault};
use crate::closure::Closure;
use crate::closure::effect::{Failure, Intrinsic, Plan};
use crate::cost::Cost;
use crate::decode::adapter::Output;
use crate::decode::core::Raise;
use crate::decode::expression::{Binder, Expression};
use crate::decode::types::Type;
use crate::table::{TypeTable, length};
use edict_codec::cbor::{decode, encode};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Atoms as the program sees them, and how its effects are done.
#[derive(Debug)]
pub(crate) struct World<'a> {
    pub(crate) closure: &'a Closure,
    /// What was there before, with what the program wrote since.
    pub(crate) atoms: Atoms,
}

/// An effect node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) binding: &'a Binder,
    pub(crate) effect: &'a str,
    pub(crate) input: &'a Expression,
    pub(crate) arms: &'a BTreeMap<String, (Binder, Raise)>,
}

/// How an intrinsic ends.
enum Ending {
    /// The value that the program sees, if there is one, and the version.
    Done(Option<Datum>, [u8; 32]),
    /// The target failure and the version of the atom that is there.
    Failed(&'static str, Option<[u8; 32]>),
}

/// What an intrinsic does to the atom when it succeeds.
enum Work {
    Nothing,
    Write(Vec<u8>),
    Remove,
}

impl Machine<'_> {
    /// Executes an effect; a failure ends in the obstruction of its arm.
    pub(crate) fn effect(&mut self, call: Call<'_>, frame: &mut Frame) -> Result<(), Stop> {
        let input = self.expression(call.input, frame)?;
        let table = self.table;
        let Some(world) = &mut self.world else {
            return fault(format!("`{}` needs atoms", call.effect));
        };
        let Some(plan) = world.closure.effect(call.effect) else {
            return fault(format!("`{}` is no effect of the closure", call.effect));
        };
        let key = follow(&input, &plan.atom.key)?;
        let key_bytes = match &key {
            Datum::Bytes(bytes) => bytes.to_vec(),
            other => encode(&other.to_value()),
        };
        let key_length = length(key_bytes.len());
        let address = (plan.space.clone(), key_bytes);
        let (ending, work) = judge(world, table, plan, &address, &input)?;
        let cost = match (&ending, &work) {
            (Ending::Failed(..), _) | (_, Work::Remove) => Cost::deletion(key_length),
            (_, Work::Write(value)) => Cost::atom(key_length, length(value.len())),
            (_, Work::Nothing) => {
                let value = world.atoms.get(&address).unwrap_or_default();
                Cost::atom(key_length, length(value.len()))
            }
        };
        self.meter.charge(cost)?;
        match (ending, work) {
            (Ending::Failed(target, found), _) => {
                let (name, failure) = mapped(plan, target)?;
                let payload = payload(table, plan, failure, &key, found)?;
                let Some((binder, raise)) = call.arms.get(name) else {
                    return fault(format!("`{name}` has no arm"));
                };
                frame.insert(binder.local, payload);
                self.raise(raise, frame)
            }
            (Ending::Done(value, version), work) => {
                match work {
                    Work::Nothing => {}
                    Work::Write(value) => world.atoms.set(address, value),
                    Work::Remove => world.atoms.remove(&address),
                }
                let result = result(&plan.atom.output, value, version)?;
                frame.insert(call.binding.local, result);
                Ok(())
            }
        }
    }
}

/// What the intrinsic finds, in the order of its failures.
fn judge(
    world: &World<'_>,
    table: &TypeTable,
    plan: &Plan,
    address: &Address,
    input: &Datum,
) -> Result<(Ending, Work), Stop> {
    const MISSING: Ending = Ending::Failed("echo.atom-missing/v1", None);
    let failed = |target, version| Ok((Ending::Failed(target, Some(version)), Work::Nothing));
    let stored = world
        .atoms
        .get(address)
        .map(|value| (value, version(address, value)));
    let write = |role: Option<&Vec<String>>| {
        let value = match role {
            Some(path) => follow(input, path)?,
            None => return fault("an effect that writes has no value"),
        };
        let bytes = encode(&value.to_value());
        let done = Ending::Done(Some(value), version(address, &bytes));
        Ok((done, Work::Write(bytes)))
    };
    let expects = |found: [u8; 32]| match &plan.atom.expected {
        Some(path) => Ok(follow(input, path)? == Datum::Bytes(found.as_slice().into())),
        None => fault("an effect that compares expects no version"),
    };
    match (plan.intrinsic, stored) {
        (Intrinsic::Create, Some((_, found))) => failed("echo.atom-exists/v1", found),
        (Intrinsic::Read | Intrinsic::Replace | Intrinsic::Delete, None) => {
            Ok((MISSING, Work::Nothing))
        }
        (Intrinsic::Read, Some((value, found))) => match typed(value, &plan.value, table) {
            Some(value) => Ok((Ending::Done(Some(value), found), Work::Nothing)),
            None => failed("echo.atom-type-mismatch/v1", found),
        },
        (Intrinsic::Replace | Intrinsic::Delete, Some((_, found))) if !expects(found)? => {
            failed("echo.atom-version-mismatch/v1", found)
        }
        (Intrinsic::Create, None) | (Intrinsic::Replace, Some(_)) => {
            write(plan.atom.value.as_ref())
        }
        (Intrinsic::Delete, Some((_, found))) => Ok((Ending::Done(None, found), Work::Remove)),
    }
}

fn typed(bytes: &[u8], ty: &Type, table: &TypeTable) -> Option<Datum> {
    let value = decode(bytes).ok()?;
    Datum::read(&value, ty, table).ok()
}

fn follow(input: &Datum, path: &[String]) -> Result<Datum, Stop> {
    let mut value = input;
    for name in path {
        value = match value {
            Datum::Record(fields) => match fields.get(name) {
                Some(inner) => inner,
                None => return fault(format!("the input of an effect has no field `{name}`")),
            },
            _ => return fault("the input of an effect is no record"),
        };
    }
    Ok(value.clone())
}

/// The failure of the lawpack that stands for a target failure.
fn mapped<'p>(plan: &'p Plan, target: &str) -> Result<(&'p str, &'p Failure), Stop> {
    let found = plan.failures.iter().find(|(_, it)| it.target == target);
    match found {
        Some((name, failure)) => Ok((name, failure)),
        None => fault(format!("`{target}` is mapped to no failure")),
    }
}

/// The key, nothing, or the version, as the declared payload type says.
fn payload(
    table: &TypeTable,
    plan: &Plan,
    failure: &Failure,
    key: &Datum,
    found: Option<[u8; 32]>,
) -> Result<Datum, Stop> {
    if table.equivalent(&failure.payload, &plan.key) {
        return Ok(key.clone());
    }
    let mut fields = BTreeMap::new();
    if table
        .fields(&failure.payload)
        .is_some_and(|it| !it.is_empty())
    {
        let Some(found) = found else {
            return fault("the failure has no version");
        };
        fields.insert("version".to_owned(), Datum::Bytes(found.as_slice().into()));
    }
    Ok(Datum::Record(Rc::new(fields)))
}

fn result(output: &Output, value: Option<Datum>, version: [u8; 32]) -> Result<Datum, Stop> {
    let version = Datum::Bytes(version.as_slice().into());
    match (output, value) {
        (Output::Version, _) => Ok(version),
        (Output::Value, Some(value)) => Ok(value),
        (Output::Value, None) => fault("the intrinsic gives no value"),
        (
            Output::Record {
                value: field,
                version: name,
            },
            value,
        ) => {
            let named = name.iter().map(|name| (name.clone(), version.clone()));
            let mut fields: BTreeMap<String, Datum> = named.collect();
            match (field, value) {
                (Some(field), Some(value)) => _ = fields.insert(field.clone(), value),
                (Some(_), None) => return fault("the intrinsic gives no value"),
                (None, _) => {}
            }
            Ok(Datum::Record(Rc::new(fields)))
        }
    }
}
