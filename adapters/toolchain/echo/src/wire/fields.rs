// SPDX-License-Identifier: Apache-2.0
//! Closed maps and bounded items of a message, each refusal leading to the item at fault.

use crate::{
    pin::{Budget, Pin},
    refusal::Refusal,
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};

/// Greatest length of a coordinate in bytes.
pub const MAX_COORDINATE_BYTES: usize = 1_024;

/// `malformed-body` at `path`, where the empty path is the root.
pub fn malformed(path: &str, message: impl Into<String>) -> Refusal {
    let path = if path.is_empty() { "." } else { path };
    Refusal::at("malformed-body", path, message)
}

/// The entries of a closed map, taken out one by one.
#[derive(Debug)]
pub struct Fields {
    entries: Vec<(Value, Value)>,
    path: String,
}

impl Fields {
    /// Opens a map that must have exactly `keys`.
    ///
    /// # Errors
    /// `malformed-body` at the map, or at the unknown or missing key.
    pub fn open(value: Value, path: &str, keys: &[&str]) -> Result<Self, Refusal> {
        let Value::Map(entries) = value else {
            return Err(malformed(path, "not a map"));
        };
        for (key, _) in &entries {
            let Some(key) = key.as_text() else {
                return Err(malformed(path, "a key is no text"));
            };
            if !keys.contains(&key) {
                return Err(malformed(&format!("{path}.{key}"), "unknown key"));
            }
        }
        for key in keys {
            if !entries.iter().any(|entry| entry.0.as_text() == Some(key)) {
                return Err(malformed(&format!("{path}.{key}"), "the key is missing"));
            }
        }
        Ok(Self {
            entries,
            path: path.to_owned(),
        })
    }

    /// Takes the value of `key` and the path to it.
    pub fn take(&mut self, key: &str) -> (Value, String) {
        let value = self
            .entries
            .iter_mut()
            .find(|entry| entry.0.as_text() == Some(key))
            .map_or(Value::Null, |entry| {
                std::mem::replace(&mut entry.1, Value::Null)
            });
        (value, format!("{}.{key}", self.path))
    }

    /// A text of at most `max_bytes` bytes.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn text(&mut self, key: &str, max_bytes: usize) -> Result<String, Refusal> {
        let (value, path) = self.take(key);
        text(value, &path, max_bytes)
    }

    /// A coordinate.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn coordinate(&mut self, key: &str) -> Result<String, Refusal> {
        let (value, path) = self.take(key);
        coordinate(value, &path)
    }

    /// One of the named texts, as its index.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn choice(&mut self, key: &str, names: &[&str]) -> Result<usize, Refusal> {
        let (value, path) = self.take(key);
        names
            .iter()
            .position(|name| value.as_text() == Some(name))
            .ok_or_else(|| malformed(&path, format!("none of {}", names.join(", "))))
    }

    /// An integer of the range, both ends included.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn unsigned(&mut self, key: &str, least: u64, most: u64) -> Result<u64, Refusal> {
        let (value, path) = self.take(key);
        value
            .as_u64()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| malformed(&path, format!("no integer {least} to {most}")))
    }

    /// A byte string of any length.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn bytes(&mut self, key: &str) -> Result<Vec<u8>, Refusal> {
        let (value, path) = self.take(key);
        bytes(value, &path)
    }

    /// A byte string of 32 bytes.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn bytes_32(&mut self, key: &str) -> Result<[u8; 32], Refusal> {
        let (value, path) = self.take(key);
        bytes(value, &path)?
            .try_into()
            .map_err(|_| malformed(&path, "not 32 bytes"))
    }

    /// A `BLAKE3` digest of `domain`.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn digest(&mut self, key: &str, domain: &str) -> Result<TypedDigest, Refusal> {
        let (value, path) = self.take(key);
        digest(&value, &path, domain)
    }

    /// A digest of any domain that is a coordinate, and of either algorithm.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn any_digest(&mut self, key: &str) -> Result<TypedDigest, Refusal> {
        let (value, path) = self.take(key);
        TypedDigest::from_value(&value)
            .filter(|digest| is_coordinate(digest.domain()))
            .ok_or_else(|| malformed(&path, "no typed digest"))
    }

    /// A pin, whose domain and algorithm admission judges.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn pin(&mut self, key: &str) -> Result<Pin, Refusal> {
        let (value, path) = self.take(key);
        pin(&value).ok_or_else(|| malformed(&path, "no typed digest"))
    }

    /// A budget.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn budget(&mut self, key: &str) -> Result<Budget, Refusal> {
        let (value, path) = self.take(key);
        budget(value, &path)
    }

    /// A value that may be null.
    pub fn optional(&mut self, key: &str) -> Option<(Value, String)> {
        let (value, path) = self.take(key);
        (!value.is_null()).then_some((value, path))
    }

    /// An array of at most `most` items.
    ///
    /// # Errors
    /// `malformed-body`.
    pub fn array(&mut self, key: &str, most: usize) -> Result<(Vec<Value>, String), Refusal> {
        let (value, path) = self.take(key);
        match value {
            Value::Array(items) if items.len() <= most => Ok((items, path)),
            Value::Array(items) => Err(malformed(
                &path,
                format!("{} items, at most {most} are allowed", items.len()),
            )),
            Value::Integer(_)
            | Value::Bytes(_)
            | Value::Text(_)
            | Value::Map(_)
            | Value::Bool(_)
            | Value::Null => Err(malformed(&path, "not an array")),
        }
    }

    /// An ascending array of coordinates.
    ///
    /// # Errors
    /// `malformed-body`, at the item that does not ascend.
    pub fn coordinates(&mut self, key: &str, most: usize) -> Result<Vec<String>, Refusal> {
        let (items, path) = self.array(key, most)?;
        let mut coordinates: Vec<String> = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let path = format!("{path}[{index}]");
            let item = coordinate(item, &path)?;
            if coordinates
                .last()
                .is_some_and(|before| before.as_bytes() >= item.as_bytes())
            {
                return Err(malformed(&path, "the items do not ascend"));
            }
            coordinates.push(item);
        }
        Ok(coordinates)
    }
}

/// A text of at most `max_bytes` bytes.
///
/// # Errors
/// `malformed-body`.
pub fn text(value: Value, path: &str, max_bytes: usize) -> Result<String, Refusal> {
    match value {
        Value::Text(text) if text.len() <= max_bytes => Ok(text),
        Value::Text(text) => Err(malformed(
            path,
            format!(
                "a text of {} bytes, at most {max_bytes} are allowed",
                text.len()
            ),
        )),
        Value::Integer(_)
        | Value::Bytes(_)
        | Value::Array(_)
        | Value::Map(_)
        | Value::Bool(_)
        | Value::Null => Err(malformed(path, "not a text")),
    }
}

/// A byte string.
///
/// # Errors
/// `malformed-body`.
pub fn bytes(value: Value, path: &str) -> Result<Vec<u8>, Refusal> {
    if let Value::Bytes(bytes) = value {
        Ok(bytes)
    } else {
        Err(malformed(path, "not a byte string"))
    }
}

/// A `BLAKE3` digest of `domain`; another domain or algorithm is a wrong type.
///
/// # Errors
/// `malformed-body`.
pub fn digest(value: &Value, path: &str, domain: &str) -> Result<TypedDigest, Refusal> {
    TypedDigest::from_value(value)
        .filter(|digest| digest.domain() == domain && digest.algorithm() == Algorithm::Blake3)
        .ok_or_else(|| malformed(path, format!("no digest of `{domain}`")))
}

/// A budget: three integers of at least 1.
///
/// # Errors
/// `malformed-body`.
pub fn budget(value: Value, path: &str) -> Result<Budget, Refusal> {
    let mut fields = Fields::open(
        value,
        path,
        &["maxSteps", "maxAllocatedBytes", "maxOutputBytes"],
    )?;
    Ok(Budget {
        max_steps: fields.unsigned("maxSteps", 1, u64::MAX)?,
        max_allocated_bytes: fields.unsigned("maxAllocatedBytes", 1, u64::MAX)?,
        max_output_bytes: fields.unsigned("maxOutputBytes", 1, u64::MAX)?,
    })
}

fn coordinate(value: Value, path: &str) -> Result<String, Refusal> {
    let coordinate = text(value, path, MAX_COORDINATE_BYTES)?;
    if coordinate.is_empty() {
        return Err(malformed(path, "an empty coordinate"));
    }
    Ok(coordinate)
}

fn is_coordinate(text: &str) -> bool {
    (1..=MAX_COORDINATE_BYTES).contains(&text.len())
}

fn pin(value: &Value) -> Option<Pin> {
    let [domain, algorithm, bytes] = value.as_array()? else {
        return None;
    };
    Some(Pin {
        domain: domain.as_text()?.to_owned(),
        algorithm: algorithm.as_text()?.to_owned(),
        bytes: bytes.as_bytes()?.try_into().ok()?,
    })
}
