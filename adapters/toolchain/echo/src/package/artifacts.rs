// SPDX-License-Identifier: Apache-2.0
//! Embedded artifacts: identity, canonical form and closure (check A7).

use super::envelope::{Embedded, Envelope};
use crate::{limits, refusal::Refusal};
use edict_codec::{
    cbor::{CborError, DecodeLimits, Value, decode_with},
    digest::{TypedDigest, frame_typed},
};

/// The decoded artifacts of a package.
#[derive(Debug)]
pub(crate) struct Artifacts {
    pub(crate) core: Value,
    pub(crate) target_ir: Value,
    /// The exports of each lawpack, in closure order.
    pub(crate) exports: Vec<Value>,
}

/// Decodes a package, a report or an embedded artifact.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, CborError> {
    decode_with(
        bytes,
        DecodeLimits {
            depth: usize::try_from(limits::MAX_CBOR_DEPTH).unwrap_or(usize::MAX),
            nodes: usize::try_from(limits::MAX_ARTIFACT_NODES).unwrap_or(usize::MAX),
        },
    )
}

/// Recomputes every digest and decodes every artifact.
pub(crate) fn read(envelope: &Envelope<'_>) -> Result<Artifacts, Refusal> {
    let core = open(&envelope.core, ".core")?;
    let target_ir = open(&envelope.target_ir, ".targetIr")?;
    open(&envelope.projection, ".projection")?;
    let mut exports = Vec::with_capacity(envelope.lawpacks.len());
    for (index, lawpack) in envelope.lawpacks.iter().enumerate() {
        exports.push(open(
            &lawpack.exports,
            &format!(".lawpacks[{index}].exports"),
        )?);
    }
    closure(envelope, &target_ir)?;
    Ok(Artifacts {
        core,
        target_ir,
        exports,
    })
}

fn open(embedded: &Embedded<'_>, path: &str) -> Result<Value, Refusal> {
    if frame_typed(embedded.digest.domain(), embedded.bytes) != embedded.digest {
        return Err(Refusal::at(
            "artifact-digest-mismatch",
            format!("{path}.digest"),
            "the digest is that of other bytes",
        ));
    }
    decode(embedded.bytes).map_err(|error| {
        Refusal::at(
            "artifact-noncanonical",
            format!("{path}.bytes"),
            error.to_string(),
        )
    })
}

/// Target IR names the Core and the manifests of the package, in order.
fn closure(envelope: &Envelope<'_>, target_ir: &Value) -> Result<(), Refusal> {
    let differs = |step: String| {
        Err(Refusal::at(
            "artifact-digest-mismatch",
            format!(".targetIr.bytes.semanticClosure{step}"),
            "Target IR names another one than the package",
        ))
    };
    let Some(closure) = target_ir.get("semanticClosure") else {
        return differs(String::new());
    };
    let named = |value: Option<&Value>| value.and_then(TypedDigest::from_value);
    if named(closure.get("sourceCore")).as_ref() != Some(&envelope.core.digest) {
        return differs(".sourceCore".to_owned());
    }
    let rows = closure.get("lawpacks").and_then(Value::as_array);
    let rows = rows.unwrap_or_default();
    if rows.len() != envelope.lawpacks.len() || closure.get("lawpacks").is_none() {
        return differs(".lawpacks".to_owned());
    }
    for (index, (row, lawpack)) in rows.iter().zip(&envelope.lawpacks).enumerate() {
        if named(row.get("manifest")).as_ref() != Some(&lawpack.manifest) {
            return differs(format!(".lawpacks[{index}].manifest"));
        }
        if row.get("coordinate").and_then(Value::as_text) != Some(lawpack.coordinate) {
            return differs(format!(".lawpacks[{index}].coordinate"));
        }
    }
    Ok(())
}
