// SPDX-License-Identifier: Apache-2.0
//! Requests about one context.

use super::{
    HostError,
    process::Host,
    requests::{self, Opening, member},
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};

/// A context to open: its nonce repeats one byte pattern, so that two runs can be compared.
#[derive(Clone, Debug)]
pub struct Context {
    /// Its number.
    pub nonce: u64,
    /// The directory below the state root, or nothing for a volatile one.
    pub name: Option<String>,
}

/// What an opening said, and where the context stands.
#[derive(Clone, Debug)]
pub struct Lane {
    /// The worldline.
    pub worldline: Value,
    /// Tick and root as the client knows them.
    pub basis: Value,
    /// The reply to the opening.
    pub opened: Value,
}

/// 32 bytes that end with a number.
pub fn wide(number: u64) -> [u8; 32] {
    let mut wide = [0; 32];
    if let Some((_, end)) = wide.split_last_chunk_mut::<8>() {
        *end = number.to_be_bytes();
    }
    wide
}

impl Context {
    /// The body of `open-context`.
    pub fn open(&self, is_recovery: bool, grants: &[Value]) -> Value {
        let opening = Opening {
            nonce: wide(self.nonce),
            subject: TypedDigest::new("xtask/subject/v1", Algorithm::Blake3, [7; 32]),
            name: self.name.as_deref(),
            is_recovery,
        };
        opening.body(grants.iter().cloned())
    }
}

impl Lane {
    /// Opens a context.
    ///
    /// # Errors
    /// The refusal.
    pub fn open(host: &mut Host, body: &Value) -> Result<Self, HostError> {
        let opened = host.ask(4, body)?.ok(0x8004)?;
        Ok(Self {
            worldline: member(&opened, "worldline")?,
            basis: member(&opened, "basis")?,
            opened,
        })
    }

    /// The body of `invoke`; a pure one has no basis.
    pub fn request(&self, installation: &Value, id: u64, basis: &Value, input: &[u8]) -> Value {
        let whose = (&self.worldline, installation);
        requests::invoke(whose, wide(id), basis, input, Value::Null)
    }

    /// The body of `recall`.
    pub fn recall(&self, id: u64) -> Value {
        requests::recall(&self.worldline, wide(id))
    }

    /// The body of `close-context`.
    pub fn close(&self) -> Value {
        requests::close(&self.worldline)
    }
}
