// SPDX-License-Identifier: Apache-2.0
//! Typed JSON: the one spelling of values for fixtures and tools (`docs/language.md` 2.1).

mod untyped;

pub use untyped::{from_untyped_json, to_untyped_json};

use super::{Case, DeclaredType, Width};
use edict_codec::cbor::{Integer, Value};
use edict_codec::hex;
use edict_codec::json::{Json, Node, Span, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The greatest magnitude written as a JSON number.
const MAX_NUMBER: i128 = (1 << 53) - 1;

/// Why JSON spells no value of a type. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonMismatchKind {
    /// Another kind of JSON value is needed here.
    WrongType,
    /// An integer outside its width, or a decimal text that is none.
    ValueOutOfRange,
    /// A text or byte string outside its length bounds.
    LengthOutOfRange,
    /// A list longer than its type allows.
    TooManyItems,
    /// A member that the record or case does not have.
    UnknownField,
    /// A member of the record or case that is missing.
    MissingField,
    /// A `$case` that the variant does not have.
    UnknownCase,
    /// `$edictBytes` that are no lower-case hexadecimal digits in pairs.
    InvalidHex,
    /// A value that has no spelling, or none that reads back as the same value.
    NotRepresentable,
}

impl JsonMismatchKind {
    /// The stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WrongType => "WrongType",
            Self::ValueOutOfRange => "ValueOutOfRange",
            Self::LengthOutOfRange => "LengthOutOfRange",
            Self::TooManyItems => "TooManyItems",
            Self::UnknownField => "UnknownField",
            Self::MissingField => "MissingField",
            Self::UnknownCase => "UnknownCase",
            Self::InvalidHex => "InvalidHex",
            Self::NotRepresentable => "NotRepresentable",
        }
    }
}

/// The first place where JSON and type disagree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} at \"{pointer}\": {problem}", kind.name())]
pub struct JsonMismatch {
    /// Why.
    pub kind: JsonMismatchKind,
    /// JSON Pointer of the value at fault; the root is the empty text.
    pub pointer: String,
    /// Bytes at fault; none when a value is written.
    pub span: Option<Span>,
    /// What was expected there.
    pub problem: String,
}

/// The canonical value that typed JSON spells.
///
/// # Errors
/// The first mismatch: unknown members in document order, then missing ones and values in the order
/// of the field names.
pub fn from_json(declared: &DeclaredType, node: &Node) -> Result<Value, JsonMismatch> {
    Reader {
        pointer: String::new(),
    }
    .value(declared, node)
}

/// The typed JSON of a value of `declared`.
///
/// # Errors
/// `WrongType` when `value` is none of `declared`.
pub fn to_json(declared: &DeclaredType, value: &Value) -> Result<Json, JsonMismatch> {
    declared.check(value).map_err(|error| JsonMismatch {
        kind: JsonMismatchKind::WrongType,
        pointer: String::new(),
        span: None,
        problem: error.to_string(),
    })?;
    Ok(written(declared, value))
}

struct Reader {
    pointer: String,
}

impl Reader {
    fn fail(
        &self,
        node: &Node,
        kind: JsonMismatchKind,
        problem: impl Into<String>,
    ) -> JsonMismatch {
        JsonMismatch {
            kind,
            pointer: self.pointer.clone(),
            span: Some(node.span),
            problem: problem.into(),
        }
    }

    fn below<T>(&mut self, step: &str, body: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer
            .push_str(&step.replace('~', "~0").replace('/', "~1"));
        let outcome = body(self);
        self.pointer.truncate(length);
        outcome
    }

    /// Recursion is bounded by the depth of the type.
    fn value(&mut self, declared: &DeclaredType, node: &Node) -> Result<Value, JsonMismatch> {
        match declared {
            DeclaredType::Bool => node
                .as_bool()
                .map(Value::Bool)
                .ok_or_else(|| self.wrong(declared, node)),
            DeclaredType::Integer(width) => self.integer(*width, node),
            DeclaredType::String { max } => self.string(*max, node),
            DeclaredType::Bytes { min, max } => self.bytes(*min, *max, node),
            DeclaredType::Option(item) => match node.tree {
                Tree::Null => Ok(Value::Null),
                _ => self.value(item, node),
            },
            DeclaredType::List { item, max } => self.list(item, *max, node),
            DeclaredType::Record(fields) => self.record(fields, node),
            DeclaredType::Variant(cases) => self.variant(cases, node),
            DeclaredType::Nominal { representation, .. } => self.value(representation, node),
        }
    }

    fn wrong(&self, declared: &DeclaredType, node: &Node) -> JsonMismatch {
        let wanted = declared.describe();
        self.fail(
            node,
            JsonMismatchKind::WrongType,
            format!("expected {wanted}"),
        )
    }

    fn integer(&self, width: Width, node: &Node) -> Result<Value, JsonMismatch> {
        let value = match &node.tree {
            Tree::Integer(value) => Some(*value),
            Tree::Text(text) => decimal(text),
            _ => {
                let problem = format!("expected {} as a number or decimal text", width.name());
                return Err(self.fail(node, JsonMismatchKind::WrongType, problem));
            }
        };
        value
            .filter(|value| width.admits(*value))
            .and_then(Integer::new)
            .map(Value::Integer)
            .ok_or_else(|| {
                let problem = format!("no decimal integer of {}", width.name());
                self.fail(node, JsonMismatchKind::ValueOutOfRange, problem)
            })
    }

    fn string(&self, max: u64, node: &Node) -> Result<Value, JsonMismatch> {
        let Some(text) = node.as_text() else {
            return Err(self.fail(node, JsonMismatchKind::WrongType, "expected a text"));
        };
        let length = text.chars().count();
        if u64::try_from(length).is_ok_and(|length| length <= max) {
            Ok(Value::text(text))
        } else {
            let problem = format!("{length} scalar values, at most {max} allowed");
            Err(self.fail(node, JsonMismatchKind::LengthOutOfRange, problem))
        }
    }

    fn bytes(&mut self, min: u64, max: u64, node: &Node) -> Result<Value, JsonMismatch> {
        let bytes = self.hex_bytes(node)?;
        let length = bytes.len();
        if u64::try_from(length).is_ok_and(|length| (min..=max).contains(&length)) {
            Ok(Value::Bytes(bytes))
        } else {
            let problem = format!("{length} bytes, {min} to {max} allowed");
            Err(self.fail(node, JsonMismatchKind::LengthOutOfRange, problem))
        }
    }

    /// Reads `{"$edictBytes": "hex"}`.
    fn hex_bytes(&mut self, node: &Node) -> Result<Vec<u8>, JsonMismatch> {
        let Some(members) = node.as_object() else {
            let problem = "expected {\"$edictBytes\": hex}";
            return Err(self.fail(node, JsonMismatchKind::WrongType, problem));
        };
        if let Some(member) = members.iter().find(|it| it.name != "$edictBytes") {
            return self.below(&member.name, |reader| {
                Err(reader.fail(
                    &member.value,
                    JsonMismatchKind::UnknownField,
                    "unknown member",
                ))
            });
        }
        let Some(digits) = node.get("$edictBytes") else {
            let problem = "expected {\"$edictBytes\": hex}";
            return Err(self.fail(node, JsonMismatchKind::MissingField, problem));
        };
        self.below("$edictBytes", |reader| {
            let Some(text) = digits.as_text() else {
                return Err(reader.fail(digits, JsonMismatchKind::WrongType, "expected a text"));
            };
            hex::decode(text).ok_or_else(|| {
                let problem = "not pairs of lower-case hexadecimal digits";
                reader.fail(digits, JsonMismatchKind::InvalidHex, problem)
            })
        })
    }

    fn list(&mut self, item: &DeclaredType, max: u64, node: &Node) -> Result<Value, JsonMismatch> {
        let Some(items) = node.as_array() else {
            return Err(self.fail(node, JsonMismatchKind::WrongType, "expected a list"));
        };
        if u64::try_from(items.len()).is_ok_and(|length| length > max) {
            let problem = format!("{} items, at most {max} allowed", items.len());
            return Err(self.fail(node, JsonMismatchKind::TooManyItems, problem));
        }
        let values = items
            .iter()
            .enumerate()
            .map(|(index, node)| self.below(&index.to_string(), |it| it.value(item, node)))
            .collect::<Result<_, _>>()?;
        Ok(Value::Array(values))
    }

    fn record(
        &mut self,
        fields: &BTreeMap<String, Arc<DeclaredType>>,
        node: &Node,
    ) -> Result<Value, JsonMismatch> {
        let Some(members) = node.as_object() else {
            return Err(self.fail(node, JsonMismatchKind::WrongType, "expected an object"));
        };
        let mut known = BTreeMap::new();
        for member in members {
            if !fields.contains_key(&member.name) {
                return self.below(&member.name, |reader| {
                    Err(reader.fail(
                        &member.value,
                        JsonMismatchKind::UnknownField,
                        "unknown field",
                    ))
                });
            }
            known.insert(member.name.as_str(), &member.value);
        }
        let missing = fields
            .keys()
            .find(|name| !known.contains_key(name.as_str()));
        if let Some(name) = missing {
            return self.below(name, |reader| {
                Err(reader.fail(node, JsonMismatchKind::MissingField, "missing field"))
            });
        }
        let mut entries = Vec::with_capacity(fields.len());
        for (name, field) in fields {
            if let Some(node) = known.get(name.as_str()) {
                let value = self.below(name, |reader| reader.value(field, node))?;
                entries.push((name.as_str(), value));
            }
        }
        Ok(Value::text_map(entries))
    }

    fn variant(&mut self, cases: &[Case], node: &Node) -> Result<Value, JsonMismatch> {
        let problem = "expected {\"$case\": name} with an optional \"payload\"";
        let Some(members) = node.as_object() else {
            return Err(self.fail(node, JsonMismatchKind::WrongType, problem));
        };
        let Some(name) = node.get("$case") else {
            return Err(self.fail(node, JsonMismatchKind::MissingField, problem));
        };
        let case = self.below("$case", |reader| match name.as_text() {
            None => Err(reader.fail(name, JsonMismatchKind::WrongType, "expected a text")),
            Some(text) => cases.iter().find(|case| case.name == text).ok_or_else(|| {
                let problem = "no case of this variant";
                reader.fail(name, JsonMismatchKind::UnknownCase, problem)
            }),
        })?;
        let allowed = |name: &str| name == "$case" || (name == "payload" && case.payload.is_some());
        if let Some(member) = members.iter().find(|it| !allowed(&it.name)) {
            return self.below(&member.name, |reader| {
                let problem = "the case has no such member";
                Err(reader.fail(&member.value, JsonMismatchKind::UnknownField, problem))
            });
        }
        let mut items = vec![Value::text(case.name.as_str())];
        if let Some(declared) = &case.payload {
            items.push(self.below("payload", |reader| match node.get("payload") {
                Some(payload) => reader.value(declared, payload),
                None => Err(reader.fail(node, JsonMismatchKind::MissingField, "missing payload")),
            })?);
        }
        Ok(Value::Array(items))
    }
}

/// A decimal integer without superfluous signs or zeros; `None` for anything else.
fn decimal(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.len() <= 20 && digits.bytes().all(|sign| sign.is_ascii_digit());
    let shortest = text == "0" || !digits.starts_with('0');
    (plain && shortest && !digits.is_empty())
        .then(|| text.parse().ok())
        .flatten()
}

/// Writes a value that was checked against `declared`.
fn written(declared: &DeclaredType, value: &Value) -> Json {
    match (declared, value) {
        (DeclaredType::Nominal { representation, .. }, value) => written(representation, value),
        (DeclaredType::Option(item), value) if !value.is_null() => written(item, value),
        (DeclaredType::List { item, .. }, Value::Array(items)) => {
            Json::Array(items.iter().map(|value| written(item, value)).collect())
        }
        (DeclaredType::Record(fields), value) => Json::object(
            fields
                .iter()
                .filter_map(|(name, field)| Some((name.clone(), written(field, value.get(name)?)))),
        ),
        (DeclaredType::Variant(cases), Value::Array(items)) => written_case(cases, items),
        (_, Value::Integer(integer)) if integer.get().abs() > MAX_NUMBER => {
            Json::Text(integer.get().to_string())
        }
        (_, value) => scalar(value),
    }
}

fn written_case(cases: &[Case], items: &[Value]) -> Json {
    let name = items.first().and_then(Value::as_text).unwrap_or_default();
    let mut members = vec![("$case", Json::text(name))];
    let payload = cases
        .iter()
        .find(|case| case.name == name)
        .and_then(|case| case.payload.as_ref());
    if let (Some(payload), Some(value)) = (payload, items.get(1)) {
        members.push(("payload", written(payload, value)));
    }
    Json::object(members)
}

/// A value that is no container, and no integer beyond [`MAX_NUMBER`].
fn scalar(value: &Value) -> Json {
    match value {
        Value::Integer(integer) => Json::Integer(integer.get()),
        Value::Bytes(bytes) => Json::object([("$edictBytes", Json::Text(hex::encode(bytes)))]),
        Value::Text(text) => Json::Text(text.clone()),
        Value::Bool(value) => Json::Bool(*value),
        Value::Null | Value::Array(_) | Value::Map(_) => Json::Null,
    }
}
