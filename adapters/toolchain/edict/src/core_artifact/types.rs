// SPDX-License-Identifier: Apache-2.0
//! Type values: the definitions behind the coordinates in type texts.

use crate::types::size::coordinate;
use crate::types::ty::Type;
use edict_codec::cbor::Value;
use std::collections::BTreeMap;

/// The definition of a named type; `None` for a structural one, whose text says everything.
pub fn type_value(named: &Type) -> Option<(String, Value)> {
    match named {
        Type::Record(record) => {
            let coordinate = record.coordinate.clone()?;
            let fields = record
                .fields
                .iter()
                .map(|(name, field)| (name.as_str(), Value::text(field.to_string())));
            let value = Value::text_map([
                ("kind", Value::text("Record")),
                ("fields", Value::text_map(fields)),
            ]);
            Some((coordinate, value))
        }
        Type::Variant(variant) => {
            let cases = variant.cases.iter().map(|(name, payload)| {
                let payload = payload
                    .as_ref()
                    .map_or(Value::Null, |payload| Value::text(payload.to_string()));
                Value::text_map([("name", Value::text(name.as_str())), ("payload", payload)])
            });
            let value = Value::text_map([
                ("kind", Value::text("Variant")),
                ("cases", Value::Array(cases.collect())),
            ]);
            Some((variant.coordinate.clone(), value))
        }
        Type::Nominal(nominal) => {
            let value = Value::text_map([
                ("kind", Value::text("Nominal")),
                (
                    "representation",
                    Value::text(nominal.representation.to_string()),
                ),
            ]);
            Some((nominal.coordinate.clone(), value))
        }
        Type::Bool
        | Type::Integer(_)
        | Type::Text { .. }
        | Type::Bytes { .. }
        | Type::Option(_)
        | Type::List { .. }
        | Type::Error => None,
    }
}

/// Adds every named type reachable from `root`, by coordinate.
pub fn named_types(root: &Type, found: &mut BTreeMap<String, Value>) {
    let mut pending = vec![root];
    while let Some(part) = pending.pop() {
        // A definition may be large, and is met wherever its type is.
        if coordinate(part).is_some_and(|it| found.contains_key(it)) {
            continue;
        }
        if let Some((coordinate, value)) = type_value(part) {
            found.insert(coordinate, value);
        }
        match part {
            Type::Record(record) => pending.extend(record.fields.values()),
            Type::Variant(variant) => {
                pending.extend(
                    variant
                        .cases
                        .iter()
                        .filter_map(|(_, payload)| payload.as_ref()),
                );
            }
            Type::Option(item) | Type::List { item, .. } => pending.push(item),
            Type::Nominal(nominal) => pending.push(&nominal.representation),
            Type::Bool
            | Type::Integer(_)
            | Type::Text { .. }
            | Type::Bytes { .. }
            | Type::Error => {}
        }
    }
}
