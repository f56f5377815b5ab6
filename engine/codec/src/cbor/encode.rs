// SPDX-License-Identifier: Apache-2.0
//! The encoder: shortest definite heads, nothing else.

use super::value::{Integer, Value};

/// Canonical bytes of `value`.
pub fn encode(value: &Value) -> Vec<u8> {
    let mut encoder = Encoder::new();
    encoder.value(value);
    encoder.into_bytes()
}

/// Writes canonical items one after the other. The caller writes exactly as many items as a head
/// announced, and map entries in canonical key order.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    bytes: Vec<u8>,
}

impl Encoder {
    /// An empty encoder.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty encoder with room for so many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
        }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The head of an array of `count` items.
    pub fn array(&mut self, count: usize) {
        self.head(4, as_u64(count));
    }

    /// The head of a map of `count` entries.
    pub fn map(&mut self, count: usize) {
        self.head(5, as_u64(count));
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        self.head(3, as_u64(text.len()));
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// A byte string.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.head(2, as_u64(bytes.len()));
        self.bytes.extend_from_slice(bytes);
    }

    /// An unsigned integer.
    pub fn unsigned(&mut self, value: u64) {
        self.head(0, value);
    }

    /// An integer.
    pub fn integer(&mut self, integer: Integer) {
        let value = integer.get();
        match u64::try_from(value) {
            Ok(value) => self.head(0, value),
            // -1 - n is stored as n; the range of `Integer` makes n a u64.
            Err(_) => self.head(1, u64::try_from(!value).unwrap_or(u64::MAX)),
        }
    }

    /// `false` or `true`.
    pub fn bool(&mut self, value: bool) {
        self.bytes.push(if value { 0xf5 } else { 0xf4 });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.bytes.push(0xf6);
    }

    /// An item that is already canonical bytes.
    pub fn raw(&mut self, item: &[u8]) {
        self.bytes.extend_from_slice(item);
    }

    /// A whole value, without recursion on its nesting.
    pub fn value(&mut self, value: &Value) {
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            match value {
                Value::Integer(integer) => self.integer(*integer),
                Value::Bytes(bytes) => self.bytes(bytes),
                Value::Text(text) => self.text(text),
                Value::Bool(value) => self.bool(*value),
                Value::Null => self.null(),
                Value::Array(items) => {
                    self.array(items.len());
                    pending.extend(items.iter().rev());
                }
                Value::Map(entries) => {
                    self.map(entries.len());
                    pending.extend(entries.iter().rev().flat_map(|(key, value)| [value, key]));
                }
            }
        }
    }

    fn head(&mut self, major: u8, argument: u64) {
        let major = major << 5;
        if let Ok(small) = u8::try_from(argument) {
            if small < 24 {
                self.bytes.push(major | small);
            } else {
                self.bytes.extend_from_slice(&[major | 0x18, small]);
            }
        } else if let Ok(argument) = u16::try_from(argument) {
            self.bytes.push(major | 0x19);
            self.bytes.extend_from_slice(&argument.to_be_bytes());
        } else if let Ok(argument) = u32::try_from(argument) {
            self.bytes.push(major | 0x1a);
            self.bytes.extend_from_slice(&argument.to_be_bytes());
        } else {
            self.bytes.push(major | 0x1b);
            self.bytes.extend_from_slice(&argument.to_be_bytes());
        }
    }
}

fn as_u64(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
