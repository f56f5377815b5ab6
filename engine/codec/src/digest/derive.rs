// SPDX-License-Identifier: Apache-2.0
//! BLAKE3 in derive-key mode: the identities of the runner and of the host.

use super::typed::{Algorithm, TypedDigest};

/// `BLAKE3` derive-key digest of `bytes` under `context`.
pub fn derive(context: &str, bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key(context, bytes)
}

/// As [`derive`], as a typed digest whose domain is the context.
pub fn derive_typed(context: &str, bytes: &[u8]) -> TypedDigest {
    TypedDigest::new(context, Algorithm::Blake3, derive(context, bytes))
}

/// Fills `output` with the extendable output of derive-key mode.
pub fn derive_extended(context: &str, bytes: &[u8], output: &mut [u8]) {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(bytes);
    hasher.finalize_xof().fill(output);
}

/// Derive-key digest of bytes that arrive in pieces.
#[derive(Clone, Debug)]
pub struct DeriveHasher(blake3::Hasher);

impl DeriveHasher {
    /// A hasher for `context`.
    pub fn new(context: &str) -> Self {
        Self(blake3::Hasher::new_derive_key(context))
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of everything added.
    pub fn finish(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}
