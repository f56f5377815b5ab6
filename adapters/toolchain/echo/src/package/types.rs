// SPDX-License-Identifier: Apache-2.0
//! The types of a program: resolved, closed, acyclic and of bounded depth (check A11).

use super::type_text::{self, TypeText};
use crate::{
    eval::{
        names::Names,
        value::{ShapeId, Symbol},
    },
    limits::MAX_TYPE_DEPTH,
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
    Variant(Arc<[(Symbol, Option<TypeId>)]>),
    /// A nominal type, or another name, of that type.
    Named(TypeId),
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
    texts: BTreeMap<(Scope, String), TypeId>,
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
            Type::Variant(cases) => cases
                .iter()
                .any(|case| case.0 == name && case.1.is_some() == payload),
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
        let key = (scope, text.to_owned());
        if let Some(id) = self.texts.get(&key) {
            return Ok(*id);
        }
        let fail = |message: String| TypeError {
            path: path.to_owned(),
            message: format!("`{}`: {message}", shorten(text)),
        };
        let parsed = type_text::parse(text, false).map_err(|error| fail(error.to_string()))?;
        let id = self.resolve(&parsed, scope, names).map_err(&fail)?;
        self.read_waiting(names).map_err(fail)?;
        self.texts.insert(key, id);
        Ok(id)
    }

    /// Judges cycles and depth over everything that was read.
    pub(crate) fn judge(&self) -> Result<(), TypeError> {
        let mut depths: Vec<Option<u64>> = vec![None; self.table.len()];
        let mut open = vec![false; self.table.len()];
        for start in 0..self.table.len() {
            self.judge_from(start, &mut depths, &mut open)
                .map_err(|message| TypeError {
                    path: self.path_of(start),
                    message: message.to_owned(),
                })?;
        }
        Ok(())
    }

    fn judge_from(
        &self,
        start: usize,
        depths: &mut [Option<u64>],
        open: &mut [bool],
    ) -> Result<(), &'static str> {
        let mut stack = vec![start];
        while let Some(at) = stack.last().copied() {
            if depths.get(at).copied().flatten().is_some() {
                stack.pop();
                continue;
            }
            let parts = self.parts(at);
            let first_visit = !open.get(at).copied().unwrap_or(true);
            if let Some(flag) = open.get_mut(at) {
                *flag = true;
            }
            let mut deepest = 0;
            for part in &parts {
                match depths.get(part.0 as usize).copied().flatten() {
                    Some(depth) => deepest = deepest.max(depth),
                    None if !first_visit || open.get(part.0 as usize) == Some(&true) => {
                        return Err("the type contains itself");
                    }
                    None => stack.push(part.0 as usize),
                }
            }
            if stack.last() == Some(&at) {
                let depth = if parts.is_empty() && !self.holds(at) {
                    0
                } else {
                    u64::saturating_add(deepest, 1)
                };
                if depth > MAX_TYPE_DEPTH {
                    return Err("the type nests too deep");
                }
                if let Some(slot) = depths.get_mut(at) {
                    *slot = Some(depth);
                }
                stack.pop();
            }
        }
        Ok(())
    }

    /// Whether a type without parts is a container all the same.
    fn holds(&self, at: usize) -> bool {
        matches!(
            self.table.get(at),
            Some(Type::Record { .. } | Type::Variant(_))
        )
    }

    fn parts(&self, at: usize) -> Vec<TypeId> {
        match self.table.get(at) {
            Some(Type::Option(item) | Type::List { item, .. } | Type::Named(item)) => vec![*item],
            Some(Type::Record { fields, .. }) => fields.to_vec(),
            Some(Type::Variant(cases)) => cases.iter().filter_map(|case| case.1).collect(),
            Some(Type::Bool | Type::Integer(_) | Type::Text { .. } | Type::Bytes { .. }) | None => {
                Vec::new()
            }
        }
    }

    fn path_of(&self, at: usize) -> String {
        self.named
            .iter()
            .find(|(_, id)| id.0 as usize == at)
            .map_or_else(|| ".types".to_owned(), |(name, _)| format!(".types.{name}"))
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
            let key = (scope, name.to_owned());
            if let Some(id) = self.texts.get(&key) {
                return Ok(*id);
            }
            if let Some(definition) = self.exported.get(name).cloned() {
                let id = self.add(Type::Bool);
                self.texts.insert(key, id);
                self.waiting.push((id, definition));
                return Ok(id);
            }
        }
        Err(format!("no type is named `{}`", shorten(name)))
    }

    /// A type value, which stands at `path`.
    fn definition(
        &mut self,
        value: &Cbor,
        path: &str,
        names: &mut Names,
    ) -> Result<Type, TypeError> {
        let fail = |path: String, message: &str| TypeError {
            path,
            message: message.to_owned(),
        };
        let kind = value.get("kind").and_then(Cbor::as_text);
        let Some(kind) = kind else {
            return Err(fail(format!("{path}.kind"), "a kind must stand here"));
        };
        let keys: &[&str] = match kind {
            "Record" => &["fields"],
            "Variant" => &["cases"],
            "Nominal" => &["representation"],
            "Bool" | "U32" | "U64" | "I32" | "I64" => &[],
            "String" => &["canonical", "max"],
            "Bytes" => &["max", "min"],
            "Option" => &["item"],
            "List" => &["item", "max"],
            _ => return Err(fail(format!("{path}.kind"), "no type has this kind")),
        };
        exact_keys(value, keys).map_err(|key| {
            fail(
                format!("{path}.{key}"),
                "a type of this kind has other keys",
            )
        })?;
        let number = |key: &str| {
            value
                .get(key)
                .and_then(Cbor::as_u64)
                .ok_or_else(|| fail(format!("{path}.{key}"), "a bound must stand here"))
        };
        Ok(match kind {
            "Bool" => Type::Bool,
            "U32" => Type::Integer(Width::U32),
            "U64" => Type::Integer(Width::U64),
            "I32" => Type::Integer(Width::I32),
            "I64" => Type::Integer(Width::I64),
            "String" if value.get("canonical").and_then(Cbor::as_text) != Some("raw-utf8") => {
                return Err(fail(
                    format!("{path}.canonical"),
                    "the one policy is `raw-utf8`",
                ));
            }
            "String" => Type::Text {
                max: number("max")?,
            },
            "Bytes" => {
                let (min, max) = (number("min")?, number("max")?);
                if min > max {
                    return Err(fail(
                        format!("{path}.min"),
                        "the least length is above the greatest",
                    ));
                }
                Type::Bytes { min, max }
            }
            "Option" => Type::Option(self.part(value, "item", path, names)?),
            "List" => Type::List {
                item: self.part(value, "item", path, names)?,
                max: number("max")?,
            },
            "Nominal" => Type::Named(self.part(value, "representation", path, names)?),
            "Record" => self.record_value(value, path, names)?,
            _ => self.variant_value(value, path, names)?,
        })
    }

    fn part(
        &mut self,
        value: &Cbor,
        key: &str,
        path: &str,
        names: &mut Names,
    ) -> Result<TypeId, TypeError> {
        let path = format!("{path}.{key}");
        match value.get(key).and_then(Cbor::as_text) {
            Some(text) => self.text(text, Scope::Package, &path, names),
            None => Err(TypeError {
                path,
                message: "a type text must stand here".to_owned(),
            }),
        }
    }

    fn record_value(
        &mut self,
        value: &Cbor,
        path: &str,
        names: &mut Names,
    ) -> Result<Type, TypeError> {
        let path = format!("{path}.fields");
        let fail = |message: String| TypeError {
            path: path.clone(),
            message,
        };
        let Some(entries) = value.get("fields").and_then(Cbor::as_map) else {
            return Err(fail("a map of fields must stand here".to_owned()));
        };
        let mut fields = Vec::with_capacity(entries.len());
        for (key, text) in entries {
            let (Some(name), Some(text)) = (key.as_text(), text.as_text()) else {
                return Err(fail("a field has a name and a type text".to_owned()));
            };
            let ty = self.text(text, Scope::Package, &format!("{path}.{name}"), names)?;
            fields.push((names.symbol(name), ty));
        }
        record(fields, names).map_err(fail)
    }

    fn variant_value(
        &mut self,
        value: &Cbor,
        path: &str,
        names: &mut Names,
    ) -> Result<Type, TypeError> {
        let path = format!("{path}.cases");
        let Some(rows) = value.get("cases").and_then(Cbor::as_array) else {
            return Err(TypeError {
                path,
                message: "a list of cases must stand here".to_owned(),
            });
        };
        let mut cases = Vec::with_capacity(rows.len());
        for (index, row) in rows.iter().enumerate() {
            let path = format!("{path}[{index}]");
            let fail = |message: &str| TypeError {
                path: path.clone(),
                message: message.to_owned(),
            };
            let known = row.as_map().is_some_and(|entries| entries.len() == 2);
            let (Some(name), Some(payload), true) = (
                row.get("name").and_then(Cbor::as_text),
                row.get("payload"),
                known,
            ) else {
                return Err(fail("a case has a name and a payload"));
            };
            let payload = match payload {
                Cbor::Null => None,
                Cbor::Text(text) => Some(self.text(text, Scope::Package, &path, names)?),
                _ => return Err(fail("a payload is a type text or null")),
            };
            cases.push((names.symbol(name), payload));
        }
        variant(cases).map_err(|message| TypeError { path, message })
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

fn variant(cases: Vec<(Symbol, Option<TypeId>)>) -> Result<Type, String> {
    let mut symbols: Vec<Symbol> = cases.iter().map(|case| case.0).collect();
    symbols.sort_unstable();
    if symbols.is_empty() {
        return Err("a variant has at least one case".to_owned());
    }
    if symbols.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err("a case stands twice".to_owned());
    }
    Ok(Type::Variant(cases.into()))
}

/// Whether `value` has `kind` and `keys`, and nothing else; otherwise a key at fault.
fn exact_keys(value: &Cbor, keys: &[&str]) -> Result<(), String> {
    for key in keys {
        if value.get(key).is_none() {
            return Err((*key).to_owned());
        }
    }
    for (key, _) in value.as_map().unwrap_or_default() {
        match key.as_text() {
            Some(key) if key == "kind" || keys.contains(&key) => {}
            Some(key) => return Err(key.to_owned()),
            None => return Err(String::new()),
        }
    }
    Ok(())
}

/// A text short enough for a message.
pub(crate) fn shorten(text: &str) -> &str {
    match text.char_indices().nth(80) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}
