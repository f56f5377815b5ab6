// SPDX-License-Identifier: Apache-2.0
//! Runtime values: small, shared, and of bounded nesting, so that a copy costs a counter and a drop
//! never recurses deep.

use crate::{limits, meter::units_of};
use std::sync::Arc;

/// A field or case name of the program.
pub(crate) type Symbol = u32;

/// A set of field names; records with the same names have the same shape.
pub(crate) type ShapeId = u32;

/// A value of a program. Nominal types are their representation here.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// `Bool`.
    Bool(bool),
    /// `U32` and `U64`.
    Unsigned(u64),
    /// `I32` and `I64`.
    Signed(i64),
    /// An Option that holds nothing.
    None,
    /// An Option that holds an unsigned integer.
    SomeUnsigned(u64),
    /// An Option that holds a signed integer.
    SomeSigned(i64),
    /// An Option that holds any other value.
    Some(Arc<Composite>),
    /// `String`.
    Text(Arc<String>),
    /// `Bytes`.
    Bytes(Arc<Vec<u8>>),
    /// A record; the tag is its shape, the parts are in canonical key order.
    Record(Arc<Composite>),
    /// A list.
    List(Arc<Composite>),
    /// A case without payload.
    Case(Symbol),
    /// A case with payload; the tag is its name.
    CaseWith(Arc<Composite>),
}

/// A value made of others.
#[derive(Debug)]
pub(crate) struct Composite {
    weight: u64,
    depth: u32,
    tag: u32,
    parts: Vec<Value>,
}

/// A value nested deeper than any type can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooDeep;

impl Composite {
    fn new(tag: u32, parts: Vec<Value>) -> Result<Arc<Self>, TooDeep> {
        let (mut weight, mut depth) = (1u64, 0u32);
        for part in &parts {
            weight = weight.saturating_add(part.weight());
            depth = depth.max(part.depth());
        }
        let depth = depth.saturating_add(1);
        if u64::from(depth) > limits::MAX_TYPE_DEPTH {
            return Err(TooDeep);
        }
        Ok(Arc::new(Self {
            weight,
            depth,
            tag,
            parts,
        }))
    }

    /// The shape of a record, the name of a case.
    pub(crate) fn tag(&self) -> u32 {
        self.tag
    }

    /// The values inside.
    pub(crate) fn parts(&self) -> &[Value] {
        &self.parts
    }
}

impl Value {
    /// A record; `fields` in the canonical order of `shape`.
    pub(crate) fn record(shape: ShapeId, fields: Vec<Self>) -> Result<Self, TooDeep> {
        Ok(Self::Record(Composite::new(shape, fields)?))
    }

    /// A list.
    pub(crate) fn list(items: Vec<Self>) -> Result<Self, TooDeep> {
        Ok(Self::List(Composite::new(0, items)?))
    }

    /// A case with or without payload.
    pub(crate) fn case(name: Symbol, payload: Option<Self>) -> Result<Self, TooDeep> {
        Ok(match payload {
            None => Self::Case(name),
            Some(payload) => Self::CaseWith(Composite::new(name, vec![payload])?),
        })
    }

    /// An Option that holds `self`.
    pub(crate) fn into_some(self) -> Result<Self, TooDeep> {
        Ok(match self {
            Self::Unsigned(value) => Self::SomeUnsigned(value),
            Self::Signed(value) => Self::SomeSigned(value),
            other => Self::Some(Composite::new(0, vec![other])?),
        })
    }

    /// What an Option holds; the outer `None` if this is no Option.
    #[expect(
        clippy::option_option,
        reason = "the outer one tells a value that is no Option"
    )]
    pub(crate) fn held(&self) -> Option<Option<Self>> {
        match self {
            Self::None => Some(None),
            Self::SomeUnsigned(value) => Some(Some(Self::Unsigned(*value))),
            Self::SomeSigned(value) => Some(Some(Self::Signed(*value))),
            Self::Some(held) => Some(held.parts.first().cloned()),
            Self::Bool(_)
            | Self::Unsigned(_)
            | Self::Signed(_)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Record(_)
            | Self::List(_)
            | Self::Case(_)
            | Self::CaseWith(_) => None,
        }
    }

    /// A text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Arc::new(text.into()))
    }

    /// A byte string.
    pub(crate) fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::Bytes(Arc::new(bytes.into()))
    }

    /// Weight `w` of the cost law: what a comparison has to look at.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Self::Bool(_) | Self::Unsigned(_) | Self::Signed(_) | Self::None | Self::Case(_) => 1,
            Self::SomeUnsigned(_) | Self::SomeSigned(_) => 2,
            Self::Text(text) => units_of(text.len()).saturating_add(1),
            Self::Bytes(bytes) => units_of(bytes.len()).saturating_add(1),
            Self::Some(parts) | Self::Record(parts) | Self::List(parts) | Self::CaseWith(parts) => {
                parts.weight
            }
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Self::Bool(_)
            | Self::Unsigned(_)
            | Self::Signed(_)
            | Self::None
            | Self::Case(_)
            | Self::Text(_)
            | Self::Bytes(_) => 0,
            Self::SomeUnsigned(_) | Self::SomeSigned(_) => 1,
            Self::Some(parts) | Self::Record(parts) | Self::List(parts) | Self::CaseWith(parts) => {
                parts.depth
            }
        }
    }

    /// Whether both are the same value. Looks at no more than the lesser weight.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let mut pending = Vec::new();
        if !same_head(self, other, &mut pending) {
            return false;
        }
        while let Some((left, right)) = pending.pop() {
            let (left, right): (&Composite, &Composite) = (left, right);
            if left.tag != right.tag || left.parts.len() != right.parts.len() {
                return false;
            }
            for (left, right) in left.parts.iter().zip(&right.parts) {
                if !same_head(left, right, &mut pending) {
                    return false;
                }
            }
        }
        true
    }
}

/// Compares what stands directly in two values; parts are left in `pending`.
fn same_head<'a>(
    left: &'a Value,
    right: &'a Value,
    pending: &mut Vec<(&'a Composite, &'a Composite)>,
) -> bool {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Unsigned(left), Value::Unsigned(right))
        | (Value::SomeUnsigned(left), Value::SomeUnsigned(right)) => left == right,
        (Value::Signed(left), Value::Signed(right))
        | (Value::SomeSigned(left), Value::SomeSigned(right)) => left == right,
        (Value::None, Value::None) => true,
        (Value::Text(left), Value::Text(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left == right,
        (Value::Case(left), Value::Case(right)) => left == right,
        (Value::Some(left), Value::Some(right))
        | (Value::Record(left), Value::Record(right))
        | (Value::List(left), Value::List(right))
        | (Value::CaseWith(left), Value::CaseWith(right)) => {
            pending.push((left, right));
            true
        }
        _ => false,
    }
}
