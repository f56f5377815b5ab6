// SPDX-License-Identifier: Apache-2.0
//! Contract data, and the two data models of the oracles.

use edict_codec::{
    cbor::{Integer, Value},
    hex,
    json::{Json, Node, Tree},
};

macro_rules! contracts {
    ($($name:literal),*) => {
        /// A data file of the contracts.
        pub(crate) fn contract(name: &str) -> serde_json::Value {
            let text = match name {
                $($name => include_str!(concat!("../../../../testdata/contracts/", $name)),)*
                other => panic!("no data file {other}"),
            };
            serde_json::from_str(text).unwrap()
        }
    };
}

contracts!(
    "strict-json-cases.json",
    "strict-cbor-cases.json",
    "identity-vectors.json"
);

/// The input of a row: `hex`, or `segments` of repeated hex.
pub(crate) fn input(row: &serde_json::Value) -> Vec<u8> {
    if let Some(text) = row["hex"].as_str() {
        return hex::decode(text).unwrap();
    }
    let mut bytes = Vec::new();
    for segment in row["segments"].as_array().unwrap() {
        let piece = hex::decode(segment[0].as_str().unwrap()).unwrap();
        let times = usize::try_from(segment[1].as_u64().unwrap()).unwrap();
        bytes.extend(piece.repeat(times));
    }
    bytes
}

/// The CBOR value that a vector spells in JSON; `{"$bytes": hex}` is a byte string.
pub(crate) fn cbor(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => {
            Value::Integer(Integer::new(number.to_string().parse().unwrap()).unwrap())
        }
        serde_json::Value::String(text) => Value::text(text.as_str()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(cbor).collect()),
        serde_json::Value::Object(members) => match members.get("$bytes") {
            Some(bytes) => Value::Bytes(hex::decode(bytes.as_str().unwrap()).unwrap()),
            None => Value::text_map(members.iter().map(|(name, it)| (name.as_str(), cbor(it)))),
        },
    }
}

/// A JSON tree as a CBOR value: objects as maps with text keys.
pub(crate) fn node_to_cbor(node: &Node) -> Value {
    match &node.tree {
        Tree::Null => Value::Null,
        Tree::Bool(value) => Value::Bool(*value),
        Tree::Integer(value) => Value::Integer(Integer::new(*value).unwrap()),
        Tree::Text(text) => Value::text(text.as_str()),
        Tree::Array(items) => Value::Array(items.iter().map(node_to_cbor).collect()),
        Tree::Object(members) => Value::text_map(
            members
                .iter()
                .map(|member| (member.name.as_str(), node_to_cbor(&member.value))),
        ),
    }
}

/// What the other reader makes of the same document.
pub(crate) fn node_to_oracle(node: &Node) -> serde_json::Value {
    json_to_oracle(&Json::from(node))
}

/// A JSON value in the model of the other reader.
pub(crate) fn json_to_oracle(json: &Json) -> serde_json::Value {
    match json {
        Json::Null => serde_json::Value::Null,
        Json::Bool(value) => (*value).into(),
        Json::Integer(value) => match u64::try_from(*value) {
            Ok(value) => value.into(),
            Err(_) => i64::try_from(*value).unwrap().into(),
        },
        Json::Text(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(json_to_oracle).collect(),
        Json::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), json_to_oracle(value)))
            .collect(),
    }
}

/// A CBOR value in the model of the other writer.
pub(crate) fn value_to_oracle(value: &Value) -> ciborium::Value {
    match value {
        Value::Integer(integer) => {
            ciborium::Value::Integer(ciborium::value::Integer::try_from(integer.get()).unwrap())
        }
        Value::Bytes(bytes) => ciborium::Value::Bytes(bytes.clone()),
        Value::Text(text) => ciborium::Value::Text(text.clone()),
        Value::Array(items) => ciborium::Value::Array(items.iter().map(value_to_oracle).collect()),
        Value::Map(entries) => ciborium::Value::Map(
            entries
                .iter()
                .map(|(key, value)| (value_to_oracle(key), value_to_oracle(value)))
                .collect(),
        ),
        Value::Bool(value) => ciborium::Value::Bool(*value),
        Value::Null => ciborium::Value::Null,
    }
}
