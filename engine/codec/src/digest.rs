// SPDX-License-Identifier: Apache-2.0
//! Typed digests and the two rules that make them: the Edict frame and BLAKE3 derive-key mode.

mod derive;
mod frame;
mod typed;

pub use derive::{DeriveHasher, derive, derive_extended, derive_typed};
pub use frame::{frame, frame_typed, sha256};
pub use typed::{Algorithm, TypedDigest, read_digest, write_digest};
