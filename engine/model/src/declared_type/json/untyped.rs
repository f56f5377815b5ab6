// SPDX-License-Identifier: Apache-2.0
//! JSON of values without a type: what `fixture --untyped` reads and writes.

use super::{JsonMismatch, JsonMismatchKind, MAX_NUMBER, Reader, decimal, scalar};
use edict_codec::cbor::{Integer, Value};
use edict_codec::json::{Json, Node, Tree};

/// Members that make an object a spelling of something else than a map.
const MARKERS: [&str; 3] = ["$edictBytes", "$edictInt", "$case"];

/// The canonical value that JSON spells without a type: texts are text, numbers are integers,
/// `{"$edictInt": decimal}` an integer of any size, `{"$edictBytes": hex}` bytes and
/// `{"$case": name}` with an optional `"payload"` a case.
///
/// # Errors
/// The first mismatch in document order.
pub fn from_untyped_json(node: &Node) -> Result<Value, JsonMismatch> {
    Reader {
        pointer: String::new(),
    }
    .untyped(node)
}

/// The JSON of a value without a type. A case is written as the list it is.
///
/// # Errors
/// `NotRepresentable` for a map whose keys are no texts, or whose first key is one of the markers.
pub fn to_untyped_json(value: &Value) -> Result<Json, JsonMismatch> {
    Ok(match value {
        Value::Integer(integer) if integer.get().abs() > MAX_NUMBER => {
            Json::object([("$edictInt", Json::Text(integer.get().to_string()))])
        }
        Value::Array(items) => Json::Array(
            items
                .iter()
                .map(to_untyped_json)
                .collect::<Result<_, _>>()?,
        ),
        Value::Map(entries) => Json::Object(
            entries
                .iter()
                .map(|(key, value)| match key.as_text() {
                    Some(name) if !MARKERS.contains(&name) => {
                        Ok((name.to_owned().into(), to_untyped_json(value)?))
                    }
                    Some(name) => Err(unwritable(format!("a map with the key `{name}`"))),
                    None => Err(unwritable("a map with a key that is no text".to_owned())),
                })
                .collect::<Result<_, _>>()?,
        ),
        value => scalar(value),
    })
}

fn unwritable(problem: String) -> JsonMismatch {
    JsonMismatch {
        kind: JsonMismatchKind::NotRepresentable,
        pointer: String::new(),
        span: None,
        problem,
    }
}

impl Reader {
    /// Recursion is bounded by the depth of the document.
    fn untyped(&mut self, node: &Node) -> Result<Value, JsonMismatch> {
        Ok(match &node.tree {
            Tree::Null => Value::Null,
            Tree::Bool(value) => Value::Bool(*value),
            Tree::Text(text) => Value::text(text.as_str()),
            Tree::Integer(value) => Integer::new(*value).map(Value::Integer).ok_or_else(|| {
                let kind = JsonMismatchKind::ValueOutOfRange;
                self.fail(node, kind, "beyond -2^64 ..= 2^64-1")
            })?,
            Tree::Array(items) => {
                let values = items.iter().enumerate();
                Value::Array(
                    values
                        .map(|(index, it)| self.below(&index.to_string(), |sub| sub.untyped(it)))
                        .collect::<Result<_, _>>()?,
                )
            }
            Tree::Object(members) => {
                if node.get("$edictBytes").is_some() {
                    return self.hex_bytes(node).map(Value::Bytes);
                }
                if node.get("$edictInt").is_some() {
                    return self.big_integer(node);
                }
                if node.get("$case").is_some() {
                    return self.untyped_case(node);
                }
                let mut entries = Vec::with_capacity(members.len());
                for member in members {
                    let value = self.below(&member.name, |it| it.untyped(&member.value))?;
                    entries.push((member.name.as_str(), value));
                }
                Value::text_map(entries)
            }
        })
    }

    fn big_integer(&mut self, node: &Node) -> Result<Value, JsonMismatch> {
        self.only(node, &["$edictInt"])?;
        self.below("$edictInt", |reader| {
            let digits = node.get("$edictInt").unwrap_or(node);
            let Some(text) = digits.as_text() else {
                let kind = JsonMismatchKind::WrongType;
                return Err(reader.fail(digits, kind, "expected a decimal text"));
            };
            decimal(text)
                .and_then(Integer::new)
                .map(Value::Integer)
                .ok_or_else(|| {
                    let kind = JsonMismatchKind::ValueOutOfRange;
                    reader.fail(digits, kind, "no decimal integer -2^64 ..= 2^64-1")
                })
        })
    }

    fn untyped_case(&mut self, node: &Node) -> Result<Value, JsonMismatch> {
        self.only(node, &["$case", "payload"])?;
        let mut items = vec![self.below("$case", |reader| {
            let name = node.get("$case").unwrap_or(node);
            name.as_text()
                .map(Value::text)
                .ok_or_else(|| reader.fail(name, JsonMismatchKind::WrongType, "expected a text"))
        })?];
        if let Some(payload) = node.get("payload") {
            items.push(self.below("payload", |reader| reader.untyped(payload))?);
        }
        Ok(Value::Array(items))
    }

    fn only(&mut self, node: &Node, names: &[&str]) -> Result<(), JsonMismatch> {
        let members = node.as_object().unwrap_or_default();
        match members.iter().find(|it| !names.contains(&it.name.as_str())) {
            Some(member) => self.below(&member.name, |reader| {
                let kind = JsonMismatchKind::UnknownField;
                Err(reader.fail(&member.value, kind, "unknown member"))
            }),
            None => Ok(()),
        }
    }
}
