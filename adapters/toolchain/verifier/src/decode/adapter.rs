// SPDX-License-Identifier: Apache-2.0
//! Adapter of a lawpack, and the configuration of its atoms.

use super::core::Budget;
use super::reader::{Defect, Fields, Reference, list, map, reference, text};
use super::types::Type;
use edict_codec::cbor::Value;
use std::collections::BTreeMap;

/// How a lawpack meets a target.
#[derive(Clone, Debug)]
pub(crate) struct Adapter {
    pub(crate) budgets: BTreeMap<String, Budget>,
    pub(crate) profiles: BTreeMap<String, Profile>,
    pub(crate) effects: BTreeMap<String, Implementation>,
}

/// What an operation profile allows.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) core: String,
    pub(crate) effects: Vec<String>,
    pub(crate) configuration: Option<Reference>,
}

/// How an effect is done.
#[derive(Clone, Debug)]
pub(crate) struct Implementation {
    pub(crate) intrinsic: String,
    pub(crate) configuration: Reference,
    pub(crate) write_class: String,
    /// Target failures by failure name.
    pub(crate) failures: BTreeMap<String, String>,
}

/// What `echo.atoms.configuration/v1` says of one effect.
#[derive(Clone, Debug)]
pub(crate) struct AtomConfiguration {
    pub(crate) space: String,
    pub(crate) atom_type: Type,
    pub(crate) key: Vec<String>,
    pub(crate) value: Option<Vec<String>>,
    pub(crate) expected: Option<Vec<String>>,
    pub(crate) output: Output,
}

/// Where the roles of an atom appear in the result of an effect.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    Value,
    Version,
    Record {
        value: Option<String>,
        version: Option<String>,
    },
}

/// Reads an adapter.
pub(crate) fn adapter(value: &Value) -> Result<Adapter, Defect> {
    let keys = [
        "apiVersion",
        "class",
        "budgets",
        "operationProfiles",
        "effectImplementations",
    ];
    let fields = Fields::new(value, &keys, &[])?;
    fields.constant("apiVersion", "edict.lawpack-adapter/v1")?;
    fields.constant("class", "declarative")?;
    Ok(Adapter {
        budgets: fields.get("budgets", |value| map(value, Budget::read))?,
        profiles: fields.get("operationProfiles", |value| map(value, profile))?,
        effects: fields.get("effectImplementations", |value| map(value, implementation))?,
    })
}

fn profile(value: &Value) -> Result<Profile, Defect> {
    let fields = Fields::new(
        value,
        &["core", "semanticEffects"],
        &["budgetObligation", "targetConfiguration"],
    )?;
    fields.optional("budgetObligation", text)?;
    Ok(Profile {
        core: fields.get("core", text)?,
        effects: fields.get("semanticEffects", |value| list(value, text))?,
        configuration: fields.optional("targetConfiguration", reference)?,
    })
}

fn implementation(value: &Value) -> Result<Implementation, Defect> {
    let keys = [
        "targetIntrinsic",
        "targetConfiguration",
        "writeClass",
        "footprintObligation",
        "costObligation",
        "failureMappings",
    ];
    let fields = Fields::new(value, &keys, &[])?;
    fields.get("footprintObligation", text)?;
    fields.get("costObligation", text)?;
    Ok(Implementation {
        intrinsic: fields.get("targetIntrinsic", text)?,
        configuration: fields.get("targetConfiguration", reference)?,
        write_class: fields.get("writeClass", text)?,
        failures: fields.get("failureMappings", |value| map(value, text))?,
    })
}

/// Reads the configuration of the bundled profile.
pub(crate) fn configuration(value: &Value) -> Result<BTreeMap<String, AtomConfiguration>, Defect> {
    let fields = Fields::new(value, &["apiVersion", "effects"], &[])?;
    fields.constant("apiVersion", "echo.atoms.configuration/v1")?;
    fields.get("effects", |value| map(value, atom))
}

fn atom(value: &Value) -> Result<AtomConfiguration, Defect> {
    let path = |value| list(value, text);
    let fields = Fields::new(
        value,
        &["space", "atomType", "key", "output"],
        &["value", "expected"],
    )?;
    Ok(AtomConfiguration {
        space: fields.get("space", text)?,
        atom_type: fields.get("atomType", Type::read)?,
        key: fields.get("key", path)?,
        value: fields.optional("value", path)?,
        expected: fields.optional("expected", path)?,
        output: fields.get("output", output)?,
    })
}

fn output(value: &Value) -> Result<Output, Defect> {
    match value.as_text() {
        Some("value") => return Ok(Output::Value),
        Some("version") => return Ok(Output::Version),
        _ => {}
    }
    let fields = Fields::new(value, &[], &["value", "version"])?;
    Ok(Output::Record {
        value: fields.optional("value", text)?,
        version: fields.optional("version", text)?,
    })
}

impl AtomConfiguration {
    /// The `configuration` of a step.
    pub(crate) fn to_value(&self, atom_type: &Type, key_type: &Type) -> Value {
        let path = |path: &[String]| Value::Array(path.iter().map(Value::text).collect());
        let mut entries = vec![
            ("space", Value::text(&*self.space)),
            ("atomType", Value::text(atom_type.to_string())),
            ("keyType", Value::text(key_type.to_string())),
            ("key", path(&self.key)),
            ("output", self.output.to_value()),
        ];
        entries.extend(self.value.as_ref().map(|it| ("value", path(it))));
        entries.extend(self.expected.as_ref().map(|it| ("expected", path(it))));
        Value::text_map(entries)
    }
}

impl Output {
    fn to_value(&self) -> Value {
        match self {
            Self::Value => Value::text("value"),
            Self::Version => Value::text("version"),
            Self::Record { value, version } => {
                let value = value.iter().map(|field| ("value", field));
                let version = version.iter().map(|field| ("version", field));
                Value::text_map(
                    value
                        .chain(version)
                        .map(|(role, field)| (role, Value::text(field))),
                )
            }
        }
    }
}
