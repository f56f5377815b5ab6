// SPDX-License-Identifier: Apache-2.0
//! Effects as operations on atoms: intrinsic, roles, types and target failures.

use super::{Aliases, Lawpack};
use crate::decode::adapter::{AtomConfiguration, Implementation, Output};
use crate::decode::lawpack::Effect;
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::Type;
use crate::table::TypeTable;
use edict_codec::cbor::Value;
use edict_codec::hex;
use std::collections::{BTreeMap, BTreeSet};

/// The bundled target profile.
pub(crate) const PROFILE: &str = "echo.dpo@1";
/// The bundled Target IR.
pub(crate) const TARGET_IR: &str = "echo.atoms-ir/v1";
const PROFILE_DIGEST: &str = "debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b";
const TARGET_IR_DIGEST: &str = "ffc8f9cb8d68de642cc709e819ab28b4ba6e7054994b71586efb437cc990c45f";
const MAX_KEY_BYTES: u64 = 256;
const MAX_VALUE_BYTES: u64 = 1_048_576;
const MAX_SPACE_BYTES: usize = 256;

/// Digest of the bundled target profile.
pub(crate) fn profile_digest() -> [u8; 32] {
    hex::decode_32(PROFILE_DIGEST).unwrap_or_default()
}

/// Digest of the bundled Target IR.
pub(crate) fn target_ir_digest() -> [u8; 32] {
    hex::decode_32(TARGET_IR_DIGEST).unwrap_or_default()
}

/// What an adapter is written for.
#[derive(Debug)]
pub(crate) enum Bundled {
    /// The bundled profile, with its configuration.
    Atoms(BTreeMap<String, AtomConfiguration>),
    /// Echo's own profile of the same coordinate; its configuration is carried, not interpreted.
    Foreign,
}

/// An operation on atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Intrinsic {
    Read,
    Create,
    Replace,
    Delete,
}

/// How an effect is done.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) intrinsic: Intrinsic,
    pub(crate) space: String,
    pub(crate) input: Type,
    pub(crate) output: Type,
    pub(crate) key: Type,
    pub(crate) value: Type,
    /// By failure name.
    pub(crate) failures: BTreeMap<String, Failure>,
    /// Where the roles of the atom stand in input and output.
    pub(crate) atom: AtomConfiguration,
    /// The `configuration` of a step.
    pub(crate) configuration: Value,
}

/// A declared failure of an effect.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) target: String,
    pub(crate) payload: Type,
}

impl Intrinsic {
    /// The coordinate.
    pub(crate) fn coordinate(self) -> &'static str {
        match self {
            Self::Read => "echo.dpo@1.atom.read",
            Self::Create => "echo.dpo@1.atom.create",
            Self::Replace => "echo.dpo@1.atom.replace",
            Self::Delete => "echo.dpo@1.atom.delete",
        }
    }

    fn write_class(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Replace => "replace",
            Self::Delete => "delete",
        }
    }

    fn of(coordinate: &str) -> Option<Self> {
        [Self::Read, Self::Create, Self::Replace, Self::Delete]
            .into_iter()
            .find(|intrinsic| intrinsic.coordinate() == coordinate)
    }

    /// Whether `target` can be mapped, and whether its payload may be the version.
    fn failure(self, target: &str) -> Option<bool> {
        match (self, target) {
            (_, "echo.atom-required/v1" | "echo.atom-byte-bound-exceeded/v1")
            | (Self::Read | Self::Replace | Self::Delete, "echo.atom-missing/v1") => Some(false),
            (Self::Read, "echo.atom-type-mismatch/v1")
            | (Self::Create, "echo.atom-exists/v1")
            | (Self::Replace | Self::Delete, "echo.atom-version-mismatch/v1") => Some(true),
            _ => None,
        }
    }
}

/// The effects of one lawpack as operations on atoms.
pub(crate) fn plans(
    aliases: &mut Aliases,
    lawpack: &Lawpack,
    target: Option<&Bundled>,
    table: &TypeTable,
) -> Result<BTreeMap<String, Plan>, Defect> {
    let (Some(adapter), Some(target)) = (&lawpack.adapter, target) else {
        return Ok(BTreeMap::new());
    };
    if let Bundled::Atoms(atoms) = target
        && !atoms.keys().eq(lawpack.exports.effects.keys())
    {
        return refuse("the configuration is not of exactly the exported effects");
    }
    let mut plans = BTreeMap::new();
    for (name, implementation) in &adapter.effects {
        let Some(declared) = lawpack.exports.effects.get(name) else {
            continue;
        };
        let plan = match target {
            Bundled::Atoms(atoms) => match atoms.get(name) {
                Some(atom) => bundled(aliases, table, declared, implementation, atom),
                None => refuse("no configuration"),
            },
            Bundled::Foreign if !supported(implementation) => continue,
            Bundled::Foreign => foreign(name, declared, implementation),
        };
        let checked = plan.and_then(|plan| well_formed(table, plan));
        let plan = checked.under(name).under("effectImplementations")?;
        plans.insert(name.clone(), plan);
    }
    Ok(plans)
}

fn bundled(
    aliases: &mut Aliases,
    table: &TypeTable,
    declared: &Effect,
    implementation: &Implementation,
    atom: &AtomConfiguration,
) -> Result<Plan, Defect> {
    let Some(intrinsic) = Intrinsic::of(&implementation.intrinsic) else {
        return Err(Defect::new("unknown intrinsic").under("targetIntrinsic"));
    };
    if implementation.write_class != intrinsic.write_class() {
        return Err(Defect::new("not the class of the intrinsic").under("writeClass"));
    }
    if atom.space.is_empty() || atom.space.len() > MAX_SPACE_BYTES {
        return refuse("a space has 1 to 256 bytes");
    }
    let value = aliases.expand(&atom.atom_type)?;
    table.well_formed(&value)?;
    let key = follow(table, &declared.input, &atom.key)?.clone();
    if key_bytes(table, &key) > MAX_KEY_BYTES || table.encoded(&value) > MAX_VALUE_BYTES {
        return refuse("a key may exceed 256 bytes, or a value 1048576 bytes");
    }
    roles(table, declared, atom, intrinsic, &value)?;
    result(table, &declared.output, &atom.output, intrinsic, &value)?;
    Ok(Plan {
        intrinsic,
        space: atom.space.clone(),
        input: declared.input.clone(),
        output: declared.output.clone(),
        failures: failures(table, declared, implementation, intrinsic, &key)?,
        configuration: atom.to_value(&value, &key),
        atom: atom.clone(),
        key,
        value,
    })
}

/// Length of the longest key: bytes as they are, anything else encoded.
pub(crate) fn key_bytes(table: &TypeTable, key: &Type) -> u64 {
    match table.resolve(table.representation(key).unwrap_or(key)) {
        Type::Bytes { max, .. } => *max,
        _ => table.encoded(key),
    }
}

fn follow<'a>(table: &'a TypeTable, ty: &'a Type, path: &[String]) -> Result<&'a Type, Defect> {
    let mut ty = ty;
    for field in path {
        match table.fields(ty).and_then(|fields| fields.get(field)) {
            Some(inner) => ty = inner,
            None => return refuse(format!("the input has no field `{field}`")),
        }
    }
    Ok(ty)
}

fn is_version(table: &TypeTable, ty: &Type) -> bool {
    let ty = table.representation(ty).unwrap_or(ty);
    matches!(table.resolve(ty), Type::Bytes { min: 32, max: 32 })
}

fn roles(
    table: &TypeTable,
    declared: &Effect,
    atom: &AtomConfiguration,
    intrinsic: Intrinsic,
    value: &Type,
) -> Result<(), Defect> {
    let writes = matches!(intrinsic, Intrinsic::Create | Intrinsic::Replace);
    let compares = matches!(intrinsic, Intrinsic::Replace | Intrinsic::Delete);
    if atom.value.is_some() != writes || atom.expected.is_some() != compares {
        return refuse("not the input roles of the intrinsic");
    }
    if let Some(path) = &atom.value
        && !table.equivalent(follow(table, &declared.input, path)?, value)
    {
        return refuse("the value is not of the type of the atom");
    }
    if let Some(path) = &atom.expected
        && !is_version(table, follow(table, &declared.input, path)?)
    {
        return refuse("the expected version is not 32 bytes");
    }
    Ok(())
}

fn result(
    table: &TypeTable,
    declared: &Type,
    output: &Output,
    intrinsic: Intrinsic,
    value: &Type,
) -> Result<(), Defect> {
    let has_value = intrinsic != Intrinsic::Delete;
    let fits = match output {
        Output::Value => has_value && table.equivalent(declared, value),
        Output::Version => is_version(table, declared),
        Output::Record {
            value: value_field,
            version,
        } => {
            let named: BTreeSet<&String> = value_field.iter().chain(version).collect();
            let count = value_field.iter().chain(version).count();
            table.fields(declared).is_some_and(|fields| {
                named.len() == count
                    && named.iter().copied().eq(fields.keys())
                    && value_field.iter().all(|name| {
                        has_value
                            && fields
                                .get(name)
                                .is_some_and(|field| table.equivalent(field, value))
                    })
                    && version.iter().all(|name| {
                        fields
                            .get(name)
                            .is_some_and(|field| is_version(table, field))
                    })
            })
        }
    };
    if fits {
        Ok(())
    } else {
        refuse("the output roles do not make the output type")
    }
}

fn failures(
    table: &TypeTable,
    declared: &Effect,
    implementation: &Implementation,
    intrinsic: Intrinsic,
    key: &Type,
) -> Result<BTreeMap<String, Failure>, Defect> {
    mapped(declared, implementation, |payload, target| {
        let Some(versioned) = intrinsic.failure(target) else {
            return refuse(format!("the intrinsic never fails with {target}"));
        };
        let record = table.fields(payload);
        let empty = record.is_some_and(BTreeMap::is_empty);
        let version = record.is_some_and(|fields| {
            let field = fields.get("version").map(|field| table.resolve(field));
            fields.len() == 1 && matches!(field, Some(Type::Bytes { min: 32, max: 32 }))
        });
        if empty || (versioned && version) || table.equivalent(payload, key) {
            Ok(())
        } else {
            refuse("a payload is the key, nothing, or the version")
        }
    })
}

/// Joins declared failures with their mappings, each target once.
fn mapped(
    declared: &Effect,
    implementation: &Implementation,
    check: impl Fn(&Type, &str) -> Result<(), Defect>,
) -> Result<BTreeMap<String, Failure>, Defect> {
    if !declared.failures.keys().eq(implementation.failures.keys()) {
        return Err(Defect::new("not exactly the declared failures").under("failureMappings"));
    }
    let mut targets = BTreeSet::new();
    let mut failures = BTreeMap::new();
    for ((name, payload), target) in declared
        .failures
        .iter()
        .zip(implementation.failures.values())
    {
        // Echo's other name of the same failure.
        let target = match target.as_str() {
            "echo.fact-missing/v1" => "echo.atom-missing/v1",
            other => other,
        };
        check(payload, target)
            .under(name)
            .under("failureMappings")?;
        if !targets.insert(target.to_owned()) {
            return Err(Defect::new("a target failure is mapped twice").under("failureMappings"));
        }
        let failure = Failure {
            target: target.to_owned(),
            payload: payload.clone(),
        };
        failures.insert(name.clone(), failure);
    }
    Ok(failures)
}

/// Whether an effect of a published lawpack for Echo can be done here; another one can stand in the
/// lawpack, and cannot be called.
fn supported(implementation: &Implementation) -> bool {
    implementation.write_class == "read"
        && matches!(
            implementation.intrinsic.as_str(),
            "echo.dpo@1.node-atom-read" | "echo.dpo@1.snapshot-read-probe"
        )
}

fn well_formed(table: &TypeTable, plan: Plan) -> Result<Plan, Defect> {
    let payloads = plan.failures.values().map(|failure| &failure.payload);
    for ty in [&plan.input, &plan.output].into_iter().chain(payloads) {
        table.well_formed(ty)?;
    }
    Ok(plan)
}

/// A read of a published lawpack for Echo: the input is the key, the result the value.
fn foreign(name: &str, declared: &Effect, implementation: &Implementation) -> Result<Plan, Defect> {
    let atom = AtomConfiguration {
        space: name.to_owned(),
        atom_type: declared.output.clone(),
        key: Vec::new(),
        value: None,
        expected: None,
        output: Output::Value,
    };
    Ok(Plan {
        intrinsic: Intrinsic::Read,
        space: name.to_owned(),
        input: declared.input.clone(),
        output: declared.output.clone(),
        failures: mapped(declared, implementation, |_, _| Ok(()))?,
        configuration: atom.to_value(&declared.output, &declared.input),
        atom,
        key: declared.input.clone(),
        value: declared.output.clone(),
    })
}
