// SPDX-License-Identifier: Apache-2.0
//! The Edict frame: SHA-256 over canonical CBOR of `["edict.digest/v1", domain, item]`.

use super::typed::{Algorithm, TypedDigest};
use crate::cbor::Encoder;
use sha2::{Digest as _, Sha256};

/// The framed digest of one canonical item, given as its bytes.
///
/// The caller vouches that `item` is one canonical item; a digest of other bytes identifies nothing.
pub fn frame(domain: &str, item: &[u8]) -> [u8; 32] {
    let mut head = Encoder::new();
    head.array(3);
    head.text("edict.digest/v1");
    head.text(domain);
    let mut hasher = Sha256::new();
    hasher.update(head.into_bytes());
    hasher.update(item);
    hasher.finalize().into()
}

/// As [`frame`], as a typed digest.
pub fn frame_typed(domain: &str, item: &[u8]) -> TypedDigest {
    TypedDigest::new(domain, Algorithm::Sha256, frame(domain, item))
}

/// Plain SHA-256 of `bytes`, where a contract asks for it.
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
