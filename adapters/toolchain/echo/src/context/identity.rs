// SPDX-License-Identifier: Apache-2.0
//! The identity of a worldline: nonce, subject and kind of storage (section 2.3).

use crate::state::accumulator::empty_root;
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};

/// Domain of worldlines.
pub const WORLDLINE: &str = "echo/worldline/v1";

/// What names one worldline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// dig(echo/worldline/v1) of the rest.
    pub worldline: TypedDigest,
    /// Freshness given by the client.
    pub nonce: [u8; 32],
    /// Opaque name given by the client.
    pub subject: TypedDigest,
}

impl Identity {
    /// The identity of a context with that storage kind.
    pub fn new(nonce: [u8; 32], subject: TypedDigest, storage: &str) -> Self {
        let preimage = Value::text_map([
            ("nonce", Value::bytes(nonce)),
            ("subject", subject.to_value()),
            ("storage", Value::text(storage)),
            ("genesis", empty_root().to_value()),
        ]);
        Self {
            worldline: derive_typed(WORLDLINE, &encode(&preimage)),
            nonce,
            subject,
        }
    }
}
