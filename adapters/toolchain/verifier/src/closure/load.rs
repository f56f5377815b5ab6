// SPDX-License-Identifier: Apache-2.0
//! Reading a closure: every part has the digest that the part before it states.

use super::effect::{self, Bundled};
use super::{Aliases, Closure, Lawpack, LawpackFiles};
use crate::decode::adapter::{Adapter, AtomConfiguration, adapter, configuration};
use crate::decode::core::package_coordinate;
use crate::decode::lawpack::{AdapterRow, Exports, exports, manifest};
use crate::decode::reader::{Defect, Reference, Under, refuse};
use crate::decode::types::{Definition, Type};
use crate::table::TypeTable;
use edict_codec::cbor::{DecodeLimits, MAX_DEPTH, Value, decode_with};
use edict_codec::digest::{frame, frame_typed};
use std::collections::{BTreeMap, BTreeSet};

/// Items in one artifact.
const MAX_ARTIFACT_NODES: usize = 1_048_576;

/// One canonical item.
pub(crate) fn canonical(bytes: &[u8]) -> Result<Value, Defect> {
    let limits = DecodeLimits {
        depth: MAX_DEPTH,
        nodes: MAX_ARTIFACT_NODES,
    };
    decode_with(bytes, limits).map_err(|error| Defect::new(format!("not canonical CBOR: {error}")))
}

/// A lawpack with what only effects need.
struct Loaded {
    lawpack: Lawpack,
    /// Whether the adapter is for the bundled profile, and its configuration.
    target: Option<Bundled>,
    profile: Option<Reference>,
}

/// Reads the lawpacks of a program in order. Paths begin with `/lawpacks/N`.
pub(crate) fn load(files: &[LawpackFiles]) -> Result<Closure, Defect> {
    let mut loaded = Vec::new();
    let mut identities = BTreeSet::new();
    for (index, files) in files.iter().enumerate() {
        let lawpack = one(files).under(index).under("lawpacks")?;
        let id = lawpack.lawpack.coordinate.split('@').next();
        if !identities.insert(id.unwrap_or_default().to_owned()) {
            return Err(Defect::new("the id stands twice")
                .under(index)
                .under("lawpacks"));
        }
        loaded.push(lawpack);
    }
    let mut profiles = loaded.iter().filter_map(|it| it.profile.as_ref());
    if let Some(first) = profiles.next()
        && profiles.any(|other| other != first)
    {
        return Err(Defect::new("adapters accept different target profiles").under("lawpacks"));
    }
    let mut targets = Vec::new();
    let mut closure = Closure {
        lawpacks: Vec::new(),
        plans: BTreeMap::new(),
    };
    for it in loaded {
        targets.push(it.target);
        closure.lawpacks.push(it.lawpack);
    }
    let mut aliases = Aliases::new(aliases(&closure.lawpacks));
    for (index, lawpack) in closure.lawpacks.iter_mut().enumerate() {
        expand_exports(&mut lawpack.exports, &mut aliases)
            .under(index)
            .under("lawpacks")?;
    }
    let table = TypeTable::new(closure.definitions())
        .under("types")
        .under("lawpacks")?;
    // Effects come from the lawpack of the profile only, but every adapter must hold.
    let mut plans = BTreeMap::new();
    for (index, (lawpack, target)) in closure.lawpacks.iter().zip(&targets).enumerate() {
        let found = effect::plans(&mut aliases, lawpack, target.as_ref(), &table)
            .under("adapter")
            .under(index)
            .under("lawpacks")?;
        if index == 0 {
            plans = found;
        }
    }
    closure.plans = plans;
    Ok(closure)
}

fn one(files: &LawpackFiles) -> Result<Loaded, Defect> {
    let manifest = canonical(&files.manifest)
        .and_then(|value| manifest(&value))
        .under("manifest")?;
    package_coordinate(&Value::text(&*manifest.coordinate)).under("manifest")?;
    let exports_digest = frame_typed(&manifest.exports.id, &files.exports);
    if *exports_digest.bytes() != manifest.exports.digest {
        return Err(Defect::new("not the exports that the manifest names").under("exports"));
    }
    let exports = canonical(&files.exports)
        .and_then(|value| exports(&value, &manifest.coordinate))
        .under("exports")?;
    let (adapter, target, profile) = match &files.adapter {
        None => {
            if !manifest.adapters.is_empty() {
                return Err(Defect::new("the manifest names an adapter").under("adapter"));
            }
            if !exports.profiles.is_empty() || !exports.effects.is_empty() {
                let message = "profiles and effects need an adapter";
                return Err(Defect::new(message).under("adapter"));
            }
            (None, None, None)
        }
        Some(bytes) => {
            let row = adapter_row(&manifest.adapters, bytes).under("adapter")?;
            let adapter = canonical(bytes)
                .and_then(|value| adapter(&value))
                .under("adapter")?;
            complete(&adapter, &exports).under("adapter")?;
            let target = bundled(&row, &adapter, files.configuration.as_deref())
                .under("targetConfiguration")?;
            (Some(adapter), Some(target), Some(row.profile))
        }
    };
    Ok(Loaded {
        lawpack: Lawpack {
            coordinate: manifest.coordinate,
            manifest: frame("edict.lawpack/v1", &files.manifest),
            dependencies: manifest.dependencies,
            exports_digest,
            exports_bytes: files.exports.clone(),
            exports,
            adapter,
        },
        target,
        profile,
    })
}

/// The row of the manifest whose digest an adapter has.
fn adapter_row(rows: &[AdapterRow], bytes: &[u8]) -> Result<AdapterRow, Defect> {
    let row = rows
        .iter()
        .find(|row| frame(&row.adapter.id, bytes) == row.adapter.digest);
    match row {
        Some(row) if row.profile.id == effect::PROFILE => Ok(row.clone()),
        Some(_) => refuse(format!("the adapter is not for {}", effect::PROFILE)),
        None => refuse("not an adapter that the manifest names"),
    }
}

fn complete(adapter: &Adapter, exports: &Exports) -> Result<(), Defect> {
    if !adapter.profiles.keys().eq(&exports.profiles) {
        return Err(Defect::new("not exactly the exported profiles").under("operationProfiles"));
    }
    if !adapter.effects.keys().eq(exports.effects.keys()) {
        return Err(Defect::new("not exactly the exported effects").under("effectImplementations"));
    }
    for (name, profile) in &adapter.profiles {
        if profile
            .effects
            .iter()
            .any(|it| !exports.effects.contains_key(it))
        {
            return Err(Defect::new("lists an effect that is not exported")
                .under("semanticEffects")
                .under(name)
                .under("operationProfiles"));
        }
    }
    Ok(())
}

/// Checks the digest of the configuration against every reference to it.
fn bundled(row: &AdapterRow, adapter: &Adapter, bytes: Option<&[u8]>) -> Result<Bundled, Defect> {
    let references = adapter
        .profiles
        .values()
        .filter_map(|profile| profile.configuration.as_ref())
        .chain(adapter.effects.values().map(|it| &it.configuration));
    for reference in references {
        let fits = bytes.is_some_and(|bytes| frame(&reference.id, bytes) == reference.digest);
        if !fits {
            return refuse("not the configuration that the adapter names");
        }
    }
    if row.profile.digest == effect::profile_digest() {
        if row.target_ir.id != effect::TARGET_IR
            || row.target_ir.digest != effect::target_ir_digest()
        {
            return refuse("the adapter accepts another Target IR");
        }
        let atoms: BTreeMap<String, AtomConfiguration> = match bytes {
            Some(bytes) => canonical(bytes).and_then(|value| configuration(&value))?,
            None => BTreeMap::new(),
        };
        return Ok(Bundled::Atoms(atoms));
    }
    Ok(Bundled::Foreign)
}

fn aliases(lawpacks: &[Lawpack]) -> BTreeMap<String, Type> {
    lawpacks
        .iter()
        .flat_map(|lawpack| &lawpack.exports.types)
        .filter_map(|(name, definition)| match definition {
            Definition::Alias(target) => Some((name.clone(), target.clone())),
            Definition::Record(_) | Definition::Variant(_) | Definition::Nominal(_) => None,
        })
        .collect()
}

/// Replaces aliases in everything that a lawpack exports.
fn expand_exports(exports: &mut Exports, aliases: &mut Aliases) -> Result<(), Defect> {
    for (name, definition) in &mut exports.types {
        let at = |defect: Defect| defect.under(name).under("types").under("exports");
        match definition {
            Definition::Record(fields) => {
                for field in fields.values_mut() {
                    *field = aliases.expand(field).map_err(at)?;
                }
            }
            Definition::Variant(cases) => {
                for payload in cases.iter_mut().filter_map(|case| case.payload.as_mut()) {
                    *payload = aliases.expand(payload).map_err(at)?;
                }
            }
            Definition::Nominal(ty) | Definition::Alias(ty) => {
                *ty = aliases.expand(ty).map_err(at)?;
            }
        }
    }
    for effect in exports.effects.values_mut() {
        effect.input = aliases.expand(&effect.input)?;
        effect.output = aliases.expand(&effect.output)?;
        for payload in effect.failures.values_mut() {
            *payload = aliases.expand(payload)?;
        }
    }
    for obstruction in exports.obstructions.values_mut() {
        obstruction.payload = aliases.expand(&obstruction.payload)?;
    }
    Ok(())
}
