// SPDX-License-Identifier: Apache-2.0
//! Values in evaluation: read by type, weighed, compared and written canonically.

use crate::cost::Cost;
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::Type;
use crate::table::{TypeTable, length, units};
use edict_codec::cbor::{Integer, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value. Sharing is cheap, and cost is charged by the law, never by the sharing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Datum {
    Bool(bool),
    Integer(i128),
    Text(Rc<str>),
    Bytes(Rc<[u8]>),
    None,
    Some(Rc<Datum>),
    List(Rc<[Datum]>),
    Record(Rc<BTreeMap<String, Datum>>),
    Case(Rc<str>, Option<Rc<Datum>>),
}

impl Datum {
    /// Reads a canonical value of a type. Recursion is bounded by the depth of types.
    pub(crate) fn read(value: &Value, ty: &Type, table: &TypeTable) -> Result<Self, Defect> {
        let ty = table.resolve(ty);
        let read = match (ty, value) {
            (Type::Bool, Value::Bool(value)) => Some(Self::Bool(*value)),
            (Type::Integer(width), Value::Integer(integer)) if width.holds(integer.get()) => {
                Some(Self::Integer(integer.get()))
            }
            (Type::String { max }, Value::Text(text)) if length(text.chars().count()) <= *max => {
                Some(Self::Text(text.as_str().into()))
            }
            (Type::Bytes { min, max }, Value::Bytes(bytes))
                if (*min..=*max).contains(&length(bytes.len())) =>
            {
                Some(Self::Bytes(bytes.as_slice().into()))
            }
            (Type::Option(_), Value::Null) => Some(Self::None),
            (Type::Option(item), _) => Some(Self::Some(Rc::new(Self::read(value, item, table)?))),
            (Type::List { item, max }, Value::Array(items)) if length(items.len()) <= *max => {
                let items: Result<Vec<Self>, Defect> = items
                    .iter()
                    .enumerate()
                    .map(|(index, value)| Self::read(value, item, table).under(index))
                    .collect();
                Some(Self::List(items?.into()))
            }
            _ => None,
        };
        match read {
            Some(read) => Ok(read),
            None => Self::composed(value, ty, table),
        }
    }

    fn composed(value: &Value, ty: &Type, table: &TypeTable) -> Result<Self, Defect> {
        if let Some(representation) = table.representation(ty) {
            return Self::read(value, representation, table);
        }
        if let (Some(fields), Some(entries)) = (table.fields(ty), value.as_map()) {
            if fields.len() != entries.len() {
                return refuse(format!("not the fields of {ty}"));
            }
            // As many keys, none twice and each of them a field: no field is missing.
            let mut record = BTreeMap::new();
            for (key, value) in entries {
                let name = key.as_text().unwrap_or_default();
                let Some(field) = fields.get(name) else {
                    return Err(Defect::new("unknown field").under(name));
                };
                record.insert(
                    name.to_owned(),
                    Self::read(value, field, table).under(name)?,
                );
            }
            return Ok(Self::Record(Rc::new(record)));
        }
        if let (Some(cases), Some([name, payload @ ..])) = (table.cases(ty), value.as_array()) {
            let case = cases.iter().find(|case| name.as_text() == Some(&case.name));
            match (case.map(|case| (&case.name, &case.payload)), payload) {
                (Some((name, None)), []) => return Ok(Self::Case(name.as_str().into(), None)),
                (Some((name, Some(ty))), [payload]) => {
                    let payload = Self::read(payload, ty, table).under(name)?;
                    return Ok(Self::Case(name.as_str().into(), Some(Rc::new(payload))));
                }
                _ => {}
            }
        }
        refuse(format!("no value of {ty}"))
    }

    /// The canonical value. Recursion is bounded by the depth of types.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Bool(value) => Value::Bool(*value),
            Self::Integer(value) => Integer::new(*value).map_or(Value::Null, Value::Integer),
            Self::Text(text) => Value::text(&**text),
            Self::Bytes(bytes) => Value::bytes(&**bytes),
            Self::None => Value::Null,
            Self::Some(value) => value.to_value(),
            Self::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Self::Record(fields) => Value::text_map(
                fields
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.to_value())),
            ),
            Self::Case(name, payload) => {
                let payload = payload.iter().map(|payload| payload.to_value());
                Value::Array([Value::text(&**name)].into_iter().chain(payload).collect())
            }
        }
    }

    /// The weight of a comparison operand.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Self::Bool(_) | Self::Integer(_) | Self::None => 1,
            Self::Text(text) => units(length(text.len())).saturating_add(1),
            Self::Bytes(bytes) => units(length(bytes.len())).saturating_add(1),
            Self::Some(value) => value.weight().saturating_add(1),
            Self::List(items) => sum(items.iter()),
            Self::Record(fields) => sum(fields.values()),
            Self::Case(_, payload) => sum(payload.iter().map(|payload| &**payload)),
        }
    }

    /// The cost of comparing with another value, beyond the visit.
    pub(crate) fn comparison(&self, other: &Self) -> Cost {
        Cost::compare(self.weight(), other.weight())
    }
}

fn sum<'a>(parts: impl Iterator<Item = &'a Datum>) -> u64 {
    parts.fold(1, |sum, part| sum.saturating_add(part.weight()))
}
