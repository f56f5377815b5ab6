// SPDX-License-Identifier: Apache-2.0
//! The adapter: how profiles and effects of a lawpack are carried out on the target.

use super::manifest::{Reference, reference};
use crate::{
    core::tree::BudgetLimits,
    shape::{At, ShapeError},
};
use std::collections::BTreeMap;

/// An operation profile on the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterProfile {
    /// Core profile.
    pub core: String,
    /// Coordinates of the effects it allows.
    pub effects: Vec<String>,
    /// Budget that it obliges to.
    pub budget: Option<String>,
    /// Its configuration.
    pub configuration: Option<Reference>,
}

/// An effect on the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implementation {
    /// Coordinate of the intrinsic.
    pub intrinsic: String,
    /// Its configuration.
    pub configuration: Reference,
    /// `read`, `create`, `replace` or `delete`.
    pub write_class: String,
    /// Footprint obligation.
    pub footprint: String,
    /// Budget that it obliges to.
    pub cost: String,
    /// Target failure by failure name.
    pub mappings: BTreeMap<String, String>,
}

/// An adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Budgets by coordinate.
    pub budgets: BTreeMap<String, BudgetLimits>,
    /// Profiles by coordinate.
    pub profiles: BTreeMap<String, AdapterProfile>,
    /// Effects by coordinate.
    pub implementations: BTreeMap<String, Implementation>,
}

impl Adapter {
    /// Reads an adapter.
    ///
    /// # Errors
    /// The first member that is not of its form.
    pub fn read(at: &At<'_>) -> Result<Self, ShapeError> {
        let members = [
            "apiVersion",
            "class",
            "budgets",
            "operationProfiles",
            "effectImplementations",
        ];
        at.object(&members, &[])?;
        at.member("apiVersion")?
            .exactly("edict.lawpack-adapter/v1")?;
        at.member("class")?.exactly("declarative")?;
        Ok(Self {
            budgets: each(&at.member("budgets")?, budget)?,
            profiles: each(&at.member("operationProfiles")?, profile)?,
            implementations: each(&at.member("effectImplementations")?, implementation)?,
        })
    }

    /// Every reference to a configuration.
    pub fn configurations(&self) -> impl Iterator<Item = &Reference> {
        let profiles = self.profiles.values();
        let effects = self.implementations.values();
        profiles
            .filter_map(|profile| profile.configuration.as_ref())
            .chain(effects.map(|effect| &effect.configuration))
    }
}

fn each<T>(
    at: &At<'_>,
    read: fn(&At<'_>) -> Result<T, ShapeError>,
) -> Result<BTreeMap<String, T>, ShapeError> {
    at.entries()?
        .iter()
        .map(|(name, value)| Ok(((*name).to_owned(), read(value)?)))
        .collect()
}

fn budget(at: &At<'_>) -> Result<BudgetLimits, ShapeError> {
    at.object(&["maxSteps", "maxAllocatedBytes", "maxOutputBytes"], &[])?;
    Ok(BudgetLimits {
        max_steps: at.member("maxSteps")?.unsigned()?,
        max_allocated_bytes: at.member("maxAllocatedBytes")?.unsigned()?,
        max_output_bytes: at.member("maxOutputBytes")?.unsigned()?,
    })
}

fn profile(at: &At<'_>) -> Result<AdapterProfile, ShapeError> {
    at.object(
        &["core", "semanticEffects"],
        &["budgetObligation", "targetConfiguration"],
    )?;
    let budget = at.optional("budgetObligation");
    let configuration = at.optional("targetConfiguration");
    Ok(AdapterProfile {
        core: at.text_of("core")?.to_owned(),
        effects: at.member("semanticEffects")?.texts()?,
        budget: budget.map(|it| it.text().map(str::to_owned)).transpose()?,
        configuration: configuration.map(|it| reference(&it)).transpose()?,
    })
}

fn implementation(at: &At<'_>) -> Result<Implementation, ShapeError> {
    let members = [
        "targetIntrinsic",
        "targetConfiguration",
        "writeClass",
        "footprintObligation",
        "costObligation",
        "failureMappings",
    ];
    at.object(&members, &[])?;
    let text = |name| at.text_of(name).map(str::to_owned);
    Ok(Implementation {
        intrinsic: text("targetIntrinsic")?,
        configuration: reference(&at.member("targetConfiguration")?)?,
        write_class: text("writeClass")?,
        footprint: text("footprintObligation")?,
        cost: text("costObligation")?,
        mappings: each(&at.member("failureMappings")?, |it| {
            it.text().map(str::to_owned)
        })?,
    })
}
