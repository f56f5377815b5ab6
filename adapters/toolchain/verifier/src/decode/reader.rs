// SPDX-License-Identifier: Apache-2.0
//! Closed maps, lists and scalars of canonical CBOR, with the path of a disagreement.
//!
//! Callers recurse only over decoded items, whose nesting the codec bounds at 128.

use edict_codec::cbor::Value;
use std::collections::BTreeMap;

/// What disagrees, and where: the steps are collected from the inside out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Defect {
    steps: Vec<Step>,
    message: String,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step(String);

impl From<&str> for Step {
    fn from(name: &str) -> Self {
        Self(name.to_owned())
    }
}

impl From<&String> for Step {
    fn from(name: &String) -> Self {
        Self(name.clone())
    }
}

impl From<String> for Step {
    fn from(name: String) -> Self {
        Self(name)
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Self(index.to_string())
    }
}

impl Defect {
    /// A disagreement right here.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            steps: Vec::new(),
            message: message.into(),
        }
    }

    /// The same disagreement, seen from one level further out.
    pub(crate) fn under(mut self, step: impl Into<Step>) -> Self {
        self.steps.push(step.into());
        self
    }

    /// The path as a JSON Pointer; empty for the whole artifact.
    pub(crate) fn path(&self) -> String {
        let mut path = String::new();
        for step in self.steps.iter().rev() {
            path.push('/');
            path.push_str(&step.0.replace('~', "~0").replace('/', "~1"));
        }
        path
    }

    /// What is wrong there.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }
}

/// Puts a step before the path of an error.
pub(crate) trait Under {
    /// The result, its error seen from one level further out.
    fn under(self, step: impl Into<Step>) -> Self;
}

impl<T> Under for Result<T, Defect> {
    fn under(self, step: impl Into<Step>) -> Self {
        self.map_err(|defect| defect.under(step))
    }
}

/// Shorthand for a failing result.
pub(crate) fn refuse<T>(message: impl Into<String>) -> Result<T, Defect> {
    Err(Defect::new(message))
}

/// A map whose keys have been compared with the contract.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    value: &'a Value,
}

impl<'a> Fields<'a> {
    /// A map with exactly the keys `required`, and maybe some of `optional`.
    pub(crate) fn new(
        value: &'a Value,
        required: &[&str],
        optional: &[&str],
    ) -> Result<Self, Defect> {
        let Some(entries) = value.as_map() else {
            return refuse("expected a map");
        };
        for (key, _) in entries {
            let Some(key) = key.as_text() else {
                return refuse("a key is no text");
            };
            if !required.contains(&key) && !optional.contains(&key) {
                return Err(Defect::new("unknown key").under(key));
            }
        }
        for key in required {
            if value.get(key).is_none() {
                return Err(Defect::new("missing key").under(*key));
            }
        }
        Ok(Self { value })
    }

    /// Reads the value of a required key.
    pub(crate) fn get<T>(
        self,
        key: &str,
        read: impl FnOnce(&'a Value) -> Result<T, Defect>,
    ) -> Result<T, Defect> {
        match self.value.get(key) {
            Some(value) => read(value).under(key),
            None => Err(Defect::new("missing key").under(key)),
        }
    }

    /// Reads the value of an optional key.
    pub(crate) fn optional<T>(
        self,
        key: &str,
        read: impl FnOnce(&'a Value) -> Result<T, Defect>,
    ) -> Result<Option<T>, Defect> {
        self.value
            .get(key)
            .map(|value| read(value).under(key))
            .transpose()
    }

    /// Requires `key` to hold exactly `expected`.
    pub(crate) fn constant(self, key: &str, expected: &str) -> Result<(), Defect> {
        self.get(key, |value| {
            if value.as_text() == Some(expected) {
                Ok(())
            } else {
                refuse(format!("expected the text `{expected}`"))
            }
        })
    }
}

/// The text under `kind`.
pub(crate) fn kind(value: &Value) -> Result<&str, Defect> {
    match value.get("kind").map(Value::as_text) {
        Some(Some(kind)) => Ok(kind),
        _ => Err(Defect::new("expected a text").under("kind")),
    }
}

/// A text.
pub(crate) fn text(value: &Value) -> Result<String, Defect> {
    value
        .as_text()
        .map(str::to_owned)
        .ok_or_else(|| Defect::new("expected a text"))
}

/// An integer 0 ..= 2^64-1.
pub(crate) fn unsigned(value: &Value) -> Result<u64, Defect> {
    value
        .as_u64()
        .ok_or_else(|| Defect::new("expected an unsigned integer"))
}

/// A list, each item read by `read`.
pub(crate) fn list<'a, T>(
    value: &'a Value,
    mut read: impl FnMut(&'a Value) -> Result<T, Defect>,
) -> Result<Vec<T>, Defect> {
    let Some(items) = value.as_array() else {
        return refuse("expected a list");
    };
    items
        .iter()
        .enumerate()
        .map(|(index, item)| read(item).under(index))
        .collect()
}

/// A map from texts, each value read by `read`.
pub(crate) fn map<'a, T>(
    value: &'a Value,
    mut read: impl FnMut(&'a Value) -> Result<T, Defect>,
) -> Result<BTreeMap<String, T>, Defect> {
    let Some(entries) = value.as_map() else {
        return refuse("expected a map");
    };
    entries
        .iter()
        .map(|(key, item)| match key.as_text() {
            Some(key) => Ok((key.to_owned(), read(item).under(key)?)),
            None => refuse("a key is no text"),
        })
        .collect()
}

/// Whether a text can be the name of a declaration, field or case.
pub(crate) fn is_identifier(text: &str) -> bool {
    let mut signs = text.bytes();
    signs
        .next()
        .is_some_and(|sign| sign.is_ascii_alphabetic() || sign == b'_')
        && signs.all(|sign| sign.is_ascii_alphanumeric() || sign == b'_')
}

/// A map from names, each value read by `read`.
pub(crate) fn named<'a, T>(
    value: &'a Value,
    read: impl FnMut(&'a Value) -> Result<T, Defect>,
) -> Result<BTreeMap<String, T>, Defect> {
    let entries = map(value, read)?;
    match entries.keys().find(|name| !is_identifier(name)) {
        Some(name) => Err(Defect::new("expected a name").under(name)),
        None => Ok(entries),
    }
}

/// `null`, or what `read` reads.
pub(crate) fn nullable<'a, T>(
    value: &'a Value,
    read: impl FnOnce(&'a Value) -> Result<T, Defect>,
) -> Result<Option<T>, Defect> {
    if value.is_null() {
        Ok(None)
    } else {
        read(value).map(Some)
    }
}

/// A raw digest `["sha256", 32 bytes]`.
pub(crate) fn raw_digest(value: &Value) -> Result<[u8; 32], Defect> {
    let bytes = match value.as_array() {
        Some([algorithm, bytes]) if algorithm.as_text() == Some("sha256") => bytes.as_bytes(),
        _ => None,
    };
    bytes
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or_else(|| Defect::new("expected [\"sha256\", 32 bytes]"))
}

/// A digest with the name of what it identifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// Coordinate of the artifact, its digest domain.
    pub(crate) id: String,
    /// SHA-256 of its Edict frame.
    pub(crate) digest: [u8; 32],
}

/// `{id, digest}`.
pub(crate) fn reference(value: &Value) -> Result<Reference, Defect> {
    let fields = Fields::new(value, &["id", "digest"], &[])?;
    Ok(Reference {
        id: fields.get("id", text)?,
        digest: fields.get("digest", raw_digest)?,
    })
}

/// The path of the first difference between what must stand in an artifact and what does.
pub(crate) fn difference(expected: &Value, actual: &Value) -> Option<Defect> {
    match (expected, actual) {
        // Most maps agree in their keys, and a type has as many entries as its author likes: only
        // maps that differ are searched.
        (Value::Map(left), Value::Map(right))
            if left
                .iter()
                .map(|(key, _)| key)
                .eq(right.iter().map(|(key, _)| key)) =>
        {
            left.iter()
                .zip(right)
                .find_map(|((key, value), (_, other))| {
                    let defect = difference(value, other)?;
                    Some(defect.under(key.as_text().unwrap_or_default()))
                })
        }
        (Value::Map(left), Value::Map(_)) => {
            for (key, value) in left {
                let name = key.as_text().unwrap_or_default();
                let Some(other) = actual.get(name) else {
                    return Some(Defect::new("missing key").under(name));
                };
                if let Some(defect) = difference(value, other) {
                    return Some(defect.under(name));
                }
            }
            let Value::Map(right) = actual else {
                return None;
            };
            let unknown = right
                .iter()
                .find(|(key, _)| !left.iter().any(|(known, _)| known == key))?;
            Some(Defect::new("unknown key").under(unknown.0.as_text().unwrap_or_default()))
        }
        (Value::Array(left), Value::Array(right)) => {
            for (index, (value, other)) in left.iter().zip(right).enumerate() {
                if let Some(defect) = difference(value, other) {
                    return Some(defect.under(index));
                }
            }
            (left.len() != right.len()).then(|| {
                Defect::new(format!(
                    "expected {} items, found {}",
                    left.len(),
                    right.len()
                ))
                .under(left.len().min(right.len()))
            })
        }
        _ => (expected != actual).then(|| {
            Defect::new(format!(
                "expected {}, found {}",
                shown(expected),
                shown(actual)
            ))
        }),
    }
}

/// A short spelling of a scalar for messages.
fn shown(value: &Value) -> String {
    const SHOWN_CHARACTERS: usize = 80;
    let whole = match value {
        Value::Integer(integer) => integer.get().to_string(),
        Value::Text(text) => format!("`{text}`"),
        Value::Bytes(bytes) => {
            let head: Vec<u8> = bytes.iter().copied().take(32).collect();
            format!("{} bytes {}", bytes.len(), edict_codec::hex::encode(&head))
        }
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Map(entries) => format!("a map of {}", entries.len()),
    };
    whole.chars().take(SHOWN_CHARACTERS).collect()
}
