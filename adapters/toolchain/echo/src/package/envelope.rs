// SPDX-License-Identifier: Apache-2.0
//! The outer map of a program package (section 3.1).

use super::fields::{Item, Wrong};
use crate::{
    executable::Kind,
    pin::{Budget, Consumed},
};
use edict_codec::{cbor::Value, digest::TypedDigest};

/// The one schema this host admits.
pub(crate) const SCHEMA: &str = "echo.program-package/v1";

/// Digest domains of what a package names.
pub(crate) mod domain {
    pub(crate) const PACKAGE: &str = "echo.program-package/v1";
    pub(crate) const REPORT: &str = "edict.verification-report/v1";
    pub(crate) const TARGET_PROFILE: &str = "edict.target-profile/v1";
    pub(crate) const SOURCE: &str = "edict.source/v1";
    pub(crate) const CORE: &str = "edict.core.module/v1";
    pub(crate) const TARGET_IR: &str = "edict.target-ir.artifact/v1";
    pub(crate) const PROJECTION: &str = "edict.result-projection.artifact/v1";
    pub(crate) const LAWPACK: &str = "edict.lawpack/v1";
}

/// A package whose keys, types and orders are right.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) kind: Kind,
    pub(crate) operation: &'a str,
    pub(crate) target_profile: TypedDigest,
    pub(crate) interpreter: &'a str,
    pub(crate) cost_law: &'a str,
    pub(crate) codec: &'a str,
    pub(crate) source: TypedDigest,
    pub(crate) core: Embedded<'a>,
    pub(crate) target_ir: Embedded<'a>,
    pub(crate) projection: Embedded<'a>,
    pub(crate) lawpacks: Vec<Lawpack<'a>>,
    pub(crate) budget: Budget,
    pub(crate) static_bound: Consumed,
    pub(crate) types: &'a Value,
    pub(crate) input_type: &'a str,
    pub(crate) output_type: &'a str,
    pub(crate) constraints: usize,
    pub(crate) obstructions: Vec<Obstruction<'a>>,
    pub(crate) effects: Vec<EffectRow<'a>>,
    pub(crate) footprint: Vec<PairRow<'a>>,
    pub(crate) footprint_value: &'a Value,
}

/// An embedded artifact and the digest it is claimed to have.
#[derive(Debug)]
pub(crate) struct Embedded<'a> {
    pub(crate) digest: TypedDigest,
    pub(crate) bytes: &'a [u8],
}

/// One lawpack of the closure.
#[derive(Debug)]
pub(crate) struct Lawpack<'a> {
    pub(crate) coordinate: &'a str,
    pub(crate) manifest: TypedDigest,
    pub(crate) exports: Embedded<'a>,
}

/// An obstruction that is really raised.
#[derive(Debug)]
pub(crate) struct Obstruction<'a> {
    pub(crate) coordinate: &'a str,
    pub(crate) payload_type: &'a str,
}

/// An effect that is really used.
#[derive(Debug)]
pub(crate) struct EffectRow<'a> {
    pub(crate) effect: &'a str,
    pub(crate) intrinsic: &'a str,
    pub(crate) space: &'a str,
    pub(crate) key_type: &'a str,
    pub(crate) value_type: Option<&'a str>,
    /// Failure names and their target failures.
    pub(crate) failures: Vec<(&'a str, &'a str)>,
}

/// A pair of the declared footprint.
#[derive(Debug)]
pub(crate) struct PairRow<'a> {
    pub(crate) space: &'a str,
    pub(crate) intrinsic: &'a str,
    pub(crate) max_calls: u64,
}

/// Reads the map of a package whose schema is known (check A5).
pub(crate) fn read(value: &Value) -> Result<Envelope<'_>, Wrong> {
    let [
        _schema,
        kind,
        operation,
        target_profile,
        interpreter,
        cost_law,
        codec,
        source,
        core,
        target_ir,
        projection,
        lawpacks,
        budget,
        static_bound,
        types,
        input_type,
        output_type,
        constraints,
        obstructions,
        effects,
        footprint,
    ] = Item::root(value).map([
        "schema",
        "kind",
        "operation",
        "targetProfile",
        "interpreter",
        "costLaw",
        "codec",
        "source",
        "core",
        "targetIr",
        "projection",
        "lawpacks",
        "budget",
        "staticBound",
        "types",
        "inputType",
        "outputType",
        "constraints",
        "obstructions",
        "effects",
        "footprint",
    ])?;
    Ok(Envelope {
        kind: match kind.text()? {
            "pure" => Kind::Pure,
            "effectful" => Kind::Effectful,
            _ => return Err(kind.wrong("the kinds are `pure` and `effectful`")),
        },
        operation: operation.coordinate()?,
        target_profile: target_profile.digest(domain::TARGET_PROFILE)?,
        interpreter: interpreter.coordinate()?,
        cost_law: cost_law.coordinate()?,
        codec: codec.coordinate()?,
        source: source.digest(domain::SOURCE)?,
        core: embedded(&core, Some(domain::CORE))?,
        target_ir: embedded(&target_ir, Some(domain::TARGET_IR))?,
        projection: embedded(&projection, Some(domain::PROJECTION))?,
        lawpacks: lawpacks
            .array()?
            .iter()
            .map(lawpack)
            .collect::<Result<_, _>>()?,
        budget: budget.budget()?,
        static_bound: static_bound.bound()?,
        types: named(&types)?,
        input_type: input_type.text()?,
        output_type: output_type.text()?,
        constraints: numbered(&constraints)?,
        obstructions: read_obstructions(&obstructions)?,
        effects: read_effects(&effects)?,
        footprint_value: footprint.value(),
        footprint: read_footprint(&footprint)?,
    })
}

fn embedded<'a>(item: &Item<'a>, domain: Option<&str>) -> Result<Embedded<'a>, Wrong> {
    let [bytes, digest] = item.map(["bytes", "digest"])?;
    Ok(Embedded {
        digest: match domain {
            Some(domain) => digest.digest(domain)?,
            None => digest.any_digest()?,
        },
        bytes: bytes.bytes()?,
    })
}

fn lawpack<'a>(item: &Item<'a>) -> Result<Lawpack<'a>, Wrong> {
    let [coordinate, exports, manifest] = item.map(["coordinate", "exports", "manifest"])?;
    Ok(Lawpack {
        coordinate: coordinate.coordinate()?,
        manifest: manifest.digest(domain::LAWPACK)?,
        exports: embedded(&exports, None)?,
    })
}

/// A map whose keys are coordinates.
fn named<'a>(item: &Item<'a>) -> Result<&'a Value, Wrong> {
    let Some(entries) = item.value().as_map() else {
        return Err(item.wrong("a map of types must stand here"));
    };
    for (key, _) in entries {
        let Some(key) = key.as_text() else {
            return Err(item.wrong("a key is no text"));
        };
        if !(1..=1024).contains(&key.len()) {
            return Err(item.wrong_at(key, "every key must be a coordinate"));
        }
    }
    Ok(item.value())
}

/// The number of constraints, which are named in numeric order.
fn numbered(item: &Item<'_>) -> Result<usize, Wrong> {
    let rows = item.array()?;
    for (index, row) in rows.iter().enumerate() {
        if row.text()? != format!("where.{index}") {
            return Err(row.wrong(format!("`where.{index}` must stand here")));
        }
    }
    Ok(rows.len())
}

fn read_obstructions<'a>(item: &Item<'a>) -> Result<Vec<Obstruction<'a>>, Wrong> {
    let mut last = None;
    let mut read = Vec::new();
    for row in item.array()? {
        let [class, coordinate, payload_type] = row.map(["class", "coordinate", "payloadType"])?;
        class.text()?;
        let obstruction = Obstruction {
            coordinate: coordinate.coordinate()?,
            payload_type: payload_type.text()?,
        };
        row.ascends(
            &mut last,
            (obstruction.coordinate, obstruction.payload_type),
        )?;
        read.push(obstruction);
    }
    Ok(read)
}

fn read_effects<'a>(item: &Item<'a>) -> Result<Vec<EffectRow<'a>>, Wrong> {
    let mut last = None;
    let mut read = Vec::new();
    for row in item.array()? {
        let [effect, failures, intrinsic, key_type, space, value_type] = row.map([
            "effect",
            "failures",
            "intrinsic",
            "keyType",
            "space",
            "valueType",
        ])?;
        let effect_row = EffectRow {
            effect: effect.coordinate()?,
            intrinsic: intrinsic.coordinate()?,
            space: read_space(&space)?,
            key_type: key_type.text()?,
            value_type: if value_type.value().is_null() {
                None
            } else {
                Some(value_type.text()?)
            },
            failures: read_failures(&failures)?,
        };
        row.ascends(&mut last, effect_row.effect)?;
        read.push(effect_row);
    }
    Ok(read)
}

fn read_failures<'a>(item: &Item<'a>) -> Result<Vec<(&'a str, &'a str)>, Wrong> {
    let Some(entries) = item.value().as_map() else {
        return Err(item.wrong("a map of failures must stand here"));
    };
    let mut failures = Vec::with_capacity(entries.len());
    for (name, target) in entries {
        let Some(name) = name.as_text() else {
            return Err(item.wrong("a key is no text"));
        };
        let Some(target) = target.as_text() else {
            return Err(item.wrong_at(name, "a target failure must stand here"));
        };
        failures.push((name, target));
    }
    failures.sort_unstable();
    Ok(failures)
}

fn read_footprint<'a>(item: &Item<'a>) -> Result<Vec<PairRow<'a>>, Wrong> {
    let mut last = None;
    let mut read = Vec::new();
    for row in item.array()? {
        let [intrinsic, max_calls, space] = row.map(["intrinsic", "maxCalls", "space"])?;
        let pair = PairRow {
            space: read_space(&space)?,
            intrinsic: intrinsic.coordinate()?,
            max_calls: max_calls.number()?,
        };
        row.ascends(&mut last, (pair.space, pair.intrinsic))?;
        read.push(pair);
    }
    Ok(read)
}

fn read_space<'a>(item: &Item<'a>) -> Result<&'a str, Wrong> {
    let space = item.text()?;
    if space.is_empty() || !crate::limits::admits(crate::limits::MAX_SPACE_BYTES, space.len()) {
        return Err(item.wrong("a space has 1 to 256 bytes"));
    }
    Ok(space)
}
