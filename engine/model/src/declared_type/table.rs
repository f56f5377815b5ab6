// SPDX-License-Identifier: Apache-2.0
//! The named types of a package, resolved: a text to a [`DeclaredType`].

use super::text::{TypeText, parse};
use super::{Case, DeclaredType, MAX_TYPE_DEPTH, Width};
use crate::package::fields::{Field, Malformed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a type text names no type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TypeError {
    /// The text is not written in the one form of its type.
    #[error("`{text}` at byte {offset}: {problem}")]
    Text {
        /// The type text.
        text: String,
        /// Where it breaks, in bytes.
        offset: usize,
        /// What is wrong there.
        problem: &'static str,
    },
    /// A coordinate that no type of the table has.
    #[error("`{coordinate}` is not in `types`")]
    Unknown {
        /// The coordinate.
        coordinate: String,
    },
    /// A type that contains itself.
    #[error("`{coordinate}` contains itself")]
    Recursive {
        /// The coordinate.
        coordinate: String,
    },
    /// More levels than recursion is allowed.
    #[error("types nest deeper than {MAX_TYPE_DEPTH}")]
    TooDeep,
    /// `Option<Option<T>>`: its two empty values would share one encoding.
    #[error("an Option of an Option has two empty values of one encoding")]
    NestedOption,
}

/// The resolved named types of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeTable {
    types: BTreeMap<String, Named>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Named {
    declared: Arc<DeclaredType>,
    depth: usize,
}

/// A type value as it stands in the map, its texts parsed.
enum Definition {
    Text(TypeText),
    Variant(Vec<(String, Option<TypeText>)>),
    Nominal(TypeText),
}

impl TypeTable {
    /// Reads the map `types` and resolves every entry.
    pub(crate) fn decode(field: &Field<'_>) -> Result<Self, Malformed> {
        let mut definitions = BTreeMap::new();
        for (coordinate, value) in field.entries()? {
            definitions.insert(coordinate.to_owned(), definition(&value)?);
        }
        let known = Self::default();
        let mut resolver = Resolver {
            definitions: &definitions,
            known: &known,
            open: Vec::new(),
            table: Self::default(),
        };
        for coordinate in definitions.keys() {
            resolver
                .named(coordinate)
                .map_err(|error| field.fail(error.to_string()))?;
        }
        Ok(resolver.table)
    }

    /// The type that `text` names.
    ///
    /// # Errors
    /// [`TypeError`], with the text and offset for a bad spelling.
    pub fn resolve(&self, text: &str) -> Result<Arc<DeclaredType>, TypeError> {
        let definitions = BTreeMap::new();
        let mut resolver = Resolver {
            definitions: &definitions,
            known: self,
            open: Vec::new(),
            table: Self::default(),
        };
        Ok(resolver.text(&parse(text)?)?.declared)
    }
}

struct Resolver<'a> {
    definitions: &'a BTreeMap<String, Definition>,
    /// Resolved before.
    known: &'a TypeTable,
    /// Coordinates being resolved, outermost first.
    open: Vec<String>,
    table: TypeTable,
}

impl Resolver<'_> {
    /// Recursion is bounded: at most [`MAX_TYPE_DEPTH`] open names, each text as deep as the parser
    /// allows.
    fn named(&mut self, coordinate: &str) -> Result<Named, TypeError> {
        let resolved = self.table.types.get(coordinate);
        if let Some(named) = resolved.or_else(|| self.known.types.get(coordinate)) {
            return Ok(named.clone());
        }
        let Some(definition) = self.definitions.get(coordinate) else {
            return Err(TypeError::Unknown {
                coordinate: coordinate.to_owned(),
            });
        };
        if self.open.iter().any(|open| open == coordinate) {
            return Err(TypeError::Recursive {
                coordinate: coordinate.to_owned(),
            });
        }
        if self.open.len() >= MAX_TYPE_DEPTH {
            return Err(TypeError::TooDeep);
        }
        self.open.push(coordinate.to_owned());
        let named = match definition {
            Definition::Text(text) => self.text(text)?,
            Definition::Variant(cases) => self.variant(cases)?,
            Definition::Nominal(text) => {
                let inner = self.text(text)?;
                Named {
                    depth: deeper(inner.depth)?,
                    declared: Arc::new(DeclaredType::Nominal {
                        coordinate: coordinate.to_owned(),
                        representation: inner.declared,
                    }),
                }
            }
        };
        self.open.pop();
        self.table
            .types
            .insert(coordinate.to_owned(), named.clone());
        Ok(named)
    }

    fn variant(&mut self, cases: &[(String, Option<TypeText>)]) -> Result<Named, TypeError> {
        let mut depth = 0;
        let mut resolved = Vec::with_capacity(cases.len());
        for (name, payload) in cases {
            let payload = match payload {
                Some(text) => {
                    let inner = self.text(text)?;
                    depth = depth.max(inner.depth);
                    Some(inner.declared)
                }
                None => None,
            };
            resolved.push(Case {
                name: name.clone(),
                payload,
            });
        }
        Ok(Named {
            depth: deeper(depth)?,
            declared: Arc::new(DeclaredType::Variant(resolved)),
        })
    }

    fn text(&mut self, text: &TypeText) -> Result<Named, TypeError> {
        let (declared, depth) = match text {
            TypeText::Name(coordinate) => return self.named(coordinate),
            TypeText::Bool => (DeclaredType::Bool, 0),
            TypeText::Integer(width) => (DeclaredType::Integer(*width), 0),
            TypeText::String { max } => (DeclaredType::String { max: *max }, 0),
            TypeText::Bytes { min, max } => {
                let (min, max) = (*min, *max);
                (DeclaredType::Bytes { min, max }, 0)
            }
            TypeText::Option(item) => {
                let item = self.text(item)?;
                if matches!(item.declared.representation(), DeclaredType::Option(_)) {
                    return Err(TypeError::NestedOption);
                }
                (DeclaredType::Option(item.declared), item.depth)
            }
            TypeText::List { item, max } => {
                let item = self.text(item)?;
                let max = *max;
                (
                    DeclaredType::List {
                        item: item.declared,
                        max,
                    },
                    item.depth,
                )
            }
            TypeText::Record(fields) => {
                let mut depth = 0;
                let mut resolved = BTreeMap::new();
                for (name, field) in fields {
                    let field = self.text(field)?;
                    depth = depth.max(field.depth);
                    resolved.insert(name.clone(), field.declared);
                }
                (DeclaredType::Record(resolved), depth)
            }
        };
        Ok(Named {
            declared: Arc::new(declared),
            depth: deeper(depth)?,
        })
    }
}

fn deeper(depth: usize) -> Result<usize, TypeError> {
    if depth >= MAX_TYPE_DEPTH {
        Err(TypeError::TooDeep)
    } else {
        Ok(depth.saturating_add(1))
    }
}

fn definition(field: &Field<'_>) -> Result<Definition, Malformed> {
    let kind = field.get("kind")?;
    let parsed = match kind.text()? {
        "Record" => {
            field.closed(&["kind", "fields"])?;
            let fields = field.get("fields")?.entries()?;
            Definition::Text(TypeText::Record(
                fields
                    .into_iter()
                    .map(|(name, text)| Ok((name.to_owned(), type_text(&text)?)))
                    .collect::<Result<_, Malformed>>()?,
            ))
        }
        "Variant" => {
            field.closed(&["kind", "cases"])?;
            Definition::Variant(cases(&field.get("cases")?)?)
        }
        "Nominal" => {
            field.closed(&["kind", "representation"])?;
            Definition::Nominal(type_text(&field.get("representation")?)?)
        }
        "Option" => {
            field.closed(&["kind", "item"])?;
            let item = Box::new(type_text(&field.get("item")?)?);
            Definition::Text(TypeText::Option(item))
        }
        "List" => {
            field.closed(&["kind", "item", "max"])?;
            Definition::Text(TypeText::List {
                item: Box::new(type_text(&field.get("item")?)?),
                max: field.get("max")?.unsigned()?,
            })
        }
        _ => Definition::Text(scalar(field, &kind)?),
    };
    Ok(parsed)
}

fn scalar(field: &Field<'_>, kind: &Field<'_>) -> Result<TypeText, Malformed> {
    match kind.text()? {
        "String" => {
            field.closed(&["kind", "max", "canonical"])?;
            field.get("canonical")?.exactly("raw-utf8")?;
            let max = field.get("max")?.unsigned()?;
            Ok(TypeText::String { max })
        }
        "Bytes" => {
            field.closed(&["kind", "min", "max"])?;
            let (min, max) = (field.get("min")?.unsigned()?, field.get("max")?.unsigned()?);
            if min > max {
                return Err(field.fail("the minimum exceeds the maximum"));
            }
            Ok(TypeText::Bytes { min, max })
        }
        "Bool" => {
            field.closed(&["kind"])?;
            Ok(TypeText::Bool)
        }
        name => {
            let width = Width::from_name(name).ok_or_else(|| kind.fail("unknown kind of type"))?;
            field.closed(&["kind"])?;
            Ok(TypeText::Integer(width))
        }
    }
}

fn cases(field: &Field<'_>) -> Result<Vec<(String, Option<TypeText>)>, Malformed> {
    let mut cases: Vec<(String, Option<TypeText>)> = Vec::new();
    for row in field.items()? {
        row.closed(&["name", "payload"])?;
        let name = row.get("name")?.text()?.to_owned();
        if cases.iter().any(|(known, _)| *known == name) {
            return Err(row.fail("this case is already declared"));
        }
        let payload = match row.get("payload")?.non_null() {
            Some(text) => Some(type_text(&text)?),
            None => None,
        };
        cases.push((name, payload));
    }
    if cases.is_empty() {
        return Err(field.fail("a variant has at least one case"));
    }
    Ok(cases)
}

fn type_text(field: &Field<'_>) -> Result<TypeText, Malformed> {
    parse(field.text()?).map_err(|error| field.fail(error.to_string()))
}
