// SPDX-License-Identifier: Apache-2.0
//! The body of an `invoke` frame: what was asked, byte for byte (`docs/host.md` 2.4).

use super::identity::{INSTALLATION, STATE_ROOT, WORLDLINE, decode_body};
use super::replica::Replica;
use crate::package::fields::{Field, Malformed};
use crate::package::{ExecutionBudget, ProgramKind};
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::TypedDigest;

/// A Tick number and the state root it left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The Tick.
    pub tick: u64,
    /// `dig(echo/state-root/v1)`.
    pub state_root: TypedDigest,
}

impl Basis {
    /// Tick 0 and the root of no atoms.
    pub fn genesis() -> Self {
        Self {
            tick: 0,
            state_root: Replica::new().root(),
        }
    }

    /// Reads `{tick, stateRoot}`.
    pub(crate) fn decode(field: &Field<'_>) -> Result<Self, Malformed> {
        field.closed(&["tick", "stateRoot"])?;
        Ok(Self {
            tick: field.get("tick")?.unsigned()?,
            state_root: field.get("stateRoot")?.blake3(STATE_ROOT)?,
        })
    }

    /// The form in messages.
    pub fn to_value(&self) -> Value {
        Value::text_map([
            ("tick", Value::unsigned(self.tick)),
            ("stateRoot", self.state_root.to_value()),
        ])
    }
}

/// A decoded `invoke` request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvokeRequest {
    /// The worldline of the context.
    pub worldline: TypedDigest,
    /// The installation to run.
    pub installation: TypedDigest,
    /// The invocation id.
    pub invocation: [u8; 32],
    /// The basis selected; none for a pure program.
    pub basis: Option<Basis>,
    /// The input bytes.
    pub input: Vec<u8>,
    /// A lowered budget. The runner never lowers one (L4).
    pub budget: Option<ExecutionBudget>,
}

impl InvokeRequest {
    /// The basis that a program of `kind` selects on `current`.
    pub fn basis_for(kind: ProgramKind, current: &Basis) -> Option<Basis> {
        match kind {
            ProgramKind::Pure => None,
            ProgramKind::Effectful | ProgramKind::Anchored => Some(current.clone()),
        }
    }

    /// Canonical bytes of the body.
    pub fn encode(&self) -> Vec<u8> {
        encode(&Value::text_map([
            ("worldline", self.worldline.to_value()),
            ("installation", self.installation.to_value()),
            ("invocation", Value::bytes(self.invocation.to_vec())),
            (
                "basis",
                self.basis.as_ref().map_or(Value::Null, Basis::to_value),
            ),
            ("input", Value::bytes(self.input.clone())),
            (
                "budget",
                self.budget.map_or(Value::Null, ExecutionBudget::to_value),
            ),
        ]))
    }

    /// Reads a body.
    ///
    /// # Errors
    /// The first breach of the table in `docs/host.md` 2.4.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let value = decode_body(bytes)?;
        let root = Field::root(&value);
        root.closed(&[
            "worldline",
            "installation",
            "invocation",
            "basis",
            "input",
            "budget",
        ])?;
        Ok(Self {
            worldline: root.get("worldline")?.blake3(WORLDLINE)?,
            installation: root.get("installation")?.blake3(INSTALLATION)?,
            invocation: root.get("invocation")?.bytes_32()?,
            basis: root
                .get("basis")?
                .non_null()
                .map(|basis| Basis::decode(&basis))
                .transpose()?,
            input: root.get("input")?.bytes()?.to_vec(),
            budget: root
                .get("budget")?
                .non_null()
                .map(|budget| ExecutionBudget::decode(&budget))
                .transpose()?,
        })
    }
}
