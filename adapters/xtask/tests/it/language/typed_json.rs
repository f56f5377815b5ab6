// SPDX-License-Identifier: Apache-2.0
//! Typed JSON of the language page (2.1) as canonical data.

use edict_codec::{
    cbor::{Integer, Value},
    hex,
};
use serde_json::Value as Json;

/// `json` as the type of text `ty`; what does not fit is taken as it looks.
pub(crate) fn typed(json: &Json, ty: &str, types: &Value) -> Value {
    match (head(ty), json) {
        ("U32" | "U64" | "I32" | "I64", Json::String(digits)) => match digits.parse() {
            Ok(value) => integer(value),
            Err(_) => untyped(json),
        },
        ("Option", json) if !json.is_null() => typed(json, inner(ty), types),
        ("List", Json::Array(items)) => {
            let item = inner(ty).rsplit_once(",max=").unwrap().0;
            Value::Array(items.iter().map(|it| typed(it, item, types)).collect())
        }
        ("Record", Json::Object(_)) => {
            let fields = split(inner(ty));
            let fields = fields.iter().map(|it| it.split_once(':').unwrap());
            record(json, &fields.collect::<Vec<_>>(), types)
        }
        (name, json) if name.contains('@') => named(json, name, types),
        _ => untyped(json),
    }
}

fn named(json: &Json, name: &str, types: &Value) -> Value {
    let definition = types.get(name).unwrap();
    let text = |key: &str| definition.get(key).unwrap().as_text().unwrap();
    match (text("kind"), json) {
        ("Nominal", json) => typed(json, text("representation"), types),
        ("Record", Json::Object(_)) => {
            let fields = definition.get("fields").unwrap().as_map().unwrap();
            let fields = fields
                .iter()
                .map(|(key, ty)| (key.as_text().unwrap(), ty.as_text().unwrap()));
            record(json, &fields.collect::<Vec<_>>(), types)
        }
        ("Variant", Json::Object(entries)) if entries.contains_key("$case") => {
            let case = entries["$case"].as_str().unwrap();
            let cases = definition.get("cases").unwrap().as_array().unwrap();
            let row = cases
                .iter()
                .find(|row| row.get("name").unwrap().as_text() == Some(case));
            let payload = row.and_then(|row| row.get("payload")?.as_text());
            let mut items = vec![Value::text(case)];
            items.extend(entries.get("payload").map(|value| match payload {
                Some(ty) => typed(value, ty, types),
                None => untyped(value),
            }));
            Value::Array(items)
        }
        _ => untyped(json),
    }
}

fn record(json: &Json, fields: &[(&str, &str)], types: &Value) -> Value {
    let entries = json.as_object().unwrap().iter().map(|(key, value)| {
        let field = fields.iter().find(|field| field.0 == key);
        let value = match field {
            Some((_, ty)) => typed(value, ty, types),
            None => untyped(value),
        };
        (key.as_str(), value)
    });
    Value::text_map(entries)
}

fn untyped(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::text(text.as_str()),
        Json::Number(number) => integer(number.to_string().parse().unwrap()),
        Json::Array(items) => Value::Array(items.iter().map(untyped).collect()),
        Json::Object(entries) => match entries.get("$edictBytes") {
            Some(Json::String(digits)) => Value::bytes(hex::decode(digits).unwrap()),
            _ => Value::text_map(entries.iter().map(|(key, it)| (key.as_str(), untyped(it)))),
        },
    }
}

fn integer(value: i128) -> Value {
    Value::Integer(Integer::new(value).unwrap())
}

fn head(ty: &str) -> &str {
    ty.split('<').next().unwrap()
}

fn inner(ty: &str) -> &str {
    ty.split_once('<').unwrap().1.strip_suffix('>').unwrap()
}

/// Splits at commas outside of any bracket.
fn split(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, sign) in text.char_indices() {
        match sign {
            '<' => depth += 1,
            '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        parts.push(&text[start..]);
    }
    parts
}
