// SPDX-License-Identifier: Apache-2.0
//! The lawpack closure of a program: digests, aliases, types, effects, obstructions, helpers.

pub(crate) mod effect;
mod load;

pub(crate) use load::{canonical, load};

use crate::decode::adapter::Adapter;
use crate::decode::core::{Core, Function};
use crate::decode::lawpack::{Exports, Obstruction};
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::{Definition, MAX_TYPE_DEPTH, Type};
use edict_codec::bounded::Budget;
use edict_codec::cbor::Value;
use edict_codec::digest::{Algorithm, TypedDigest};
use effect::Plan;
use std::collections::{BTreeMap, BTreeSet};

/// Types that the replacement of aliases may make in one closure.
const MAX_EXPANDED_TYPES: u64 = 1_048_576;

/// Raw files of one lawpack.
#[derive(Clone, Debug)]
pub struct LawpackFiles {
    /// `manifest.cbor`.
    pub manifest: Vec<u8>,
    /// `exports.cbor`.
    pub exports: Vec<u8>,
    /// Adapter and configuration, of a lawpack that meets a target.
    pub adapter: Option<Vec<u8>>,
    /// The configuration that the adapter names.
    pub configuration: Option<Vec<u8>>,
}

/// A lawpack whose parts fit each other.
#[derive(Debug)]
pub(crate) struct Lawpack {
    pub(crate) coordinate: String,
    pub(crate) manifest: [u8; 32],
    pub(crate) dependencies: BTreeMap<String, [u8; 32]>,
    pub(crate) exports_digest: TypedDigest,
    pub(crate) exports_bytes: Vec<u8>,
    pub(crate) exports: Exports,
    pub(crate) adapter: Option<Adapter>,
}

/// All lawpacks of a program, that of the profile first.
#[derive(Debug)]
pub(crate) struct Closure {
    pub(crate) lawpacks: Vec<Lawpack>,
    plans: BTreeMap<String, Plan>,
}

impl Lawpack {
    /// The digest of the manifest.
    pub(crate) fn manifest_digest(&self) -> TypedDigest {
        TypedDigest::new("edict.lawpack/v1", Algorithm::Sha256, self.manifest)
    }

    /// The row of the package's `lawpacks`.
    pub(crate) fn package_row(&self) -> Value {
        Value::text_map([
            ("coordinate", Value::text(&*self.coordinate)),
            ("manifest", self.manifest_digest().to_value()),
            (
                "exports",
                Value::text_map([
                    ("digest", self.exports_digest.to_value()),
                    ("bytes", Value::bytes(self.exports_bytes.clone())),
                ]),
            ),
        ])
    }

    /// The row of the report's `lawpacks`.
    pub(crate) fn report_row(&self) -> Value {
        Value::text_map([
            ("coordinate", Value::text(&*self.coordinate)),
            ("manifest", self.manifest_digest().to_value()),
            ("exports", self.exports_digest.to_value()),
        ])
    }
}

impl Closure {
    /// The lawpack of a coordinate `id@version.Name`.
    pub(crate) fn owner(&self, coordinate: &str) -> Option<&Lawpack> {
        self.lawpacks
            .iter()
            .find(|lawpack| crate::decode::lawpack::belongs(coordinate, &lawpack.coordinate))
    }

    /// A declared obstruction and the lawpack that declares it.
    pub(crate) fn obstruction(&self, coordinate: &str) -> Option<(&str, &Obstruction)> {
        let owner = self.owner(coordinate)?;
        let declared = owner.exports.obstructions.get(coordinate)?;
        Some((&owner.coordinate, declared))
    }

    /// How an effect of the lawpack of the profile is done.
    pub(crate) fn effect(&self, coordinate: &str) -> Option<&Plan> {
        self.plans.get(coordinate)
    }

    /// All helpers by callee.
    pub(crate) fn helpers(&self) -> BTreeMap<String, &Function> {
        self.lawpacks
            .iter()
            .flat_map(|lawpack| &lawpack.exports.helpers)
            .map(|(name, function)| (name.clone(), function))
            .collect()
    }

    /// All exported types, aliases among them.
    pub(crate) fn definitions(&self) -> BTreeMap<String, Definition> {
        self.lawpacks
            .iter()
            .flat_map(|lawpack| &lawpack.exports.types)
            .map(|(name, definition)| (name.clone(), definition.clone()))
            .collect()
    }

    /// Whether a helper of one lawpack may call one of another.
    pub(crate) fn helper_admits(&self, caller: &str, callee: &str) -> bool {
        let (Some(caller), Some(callee)) = (self.owner(caller), self.owner(callee)) else {
            return false;
        };
        caller.coordinate == callee.coordinate
            || caller.dependencies.contains_key(&callee.coordinate)
    }

    /// Compares the closure with what Core imports; the path is one of the request.
    pub(crate) fn bind(&self, core: &Core) -> Result<(), Defect> {
        let mut stated: BTreeMap<&str, [u8; 32]> = BTreeMap::new();
        for (coordinate, digest) in &core.imports {
            stated.insert(coordinate, *digest);
        }
        for lawpack in &self.lawpacks {
            for (coordinate, digest) in &lawpack.dependencies {
                if *stated.entry(coordinate).or_insert(*digest) != *digest {
                    return Err(
                        Defect::new(format!("two digests of {coordinate} are stated"))
                            .under("lawpacks"),
                    );
                }
            }
        }
        for (index, lawpack) in self.lawpacks.iter().enumerate() {
            let checked = match stated.get(&*lawpack.coordinate) {
                None => refuse(format!(
                    "{} is neither imported nor a dependency",
                    lawpack.coordinate
                )),
                Some(digest) if *digest != lawpack.manifest => refuse(format!(
                    "{} is imported with another digest",
                    lawpack.coordinate
                )),
                Some(_) => Ok(()),
            };
            checked.under("manifest").under(index).under("lawpacks")?;
        }
        let present: BTreeSet<&str> = self.lawpacks.iter().map(|it| &*it.coordinate).collect();
        match stated
            .keys()
            .find(|coordinate| !present.contains(*coordinate))
        {
            Some(missing) => {
                Err(Defect::new(format!("{missing} is not part of the closure")).under("lawpacks"))
            }
            None => Ok(()),
        }
    }
}

/// Aliases by coordinate, and how much their replacement may still grow.
#[derive(Debug)]
pub(crate) struct Aliases {
    targets: BTreeMap<String, Type>,
    left: Budget,
}

impl Aliases {
    /// Aliases that replace at most [`MAX_EXPANDED_TYPES`] types together.
    pub(crate) fn new(targets: BTreeMap<String, Type>) -> Self {
        Self {
            targets,
            left: Budget::new(MAX_EXPANDED_TYPES),
        }
    }

    /// A type text without aliases.
    pub(crate) fn expand(&mut self, ty: &Type) -> Result<Type, Defect> {
        expand(self, ty, 0)
    }
}

/// Recursion is bounded by the depth of types, which also ends a cycle of aliases.
fn expand(aliases: &mut Aliases, ty: &Type, depth: usize) -> Result<Type, Defect> {
    if depth > MAX_TYPE_DEPTH {
        return refuse("aliases refer to themselves, or types nest too deep");
    }
    if !aliases.left.take(1) {
        return refuse("aliases make types too large");
    }
    let inner = depth.saturating_add(1);
    match ty {
        Type::Bool | Type::Integer(_) | Type::String { .. } | Type::Bytes { .. } => Ok(ty.clone()),
        Type::Option(item) => Ok(expand(aliases, item, inner)?.optional()),
        Type::List { item, max } => Ok(Type::List {
            item: Box::new(expand(aliases, item, inner)?),
            max: *max,
        }),
        Type::Record(fields) => fields
            .iter()
            .map(|(name, field)| Ok((name.clone(), expand(aliases, field, inner).under(name)?)))
            .collect::<Result<_, _>>()
            .map(Type::Record),
        Type::Named(name) => match aliases.targets.get(name).cloned() {
            Some(target) => expand(aliases, &target, inner),
            None => Ok(ty.clone()),
        },
    }
}
