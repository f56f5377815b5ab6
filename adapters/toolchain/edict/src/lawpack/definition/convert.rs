// SPDX-License-Identifier: Apache-2.0
//! From the spelling of authors to that of artifacts: digests, references and typed values.

use super::{Extra, Refusal, Resource, digest_of, file_name};
use crate::{
    core_artifact::raw_digest,
    document::decimal,
    shape::{At, ShapeError},
};
use edict_codec::{
    cbor::{Integer, Value},
    hex,
};

/// An adapter in the form of the artifact, and its row in the manifest.
pub(super) struct Draft {
    pub(super) extra: Extra,
    pub(super) manifest_row: Value,
    pub(super) configuration: Option<usize>,
}

/// Reads an adapter.
pub(super) fn adapter(at: &At<'_>, resources: &[Resource]) -> Result<Draft, Refusal> {
    let members = [
        "coordinate",
        "output",
        "acceptedTargetProfile",
        "acceptedTargetIr",
        "operationProfiles",
        "effectImplementations",
        "budgets",
    ];
    at.object(&members, &[])?;
    let mut configuration = None;
    let mut configured = |member: &str| {
        let entries = at.member(member)?.entries()?;
        let values: Result<Vec<(&str, Value)>, ShapeError> = entries
            .iter()
            .map(|(name, value)| {
                Ok((
                    *name,
                    with_configuration(value, resources, &mut configuration)?,
                ))
            })
            .collect();
        values.map(Value::text_map)
    };
    let value = Value::text_map([
        ("apiVersion", Value::text("edict.lawpack-adapter/v1")),
        ("class", Value::text("declarative")),
        ("operationProfiles", configured("operationProfiles")?),
        (
            "effectImplementations",
            configured("effectImplementations")?,
        ),
        ("budgets", at.member("budgets")?.value().clone()),
    ]);
    let coordinate = at.text_of("coordinate")?.to_owned();
    let output = at.member("output")?;
    let name = file_name(&output)?;
    if name != "adapter.cbor" {
        return Err(output
            .fail("the adapter is written to `adapter.cbor`")
            .into());
    }
    let reference_to = |member: &str| reference(&at.member(member)?, resources);
    let manifest_row = Value::text_map([
        (
            "acceptedTargetProfile",
            reference_to("acceptedTargetProfile")?,
        ),
        ("acceptedTargetIr", reference_to("acceptedTargetIr")?),
        (
            "adapter",
            reference_value(&coordinate, &digest_of(&coordinate, &value)),
        ),
    ]);
    Ok(Draft {
        extra: Extra {
            coordinate,
            output: name,
            value,
        },
        manifest_row,
        configuration,
    })
}

/// A profile or effect with its `targetConfiguration` resolved.
fn with_configuration(
    at: &At<'_>,
    resources: &[Resource],
    used: &mut Option<usize>,
) -> Result<Value, ShapeError> {
    let mut members = Vec::new();
    for (name, member) in at.entries()? {
        if name == "targetConfiguration" {
            let local = member.optional("local").and_then(|it| it.value().as_text());
            let index = resources
                .iter()
                .position(|it| Some(it.name.as_str()) == local);
            *used = used.or(index);
            members.push((name, reference(&member, resources)?));
        } else {
            members.push((name, member.value().clone()));
        }
    }
    Ok(Value::text_map(members))
}

/// `{"local": name}` or `{"id", "digest"}` as a reference of artifacts.
pub(super) fn reference(at: &At<'_>, resources: &[Resource]) -> Result<Value, ShapeError> {
    if let Some(local) = at.optional("local") {
        at.object(&["local"], &[])?;
        let name = local.text()?;
        let Some(resource) = resources.iter().find(|it| it.name == name) else {
            return Err(local.fail(format!("there is no local resource `{name}`")));
        };
        let Extra {
            coordinate, value, ..
        } = &resource.extra;
        return Ok(reference_value(coordinate, &digest_of(coordinate, value)));
    }
    at.object(&["id", "digest"], &[])?;
    let digest = digest(&at.member("digest")?)?;
    Ok(reference_value(at.text_of("id")?, &digest))
}

/// `{id, digest}`.
pub(super) fn reference_value(id: &str, digest: &[u8; 32]) -> Value {
    Value::text_map([("id", Value::text(id)), ("digest", raw_digest(digest))])
}

/// `sha256:` and 64 hexadecimal digits of either case.
fn digest(at: &At<'_>) -> Result<[u8; 32], ShapeError> {
    at.text()?
        .strip_prefix("sha256:")
        .and_then(|digits| hex::decode_32(&digits.to_ascii_lowercase()))
        .ok_or_else(|| at.fail("expected `sha256:` and 64 hexadecimal digits"))
}

/// Dependencies in the form of the manifest.
pub(super) fn dependencies(at: &At<'_>) -> Result<Value, ShapeError> {
    let items = at.items()?;
    let rows: Result<Vec<Value>, ShapeError> = items
        .iter()
        .map(|item| {
            item.object(&["id", "version", "digest"], &[])?;
            Ok(Value::text_map([
                ("id", item.member("id")?.value().clone()),
                ("version", item.member("version")?.value().clone()),
                ("digest", raw_digest(&digest(&item.member("digest")?)?)),
            ]))
        })
        .collect();
    rows.map(Value::Array)
}

/// Exports in the form of the artifact, lists in written order.
pub(super) fn exports(at: &At<'_>) -> Result<Value, ShapeError> {
    let mut members = Vec::new();
    for (name, member) in at.entries()? {
        let value = match name {
            "operationProfiles" => profiles(&member)?,
            "constants" => {
                let items = member.items()?;
                Value::Array(items.iter().map(constant).collect())
            }
            _ => member.value().clone(),
        };
        members.push((name, value));
    }
    Ok(Value::text_map(members))
}

fn profiles(at: &At<'_>) -> Result<Value, ShapeError> {
    let entries = at.entries()?;
    let profiles: Result<Vec<(&str, Value)>, ShapeError> = entries
        .iter()
        .map(|(name, profile)| {
            let aperture = profile
                .optional("opticTemplate")
                .and_then(|optic| optic.optional("apertureRequirement"));
            if let Some(aperture) = aperture {
                aperture.object(&["kind", "reference"], &[])?;
            }
            Ok((*name, renamed(profile.value())))
        })
        .collect();
    profiles.map(Value::text_map)
}

/// A profile whose aperture says `ref` instead of `reference`.
fn renamed(profile: &Value) -> Value {
    let Some(members) = profile.as_map() else {
        return profile.clone();
    };
    let members = members.iter().filter_map(|(name, value)| {
        let name = name.as_text()?;
        let value = match name {
            "opticTemplate" | "apertureRequirement" => renamed(value),
            _ => value.clone(),
        };
        let name = if name == "reference" { "ref" } else { name };
        Some((name, value))
    });
    Value::text_map(members)
}

/// A constant whose integer may be written as a decimal text.
fn constant(at: &At<'_>) -> Value {
    let integer_type = at
        .optional("type")
        .and_then(|ty| ty.value().as_text())
        .is_some_and(|ty| matches!(ty, "U32" | "U64" | "I32" | "I64"));
    let text = at.optional("value").and_then(|it| it.value().as_text());
    let integer = text.and_then(decimal).and_then(Integer::new);
    let (true, Some(integer), Some(members)) = (integer_type, integer, at.value().as_map()) else {
        return at.value().clone();
    };
    let members = members.iter().filter_map(|(name, value)| {
        let name = name.as_text()?;
        let value = if name == "value" {
            Value::Integer(integer)
        } else {
            value.clone()
        };
        Some((name, value))
    });
    Value::text_map(members)
}
