// SPDX-License-Identifier: Apache-2.0
//! `Value`: the data model of canonical CBOR.

use super::encode::encode;
use std::fmt;

/// An integer -2^64 ..= 2^64-1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Integer(i128);

impl Integer {
    /// The least value, -2^64.
    pub const MIN: i128 = -(1 << 64);
    /// The greatest value, 2^64-1.
    pub const MAX: i128 = (1 << 64) - 1;

    /// The integer of that value; `None` outside the range.
    pub fn new(value: i128) -> Option<Self> {
        (Self::MIN..=Self::MAX)
            .contains(&value)
            .then_some(Self(value))
    }

    /// The value.
    pub const fn get(self) -> i128 {
        self.0
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

impl From<u64> for Integer {
    fn from(value: u64) -> Self {
        Self(value.into())
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Self(value.into())
    }
}

impl From<u32> for Integer {
    fn from(value: u32) -> Self {
        Self(value.into())
    }
}

/// One CBOR item. A map holds its entries in canonical order, without duplicate keys; build it
/// with [`Value::map`] or [`Value::text_map`], which establish that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An integer.
    Integer(Integer),
    /// A byte string.
    Bytes(Vec<u8>),
    /// A text, not normalised.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// A map, entries ascending by the bytes of their encoded key.
    Map(Vec<(Value, Value)>),
    /// `false` or `true`.
    Bool(bool),
    /// `null`.
    Null,
}

impl Value {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A byte string.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(bytes.into())
    }

    /// An unsigned integer.
    pub fn unsigned(value: u64) -> Self {
        Self::Integer(value.into())
    }

    /// A map from entries in any order. Of two equal keys the later one is kept.
    pub fn map(entries: Vec<(Value, Value)>) -> Self {
        let mut keyed: Vec<(Vec<u8>, (Value, Value))> = entries
            .into_iter()
            .map(|entry| (encode(&entry.0), entry))
            .collect();
        keyed.sort_by(|left, right| left.0.cmp(&right.0));
        let mut sorted: Vec<(Vec<u8>, (Value, Value))> = Vec::with_capacity(keyed.len());
        for entry in keyed {
            match sorted.last_mut() {
                Some(last) if last.0 == entry.0 => *last = entry,
                _ => sorted.push(entry),
            }
        }
        Self::Map(sorted.into_iter().map(|(_, entry)| entry).collect())
    }

    /// A map with text keys from entries in any order; keys must differ.
    pub fn text_map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Self {
        let mut entries: Vec<(String, Value)> = entries
            .into_iter()
            .map(|(key, value)| (key.into(), value))
            .collect();
        // Encoded text keys order by length first, then by bytes.
        entries.sort_by(|left, right| {
            (left.0.len(), left.0.as_bytes()).cmp(&(right.0.len(), right.0.as_bytes()))
        });
        Self::Map(
            entries
                .into_iter()
                .map(|(key, value)| (Self::Text(key), value))
                .collect(),
        )
    }

    /// The value under text key `key` of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?
            .iter()
            .find(|(candidate, _)| candidate.as_text() == Some(key))
            .map(|(_, value)| value)
    }

    /// The entries of a map.
    pub fn as_map(&self) -> Option<&[(Self, Self)]> {
        if let Self::Map(entries) = self {
            Some(entries)
        } else {
            None
        }
    }

    /// The items of an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(items) = self {
            Some(items)
        } else {
            None
        }
    }

    /// The text.
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The byte string.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes) = self {
            Some(bytes)
        } else {
            None
        }
    }

    /// The integer.
    pub fn as_integer(&self) -> Option<i128> {
        if let Self::Integer(integer) = self {
            Some(integer.get())
        } else {
            None
        }
    }

    /// The integer, if it is 0 ..= 2^64-1.
    pub fn as_u64(&self) -> Option<u64> {
        u64::try_from(self.as_integer()?).ok()
    }

    /// The truth value.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(value) = self {
            Some(*value)
        } else {
            None
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }
}
