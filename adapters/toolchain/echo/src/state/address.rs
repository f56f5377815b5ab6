// SPDX-License-Identifier: Apache-2.0
//! Identities of atoms and of their contents (section 5.1).

use edict_codec::{
    cbor::Encoder,
    digest::{DeriveHasher, derive},
};

/// `H("echo/atom/v1", C([space, key]))`.
pub fn atom(space: &str, key: &[u8]) -> [u8; 32] {
    let mut pair = Encoder::new();
    pair.array(2);
    pair.text(space);
    pair.bytes(key);
    derive("echo/atom/v1", &pair.into_bytes())
}

/// `H("echo/atom-version/v1", atom || value)`.
pub fn version(atom: &[u8; 32], value: &[u8]) -> [u8; 32] {
    let mut hasher = DeriveHasher::new("echo/atom-version/v1");
    hasher.update(atom);
    hasher.update(value);
    hasher.finish()
}
