// SPDX-License-Identifier: Apache-2.0
//! Typed JSON as canonical values.

use edict_codec::cbor::{Integer, Value};
use edict_codec::hex;
use serde_json::Value as Json;

/// A canonical value of typed JSON without a type.
pub(crate) fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => integer(&number.to_string()),
        Json::String(text) => Value::text(&**text),
        Json::Array(items) => Value::Array(items.iter().map(value).collect()),
        Json::Object(members) => {
            if let Some(bytes) = members.get("$edictBytes") {
                return Value::bytes(hex::decode(bytes.as_str().unwrap()).unwrap());
            }
            if let Some(case) = members.get("$case") {
                let payload = members.get("payload").map(value);
                let name = Value::text(case.as_str().unwrap());
                return Value::Array([name].into_iter().chain(payload).collect());
            }
            Value::text_map(members.iter().map(|(name, json)| (&**name, value(json))))
        }
    }
}

/// As [`value`], of the type text `ty`: digits in a text are an integer where one is due.
pub(crate) fn typed(json: &Json, ty: &str, types: &Value) -> Value {
    if let (true, Json::String(text)) = (["U32", "U64", "I32", "I64"].contains(&ty), json) {
        return integer(text);
    }
    let inside = |prefix: &str| ty.strip_prefix(prefix)?.strip_suffix('>');
    if let (Some(item), false) = (inside("Option<"), json.is_null()) {
        return typed(json, item, types);
    }
    if let (Some(list), Json::Array(items)) = (inside("List<"), json) {
        let item = list.rsplit_once(",max=").unwrap().0;
        return Value::Array(items.iter().map(|it| typed(it, item, types)).collect());
    }
    let definition = types.get(ty);
    let field = |name: &str| match (inside("Record<"), definition) {
        (Some(fields), _) => split(fields)
            .into_iter()
            .find_map(|field| field.strip_prefix(&format!("{name}:")).map(str::to_owned)),
        (None, Some(definition)) => {
            let fields = definition.get("fields")?;
            fields.get(name)?.as_text().map(str::to_owned)
        }
        (None, None) => None,
    };
    match json {
        Json::Object(members) if members.contains_key("$case") => {
            let cases = definition
                .unwrap()
                .get("cases")
                .unwrap()
                .as_array()
                .unwrap();
            let name = members["$case"].as_str().unwrap();
            let case = cases
                .iter()
                .find(|case| case.get("name").unwrap().as_text() == Some(name));
            let payload = case.and_then(|case| case.get("payload")?.as_text());
            let payload = members
                .get("payload")
                .map(|json| typed(json, payload.unwrap_or_default(), types));
            Value::Array([Value::text(name)].into_iter().chain(payload).collect())
        }
        Json::Object(members) if !members.contains_key("$edictBytes") => {
            Value::text_map(members.iter().map(|(name, json)| {
                (
                    &**name,
                    typed(json, &field(name).unwrap_or_default(), types),
                )
            }))
        }
        _ => value(json),
    }
}

/// Splits at commas outside of angle brackets.
fn split(fields: &str) -> Vec<&str> {
    let mut depth = 0;
    fields
        .split(|sign| {
            match sign {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            sign == ',' && depth == 0
        })
        .collect()
}

fn integer(text: &str) -> Value {
    Value::Integer(Integer::new(text.parse().unwrap()).unwrap())
}
