// SPDX-License-Identifier: Apache-2.0
//! `Type`: a resolved type, aliases already expanded, and its text.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// An integer width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
    /// Signed, 32 bits.
    I32,
    /// Signed, 64 bits.
    I64,
}

impl Width {
    /// The name in source and in type texts.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "U32",
            Self::U64 => "U64",
            Self::I32 => "I32",
            Self::I64 => "I64",
        }
    }

    /// The least and the greatest value.
    pub const fn range(self) -> (i128, i128) {
        match self {
            Self::U32 => (0, u32::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::I32 => (i32::MIN as i128, i32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
        }
    }
}

/// A resolved type. Shared parts are shared, so a type never costs more than its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// `Bool`.
    Bool,
    /// An integer.
    Integer(Width),
    /// `String<max=N>`, N Unicode scalar values.
    Text {
        /// Greatest number of scalar values.
        max: u64,
    },
    /// `Bytes<min=M,max=N>`.
    Bytes {
        /// Least number of bytes.
        min: u64,
        /// Greatest number of bytes.
        max: u64,
    },
    /// A record, named or structural.
    Record(Arc<RecordType>),
    /// A variant or an enum, always named.
    Variant(Arc<VariantType>),
    /// `Option<T>`.
    Option(Arc<Type>),
    /// `List<T, max=N>`.
    List {
        /// Type of the items.
        item: Arc<Type>,
        /// Greatest number of items.
        max: u64,
    },
    /// A nominal type of a lawpack.
    Nominal(Arc<NominalType>),
    /// The type of an expression with an error; it agrees with every type.
    Error,
}

/// A record type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordType {
    /// `package@version.Name`; `None` for a structural record.
    pub coordinate: Option<String>,
    /// Fields by name, ascending by bytes.
    pub fields: BTreeMap<String, Type>,
}

/// A variant type; an enum is one whose cases have no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantType {
    /// `package@version.Name`.
    pub coordinate: String,
    /// Cases in declaration order.
    pub cases: Vec<(String, Option<Type>)>,
    /// Where each case stands, so that a use of one does not search all.
    places: BTreeMap<String, usize>,
}

impl VariantType {
    /// A variant of these cases, in declaration order.
    pub fn new(coordinate: String, cases: Vec<(String, Option<Type>)>) -> Self {
        let names = cases.iter().map(|(name, _)| name.clone());
        let places = names.zip(0..).collect();
        Self {
            coordinate,
            cases,
            places,
        }
    }

    /// The payload of a case; `None` if there is no such case.
    pub fn payload(&self, case: &str) -> Option<Option<&Type>> {
        let (_, payload) = self.cases.get(*self.places.get(case)?)?;
        Some(payload.as_ref())
    }

    /// The names of the cases, ascending by bytes.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.places.keys().map(String::as_str)
    }
}

/// A nominal type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NominalType {
    /// `package@version.Name`.
    pub coordinate: String,
    /// What its values look like.
    pub representation: Type,
}

impl fmt::Display for Type {
    /// The type text of artifacts: named types by coordinate, all others structurally.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => formatter.write_str("Bool"),
            Self::Integer(width) => formatter.write_str(width.name()),
            Self::Text { max } => write!(formatter, "String<max={max}>"),
            Self::Bytes { min, max } if min == max => write!(formatter, "Bytes<exact={max}>"),
            Self::Bytes { min: 0, max } => write!(formatter, "Bytes<max={max}>"),
            Self::Bytes { min, max } => write!(formatter, "Bytes<min={min},max={max}>"),
            Self::Record(record) => {
                if let Some(coordinate) = &record.coordinate {
                    return formatter.write_str(coordinate);
                }
                formatter.write_str("Record<")?;
                for (index, (name, field)) in record.fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    write!(formatter, "{comma}{name}:{field}")?;
                }
                formatter.write_str(">")
            }
            Self::Variant(variant) => formatter.write_str(&variant.coordinate),
            Self::Option(item) => write!(formatter, "Option<{item}>"),
            Self::List { item, max } => write!(formatter, "List<{item},max={max}>"),
            Self::Nominal(nominal) => formatter.write_str(&nominal.coordinate),
            Self::Error => formatter.write_str("?"),
        }
    }
}
