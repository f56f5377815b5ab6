// SPDX-License-Identifier: Apache-2.0
//! One context of the host, driven with the authored programs and held to their evidence.

use super::{
    JimError,
    identity::{SPACE, state_root},
    story::Step,
    toolchain::Program,
};
use crate::host::{
    Host,
    requests::{self, Opening, member},
    wire::Frame,
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::derive_typed,
};
use std::collections::{BTreeMap, BTreeSet};

/// The names of the programs that a lane can run.
pub const PROGRAMS: [&str; 6] = [
    "create-buffer",
    "replace-range",
    "check-buffer",
    "replace-pure",
    "seed-buffer",
    "seed-foreign",
];

/// Programs by name.
pub type Programs = BTreeMap<String, Program>;

/// An open durable context.
#[derive(Clone, Debug)]
pub struct Lane {
    installations: BTreeMap<String, Value>,
    pure: BTreeSet<String>,
    nonce: [u8; 32],
    name: String,
    worldline: Value,
    /// Tick and root after the last decided invocation.
    pub basis: Value,
    /// Decided invocations.
    pub decided: u64,
    last_receipt: Value,
    atoms: BTreeMap<[u8; 32], Vec<u8>>,
    next: u64,
}

/// The end of one invocation.
#[derive(Clone, Debug)]
pub struct Ended {
    /// The coordinate of an obstruction, none of a result.
    pub coordinate: Option<String>,
    /// The result or the payload.
    pub body: Value,
    /// The record of the execution.
    pub record: Value,
    /// The footprint; null of a pure program.
    pub footprint: Value,
    /// The patch; null where nothing settled.
    pub patch: Value,
    /// The invocation id.
    pub invocation: [u8; 32],
}

impl Lane {
    /// Installs the programs and opens a context, or recovers it with `recover`.
    ///
    /// # Errors
    /// The refusal.
    pub fn open(
        host: &mut Host,
        programs: &Programs,
        name: &str,
        number: u64,
        recover: bool,
    ) -> Result<Self, JimError> {
        let mut installations = BTreeMap::new();
        for (name, program) in programs {
            installations.insert(
                name.clone(),
                host.install(&program.package, &program.report)?,
            );
        }
        let mut nonce = [0x4A; 32];
        if let Some(tail) = nonce.last_chunk_mut::<8>() {
            *tail = number.to_be_bytes();
        }
        let request = opening(&installations, nonce, name, recover);
        let reply = host.ask(4, &request)?.ok(0x8004)?;
        let pure = programs.iter().filter(|(_, program)| {
            program.content.get("kind").and_then(Value::as_text) == Some("pure")
        });
        Ok(Self {
            pure: pure.map(|(name, _)| name.clone()).collect(),
            installations,
            nonce,
            name: name.to_owned(),
            worldline: member(&reply, "worldline")?,
            basis: member(&reply, "basis")?,
            decided: member(&reply, "decided")?.as_u64().unwrap_or_default(),
            last_receipt: member(&reply, "lastReceipt")?,
            atoms: BTreeMap::new(),
            next: 0,
        })
    }

    /// Opens the same context in a later process; the state the client knows is kept.
    ///
    /// # Errors
    /// The refusal.
    pub fn recover(&mut self, host: &mut Host, programs: &Programs) -> Result<(), JimError> {
        for (name, program) in programs {
            self.installations.insert(
                name.clone(),
                host.install(&program.package, &program.report)?,
            );
        }
        let request = opening(&self.installations, self.nonce, &self.name, true);
        let reply = host.ask(4, &request)?.ok(0x8004)?;
        self.basis = member(&reply, "basis")?;
        self.decided = member(&reply, "decided")?.as_u64().unwrap_or_default();
        self.last_receipt = member(&reply, "lastReceipt")?;
        Ok(())
    }

    /// The request that runs a step under a budget, and its invocation id; null is the declared
    /// budget.
    ///
    /// # Errors
    /// The program is unknown.
    pub fn request(&mut self, step: &Step, budget: Value) -> Result<([u8; 32], Value), JimError> {
        self.next += 1;
        let mut invocation = [0x1D; 32];
        if let Some(tail) = invocation.last_chunk_mut::<8>() {
            *tail = self.next.to_be_bytes();
        }
        let unknown = || JimError::new(format!("no program {}", step.program));
        let installation = self
            .installations
            .get(step.program)
            .ok_or_else(unknown)?
            .clone();
        let pure = self.pure.contains(step.program);
        let basis = if pure {
            Value::Null
        } else {
            self.basis.clone()
        };
        let whose = (&self.worldline, &installation);
        let input = encode(&step.input);
        let request = requests::invoke(whose, invocation, &basis, &input, budget);
        Ok((invocation, request))
    }

    /// Runs a step and checks its evidence.
    ///
    /// # Errors
    /// The refusal, or the link of the evidence that does not hold.
    pub fn run(&mut self, host: &mut Host, step: &Step) -> Result<Ended, JimError> {
        self.run_within(host, step, Value::Null)
    }

    /// Runs a step under a budget.
    ///
    /// # Errors
    /// The refusal, or the link of the evidence that does not hold.
    pub fn run_within(
        &mut self,
        host: &mut Host,
        step: &Step,
        budget: Value,
    ) -> Result<Ended, JimError> {
        let (invocation, request) = self.request(step, budget)?;
        let reply = host.ask(5, &request)?.ok(0x8005)?;
        self.take(&reply, &invocation, false)
    }

    /// Asks for a logged outcome.
    ///
    /// # Errors
    /// The stream ends.
    pub fn recall(&self, host: &mut Host, invocation: &[u8; 32]) -> Result<Frame, JimError> {
        Ok(host.ask(6, &requests::recall(&self.worldline, *invocation))?)
    }

    /// Reads an outcome; one that was not recalled moves this lane.
    ///
    /// # Errors
    /// The link of the evidence that does not hold.
    pub fn take(
        &mut self,
        reply: &Value,
        invocation: &[u8; 32],
        recalled: bool,
    ) -> Result<Ended, JimError> {
        let ended = Ended {
            coordinate: None,
            body: part(reply, "body")?,
            record: part(reply, "record")?,
            footprint: part(reply, "footprint")?,
            patch: part(reply, "patch")?,
            invocation: *invocation,
        };
        hold("worldline", reply.get("worldline") == Some(&self.worldline))?;
        hold(
            "invocation",
            reply.get("invocation") == Some(&Value::bytes(*invocation)),
        )?;
        hold(
            "recalled",
            reply.get("recalled") == Some(&Value::Bool(recalled)),
        )?;
        let ended = judged(reply, ended)?;
        if !recalled {
            self.advance(reply, &ended)?;
        }
        Ok(ended)
    }

    /// Holds receipt, basis, patch and root against what this client knows, and moves on.
    fn advance(&mut self, reply: &Value, ended: &Ended) -> Result<(), JimError> {
        let receipt = part(reply, "receipt")?;
        hold(
            "ordinal",
            receipt.get("ordinal") == Some(&Value::unsigned(self.decided)),
        )?;
        hold(
            "previous",
            receipt.get("previous") == Some(&self.last_receipt),
        )?;
        self.decided += 1;
        let bytes = member(reply, "receipt")?;
        let digest = derive_typed("echo/receipt/v1", bytes.as_bytes().unwrap_or_default());
        self.last_receipt = digest.to_value();
        let Some(after) = ended.record.get("after") else {
            return Ok(());
        };
        hold("before", ended.record.get("before") == Some(&self.basis))?;
        let settled = !ended.patch.is_null();
        self.learn(&ended.patch)?;
        let atoms: Vec<_> = self
            .atoms
            .iter()
            .map(|(atom, value)| (*atom, value.clone()))
            .collect();
        let tick = self
            .basis
            .get("tick")
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let expected = Value::text_map([
            ("tick", Value::unsigned(tick + u64::from(settled))),
            ("stateRoot", state_root(&atoms).to_value()),
        ]);
        hold("tick and root", *after == expected)?;
        self.basis = expected;
        Ok(())
    }

    /// Takes the values of a patch into what this client knows.
    ///
    /// # Errors
    /// An atom has no id.
    pub fn learn(&mut self, patch: &Value) -> Result<(), JimError> {
        for entry in patch.as_array().unwrap_or_default() {
            let atom = entry
                .get("atom")
                .and_then(Value::as_bytes)
                .unwrap_or_default();
            let value = entry
                .get("value")
                .and_then(Value::as_bytes)
                .unwrap_or_default();
            let atom = atom
                .try_into()
                .map_err(|_| JimError::new("an atom id is not 32 bytes"))?;
            self.atoms.insert(atom, value.to_vec());
        }
        Ok(())
    }

    /// Observes a buffer: its state, or nothing.
    ///
    /// # Errors
    /// The refusal.
    pub fn observe(&self, host: &mut Host, buffer: &[u8; 32]) -> Result<Option<Value>, JimError> {
        let address = Value::text_map([
            ("space", Value::text(SPACE)),
            ("key", Value::bytes(*buffer)),
        ]);
        let select = Value::text_map([
            ("kind", Value::text("atoms")),
            ("atoms", Value::Array(vec![address])),
        ]);
        let request = requests::observe(&self.worldline, &self.basis, select);
        let reply = host.ask(7, &request)?.ok(0x8007)?;
        let entries = member(&reply, "entries")?;
        let entry = entries.as_array().and_then(|it| it.first()).cloned();
        match entry
            .as_ref()
            .and_then(|it| it.get("value"))
            .and_then(Value::as_bytes)
        {
            None => Ok(None),
            Some(bytes) => decode(bytes)
                .map(Some)
                .map_err(|error| JimError::new(format!("observed value: {error}"))),
        }
    }

    /// Closes the context.
    ///
    /// # Errors
    /// The refusal.
    pub fn close(self, host: &mut Host) -> Result<(), JimError> {
        host.ask(8, &requests::close(&self.worldline))?.ok(0x8008)?;
        Ok(())
    }
}

/// Says which link does not hold.
pub(super) fn hold(link: &str, holds: bool) -> Result<(), JimError> {
    if holds {
        Ok(())
    } else {
        Err(JimError::new(format!("evidence does not hold: {link}")))
    }
}

/// An embedded canonical item, or null.
fn part(reply: &Value, name: &str) -> Result<Value, JimError> {
    match member(reply, name)? {
        Value::Null => Ok(Value::Null),
        value => decode(value.as_bytes().unwrap_or_default())
            .map_err(|error| JimError::new(format!("{name}: {error}"))),
    }
}

/// Holds record and body against one another.
fn judged(reply: &Value, mut ended: Ended) -> Result<Ended, JimError> {
    let outcome = member(&ended.record, "outcome")?;
    let body = member(reply, "body")?;
    let digest = derive_typed("echo/body/v1", body.as_bytes().unwrap_or_default());
    hold("body", outcome.get("body") == Some(&digest.to_value()))?;
    hold("kind", outcome.get("kind") == reply.get("kind"))?;
    let word = outcome.get("coordinate").and_then(Value::as_text);
    ended.coordinate = word.map(str::to_owned);
    Ok(ended)
}

fn opening(
    installations: &BTreeMap<String, Value>,
    nonce: [u8; 32],
    name: &str,
    is_recovery: bool,
) -> Value {
    let opening = Opening {
        nonce,
        subject: derive_typed("jim/driver/v1", name.as_bytes()),
        name: Some(name),
        is_recovery,
    };
    opening.body(installations.values().cloned())
}
