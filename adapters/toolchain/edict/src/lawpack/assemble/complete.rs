// SPDX-License-Identifier: Apache-2.0
//! Completeness of adapters: profiles, effects and budgets are exactly those that are exported or
//! obliged to.

use crate::{
    lawpack::{
        adapter::Adapter,
        error::{AdapterRule, LawpackError, Part},
        exports::Exports,
        target,
    },
    shape::At,
};
use std::collections::BTreeSet;

/// Core profiles that this compiler knows.
const CORE_PROFILES: [&str; 4] = [
    "continuum.profile.pure/v1",
    "continuum.profile.read-only/v1",
    "continuum.profile.create/v1",
    "continuum.profile.read-write/v1",
];

/// Checks an adapter against the exports of the lawpack `coordinate`.
pub(super) fn check(
    exports: &Exports,
    adapter: &Adapter,
    at: &At<'_>,
    coordinate: &str,
) -> Result<(), Box<LawpackError>> {
    let full = |name: &String| format!("{coordinate}.{name}");
    let effects: BTreeSet<String> = exports.effects.keys().map(full).collect();
    let mut obliged: BTreeSet<&str> = exports
        .effects
        .values()
        .map(|it| it.cost.as_str())
        .collect();
    obliged.extend(adapter.implementations.values().map(|it| it.cost.as_str()));
    obliged.extend(
        adapter
            .profiles
            .values()
            .filter_map(|it| it.budget.as_deref()),
    );

    same(
        at,
        "operationProfiles",
        &exports.profiles.iter().map(String::as_str).collect(),
        &adapter.profiles.keys().map(String::as_str).collect(),
    )?;
    same(
        at,
        "effectImplementations",
        &effects.iter().map(String::as_str).collect(),
        &adapter.implementations.keys().map(String::as_str).collect(),
    )?;
    same(
        at,
        "budgets",
        &obliged,
        &adapter.budgets.keys().map(String::as_str).collect(),
    )?;
    check_profiles(adapter, at)?;
    check_effects(exports, adapter, at, coordinate)
}

/// Without an adapter nothing may need one.
pub(super) fn check_without_adapter(
    exports: &Exports,
    at: &At<'_>,
) -> Result<(), Box<LawpackError>> {
    if exports.profiles.is_empty() && exports.effects.is_empty() {
        return Ok(());
    }
    let at = at.optional("targetAdapters").unwrap_or_else(|| at.clone());
    let message = "profiles and effects are exported, but there is no adapter";
    Err(LawpackError::rule(
        Part::Manifest,
        AdapterRule::IncompleteAdapter,
        at.fail(message),
    ))
}

fn same(
    at: &At<'_>,
    member: &str,
    wanted: &BTreeSet<&str>,
    found: &BTreeSet<&str>,
) -> Result<(), Box<LawpackError>> {
    let place = at.optional(member).unwrap_or_else(|| at.clone());
    let list = |names: Vec<&&str>| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let missing: Vec<&&str> = wanted.difference(found).collect();
    let superfluous: Vec<&&str> = found.difference(wanted).collect();
    let message = if !missing.is_empty() {
        format!("{} missing", list(missing))
    } else if !superfluous.is_empty() {
        format!("{} superfluous", list(superfluous))
    } else {
        return Ok(());
    };
    Err(LawpackError::rule(
        Part::Adapter,
        AdapterRule::IncompleteAdapter,
        place.fail(message),
    ))
}

fn check_profiles(adapter: &Adapter, at: &At<'_>) -> Result<(), Box<LawpackError>> {
    let Some(profiles) = at.optional("operationProfiles") else {
        return Ok(());
    };
    for (coordinate, profile) in &adapter.profiles {
        let place = profiles.optional(coordinate).unwrap_or_else(|| at.clone());
        let fail = |message: String| {
            let rule = AdapterRule::IncompleteAdapter;
            Err(LawpackError::rule(Part::Adapter, rule, place.fail(message)))
        };
        if !CORE_PROFILES.contains(&profile.core.as_str()) {
            return fail(format!("`{}` is no Core profile", profile.core));
        }
        for effect in &profile.effects {
            if !adapter.implementations.contains_key(effect) {
                return fail(format!("`{effect}` is no effect of this lawpack"));
            }
        }
    }
    Ok(())
}

fn check_effects(
    exports: &Exports,
    adapter: &Adapter,
    at: &At<'_>,
    coordinate: &str,
) -> Result<(), Box<LawpackError>> {
    let Some(implementations) = at.optional("effectImplementations") else {
        return Ok(());
    };
    for (name, effect) in &exports.effects {
        let full = format!("{coordinate}.{name}");
        let (Some(implementation), Some(place)) = (
            adapter.implementations.get(&full),
            implementations.optional(&full),
        ) else {
            continue;
        };
        let at_member = |member: &str| place.optional(member).unwrap_or_else(|| place.clone());
        let fail = |rule, member: &str, message: String| {
            let shape = at_member(member).fail(message);
            Err(LawpackError::rule(Part::Adapter, rule, shape))
        };
        let prefix = format!("{}.", target::PROFILE);
        if !implementation.intrinsic.starts_with(&prefix) {
            let message = format!("intrinsics of this profile start with `{prefix}`");
            let rule = AdapterRule::UnsupportedTargetIntrinsic;
            return fail(rule, "targetIntrinsic", message);
        }
        if implementation.footprint != effect.footprint {
            let message = format!("the effect is exported with `{}`", effect.footprint);
            return fail(
                AdapterRule::IncompleteAdapter,
                "footprintObligation",
                message,
            );
        }
        if implementation.cost != effect.cost {
            let message = format!("the effect is exported with `{}`", effect.cost);
            return fail(AdapterRule::IncompleteAdapter, "costObligation", message);
        }
        let rule = AdapterRule::FailureMappingMismatch;
        if !implementation.mappings.keys().eq(effect.failures.keys()) {
            let declared: Vec<&str> = effect.failures.keys().map(String::as_str).collect();
            let message = format!("expected exactly the declared failures {declared:?}");
            return fail(rule, "failureMappings", message);
        }
        let targets: BTreeSet<&String> = implementation.mappings.values().collect();
        if targets.len() != implementation.mappings.len() {
            let message = "two failures map to one target failure".to_owned();
            return fail(rule, "failureMappings", message);
        }
    }
    Ok(())
}
