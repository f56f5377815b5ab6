// SPDX-License-Identifier: Apache-2.0
//! What a staged lawpack manifest says that binding needs.

use edict_codec::{
    cbor::{DecodeLimits, Value, decode, validate},
    digest::{TypedDigest, frame_typed},
};

/// The identity of a lawpack manifest; `None` when the bytes are not one canonical item.
pub fn manifest_identity(manifest: &[u8]) -> Option<TypedDigest> {
    validate(manifest, DecodeLimits::default())
        .is_ok()
        .then(|| frame_typed("edict.lawpack/v1", manifest))
}

/// The coordinate of the exports that a manifest names, which is the domain of their identity (D7).
pub fn exports_domain(manifest: &[u8]) -> Option<String> {
    let value = decode(manifest).ok()?;
    value
        .get("exports")?
        .get("id")
        .and_then(Value::as_text)
        .map(str::to_owned)
}
