// SPDX-License-Identifier: Apache-2.0
//! From canonical CBOR to a value of a declared type, with the path of what does not fit.

use super::{
    names::{Names, canonical},
    value::{ShapeId, Symbol, TooDeep, Value},
};
use crate::package::types::{Type, TypeId, Types, Width, find_case};
use edict_codec::cbor::Value as Cbor;
use std::{fmt::Write as _, sync::Arc};

/// What does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// Steps from the root of the value; `.` for the root alone.
    pub(crate) path: String,
    /// What should stand there.
    pub(crate) message: String,
}

/// A container that is being read. Its parts read so far are in `done`.
struct Open<'a> {
    container: Container<'a>,
    done: Vec<Value>,
}

enum Container<'a> {
    Record {
        shape: ShapeId,
        fields: Arc<[TypeId]>,
        entries: &'a [(Cbor, Cbor)],
    },
    List {
        item: TypeId,
        items: &'a [Cbor],
    },
    Case {
        name: Symbol,
        payload: TypeId,
        value: &'a Cbor,
    },
    Held {
        item: TypeId,
        value: &'a Cbor,
    },
}

impl<'a> Container<'a> {
    /// Part `index`: its type and its encoding.
    fn part(&self, index: usize) -> Option<(TypeId, &'a Cbor)> {
        match self {
            Self::Record {
                fields, entries, ..
            } => Some((*fields.get(index)?, &entries.get(index)?.1)),
            Self::List { item, items } => Some((*item, items.get(index)?)),
            Self::Case { payload, value, .. } => (index == 0).then_some((*payload, *value)),
            Self::Held { item, value } => (index == 0).then_some((*item, *value)),
        }
    }
}

/// A value that was read, or a container to go into.
enum Head<'a> {
    Done(Value),
    Into(Container<'a>),
}

/// Reads `value` as the type `id`, without recursion on its nesting.
pub(crate) fn read(
    types: &Types,
    names: &Names,
    id: TypeId,
    value: &Cbor,
) -> Result<Value, Mismatch> {
    let mut stack: Vec<Open<'_>> = Vec::new();
    let (mut id, mut value) = (id, value);
    loop {
        let mut finished = match head(types, names, id, value) {
            Ok(Head::Done(value)) => Some(value),
            Ok(Head::Into(container)) => {
                stack.push(Open {
                    container,
                    done: Vec::new(),
                });
                None
            }
            Err((step, message)) => {
                let mut path = place(names, &stack);
                path.push_str(&step);
                if path.is_empty() {
                    path.push('.');
                }
                return Err(Mismatch { path, message });
            }
        };
        loop {
            let Some(open) = stack.last_mut() else {
                // The stack is empty only when the root is finished.
                return finished.ok_or_else(|| too_deep(TooDeep));
            };
            open.done.extend(finished.take());
            if let Some(part) = open.container.part(open.done.len()) {
                (id, value) = part;
                break;
            }
            if let Some(open) = stack.pop() {
                finished = Some(close(open).map_err(too_deep)?);
            }
        }
    }
}

fn too_deep(_: TooDeep) -> Mismatch {
    Mismatch {
        path: ".".to_owned(),
        message: "the value nests deeper than any type".to_owned(),
    }
}

fn close(open: Open<'_>) -> Result<Value, TooDeep> {
    match open.container {
        Container::Record { shape, .. } => Value::record(shape, open.done),
        Container::List { .. } => Value::list(open.done),
        Container::Case { name, .. } => Value::case(name, open.done.into_iter().next()),
        Container::Held { .. } => match open.done.into_iter().next() {
            Some(held) => held.into_some(),
            None => Ok(Value::None),
        },
    }
}

/// The path of the part that is read next.
fn place(names: &Names, stack: &[Open<'_>]) -> String {
    let mut path = String::new();
    for open in stack {
        let index = open.done.len();
        match &open.container {
            Container::Record { shape, .. } => {
                if let Some(field) = names.fields(*shape).get(index) {
                    path.push('.');
                    path.push_str(names.text(*field));
                }
            }
            Container::List { .. } => {
                let _ = write!(path, "[{index}]");
            }
            Container::Case { .. } => path.push_str("[1]"),
            Container::Held { .. } => {}
        }
    }
    path
}

/// Judges one item; an error has the step below it and what should stand there.
fn head<'a>(
    types: &Types,
    names: &Names,
    id: TypeId,
    value: &'a Cbor,
) -> Result<Head<'a>, (String, String)> {
    let here = |message: &str| (String::new(), message.to_owned());
    Ok(match types.structure(id) {
        Type::Bool => Head::Done(Value::Bool(
            value.as_bool().ok_or_else(|| here("expected a Bool"))?,
        )),
        Type::Integer(width) => Head::Done(
            integer(*width, value)
                .ok_or_else(|| here(&format!("expected an integer of {width:?}")))?,
        ),
        Type::Text { max } => {
            let text = value.as_text().ok_or_else(|| here("expected a text"))?;
            if !fits_text(text, *max) {
                return Err(here(&format!("expected at most {max} scalar values")));
            }
            Head::Done(Value::text(text))
        }
        Type::Bytes { min, max } => {
            let bytes = value
                .as_bytes()
                .ok_or_else(|| here("expected a byte string"))?;
            if !fits_length(bytes.len(), *min, *max) {
                return Err(here(&format!("expected {min} to {max} bytes")));
            }
            Head::Done(Value::bytes(bytes))
        }
        Type::Option(item) => match value {
            Cbor::Null => Head::Done(Value::None),
            value => Head::Into(Container::Held { item: *item, value }),
        },
        Type::List { item, max } => {
            let items = value.as_array().ok_or_else(|| here("expected a list"))?;
            if !fits_length(items.len(), 0, *max) {
                return Err(here(&format!("expected at most {max} items")));
            }
            Head::Into(Container::List { item: *item, items })
        }
        Type::Record { shape, fields } => {
            let entries = value.as_map().ok_or_else(|| here("expected a record"))?;
            same_fields(names, *shape, entries)?;
            Head::Into(Container::Record {
                shape: *shape,
                fields: Arc::clone(fields),
                entries,
            })
        }
        Type::Variant(cases) => case(names, cases, value)?,
        // `structure` sees through names.
        Type::Named(_) => return Err(here("expected a value")),
    })
}

fn case<'a>(
    names: &Names,
    cases: &[(Symbol, Option<TypeId>)],
    value: &'a Cbor,
) -> Result<Head<'a>, (String, String)> {
    let here = |message: &str| (String::new(), message.to_owned());
    let items = value.as_array().ok_or_else(|| here("expected a case"))?;
    let name = items
        .first()
        .ok_or_else(|| here("expected the name of a case"))?
        .as_text()
        .ok_or_else(|| ("[0]".to_owned(), "expected the name of a case".to_owned()))?;
    let known = names.find(name).and_then(|symbol| find_case(cases, symbol));
    let Some((symbol, payload)) = known else {
        return Err(("[0]".to_owned(), "no case has this name".to_owned()));
    };
    match (payload, items.get(1), items.len()) {
        (None, None, 1) => Ok(Head::Done(Value::Case(*symbol))),
        (Some(payload), Some(value), 2) => Ok(Head::Into(Container::Case {
            name: *symbol,
            payload: *payload,
            value,
        })),
        (Some(_), None, _) => Err(("[1]".to_owned(), "expected a payload".to_owned())),
        (None, ..) => Err(("[1]".to_owned(), "expected no payload".to_owned())),
        (Some(_), ..) => Err(("[2]".to_owned(), "expected one payload".to_owned())),
    }
}

/// Whether a map has exactly the fields of `shape`. Both are in canonical order, so the first
/// difference says which key is unknown or missing.
fn same_fields(
    names: &Names,
    shape: ShapeId,
    entries: &[(Cbor, Cbor)],
) -> Result<(), (String, String)> {
    let unknown = |key: &str| (format!(".{key}"), "no field has this name".to_owned());
    let missing = |field: &str| (format!(".{field}"), "this field is missing".to_owned());
    let fields = names.fields(shape);
    for index in 0..entries.len().max(fields.len()) {
        let key = match entries.get(index) {
            Some((Cbor::Text(key), _)) => Some(key.as_str()),
            Some(_) => return Err((String::new(), "expected text keys only".to_owned())),
            None => None,
        };
        let field = fields.get(index).map(|field| names.text(*field));
        match (key, field) {
            (Some(key), Some(field)) if key == field => {}
            (Some(key), Some(field)) if canonical(key) > canonical(field) => {
                return Err(missing(field));
            }
            (Some(key), _) => return Err(unknown(key)),
            (None, Some(field)) => return Err(missing(field)),
            (None, None) => {}
        }
    }
    Ok(())
}

fn integer(width: Width, value: &Cbor) -> Option<Value> {
    let value = value.as_integer()?;
    Some(match width {
        Width::U32 => Value::Unsigned(u32::try_from(value).ok()?.into()),
        Width::U64 => Value::Unsigned(u64::try_from(value).ok()?),
        Width::I32 => Value::Signed(i32::try_from(value).ok()?.into()),
        Width::I64 => Value::Signed(i64::try_from(value).ok()?),
    })
}

/// Whether `text` has at most `max` scalar values.
pub(crate) fn fits_text(text: &str, max: u64) -> bool {
    fits_length(text.len(), 0, max) || fits_length(text.chars().count(), 0, max)
}

/// Whether `length` is in `min ..= max`.
pub(crate) fn fits_length(length: usize, min: u64, max: u64) -> bool {
    u64::try_from(length).is_ok_and(|length| (min..=max).contains(&length))
}
