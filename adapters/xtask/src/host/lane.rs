// SPDX-License-Identifier: Apache-2.0
//! Requests about one context.

use super::{programs::Built, wire::Host};
use crate::job::Failure;
use edict_codec::{
    cbor::{Value, encode},
    digest::{Algorithm, TypedDigest},
};

/// A context to open: its nonce repeats one byte pattern, so that two runs can be compared.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) nonce: u64,
    /// The directory below the state root, or nothing for a volatile one.
    pub(crate) name: Option<String>,
}

/// What an opening said, and where the context stands.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    pub(crate) worldline: Value,
    pub(crate) basis: Value,
    pub(crate) opened: Value,
}

/// A member that the contract promises.
pub(crate) fn member(value: &Value, key: &str) -> Result<Value, Failure> {
    value
        .get(key)
        .cloned()
        .ok_or_else(|| Failure::new(format!("a reply or record without `{key}`: {value:?}")))
}

/// A byte string that the contract promises.
pub(crate) fn bytes(value: &Value, key: &str) -> Result<Vec<u8>, Failure> {
    let member = member(value, key)?;
    let bytes = member.as_bytes().map(<[u8]>::to_vec);
    bytes.ok_or_else(|| Failure::new(format!("`{key}` is no byte string")))
}

/// Installs a package; gives its installation.
pub(crate) fn install(host: &mut Host, built: &Built) -> Result<Value, Failure> {
    let reply = host.ask(2, &built.install()?)?.ok(0x8002)?;
    member(&reply, "installation")
}

/// 32 bytes that end with a number.
pub(crate) fn wide(number: u64) -> [u8; 32] {
    let mut wide = [0; 32];
    if let Some((_, end)) = wide.split_last_chunk_mut::<8>() {
        *end = number.to_be_bytes();
    }
    wide
}

impl Context {
    /// The body of `open-context`.
    pub(crate) fn open(&self, mode: &str, grants: &[Value]) -> Value {
        let mut grants = grants.to_vec();
        grants.sort_by_key(encode);
        let subject = TypedDigest::new("xtask/subject/v1", Algorithm::Blake3, [7; 32]);
        let (kind, name) = match &self.name {
            Some(name) => ("durable", Value::text(name.as_str())),
            None => ("volatile", Value::Null),
        };
        Value::text_map([
            ("nonce", Value::bytes(wide(self.nonce))),
            ("subject", subject.to_value()),
            ("mode", Value::text(mode)),
            (
                "storage",
                Value::text_map([("kind", Value::text(kind)), ("name", name)]),
            ),
            ("grants", Value::Array(grants)),
            ("expect", Value::Null),
        ])
    }
}

impl Lane {
    /// Opens a context.
    pub(crate) fn open(host: &mut Host, body: &Value) -> Result<Self, Failure> {
        let opened = host.ask(4, body)?.ok(0x8004)?;
        Ok(Self {
            worldline: member(&opened, "worldline")?,
            basis: member(&opened, "basis")?,
            opened,
        })
    }

    /// The body of `invoke`; a pure one has no basis.
    pub(crate) fn request(
        &self,
        installation: &Value,
        id: u64,
        basis: &Value,
        input: &[u8],
    ) -> Value {
        Value::text_map([
            ("worldline", self.worldline.clone()),
            ("installation", installation.clone()),
            ("invocation", Value::bytes(wide(id))),
            ("basis", basis.clone()),
            ("input", Value::bytes(input)),
            ("budget", Value::Null),
        ])
    }

    /// The body of `recall`.
    pub(crate) fn recall(&self, id: u64) -> Value {
        Value::text_map([
            ("worldline", self.worldline.clone()),
            ("invocation", Value::bytes(wide(id))),
        ])
    }

    /// The body of `close-context`.
    pub(crate) fn close(&self) -> Value {
        Value::text_map([("worldline", self.worldline.clone())])
    }
}
