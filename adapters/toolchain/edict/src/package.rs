// SPDX-License-Identifier: Apache-2.0
//! `echo.program-package/v1`: everything a host needs to run one operation, in one artifact.

use crate::{
    core::tree::{Facts, Intent},
    core_artifact::Reach,
    lawpack::{
        assemble::{Access, Lawpack},
        manifest, target,
    },
    output::Artifact,
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};
use std::collections::BTreeMap;

/// Domain of the digest of packages, also their schema.
pub const DOMAIN: &str = "echo.program-package/v1";
/// Domain of the digest of sources.
pub const SOURCE_DOMAIN: &str = "edict.source/v1";

/// What a package is made of.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// Coordinate of the operation.
    pub operation: &'a str,
    /// Digest of the source.
    pub source: [u8; 32],
    /// Core.
    pub core: &'a Artifact,
    /// Target IR.
    pub target_ir: &'a Artifact,
    /// The projection.
    pub projection: &'a Artifact,
    /// The lawpacks in the order of the application.
    pub closure: &'a [&'a Lawpack],
    /// The intent.
    pub intent: &'a Intent,
    /// What was derived from it.
    pub facts: &'a Facts,
    /// The types and effects that it meets.
    pub reach: &'a Reach,
}

/// The package.
pub fn package(contents: &Contents<'_>) -> Value {
    let Contents {
        operation,
        intent,
        facts,
        reach,
        ..
    } = contents;
    let typed = |domain: &str, digest: [u8; 32]| {
        TypedDigest::new(domain, Algorithm::Sha256, digest).to_value()
    };
    let kind = if reach.effects.is_empty() {
        "pure"
    } else {
        "effectful"
    };
    let types = reach.types().iter();
    let constraints = (0..intent.constraints.len()).map(|it| Value::text(format!("where.{it}")));
    let limits = intent.limits;
    let bound = facts.static_bound;
    let profile = typed(target::PROFILE_DOMAIN, target::profile_digest());
    Value::text_map([
        ("schema", Value::text(DOMAIN)),
        ("kind", Value::text(kind)),
        ("operation", Value::text(*operation)),
        ("targetProfile", profile),
        ("interpreter", Value::text(target::INTERPRETER)),
        ("costLaw", Value::text(target::COST_LAW)),
        ("codec", Value::text(target::CODEC)),
        ("source", typed(SOURCE_DOMAIN, contents.source)),
        ("core", embedded(contents.core)),
        ("targetIr", embedded(contents.target_ir)),
        ("projection", embedded(contents.projection)),
        ("lawpacks", lawpacks(contents.closure)),
        (
            "budget",
            Value::text_map([
                ("maxSteps", Value::unsigned(limits.max_steps)),
                (
                    "maxAllocatedBytes",
                    Value::unsigned(limits.max_allocated_bytes),
                ),
                ("maxOutputBytes", Value::unsigned(limits.max_output_bytes)),
            ]),
        ),
        (
            "staticBound",
            Value::text_map([
                ("steps", Value::unsigned(bound.steps)),
                ("allocatedBytes", Value::unsigned(bound.allocated_bytes)),
                ("outputBytes", Value::unsigned(bound.output_bytes)),
            ]),
        ),
        (
            "types",
            Value::text_map(types.map(|(coordinate, value)| (coordinate.as_str(), value.clone()))),
        ),
        ("inputType", Value::text(intent.parameter.ty.to_string())),
        ("outputType", Value::text(intent.result.to_string())),
        ("constraints", Value::Array(constraints.collect())),
        ("obstructions", obstructions(contents)),
        ("effects", effects(contents)),
        ("footprint", footprint(facts)),
    ])
}

/// `{digest, bytes}` of an artifact.
fn embedded(artifact: &Artifact) -> Value {
    let digest = TypedDigest::new(&artifact.domain, Algorithm::Sha256, artifact.digest());
    Value::text_map([
        ("digest", digest.to_value()),
        ("bytes", Value::bytes(artifact.bytes.clone())),
    ])
}

fn lawpacks(closure: &[&Lawpack]) -> Value {
    let rows = closure.iter().map(|lawpack| {
        let manifest_digest = TypedDigest::new(
            manifest::DOMAIN,
            Algorithm::Sha256,
            lawpack.context.manifest,
        );
        let exports = Artifact::new(
            "exports.cbor",
            lawpack.manifest.exports.id.as_str(),
            lawpack.exports.clone(),
        );
        Value::text_map([
            (
                "coordinate",
                Value::text(lawpack.context.coordinate.as_str()),
            ),
            ("manifest", manifest_digest.to_value()),
            ("exports", embedded(&exports)),
        ])
    });
    Value::Array(rows.collect())
}

/// One row per coordinate and payload type really raised, with the declared class.
fn obstructions(contents: &Contents<'_>) -> Value {
    let classes: BTreeMap<&str, &str> = contents
        .closure
        .iter()
        .flat_map(|lawpack| lawpack.context.obstructions.values())
        .map(|declared| (declared.coordinate.as_str(), declared.class.as_str()))
        .collect();
    let rows = contents.facts.raised.iter().map(|(coordinate, payload)| {
        let class = classes
            .get(coordinate.as_str())
            .copied()
            .unwrap_or_default();
        Value::text_map([
            ("coordinate", Value::text(coordinate.as_str())),
            ("payloadType", Value::text(payload.as_str())),
            ("class", Value::text(class)),
        ])
    });
    Value::Array(rows.collect())
}

fn effects(contents: &Contents<'_>) -> Value {
    let accesses: BTreeMap<&str, &Access> = contents
        .closure
        .iter()
        .flat_map(|lawpack| &lawpack.accesses)
        .map(|(effect, access)| (effect.as_str(), access))
        .collect();
    let rows = contents.reach.effects.iter().filter_map(|effect| {
        let access = accesses.get(effect.as_str())?;
        let value_type = if access.intrinsic.class() == "delete" {
            Value::Null
        } else {
            Value::text(access.atom.to_string())
        };
        let failures = access.failures.iter();
        let failures =
            failures.map(|(name, failure)| (name.as_str(), Value::text(failure.target.as_str())));
        Some(Value::text_map([
            ("effect", Value::text(effect.as_str())),
            ("intrinsic", Value::text(access.intrinsic.coordinate())),
            ("space", Value::text(access.configuration.space.as_str())),
            ("keyType", Value::text(access.key.to_string())),
            ("valueType", value_type),
            ("failures", Value::text_map(failures)),
        ]))
    });
    Value::Array(rows.collect())
}

fn footprint(facts: &Facts) -> Value {
    let rows = facts.footprint.iter().map(|((space, intrinsic), calls)| {
        Value::text_map([
            ("space", Value::text(space.as_str())),
            ("intrinsic", Value::text(intrinsic.as_str())),
            ("maxCalls", Value::unsigned(*calls)),
        ])
    });
    Value::Array(rows.collect())
}
