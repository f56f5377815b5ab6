// SPDX-License-Identifier: Apache-2.0
//! `TypeTable`: exported definitions by coordinate, resolved to types with aliases expanded.

use super::parse::{Definition, Expression, TypeTextError, parse_definition, parse_type};
use crate::types::ty::{NominalType, RecordType, Type, VariantType};
use std::{collections::BTreeMap, sync::Arc};

/// Greatest number of structural parts of one type, names counting as one.
const MAX_PARTS: usize = 4_096;
/// Greatest chain of definitions that refer to one another.
const MAX_CHAIN: usize = 128;

/// Types by coordinate, of one lawpack and of those it depends on.
#[derive(Clone, Debug, Default)]
pub struct TypeTable {
    types: BTreeMap<String, Type>,
}

impl TypeTable {
    /// Adds the types of a dependency.
    pub fn extend(&mut self, types: impl IntoIterator<Item = (String, Type)>) {
        self.types.extend(types);
    }

    /// The type of a coordinate.
    pub fn get(&self, coordinate: &str) -> Option<&Type> {
        self.types.get(coordinate)
    }

    /// Resolves `definitions`, which may refer to one another and to what is already there, in any
    /// order.
    ///
    /// # Errors
    /// The coordinate and the reason of a definition that is no type, refers to nothing or to
    /// itself, or is too large.
    pub fn define(
        &mut self,
        definitions: &BTreeMap<String, String>,
    ) -> Result<(), (String, TypeTextError)> {
        let mut parsed = BTreeMap::new();
        for (coordinate, text) in definitions {
            let definition = parse_definition(text).map_err(|error| (coordinate.clone(), error))?;
            parsed.insert(coordinate.clone(), definition);
        }
        let mut resolver = Resolver {
            definitions: &parsed,
            known: &self.types,
            found: BTreeMap::new(),
            open: Vec::new(),
        };
        for (coordinate, text) in definitions {
            if let Err(reason) = resolver.named(coordinate) {
                // The definition that was open last is the one that cannot be resolved.
                let at = resolver.open.last().unwrap_or(coordinate);
                let text = definitions.get(at).unwrap_or(text);
                return Err((at.clone(), TypeTextError::new(text, reason)));
            }
        }
        let found = resolver.found;
        self.types.extend(found);
        Ok(())
    }

    /// Resolves one type text.
    ///
    /// # Errors
    /// A text that is no type, or that names something unknown.
    pub fn resolve(&self, text: &str) -> Result<Type, TypeTextError> {
        let expression = parse_type(text)?;
        let mut resolver = Resolver {
            definitions: &BTreeMap::new(),
            known: &self.types,
            found: BTreeMap::new(),
            open: Vec::new(),
        };
        resolver
            .sized(&expression)
            .map_err(|reason| TypeTextError::new(text, reason))
    }
}

struct Resolver<'a> {
    definitions: &'a BTreeMap<String, Definition>,
    known: &'a BTreeMap<String, Type>,
    found: BTreeMap<String, Type>,
    open: Vec<String>,
}

impl Resolver<'_> {
    fn named(&mut self, coordinate: &str) -> Result<Type, String> {
        let known = self
            .found
            .get(coordinate)
            .or_else(|| self.known.get(coordinate));
        if let Some(known) = known {
            return Ok(known.clone());
        }
        let definitions = self.definitions;
        let Some(definition) = definitions.get(coordinate) else {
            return Err(format!("`{coordinate}` is not defined"));
        };
        if self.open.iter().any(|open| open == coordinate) {
            return Err(format!("`{coordinate}` contains itself"));
        }
        if self.open.len() >= MAX_CHAIN {
            return Err("definitions refer to one another too deep".to_owned());
        }
        self.open.push(coordinate.to_owned());
        let resolved = self.definition(coordinate, definition)?;
        self.open.pop();
        self.found.insert(coordinate.to_owned(), resolved.clone());
        Ok(resolved)
    }

    fn definition(&mut self, coordinate: &str, definition: &Definition) -> Result<Type, String> {
        match definition {
            Definition::Type(Expression::Record(fields)) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| Ok((name.clone(), self.sized(field)?)))
                    .collect::<Result<_, String>>()?;
                Ok(Type::Record(Arc::new(RecordType {
                    coordinate: Some(coordinate.to_owned()),
                    fields,
                })))
            }
            Definition::Type(expression) => self.sized(expression),
            Definition::Variant(cases) => {
                let cases = cases
                    .iter()
                    .map(|(name, payload)| {
                        let payload = payload.as_ref().map(|it| self.sized(it)).transpose()?;
                        Ok((name.clone(), payload))
                    })
                    .collect::<Result<_, String>>()?;
                let variant = VariantType::new(coordinate.to_owned(), cases);
                Ok(Type::Variant(Arc::new(variant)))
            }
            Definition::Nominal(inner) => Ok(Type::Nominal(Arc::new(NominalType {
                coordinate: coordinate.to_owned(),
                representation: self.named(inner)?,
            }))),
        }
    }

    fn sized(&mut self, expression: &Expression) -> Result<Type, String> {
        let resolved = self.expression(expression)?;
        if parts(&resolved, MAX_PARTS) > MAX_PARTS {
            return Err(format!(
                "more than {MAX_PARTS} parts when aliases are expanded"
            ));
        }
        Ok(resolved)
    }

    fn expression(&mut self, expression: &Expression) -> Result<Type, String> {
        Ok(match expression {
            Expression::Bool => Type::Bool,
            Expression::Integer(width) => Type::Integer(*width),
            Expression::Text(max) => Type::Text { max: *max },
            Expression::Bytes(min, max) => Type::Bytes {
                min: *min,
                max: *max,
            },
            Expression::Option(item) => match self.expression(item)? {
                Type::Option(_) => return Err("an Option of an Option".to_owned()),
                item => Type::Option(Arc::new(item)),
            },
            Expression::List(item, max) => Type::List {
                item: Arc::new(self.expression(item)?),
                max: *max,
            },
            Expression::Record(fields) => {
                let fields = fields
                    .iter()
                    .map(|(name, field)| Ok((name.clone(), self.expression(field)?)))
                    .collect::<Result<_, String>>()?;
                Type::Record(Arc::new(RecordType {
                    coordinate: None,
                    fields,
                }))
            }
            Expression::Named(coordinate) => self.named(coordinate)?,
        })
    }
}

/// The number of structural parts; counting stops soon after `limit`.
fn parts(root: &Type, limit: usize) -> usize {
    let mut count = 0usize;
    let mut pending = vec![root];
    while let Some(part) = pending.pop() {
        count = count.saturating_add(1);
        if count > limit {
            break;
        }
        match part {
            Type::Option(item) | Type::List { item, .. } => pending.push(item),
            Type::Record(record) if record.coordinate.is_none() => {
                pending.extend(record.fields.values());
            }
            Type::Bool
            | Type::Integer(_)
            | Type::Text { .. }
            | Type::Bytes { .. }
            | Type::Record(_)
            | Type::Variant(_)
            | Type::Nominal(_)
            | Type::Error => {}
        }
    }
    count
}
