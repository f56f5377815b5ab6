// SPDX-License-Identifier: Apache-2.0
//! `Lawpack`: manifest, exports, adapter and configuration together, with every rule that ties
//! them to one another. Authored and vendored lawpacks pass through the same function.

mod access;
mod complete;
mod fit;

use super::{
    adapter::Adapter,
    configuration,
    context::{Effect, LawpackContext, Profile},
    error::{AdapterRule, LawpackError, Part},
    exports::{Exports, Surroundings},
    manifest::{DOMAIN, Manifest, TargetAdapter},
    target,
};
use crate::{
    core::tree::Function,
    output::digest_text,
    shape::{At, Strictness},
    type_text::TypeTable,
};
use edict_codec::{
    cbor::{Value, encode},
    digest::frame,
};
use std::collections::BTreeMap;

pub use access::{Access, Failure};

/// The parts of a lawpack as values.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The manifest.
    pub manifest: Value,
    /// The exports.
    pub exports: Value,
    /// The adapter and its configuration.
    pub target: Option<(Value, Value)>,
}

/// A lawpack that holds together.
#[derive(Clone, Debug)]
pub struct Lawpack {
    /// Its manifest.
    pub manifest: Manifest,
    /// Canonical bytes of the exports.
    pub exports: Vec<u8>,
    /// What programs can name. Effects that this compiler cannot lower are absent.
    pub context: LawpackContext,
    /// How the effects of the context are carried out, by coordinate.
    pub accesses: BTreeMap<String, Access>,
    /// Effects that this compiler cannot lower, by coordinate, with the rule and the reason.
    pub unsupported: BTreeMap<String, (AdapterRule, String)>,
    /// Digest of the target profile that its adapter accepts.
    pub profile: Option<[u8; 32]>,
}

/// Joins the parts; `dependencies` are the lawpacks that the manifest names, each already judged.
///
/// # Errors
/// The first value that is not of its form, and the first broken rule.
pub fn assemble(
    parts: &Parts,
    dependencies: &[&Lawpack],
    strictness: Strictness,
) -> Result<Lawpack, Box<LawpackError>> {
    let root = |value| At::root(value, strictness);
    let manifest_at = root(&parts.manifest);
    let manifest =
        Manifest::read(&manifest_at).map_err(|shape| LawpackError::form(Part::Manifest, shape))?;
    let exports_bytes = encode(&parts.exports);
    if frame(&manifest.exports.id, &exports_bytes) != manifest.exports.digest {
        let shape = manifest_at.fail("the exports are not those that the manifest names");
        return Err(LawpackError::form(Part::Manifest, shape));
    }
    let chosen = choose_adapter(&manifest, &manifest_at, parts.target.as_ref())?;
    let foreign = chosen.is_some_and(|it| it.profile.digest != target::profile_digest());
    let exports = read_exports(parts, dependencies, strictness, &manifest, foreign)?;
    let mut lawpack = Lawpack {
        context: context(&manifest, &parts.manifest, &exports),
        manifest: manifest.clone(),
        exports: exports_bytes,
        accesses: BTreeMap::new(),
        unsupported: BTreeMap::new(),
        profile: chosen.map(|it| it.profile.digest),
    };
    match (chosen, &parts.target) {
        (Some(chosen), Some((adapter, values))) => {
            let adapter_at = root(adapter);
            let configuration_at = root(values);
            let read = Adapter::read(&adapter_at)
                .map_err(|shape| LawpackError::form(Part::Adapter, shape))?;
            check_target(chosen, &manifest_at)?;
            complete::check(&exports, &read, &adapter_at, &lawpack.context.coordinate)?;
            check_configuration(&read, &adapter_at, values)?;
            let configured = if foreign {
                None
            } else {
                let read = configuration::read(&configuration_at)
                    .map_err(|shape| LawpackError::form(Part::Configuration, shape))?;
                Some(read)
            };
            access::Binder {
                exports: &exports,
                adapter: &read,
                configured: configured.as_ref(),
                adapter_at: &adapter_at,
                configuration_at: &configuration_at,
                table: exports_table(dependencies, &exports, &manifest),
            }
            .bind(&mut lawpack)?;
            add_profiles(&mut lawpack.context, &read);
        }
        _ => complete::check_without_adapter(&exports, &manifest_at)?,
    }
    Ok(lawpack)
}

/// The adapter of the manifest whose artifact was given.
fn choose_adapter<'m>(
    manifest: &'m Manifest,
    at: &At<'_>,
    target: Option<&(Value, Value)>,
) -> Result<Option<&'m TargetAdapter>, Box<LawpackError>> {
    let fail = |message: &str| {
        let at = at.optional("targetAdapters").unwrap_or_else(|| at.clone());
        Err(LawpackError::form(Part::Manifest, at.fail(message)))
    };
    let Some((adapter, _)) = target else {
        return if manifest.adapters.is_empty() {
            Ok(None)
        } else {
            fail("the manifest names an adapter, but none is given")
        };
    };
    let bytes = encode(adapter);
    let chosen = manifest
        .adapters
        .iter()
        .find(|it| frame(&it.adapter.id, &bytes) == it.adapter.digest);
    match chosen {
        Some(chosen) => Ok(Some(chosen)),
        None => fail("the adapter is none that the manifest names"),
    }
}

/// Types and helpers of dependencies by full coordinate.
pub(super) fn visible(dependencies: &[&Lawpack]) -> (TypeTable, BTreeMap<String, Function>) {
    let mut table = TypeTable::default();
    let mut helpers: BTreeMap<String, Function> = BTreeMap::new();
    for dependency in dependencies {
        let coordinate = &dependency.context.coordinate;
        let full = |name: &String| format!("{coordinate}.{name}");
        let types = dependency.context.types.iter();
        table.extend(types.map(|(name, ty)| (full(name), ty.clone())));
        let exported = dependency.context.helpers.iter();
        helpers.extend(exported.map(|(name, helper)| (full(name), helper.clone())));
    }
    (table, helpers)
}

fn read_exports(
    parts: &Parts,
    dependencies: &[&Lawpack],
    strictness: Strictness,
    manifest: &Manifest,
    foreign: bool,
) -> Result<Exports, Box<LawpackError>> {
    let (table, helpers) = visible(dependencies);
    let around = Surroundings {
        coordinate: &manifest.coordinate(),
        types: &table,
        helpers: &helpers,
        foreign,
    };
    Exports::read(&At::root(&parts.exports, strictness), &around)
        .map_err(|shape| LawpackError::form(Part::Exports, shape))
}

/// All types that the configuration can name.
fn exports_table(dependencies: &[&Lawpack], exports: &Exports, manifest: &Manifest) -> TypeTable {
    let (mut table, _) = visible(dependencies);
    let coordinate = manifest.coordinate();
    let own = exports.types.iter();
    table.extend(own.map(|(name, ty)| (format!("{coordinate}.{name}"), ty.clone())));
    table
}

fn context(manifest: &Manifest, value: &Value, exports: &Exports) -> LawpackContext {
    LawpackContext {
        coordinate: manifest.coordinate(),
        manifest: frame(DOMAIN, &encode(value)),
        types: exports.types.clone(),
        constants: exports.constants.clone(),
        helpers: exports.helpers.clone(),
        obstructions: exports.obstructions.clone(),
        effects: BTreeMap::new(),
        profiles: BTreeMap::new(),
        budgets: BTreeMap::new(),
    }
}

fn check_target(chosen: &TargetAdapter, at: &At<'_>) -> Result<(), Box<LawpackError>> {
    let at = at.optional("targetAdapters").unwrap_or_else(|| at.clone());
    let fail = |message: String| {
        let rule = AdapterRule::UnsupportedTargetProfile;
        Err(LawpackError::rule(Part::Manifest, rule, at.fail(message)))
    };
    if chosen.profile.id != target::PROFILE {
        let id = &chosen.profile.id;
        return fail(format!(
            "`{id}` is accepted; this compiler lowers to `{}`",
            target::PROFILE
        ));
    }
    let bundled = chosen.profile.digest == target::profile_digest();
    let target_ir = &chosen.target_ir;
    let expected =
        target_ir.id == target::TARGET_IR && target_ir.digest == target::target_ir_digest();
    if bundled && !expected {
        return fail(format!(
            "the bundled profile takes Target IR `{}` of {}",
            target::TARGET_IR,
            digest_text(&target::target_ir_digest())
        ));
    }
    Ok(())
}

/// One configuration serves the whole adapter, and it is the one that is given.
fn check_configuration(
    adapter: &Adapter,
    at: &At<'_>,
    configuration: &Value,
) -> Result<(), Box<LawpackError>> {
    let bytes = encode(configuration);
    let fail = |message: String| Err(LawpackError::form(Part::Adapter, at.fail(message)));
    let mut any = false;
    for reference in adapter.configurations() {
        any = true;
        if frame(&reference.id, &bytes) != reference.digest {
            let id = &reference.id;
            return fail(format!("`{id}` is not the configuration that is given"));
        }
    }
    if any {
        Ok(())
    } else {
        fail("no profile or effect names the configuration that is given".to_owned())
    }
}

fn add_profiles(context: &mut LawpackContext, adapter: &Adapter) {
    let prefix = format!("{}.", context.coordinate);
    let bare = |coordinate: &String| coordinate.strip_prefix(&prefix).map(str::to_owned);
    for (coordinate, profile) in &adapter.profiles {
        if let Some(name) = bare(coordinate) {
            let profile = Profile {
                coordinate: coordinate.clone(),
                core: profile.core.clone(),
                effects: profile.effects.clone(),
            };
            context.profiles.insert(name, profile);
        }
    }
    for (coordinate, limits) in &adapter.budgets {
        if let Some(name) = bare(coordinate) {
            context.budgets.insert(name, *limits);
        }
    }
}

impl Lawpack {
    /// Adds an effect that can be lowered.
    fn admit(&mut self, name: &str, effect: Effect, access: Access) {
        self.accesses.insert(effect.coordinate.clone(), access);
        self.context.effects.insert(name.to_owned(), effect);
    }
}
