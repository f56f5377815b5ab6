// SPDX-License-Identifier: Apache-2.0
//! The bodies a report names, where they lie, and whether the bytes found there are those (M3, M5).

use edict_codec::digest::TypedDigest;
use std::{collections::BTreeMap, sync::Arc};

/// Bytes of bodies by the 32 bytes of their blob digest, as they were found.
pub type BodyBytes = BTreeMap<[u8; 32], Arc<[u8]>>;

/// One entry of `evidence.bodies`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyEntry {
    /// Blob digest of the bytes.
    pub blob: TypedDigest,
    /// Their length.
    pub byte_length: u64,
    /// Where they lie, relative to the artifact directory.
    pub path: String,
}

impl BodyEntry {
    /// The one place that a body of this digest has.
    pub fn expected_path(blob: &TypedDigest) -> String {
        let name = blob.hex();
        let (directory, rest) = name.split_at_checked(2).unwrap_or((&name, ""));
        format!("blake3/{directory}/{rest}")
    }
}

/// A place of the report that names a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedBody {
    /// JSON Pointer of the place.
    pub pointer: String,
    /// Blob digest that stands there.
    pub blob: TypedDigest,
    /// Length that stands there.
    pub byte_length: u64,
}
