// SPDX-License-Identifier: Apache-2.0
//! The types of a program: resolved, closed, acyclic and of bounded depth (check A11).

mod definition;
mod judge;

use super::type_text::{self, TypeText};
use crate::eval::{
    names::Names,
    value::{ShapeId, Symbol},
};
use edict_codec::cbor::Value as Cbor;
use std::{collections::BTreeMap, sync::Arc};

/// A type of one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeId(u32);

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    U32,
    U64,
    I32,
    I64,
}

/// What a type is made of.
#[derive(Clone, Debug)]
pub(crate) enum Type {
    Bool,
    Integer(Width),
    /// At most `max` scalar values.
    Text {
        max: u64,
    },
    Bytes {
        min: u64,
        max: u64,
    },
    Option(TypeId),
    List {
        item: TypeId,
        max: u64,
    },
    /// Field types in the canonical order of the shape.
    Record {
        shape: ShapeId,
        fields: Arc<[TypeId]>,
    },
    /// Cases ascending by name.
    Variant(Arc<[Case]>),
    /// A nominal type, or another name, of that type.
    Named(TypeId),
}

/// A case and the type of its payload.
pub(crate) type Case = (Symbol, Option<TypeId>);

/// The case of that name.
pub(crate) fn find_case(cases: &[Case], name: Symbol) -> Option<&Case> {
    let found = cases.binary_search_by_key(&name, |case| case.0).ok()?;
    cases.get(found)
}

/// Whose names a type text may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// The types of the package.
    Package,
    /// Those, then the definitions that the lawpacks export.
    Lawpack,
}

/// Why a type is refused, and where: steps from the root of the package.
#[derive(Clone, Debug)]
pub(crate) struct TypeError {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// The types of one program.
#[derive(Debug, Default)]
pub(crate) struct Types {
    table: Vec<Type>,
    named: BTreeMap<String, TypeId>,
    exported: BTreeMap<String, String>,
    texts: BTreeMap<Scope, BTreeMap<String, TypeId>>,
    /// Exported definitions that were named but not read yet.
    waiting: Vec<(TypeId, String)>,
}

impl Types {
    /// Reads the map `types` of a package. `exported` are definitions of lawpacks by coordinate.
    pub(crate) fn load(
        value: &Cbor,
        exported: BTreeMap<String, String>,
        names: &mut Names,
    ) -> Result<Self, TypeError> {
        let mut types = Self {
            exported,
            ..Self::default()
        };
        let entries = value.as_map().unwrap_or_default();
        for (key, _) in entries {
            let name = key.as_text().unwrap_or_default();
            let id = types.add(Type::Bool);
            types.named.insert(name.to_owned(), id);
        }
        for (key, definition) in entries {
            let name = key.as_text().unwrap_or_default();
            let path = format!(".types.{name}");
            let ty = types.definition(definition, &path, names)?;
            if let Some(id) = types.named.get(name).copied() {
                types.set(id, ty);
            }
        }
        Ok(types)
    }

    /// What `id` is made of, names seen through.
    pub(crate) fn structure(&self, id: TypeId) -> &Type {
        let mut id = id;
        // Types are acyclic, so there are fewer links than types.
        for _ in 0..=self.table.len() {
            match self.table.get(id.0 as usize) {
                Some(Type::Named(inner)) => id = *inner,
                Some(ty) => return ty,
                None => break,
            }
        }
        &Type::Bool
    }

    /// Whether `id` is a variant with that case, payload included.
    pub(crate) fn has_case(&self, id: TypeId, name: Symbol, payload: bool) -> bool {
        match self.structure(id) {
            Type::Variant(cases) => {
                find_case(cases, name).is_some_and(|case| case.1.is_some() == payload)
            }
            _ => false,
        }
    }

    /// The type of a text, which stands at `path`.
    pub(crate) fn text(
        &mut self,
        text: &str,
        scope: Scope,
        path: &str,
        names: &mut Names,
    ) -> Result<TypeId, TypeError> {
        if let Some(id) = self.known(text, scope) {
            return Ok(id);
        }
        let fail = |message: String| TypeError {
            path: path.to_owned(),
            message: format!("`{}`: {message}", shorten(text)),
        };
        let parsed = type_text::parse(text, false).map_err(|error| fail(error.to_string()))?;
        let id = self.resolve(&parsed, scope, names).map_err(&fail)?;
        self.read_waiting(names).map_err(fail)?;
        self.keep(text, scope, id);
        Ok(id)
    }

    /// The type of a text that was read before.
    pub(crate) fn known(&self, text: &str, scope: Scope) -> Option<TypeId> {
        self.texts.get(&scope)?.get(text).copied()
    }

    fn keep(&mut self, text: &str, scope: Scope, id: TypeId) {
        let texts = self.texts.entry(scope).or_default();
        texts.insert(text.to_owned(), id);
    }

    fn add(&mut self, ty: Type) -> TypeId {
        let id = TypeId(u32::try_from(self.table.len()).unwrap_or(u32::MAX));
        self.table.push(ty);
        id
    }

    fn set(&mut self, id: TypeId, ty: Type) {
        if let Some(slot) = self.table.get_mut(id.0 as usize) {
            *slot = ty;
        }
    }

    fn read_waiting(&mut self, names: &mut Names) -> Result<(), String> {
        while let Some((id, definition)) = self.waiting.pop() {
            let parsed = type_text::parse(&definition, true).map_err(|error| error.to_string())?;
            let inner = self.resolve(&parsed, Scope::Lawpack, names)?;
            self.set(id, Type::Named(inner));
        }
        Ok(())
    }

    fn resolve(
        &mut self,
        text: &TypeText<'_>,
        scope: Scope,
        names: &mut Names,
    ) -> Result<TypeId, String> {
        let ty = match text {
            TypeText::Bool => Type::Bool,
            TypeText::U32 => Type::Integer(Width::U32),
            TypeText::U64 => Type::Integer(Width::U64),
            TypeText::I32 => Type::Integer(Width::I32),
            TypeText::I64 => Type::Integer(Width::I64),
            TypeText::Text { max } => Type::Text { max: *max },
            TypeText::Bytes { min, max } => Type::Bytes {
                min: *min,
                max: *max,
            },
            TypeText::Option(item) if matches!(**item, TypeText::Option(_)) => {
                return Err("an Option of an Option has two spellings of nothing".to_owned());
            }
            TypeText::Option(item) => Type::Option(self.resolve(item, scope, names)?),
            TypeText::List { item, max } => Type::List {
                item: self.resolve(item, scope, names)?,
                max: *max,
            },
            TypeText::Record(fields) => {
                let mut resolved = Vec::with_capacity(fields.len());
                for (name, ty) in fields {
                    resolved.push((names.symbol(name), self.resolve(ty, scope, names)?));
                }
                record(resolved, names)?
            }
            TypeText::Variant(cases) => {
                let mut resolved = Vec::with_capacity(cases.len());
                for (name, payload) in cases {
                    let payload = match payload {
                        Some(payload) => Some(self.resolve(payload, scope, names)?),
                        None => None,
                    };
                    resolved.push((names.symbol(name), payload));
                }
                variant(resolved)?
            }
            TypeText::Nominal(inner) => Type::Named(self.resolve(inner, scope, names)?),
            TypeText::Named(name) => return self.name(name, scope),
        };
        Ok(self.add(ty))
    }

    fn name(&mut self, name: &str, scope: Scope) -> Result<TypeId, String> {
        if let Some(id) = self.named.get(name) {
            return Ok(*id);
        }
        if scope == Scope::Lawpack {
            if let Some(id) = self.known(name, scope) {
                return Ok(id);
            }
            if let Some(definition) = self.exported.get(name).cloned() {
                let id = self.add(Type::Bool);
                self.keep(name, scope, id);
                self.waiting.push((id, definition));
                return Ok(id);
            }
        }
        Err(format!("no type is named `{}`", shorten(name)))
    }
}

fn record(fields: Vec<(Symbol, TypeId)>, names: &mut Names) -> Result<Type, String> {
    let symbols: Vec<Symbol> = fields.iter().map(|field| field.0).collect();
    let Some(shape) = names.shape(&symbols) else {
        return Err("a field stands twice".to_owned());
    };
    let by_symbol: BTreeMap<Symbol, TypeId> = fields.into_iter().collect();
    let fields = names
        .fields(shape)
        .iter()
        .filter_map(|symbol| by_symbol.get(symbol).copied())
        .collect();
    Ok(Type::Record { shape, fields })
}

fn variant(mut cases: Vec<Case>) -> Result<Type, String> {
    cases.sort_unstable_by_key(|case| case.0);
    if cases.is_empty() {
        return Err("a variant has at least one case".to_owned());
    }
    let name = |case: Option<&Case>| case.map(|case| case.0);
    if cases
        .windows(2)
        .any(|pair| name(pair.first()) == name(pair.last()))
    {
        return Err("a case stands twice".to_owned());
    }
    Ok(Type::Variant(cases.into()))
}

/// A text short enough for a message.
pub(crate) fn shorten(text: &str) -> &str {
    match text.char_indices().nth(80) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}
