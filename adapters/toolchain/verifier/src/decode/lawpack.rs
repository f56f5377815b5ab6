// SPDX-License-Identifier: Apache-2.0
//! Manifest and exports of a lawpack.

use super::core::{Function, function};
use super::reader::{
    Defect, Fields, Reference, Under, list, map, raw_digest, reference, refuse, text,
};
use super::types::{Definition, Type};
use edict_codec::cbor::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What names the parts of a lawpack.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    /// `id@version`.
    pub(crate) coordinate: String,
    /// Manifest digests of the dependencies by coordinate.
    pub(crate) dependencies: BTreeMap<String, [u8; 32]>,
    pub(crate) exports: Reference,
    pub(crate) adapters: Vec<AdapterRow>,
}

/// An adapter that a manifest names.
#[derive(Clone, Debug)]
pub(crate) struct AdapterRow {
    pub(crate) profile: Reference,
    pub(crate) target_ir: Reference,
    pub(crate) adapter: Reference,
}

/// What a lawpack offers.
#[derive(Clone, Debug)]
pub(crate) struct Exports {
    pub(crate) types: BTreeMap<String, Definition>,
    pub(crate) helpers: BTreeMap<String, Function>,
    pub(crate) effects: BTreeMap<String, Effect>,
    pub(crate) obstructions: BTreeMap<String, Obstruction>,
    pub(crate) profiles: BTreeSet<String>,
}

/// A declared effect.
#[derive(Clone, Debug)]
pub(crate) struct Effect {
    pub(crate) input: Type,
    pub(crate) output: Type,
    /// Payload types by failure name.
    pub(crate) failures: BTreeMap<String, Type>,
}

/// A declared obstruction.
#[derive(Clone, Debug)]
pub(crate) struct Obstruction {
    pub(crate) class: String,
    pub(crate) payload: Type,
}

/// Reads a manifest.
pub(crate) fn manifest(value: &Value) -> Result<Manifest, Defect> {
    let keys = [
        "apiVersion",
        "id",
        "version",
        "acceptedCoreAbi",
        "dependencies",
        "exports",
        "targetAdapters",
        "verifier",
        "compatibility",
        "conformanceFixtureCorpus",
    ];
    let fields = Fields::new(value, &keys, &[])?;
    fields.constant("apiVersion", "edict.lawpack/v1")?;
    let abis = fields.get("acceptedCoreAbi", |value| list(value, text))?;
    if !abis.iter().any(|abi| abi == "edict.core/v1") {
        return Err(Defect::new("does not accept edict.core/v1").under("acceptedCoreAbi"));
    }
    fields.get("verifier", |value| {
        let fields = Fields::new(value, &["class", "ruleset"], &[])?;
        fields.constant("class", "declarative")?;
        fields.get("ruleset", reference)
    })?;
    fields.get("compatibility", reference)?;
    fields.get("conformanceFixtureCorpus", reference)?;
    Ok(Manifest {
        coordinate: format!(
            "{}@{}",
            fields.get("id", text)?,
            fields.get("version", text)?
        ),
        dependencies: fields.get("dependencies", dependencies)?,
        exports: fields.get("exports", reference)?,
        adapters: fields.get("targetAdapters", |value| list(value, adapter_row))?,
    })
}

fn dependencies(value: &Value) -> Result<BTreeMap<String, [u8; 32]>, Defect> {
    unique(list(value, |value| {
        let fields = Fields::new(value, &["id", "version", "digest"], &[])?;
        let coordinate = format!(
            "{}@{}",
            fields.get("id", text)?,
            fields.get("version", text)?
        );
        Ok((coordinate, fields.get("digest", raw_digest)?))
    })?)
}

fn adapter_row(value: &Value) -> Result<AdapterRow, Defect> {
    let keys = ["acceptedTargetProfile", "acceptedTargetIr", "adapter"];
    let fields = Fields::new(value, &keys, &[])?;
    Ok(AdapterRow {
        profile: fields.get("acceptedTargetProfile", reference)?,
        target_ir: fields.get("acceptedTargetIr", reference)?,
        adapter: fields.get("adapter", reference)?,
    })
}

/// Reads exports; every coordinate belongs to the lawpack `owner`.
pub(crate) fn exports(value: &Value, owner: &str) -> Result<Exports, Defect> {
    let keys = [
        "types",
        "constants",
        "pureFunctions",
        "effects",
        "obstructions",
        "operationProfiles",
    ];
    let fields = Fields::new(value, &keys, &[])?;
    fields.get("constants", |value| {
        unique(list(value, |value| {
            let fields = Fields::new(value, &["coordinate", "type", "value"], &[])?;
            fields.get("type", Type::read)?;
            Ok((fields.get("coordinate", text)?, ()))
        })?)
    })?;
    let exports = Exports {
        types: fields.get("types", |value| unique(list(value, type_row)?))?,
        helpers: fields.get("pureFunctions", |value| unique(list(value, helper)?))?,
        effects: fields.get("effects", |value| unique(list(value, effect)?))?,
        obstructions: fields.get("obstructions", |value| unique(list(value, obstruction)?))?,
        profiles: fields
            .get("operationProfiles", |value| {
                map(value, |value| {
                    Fields::new(value, &["opticTemplate", "effectPredicate"], &[])
                })
            })?
            .into_keys()
            .collect(),
    };
    let names = exports
        .types
        .keys()
        .chain(exports.helpers.keys())
        .chain(exports.effects.keys())
        .chain(exports.obstructions.keys())
        .chain(exports.profiles.iter());
    for name in names {
        if !belongs(name, owner) {
            return refuse(format!("`{name}` is no coordinate of {owner}"));
        }
    }
    Ok(exports)
}

/// Whether `coordinate` is `owner.Name`.
pub(crate) fn belongs(coordinate: &str, owner: &str) -> bool {
    coordinate
        .strip_prefix(owner)
        .and_then(|rest| rest.strip_prefix('.'))
        .is_some_and(|name| !name.is_empty() && !name.contains('.'))
}

fn unique<T>(rows: Vec<(String, T)>) -> Result<BTreeMap<String, T>, Defect> {
    let mut map = BTreeMap::new();
    for (index, (name, row)) in rows.into_iter().enumerate() {
        if map.insert(name, row).is_some() {
            return Err(Defect::new("stands twice")).under(index);
        }
    }
    Ok(map)
}

fn type_row(value: &Value) -> Result<(String, Definition), Defect> {
    let fields = Fields::new(value, &["coordinate", "definition"], &[])?;
    Ok((
        fields.get("coordinate", text)?,
        fields.get("definition", |value| Definition::parse(&text(value)?))?,
    ))
}

fn helper(value: &Value) -> Result<(String, Function), Defect> {
    let keys = [
        "coordinate",
        "typeParameters",
        "determinismClass",
        "source",
        "body",
    ];
    let fields = Fields::new(value, &keys, &[])?;
    fields.get("typeParameters", no_type_parameters)?;
    fields.constant("determinismClass", "total")?;
    fields.constant("source", "edict")?;
    Ok((
        fields.get("coordinate", text)?,
        fields.get("body", function)?,
    ))
}

fn no_type_parameters(value: &Value) -> Result<(), Defect> {
    match list(value, text)?.len() {
        0 => Ok(()),
        _ => refuse("type parameters are not supported"),
    }
}

fn effect(value: &Value) -> Result<(String, Effect), Defect> {
    let required = [
        "coordinate",
        "typeParameters",
        "inputType",
        "outputType",
        "executionClass",
        "footprintObligation",
        "costObligation",
        "effectFailures",
    ];
    let fields = Fields::new(value, &required, &["effectKindHint", "guardSupport"])?;
    fields.get("typeParameters", no_type_parameters)?;
    fields.constant("executionClass", "runtime")?;
    let failures = fields.get("effectFailures", |value| {
        map(value, |value| {
            let fields = Fields::new(value, &["authorityClass", "payloadType"], &[])?;
            fields.get("authorityClass", text)?;
            fields.get("payloadType", Type::read)
        })
    })?;
    Ok((
        fields.get("coordinate", text)?,
        Effect {
            input: fields.get("inputType", Type::read)?,
            output: fields.get("outputType", Type::read)?,
            failures,
        },
    ))
}

fn obstruction(value: &Value) -> Result<(String, Obstruction), Defect> {
    let fields = Fields::new(
        value,
        &["coordinate", "authorityClass", "payloadSchema"],
        &[],
    )?;
    Ok((
        fields.get("coordinate", text)?,
        Obstruction {
            class: fields.get("authorityClass", text)?,
            payload: fields.get("payloadSchema", Type::read)?,
        },
    ))
}
