// SPDX-License-Identifier: Apache-2.0
//! `LawpackContext`: what a program can name of one imported lawpack.

use crate::{
    core::tree::{BudgetLimits, Function},
    types::ty::Type,
};
use edict_codec::cbor::Value;
use std::collections::BTreeMap;

/// One lawpack as its importers see it. All maps are keyed by the bare name behind the alias.
#[derive(Clone, Debug)]
pub struct LawpackContext {
    /// `id@version`.
    pub coordinate: String,
    /// Framed SHA-256 of the manifest.
    pub manifest: [u8; 32],
    /// Exported types, aliases expanded.
    pub types: BTreeMap<String, Type>,
    /// Exported constants.
    pub constants: BTreeMap<String, (Type, Value)>,
    /// Exported pure functions; the key of a call in Core is `coordinate.name`.
    pub helpers: BTreeMap<String, Function>,
    /// Exported obstructions.
    pub obstructions: BTreeMap<String, Obstruction>,
    /// Exported runtime effects.
    pub effects: BTreeMap<String, Effect>,
    /// Operation profiles of the adapter.
    pub profiles: BTreeMap<String, Profile>,
    /// Budgets of the adapter.
    pub budgets: BTreeMap<String, BudgetLimits>,
}

/// An obstruction that programs may raise.
#[derive(Clone, Debug)]
pub struct Obstruction {
    /// Full coordinate.
    pub coordinate: String,
    /// Authority class, for example `domainMappable`.
    pub class: String,
    /// Declared payload.
    pub payload: Type,
}

/// A runtime effect with its implementation on the target.
#[derive(Clone, Debug)]
pub struct Effect {
    /// Full coordinate.
    pub coordinate: String,
    /// Type of the argument.
    pub input: Type,
    /// Type of the result.
    pub output: Type,
    /// Payload type of every declared failure, by failure name.
    pub failures: BTreeMap<String, Type>,
    /// `read`, `create`, `replace` or `delete`.
    pub write_class: String,
    /// Intrinsic of the bundled target profile.
    pub intrinsic: String,
    /// Space of the atoms.
    pub space: String,
    /// Type of the stored value.
    pub atom: Type,
    /// Type of the key.
    pub key: Type,
}

/// An operation profile.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Full coordinate.
    pub coordinate: String,
    /// Core profile, for example `continuum.profile.pure/v1`.
    pub core: String,
    /// Coordinates of the effects it allows.
    pub effects: Vec<String>,
}
