// SPDX-License-Identifier: Apache-2.0
//! Whether a canonical value is one of a declared type.

use super::DeclaredType;
use edict_codec::cbor::{self, CborError, Integer, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes that are no canonical value of a declared type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypedValueError {
    /// The bytes are not one canonical item.
    #[error("not canonical: {0}")]
    NotCanonical(CborError),
    /// The item is no value of the type.
    #[error("{0}")]
    Mismatch(#[from] TypeMismatch),
}

/// The first place where a value leaves its type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {path}: {problem}")]
pub struct TypeMismatch {
    /// Steps `.name` and `[n]` from the root; `.` is the root alone.
    pub path: String,
    /// What was expected there, and what stands there.
    pub problem: String,
}

impl DeclaredType {
    /// Decodes canonical bytes of a value of this type.
    ///
    /// # Errors
    /// `NotCanonical`, or the first place, in canonical order, where the value leaves the type.
    pub fn decode(&self, bytes: &[u8]) -> Result<Value, TypedValueError> {
        let value = cbor::decode(bytes).map_err(TypedValueError::NotCanonical)?;
        self.check(&value)?;
        Ok(value)
    }

    /// Whether `value` is one of this type.
    ///
    /// # Errors
    /// The first place, in canonical order, where it is not.
    pub fn check(&self, value: &Value) -> Result<(), TypeMismatch> {
        check(self, value, &mut String::new())
    }
}

/// Recursion is bounded by the depth of the type.
fn check(declared: &DeclaredType, value: &Value, path: &mut String) -> Result<(), TypeMismatch> {
    let fits = match declared {
        DeclaredType::Bool => value.as_bool().is_some(),
        DeclaredType::Integer(width) => value.as_integer().is_some_and(|it| width.admits(it)),
        DeclaredType::String { max } => value
            .as_text()
            .is_some_and(|text| counted(text.chars().count()) <= *max),
        DeclaredType::Bytes { min, max } => value
            .as_bytes()
            .is_some_and(|bytes| (*min..=*max).contains(&counted(bytes.len()))),
        DeclaredType::Option(item) => return optional(item, value, path),
        DeclaredType::Nominal { representation, .. } => return check(representation, value, path),
        DeclaredType::List { item, max } => match value.as_array() {
            Some(items) if counted(items.len()) <= *max => {
                for (index, value) in items.iter().enumerate() {
                    below(path, &format!("[{index}]"), |path| check(item, value, path))?;
                }
                true
            }
            _ => false,
        },
        DeclaredType::Record(fields) => match value.as_map() {
            Some(entries) => return record(fields, entries, path),
            None => false,
        },
        DeclaredType::Variant(cases) => return variant(cases, value, path),
    };
    if fits {
        Ok(())
    } else {
        Err(mismatch(
            path,
            format!("expected {}, found {}", declared.describe(), shown(value)),
        ))
    }
}

fn optional(item: &DeclaredType, value: &Value, path: &mut String) -> Result<(), TypeMismatch> {
    if value.is_null() {
        Ok(())
    } else {
        check(item, value, path)
    }
}

fn record(
    fields: &BTreeMap<String, Arc<DeclaredType>>,
    entries: &[(Value, Value)],
    path: &mut String,
) -> Result<(), TypeMismatch> {
    for (key, value) in entries {
        let Some(name) = key.as_text() else {
            return Err(mismatch(path, "a field name is no text".to_owned()));
        };
        below(path, &format!(".{name}"), |path| match fields.get(name) {
            Some(field) => check(field, value, path),
            None => Err(mismatch(path, "unknown field".to_owned())),
        })?;
    }
    if entries.len() == fields.len() {
        // Keys are unique and each was found: none is missing.
        return Ok(());
    }
    let present: BTreeSet<&str> = entries
        .iter()
        .filter_map(|(key, _)| key.as_text())
        .collect();
    let missing = fields.keys().find(|name| !present.contains(name.as_str()));
    match missing {
        Some(name) => Err(mismatch(
            &format!("{path}.{name}"),
            "missing field".to_owned(),
        )),
        None => Ok(()),
    }
}

fn variant(cases: &[super::Case], value: &Value, path: &mut String) -> Result<(), TypeMismatch> {
    let items = value.as_array().unwrap_or_default();
    let Some(name) = items.first().and_then(Value::as_text) else {
        return Err(mismatch(
            path,
            format!("expected a case, found {}", shown(value)),
        ));
    };
    let Some(case) = cases.iter().find(|case| case.name == name) else {
        return Err(mismatch(
            path,
            format!("`{name}` is no case of this variant"),
        ));
    };
    match (&case.payload, items) {
        (None, [_]) => Ok(()),
        (Some(payload), [_, value]) => below(path, "[1]", |path| check(payload, value, path)),
        (None, _) => Err(mismatch(path, format!("case `{name}` has no payload"))),
        (Some(_), _) => Err(mismatch(path, format!("case `{name}` has one payload"))),
    }
}

fn below<T>(path: &mut String, step: &str, body: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push_str(step);
    let outcome = body(path);
    path.truncate(length);
    outcome
}

fn mismatch(path: &str, problem: String) -> TypeMismatch {
    TypeMismatch {
        path: if path.is_empty() { "." } else { path }.to_owned(),
        problem,
    }
}

/// A value in a message: its kind and size, never its content.
fn shown(value: &Value) -> String {
    match value {
        Value::Integer(integer) => format!("the integer {}", Integer::get(*integer)),
        Value::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Value::Text(text) => format!("a text of {} scalar values", text.chars().count()),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Map(entries) => format!("a map of {} entries", entries.len()),
        Value::Bool(value) => value.to_string(),
        Value::Null => "null".to_owned(),
    }
}

fn counted(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
