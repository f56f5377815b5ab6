// SPDX-License-Identifier: Apache-2.0
//! Declared types of a program: which canonical bytes are a value of them, and their typed JSON.
//!
//! Sources: `docs/language.md` 2.1 for values and JSON, `docs/contracts/artifacts.md` 1 for type texts and type
//! values.

mod check;
mod json;
mod table;
mod text;

pub use check::{TypeMismatch, TypedValueError};
pub use json::{
    JsonMismatch, JsonMismatchKind, from_json, from_untyped_json, to_json, to_untyped_json,
};
pub use table::{TypeError, TypeTable};

use std::collections::BTreeMap;
use std::sync::Arc;

/// Type values and type texts nest at most this deep after resolution. The host's own limit is lower;
/// this one only bounds recursion.
pub(crate) const MAX_TYPE_DEPTH: usize = 256;

/// A resolved type: closed, acyclic, every text, byte string and list bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredType {
    /// `false` or `true`.
    Bool,
    /// An integer of a fixed width.
    Integer(Width),
    /// A text.
    String {
        /// Most Unicode scalar values.
        max: u64,
    },
    /// A byte string.
    Bytes {
        /// Fewest bytes.
        min: u64,
        /// Most bytes.
        max: u64,
    },
    /// The value, or null.
    Option(Arc<DeclaredType>),
    /// An array.
    List {
        /// Type of the items.
        item: Arc<DeclaredType>,
        /// Most items.
        max: u64,
    },
    /// Exactly the named fields.
    Record(BTreeMap<String, Arc<DeclaredType>>),
    /// One case: `[case]` or `[case, payload]`.
    Variant(Vec<Case>),
    /// A named type, encoded as its representation.
    Nominal {
        /// Coordinate of the type.
        coordinate: String,
        /// How it is encoded.
        representation: Arc<DeclaredType>,
    },
}

/// One case of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its payload type, if it has one.
    pub payload: Option<Arc<DeclaredType>>,
}

/// The width of an integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Width {
    /// 0 ..= 2^32-1.
    U32,
    /// 0 ..= 2^64-1.
    U64,
    /// -2^31 ..= 2^31-1.
    I32,
    /// -2^63 ..= 2^63-1.
    I64,
}

impl Width {
    /// The name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "U32",
            Self::U64 => "U64",
            Self::I32 => "I32",
            Self::I64 => "I64",
        }
    }

    /// The width of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::U32, Self::U64, Self::I32, Self::I64]
            .into_iter()
            .find(|width| width.name() == name)
    }

    /// Whether `value` is one of this width.
    pub fn admits(self, value: i128) -> bool {
        match self {
            Self::U32 => u32::try_from(value).is_ok(),
            Self::U64 => u64::try_from(value).is_ok(),
            Self::I32 => i32::try_from(value).is_ok(),
            Self::I64 => i64::try_from(value).is_ok(),
        }
    }
}

impl DeclaredType {
    /// What a reader is told to expect, in the spelling of type texts where that is short.
    pub fn describe(&self) -> String {
        match self {
            Self::Bool => "Bool".to_owned(),
            Self::Integer(width) => width.name().to_owned(),
            Self::String { max } => format!("String<max={max}>"),
            Self::Bytes { min, max } if min == max => format!("Bytes<exact={max}>"),
            Self::Bytes { min: 0, max } => format!("Bytes<max={max}>"),
            Self::Bytes { min, max } => format!("Bytes<min={min},max={max}>"),
            Self::Option(_) => "an Option".to_owned(),
            Self::List { max, .. } => format!("a List of at most {max} items"),
            Self::Record(_) => "a record".to_owned(),
            Self::Variant(_) => "a variant".to_owned(),
            Self::Nominal { coordinate, .. } => coordinate.clone(),
        }
    }

    /// The type below nominal names.
    pub fn representation(&self) -> &Self {
        let mut declared = self;
        while let Self::Nominal { representation, .. } = declared {
            declared = representation;
        }
        declared
    }
}
