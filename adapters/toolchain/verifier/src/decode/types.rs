// SPDX-License-Identifier: Apache-2.0
//! Type texts and type definitions as data, read from and written to their one spelling.

use super::reader::{
    Defect, Fields, is_identifier, kind, list, named, nullable, refuse, text, unsigned,
};
use super::type_text::Parser;
use edict_codec::cbor::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Types nest at most this deep.
pub(crate) const MAX_TYPE_DEPTH: usize = 128;

/// A fixed width of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    U32,
    U64,
    I32,
    I64,
}

impl Width {
    /// Least and greatest value.
    pub(crate) fn range(self) -> (i128, i128) {
        match self {
            Self::U32 => (0, u32::MAX.into()),
            Self::U64 => (0, u64::MAX.into()),
            Self::I32 => (i32::MIN.into(), i32::MAX.into()),
            Self::I64 => (i64::MIN.into(), i64::MAX.into()),
        }
    }

    /// Whether negative values exist.
    pub(crate) fn signed(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }

    /// Whether `value` exists in this width.
    pub(crate) fn holds(self, value: i128) -> bool {
        let (least, greatest) = self.range();
        (least..=greatest).contains(&value)
    }
}

/// A type as it stands in a type text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    Integer(Width),
    /// At most `max` scalar values.
    String {
        max: u64,
    },
    /// `min ..= max` bytes.
    Bytes {
        min: u64,
        max: u64,
    },
    Option(Box<Type>),
    List {
        item: Box<Type>,
        max: u64,
    },
    Record(BTreeMap<String, Type>),
    /// A coordinate.
    Named(String),
}

/// What a coordinate stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    Record(BTreeMap<String, Type>),
    Variant(Vec<Case>),
    Nominal(Type),
    Alias(Type),
}

/// One case of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) payload: Option<Type>,
}

impl Type {
    /// Any number of bytes up to `max`.
    pub(crate) fn bytes(max: u64) -> Self {
        Self::Bytes { min: 0, max }
    }

    /// An Option of this type.
    pub(crate) fn optional(self) -> Self {
        Self::Option(Box::new(self))
    }

    /// Calls `see` with every coordinate inside.
    pub(crate) fn names(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Self::Bool | Self::Integer(_) | Self::String { .. } | Self::Bytes { .. } => {}
            Self::Option(item) | Self::List { item, .. } => item.names(see),
            Self::Record(fields) => fields.values().for_each(|field| field.names(see)),
            Self::Named(name) => see(name),
        }
    }

    /// Reads a type text.
    pub(crate) fn parse(text: &str) -> Result<Self, Defect> {
        let mut parser = Parser::new(text);
        let parsed = parser.ty(0)?;
        if parser.is_done() && parsed.to_string() == text {
            Ok(parsed)
        } else {
            refuse(format!("`{text}` is no canonical type text"))
        }
    }

    /// Reads a type text item.
    pub(crate) fn read(value: &Value) -> Result<Self, Defect> {
        Self::parse(&text(value)?)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => formatter.write_str("Bool"),
            Self::Integer(width) => write!(formatter, "{width:?}"),
            Self::String { max } => write!(formatter, "String<max={max}>"),
            Self::Bytes { min, max } if min == max => write!(formatter, "Bytes<exact={min}>"),
            Self::Bytes { min: 0, max } => write!(formatter, "Bytes<max={max}>"),
            Self::Bytes { min, max } => write!(formatter, "Bytes<min={min},max={max}>"),
            Self::Option(item) => write!(formatter, "Option<{item}>"),
            Self::List { item, max } => write!(formatter, "List<{item},max={max}>"),
            Self::Record(fields) => {
                formatter.write_str("Record<")?;
                for (index, (name, field)) in fields.iter().enumerate() {
                    let comma = if index > 0 { "," } else { "" };
                    write!(formatter, "{comma}{name}:{field}")?;
                }
                formatter.write_str(">")
            }
            Self::Named(name) => formatter.write_str(name),
        }
    }
}

impl Definition {
    /// Reads a definition text of a lawpack export.
    pub(crate) fn parse(text: &str) -> Result<Self, Defect> {
        let mut parser = Parser::new(text);
        let definition = if parser.take("Nominal<") {
            let name = parser.coordinate()?;
            parser.expect(">")?;
            Self::Nominal(Type::Named(name))
        } else if parser.take("Variant<") {
            Self::Variant(parser.cases()?)
        } else {
            match parser.ty(0)? {
                Type::Record(fields) => Self::Record(fields),
                other => Self::Alias(other),
            }
        };
        if parser.is_done() {
            Ok(definition)
        } else {
            refuse(format!("`{text}` is no type definition"))
        }
    }

    /// Reads a type value.
    pub(crate) fn read(value: &Value) -> Result<Self, Defect> {
        let bare = |ty: Type| {
            Fields::new(value, &["kind"], &[])?;
            Ok(Self::Alias(ty))
        };
        match kind(value)? {
            "Record" => {
                let fields = Fields::new(value, &["kind", "fields"], &[])?;
                Ok(Self::Record(
                    fields.get("fields", |v| named(v, Type::read))?,
                ))
            }
            "Variant" => {
                let fields = Fields::new(value, &["kind", "cases"], &[])?;
                Ok(Self::Variant(fields.get("cases", |v| list(v, case))?))
            }
            "Nominal" => {
                let fields = Fields::new(value, &["kind", "representation"], &[])?;
                Ok(Self::Nominal(fields.get("representation", Type::read)?))
            }
            "Bool" => bare(Type::Bool),
            "U32" => bare(Type::Integer(Width::U32)),
            "U64" => bare(Type::Integer(Width::U64)),
            "I32" => bare(Type::Integer(Width::I32)),
            "I64" => bare(Type::Integer(Width::I64)),
            "String" => {
                let fields = Fields::new(value, &["kind", "max", "canonical"], &[])?;
                fields.constant("canonical", "raw-utf8")?;
                let max = fields.get("max", unsigned)?;
                Ok(Self::Alias(Type::String { max }))
            }
            "Bytes" => {
                let fields = Fields::new(value, &["kind", "min", "max"], &[])?;
                let min = fields.get("min", unsigned)?;
                let max = fields.get("max", unsigned)?;
                Ok(Self::Alias(Type::Bytes { min, max }))
            }
            "Option" => {
                let fields = Fields::new(value, &["kind", "item"], &[])?;
                Ok(Self::Alias(fields.get("item", Type::read)?.optional()))
            }
            "List" => {
                let fields = Fields::new(value, &["kind", "item", "max"], &[])?;
                let item = Box::new(fields.get("item", Type::read)?);
                let max = fields.get("max", unsigned)?;
                Ok(Self::Alias(Type::List { item, max }))
            }
            _ => Err(Defect::new("unknown kind of type").under("kind")),
        }
    }

    /// Calls `see` with every coordinate inside.
    pub(crate) fn names(&self, see: &mut dyn FnMut(&str)) {
        match self {
            Self::Record(fields) => fields.values().for_each(|field| field.names(see)),
            Self::Variant(cases) => cases
                .iter()
                .filter_map(|case| case.payload.as_ref())
                .for_each(|payload| payload.names(see)),
            Self::Nominal(ty) | Self::Alias(ty) => ty.names(see),
        }
    }

    /// The type value.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Record(fields) => Value::text_map([
                ("kind", Value::text("Record")),
                (
                    "fields",
                    Value::text_map(
                        fields
                            .iter()
                            .map(|(name, field)| (name.as_str(), Value::text(field.to_string()))),
                    ),
                ),
            ]),
            Self::Variant(cases) => Value::text_map([
                ("kind", Value::text("Variant")),
                (
                    "cases",
                    Value::Array(cases.iter().map(case_value).collect()),
                ),
            ]),
            Self::Nominal(representation) => Value::text_map([
                ("kind", Value::text("Nominal")),
                ("representation", Value::text(representation.to_string())),
            ]),
            Self::Alias(ty) => alias_value(ty),
        }
    }
}

fn case(value: &Value) -> Result<Case, Defect> {
    let fields = Fields::new(value, &["name", "payload"], &[])?;
    Ok(Case {
        name: fields.get("name", |value| match text(value)? {
            name if is_identifier(&name) => Ok(name),
            _ => refuse("expected a name"),
        })?,
        payload: fields.get("payload", |value| nullable(value, Type::read))?,
    })
}

/// The type value of a type that is neither record, variant nor nominal.
fn alias_value(ty: &Type) -> Value {
    let item = |item: &Type| ("item", Value::text(item.to_string()));
    let bound = |name, bound: &u64| (name, Value::unsigned(*bound));
    let (kind, rest) = match ty {
        Type::String { max } => {
            let canonical = ("canonical", Value::text("raw-utf8"));
            ("String".to_owned(), vec![bound("max", max), canonical])
        }
        Type::Bytes { min, max } => (
            "Bytes".to_owned(),
            vec![bound("min", min), bound("max", max)],
        ),
        Type::Option(inner) => ("Option".to_owned(), vec![item(inner)]),
        Type::List { item: inner, max } => {
            ("List".to_owned(), vec![item(inner), bound("max", max)])
        }
        Type::Bool | Type::Integer(_) | Type::Record(_) | Type::Named(_) => {
            (ty.to_string(), Vec::new())
        }
    };
    Value::text_map(rest.into_iter().chain([("kind", Value::Text(kind))]))
}

fn case_value(case: &Case) -> Value {
    let payload = case
        .payload
        .as_ref()
        .map_or(Value::Null, |payload| Value::text(payload.to_string()));
    Value::text_map([("name", Value::text(&*case.name)), ("payload", payload)])
}
