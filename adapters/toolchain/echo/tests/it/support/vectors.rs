// SPDX-License-Identifier: Apache-2.0
//! The shared vectors of the contract.

use edict_codec::{cbor::Value, hex};

/// The document.
pub(crate) fn document() -> serde_json::Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../testdata/contracts/host-vectors.json"
    );
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The vector of that name.
pub(crate) fn named<'a>(document: &'a serde_json::Value, name: &str) -> &'a serde_json::Value {
    document["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .find(|vector| vector["name"] == name)
        .unwrap()
}

/// Bytes of a hexadecimal member.
pub(crate) fn bytes(value: &serde_json::Value) -> Vec<u8> {
    hex::decode(value.as_str().unwrap()).unwrap()
}

/// A value as the vectors spell it: `{"$bytes": hex}` is a byte string.
pub(crate) fn value(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(it) => Value::Bool(*it),
        serde_json::Value::Number(it) => Value::unsigned(it.as_u64().unwrap()),
        serde_json::Value::String(it) => Value::text(it.as_str()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(value).collect()),
        serde_json::Value::Object(members) => match members.get("$bytes") {
            Some(hex) => Value::bytes(bytes(hex)),
            None => Value::text_map(members.iter().map(|(key, it)| (key.as_str(), value(it)))),
        },
    }
}
