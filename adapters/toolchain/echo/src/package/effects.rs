// SPDX-License-Identifier: Apache-2.0
//! Effect rows, kind and declared footprint against the steps of the program (check A15).

use super::{
    envelope::{EffectRow, Envelope},
    tree::{Effect, Statement, Tree},
};
use crate::{
    eval::code::TargetFailure,
    executable::Kind,
    refusal::Refusal,
    state::view::{FootprintRow, Intrinsic},
};
use std::collections::{BTreeMap, BTreeSet};

/// Judges the rows; gives the declared footprint.
pub(crate) fn judge(envelope: &Envelope<'_>, tree: &Tree) -> Result<Vec<FootprintRow>, Refusal> {
    let rows: BTreeMap<&str, (usize, &EffectRow<'_>)> = envelope
        .effects
        .iter()
        .enumerate()
        .map(|(index, row)| (row.effect, (index, row)))
        .collect();
    let mut used = BTreeSet::new();
    for statement in &tree.intent.statements {
        if let Statement::Effect(effect) = statement {
            step(effect)?;
            let Some((index, row)) = rows.get(effect.coordinate.as_str()) else {
                return Err(mismatch(".effects", "a step has an effect that has no row"));
            };
            same(effect, row).map_err(|key| {
                mismatch(
                    &format!(".effects[{index}].{key}"),
                    "a step of this effect says something else",
                )
            })?;
            used.insert(*index);
        }
    }
    if let Some(index) = (0..envelope.effects.len()).find(|index| !used.contains(index)) {
        return Err(mismatch(
            &format!(".effects[{index}]"),
            "no step has this effect",
        ));
    }
    if (envelope.kind == Kind::Pure) != envelope.effects.is_empty() {
        return Err(Refusal::at(
            "kind-mismatch",
            ".kind",
            "a package is pure if and only if it has no effect",
        ));
    }
    footprint(envelope)
}

fn mismatch(path: &str, message: &str) -> Refusal {
    Refusal::at("effect-mismatch", path, message)
}

/// A step by itself: a known intrinsic with its roles, and one arm for each mapped failure.
fn step(effect: &Effect) -> Result<(), Refusal> {
    let Some(intrinsic) = effect.intrinsic else {
        return Err(mismatch(
            &format!("{}.targetIntrinsic", effect.path),
            "no intrinsic has this name",
        ));
    };
    let configuration = &effect.configuration;
    let writes = matches!(intrinsic, Intrinsic::Create | Intrinsic::Replace);
    let compares = matches!(intrinsic, Intrinsic::Replace | Intrinsic::Delete);
    if configuration.value.is_some() != writes || configuration.expected.is_some() != compares {
        return Err(mismatch(
            &format!("{}.configuration", effect.path),
            "the roles are not those of the intrinsic",
        ));
    }
    if effect.arms.keys().ne(effect.failures.keys()) {
        return Err(mismatch(
            &format!("{}.obstructionArms", effect.path),
            "there must be one arm for each mapped failure",
        ));
    }
    let mut targets = BTreeSet::new();
    for (name, failure) in &effect.failures {
        let known = TargetFailure::from_name(&failure.target).is_some();
        if !known || !targets.insert(failure.target.as_str()) {
            return Err(mismatch(
                &format!("{}.obstructionFailures.{name}.target", effect.path),
                "target failures are known and distinct",
            ));
        }
    }
    Ok(())
}

/// Whether a step is what the row of its effect says; otherwise the key that is not.
fn same(effect: &Effect, row: &EffectRow<'_>) -> Result<(), &'static str> {
    let configuration = &effect.configuration;
    let intrinsic = effect.intrinsic.map(Intrinsic::coordinate);
    if intrinsic != Some(row.intrinsic) {
        return Err("intrinsic");
    }
    if configuration.space != row.space {
        return Err("space");
    }
    if configuration.key_type.0 != row.key_type {
        return Err("keyType");
    }
    let deletes = effect.intrinsic == Some(Intrinsic::Delete);
    let value_type = (!deletes).then_some(configuration.atom_type.0.as_str());
    if value_type != row.value_type {
        return Err("valueType");
    }
    let failures = effect
        .failures
        .iter()
        .map(|(name, failure)| (name.as_str(), failure.target.as_str()));
    if failures.ne(row.failures.iter().copied()) {
        return Err("failures");
    }
    Ok(())
}

fn footprint(envelope: &Envelope<'_>) -> Result<Vec<FootprintRow>, Refusal> {
    let pairs: BTreeSet<(&str, &str)> = envelope
        .effects
        .iter()
        .map(|row| (row.space, row.intrinsic))
        .collect();
    let mut declared = Vec::with_capacity(pairs.len());
    let mut left = pairs.into_iter();
    for (index, row) in envelope.footprint.iter().enumerate() {
        let intrinsic = Intrinsic::from_coordinate(row.intrinsic);
        let (true, Some(intrinsic)) = (left.next() == Some((row.space, row.intrinsic)), intrinsic)
        else {
            return Err(Refusal::at(
                "footprint-mismatch",
                format!(".footprint[{index}]"),
                "the pairs are those of the effects",
            ));
        };
        declared.push(FootprintRow {
            space: row.space.to_owned(),
            intrinsic,
            max_calls: row.max_calls,
        });
    }
    if left.next().is_some() {
        return Err(Refusal::at(
            "footprint-mismatch",
            ".footprint",
            "a pair of an effect is missing",
        ));
    }
    Ok(declared)
}
