// SPDX-License-Identifier: Apache-2.0
//! From a value to canonical bytes, bounded, and checked against a type where there is one.

use super::{
    names::Names,
    read::{fits_length, fits_text},
    value::{Composite, ShapeId, Value},
};
use crate::{
    limits::{MAX_CBOR_DEPTH, MAX_CBOR_NODES},
    package::types::{Type, TypeId, Types, Width, find_case},
};
use edict_codec::cbor::{Encoder, Integer};
use std::sync::Arc;

/// Canonical bytes of a value.
#[derive(Debug)]
pub(crate) struct Written {
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// Whether it has more items or levels than a value may have (section 8).
    pub(crate) too_large: bool,
}

/// Why there are no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteError {
    /// More bytes than the caller allows.
    TooLong,
    /// The value is none of the type.
    Misfit,
}

/// A container that is being written: its parts, their types and the next one.
struct Open<'a> {
    parts: &'a Composite,
    types: PartTypes,
    next: usize,
    container: bool,
}

/// The types of parts, as far as they are known, and the shape that names them.
enum PartTypes {
    Same(Option<TypeId>),
    Fields(ShapeId, Arc<[TypeId]>),
    Shape(ShapeId),
}

/// Encodes `value`; `id` is the type it must have. At most `cutoff` bytes are written.
pub(crate) fn write(
    types: &Types,
    names: &Names,
    id: Option<TypeId>,
    value: &Value,
    cutoff: usize,
) -> Result<Written, WriteError> {
    let mut writer = Writer {
        types,
        names,
        encoder: Encoder::new(),
        stack: Vec::new(),
        cutoff,
        nodes: 0,
        depth: 0,
        deepest: 0,
    };
    writer.item(id, value)?;
    while let Some(open) = writer.stack.last_mut() {
        if writer.encoder.len() > cutoff {
            return Err(WriteError::TooLong);
        }
        let index = open.next;
        open.next = index.saturating_add(1);
        let Some(part) = open.parts.parts().get(index) else {
            if open.container {
                writer.depth = writer.depth.saturating_sub(1);
            }
            writer.stack.pop();
            continue;
        };
        let (key, id) = match &open.types {
            PartTypes::Same(id) => (None, *id),
            PartTypes::Fields(shape, ids) => (Some(*shape), ids.get(index).copied()),
            PartTypes::Shape(shape) => (Some(*shape), None),
        };
        if let Some(shape) = key {
            let field = names.fields(shape).get(index).copied();
            writer.key(names.text(field.ok_or(WriteError::Misfit)?));
        }
        writer.item(id, part)?;
    }
    if writer.encoder.len() > cutoff {
        return Err(WriteError::TooLong);
    }
    Ok(Written {
        too_large: writer.nodes > MAX_CBOR_NODES || writer.deepest > MAX_CBOR_DEPTH,
        bytes: writer.encoder.into_bytes(),
    })
}

struct Writer<'a> {
    types: &'a Types,
    names: &'a Names,
    encoder: Encoder,
    stack: Vec<Open<'a>>,
    cutoff: usize,
    nodes: u64,
    depth: u64,
    deepest: u64,
}

impl<'a> Writer<'a> {
    fn key(&mut self, text: &str) {
        self.nodes = self.nodes.saturating_add(1);
        self.encoder.text(text);
    }

    fn open(&mut self, parts: &'a Composite, types: PartTypes, container: bool) {
        self.stack.push(Open {
            parts,
            types,
            next: 0,
            container,
        });
        if container {
            self.level();
        }
    }

    fn level(&mut self) {
        self.depth = self.depth.saturating_add(1);
        self.deepest = self.deepest.max(self.depth);
    }

    /// Writes the head of `value`, and opens it if it has parts.
    fn item(&mut self, id: Option<TypeId>, value: &'a Value) -> Result<(), WriteError> {
        let ty = id.map(|id| self.types.structure(id));
        if let Some(ty) = ty
            && !self.fits(ty, value)
        {
            return Err(WriteError::Misfit);
        }
        // What an Option holds is written in its place: no item of its own.
        if !matches!(value, Value::Some(_)) {
            self.nodes = self.nodes.saturating_add(1);
        }
        match value {
            Value::Bool(value) => self.encoder.bool(*value),
            Value::Unsigned(value) | Value::SomeUnsigned(value) => self.encoder.unsigned(*value),
            Value::Signed(value) | Value::SomeSigned(value) => {
                self.encoder.integer(Integer::from(*value));
            }
            Value::None => self.encoder.null(),
            Value::Text(text) if text.len() <= self.cutoff => self.encoder.text(text),
            Value::Bytes(bytes) if bytes.len() <= self.cutoff => self.encoder.bytes(bytes),
            Value::Text(_) | Value::Bytes(_) => return Err(WriteError::TooLong),
            Value::Case(name) => {
                self.level();
                self.depth = self.depth.saturating_sub(1);
                self.encoder.array(1);
                self.key(self.names.text(*name));
            }
            Value::Some(held) => self.open(held, same(ty, TypeItem::Held), false),
            Value::List(items) => {
                self.encoder.array(items.parts().len());
                self.open(items, same(ty, TypeItem::Item), true);
            }
            Value::CaseWith(payload) => {
                self.encoder.array(2);
                self.key(self.names.text(payload.tag()));
                let types = match ty {
                    Some(Type::Variant(cases)) => {
                        PartTypes::Same(find_case(cases, payload.tag()).and_then(|case| case.1))
                    }
                    _ => PartTypes::Same(None),
                };
                self.open(payload, types, true);
            }
            Value::Record(fields) => {
                self.encoder.map(fields.parts().len());
                let types = match ty {
                    Some(Type::Record { shape, fields }) => {
                        PartTypes::Fields(*shape, Arc::clone(fields))
                    }
                    _ => PartTypes::Shape(fields.tag()),
                };
                self.open(fields, types, true);
            }
        }
        Ok(())
    }

    /// Whether what stands directly in `value` belongs to `ty`; parts are judged on their own.
    fn fits(&self, ty: &Type, value: &Value) -> bool {
        match (ty, value) {
            (Type::Bool, Value::Bool(_)) | (Type::Option(_), Value::None | Value::Some(_)) => true,
            (Type::Integer(width), value) => fits_width(*width, value),
            (Type::Text { max }, Value::Text(text)) => fits_text(text, *max),
            (Type::Bytes { min, max }, Value::Bytes(bytes)) => fits_length(bytes.len(), *min, *max),
            (Type::Option(item), Value::SomeUnsigned(held)) => {
                self.fits_held(*item, &Value::Unsigned(*held))
            }
            (Type::Option(item), Value::SomeSigned(held)) => {
                self.fits_held(*item, &Value::Signed(*held))
            }
            (Type::List { max, .. }, Value::List(items)) => {
                fits_length(items.parts().len(), 0, *max)
            }
            (Type::Record { shape, .. }, Value::Record(fields)) => fields.tag() == *shape,
            (Type::Variant(cases), Value::Case(name)) => {
                find_case(cases, *name).is_some_and(|case| case.1.is_none())
            }
            (Type::Variant(cases), Value::CaseWith(payload)) => {
                find_case(cases, payload.tag()).is_some_and(|case| case.1.is_some())
            }
            _ => false,
        }
    }

    fn fits_held(&self, item: TypeId, held: &Value) -> bool {
        matches!(self.types.structure(item), Type::Integer(width) if fits_width(*width, held))
    }
}

enum TypeItem {
    Held,
    Item,
}

fn same(ty: Option<&Type>, part: TypeItem) -> PartTypes {
    match (ty, part) {
        (Some(Type::Option(item)), TypeItem::Held)
        | (Some(Type::List { item, .. }), TypeItem::Item) => PartTypes::Same(Some(*item)),
        _ => PartTypes::Same(None),
    }
}

/// Whether `value` is an integer of that width.
pub(crate) fn fits_width(width: Width, value: &Value) -> bool {
    match (width, value) {
        (Width::U32, Value::Unsigned(value)) => u32::try_from(*value).is_ok(),
        (Width::I32, Value::Signed(value)) => i32::try_from(*value).is_ok(),
        (Width::U64, Value::Unsigned(_)) | (Width::I64, Value::Signed(_)) => true,
        _ => false,
    }
}
