// SPDX-License-Identifier: Apache-2.0
//! `TypedDigest`: domain, algorithm and 32 bytes, equal only when all three are.

use crate::{
    cbor::{Encoder, ItemReader, Value},
    hex,
};
use std::{fmt, sync::Arc};

/// How the 32 bytes of a digest were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// BLAKE3 in derive-key mode, the domain being the context string.
    Blake3,
    /// SHA-256 of the `edict.digest/v1` frame, or of plain bytes where a contract says so.
    Sha256,
}

impl Algorithm {
    /// The name in documents: `blake3` or `sha256`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blake3 => "blake3",
            Self::Sha256 => "sha256",
        }
    }

    /// The algorithm of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "blake3" => Some(Self::Blake3),
            "sha256" => Some(Self::Sha256),
            _ => None,
        }
    }
}

/// Writes the form of [`TypedDigest::to_value`] of a digest given by its members.
pub fn write_digest(bytes: &mut Encoder, domain: &str, algorithm: Algorithm, digest: &[u8; 32]) {
    bytes.array(3);
    bytes.text(domain);
    bytes.text(algorithm.name());
    bytes.bytes(digest);
}

/// Takes that form if it stands next with exactly this domain and algorithm; the reader is of no
/// further use otherwise.
pub fn read_digest(
    items: &mut ItemReader<'_>,
    domain: &str,
    algorithm: Algorithm,
) -> Option<[u8; 32]> {
    items.array().filter(|count| *count == 3)?;
    items.literal(domain)?;
    items.literal(algorithm.name())?;
    items.bytes()?.try_into().ok()
}

/// A digest that says what it identifies. Bare bytes are never compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypedDigest {
    domain: Arc<str>,
    algorithm: Algorithm,
    bytes: [u8; 32],
}

impl TypedDigest {
    /// A digest from its three members.
    pub fn new(domain: &str, algorithm: Algorithm, bytes: [u8; 32]) -> Self {
        Self {
            domain: Arc::from(domain),
            algorithm,
            bytes,
        }
    }

    /// The domain.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// The bytes as 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        hex::encode(&self.bytes)
    }

    /// The form inside preimages and host messages: `[domain, algorithm, bytes]`.
    pub fn to_value(&self) -> Value {
        Value::Array(vec![
            Value::text(&*self.domain),
            Value::text(self.algorithm.name()),
            Value::Bytes(self.bytes.to_vec()),
        ])
    }

    /// Writes that form.
    pub fn write(&self, bytes: &mut Encoder) {
        write_digest(bytes, &self.domain, self.algorithm, &self.bytes);
    }

    /// Reads the form of [`Self::to_value`]; `None` for anything else.
    pub fn from_value(value: &Value) -> Option<Self> {
        let [domain, algorithm, bytes] = value.as_array()? else {
            return None;
        };
        let bytes = bytes.as_bytes()?.try_into().ok()?;
        Some(Self::new(
            domain.as_text()?,
            Algorithm::from_name(algorithm.as_text()?)?,
            bytes,
        ))
    }
}

impl fmt::Debug for TypedDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}:{}",
            self.domain,
            self.algorithm.name(),
            self.hex()
        )
    }
}

impl fmt::Display for TypedDigest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, formatter)
    }
}
