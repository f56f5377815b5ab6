// SPDX-License-Identifier: Apache-2.0
//! The functions that a program reaches: those of Core, and the helpers of its lawpacks.

use super::types::Scope;
use edict_codec::cbor::Value as Cbor;
use std::collections::BTreeMap;

/// A function that can be called, not read yet.
#[derive(Clone, Debug)]
pub(crate) struct Source<'a> {
    /// The map of the function.
    pub(crate) value: &'a Cbor,
    /// Whose names its type texts use.
    pub(crate) scope: Scope,
    /// Where it stands, from the root of the package.
    pub(crate) path: String,
}

/// All that can be called, and what is called, in the order it was met.
#[derive(Debug, Default)]
pub(crate) struct Functions<'a> {
    known: BTreeMap<String, Source<'a>>,
    numbers: BTreeMap<String, usize>,
    reached: Vec<Source<'a>>,
}

impl<'a> Functions<'a> {
    /// The functions of `core`, whose coordinate is `coordinate`, and the helpers of `exports`.
    pub(crate) fn new(core: &'a Cbor, coordinate: &str, exports: &'a [Cbor]) -> Self {
        let mut functions = Self::default();
        for (index, exports) in exports.iter().enumerate() {
            let rows = exports.get("pureFunctions").and_then(Cbor::as_array);
            for (row, helper) in rows.unwrap_or_default().iter().enumerate() {
                let path = format!(".lawpacks[{index}].exports.bytes.pureFunctions[{row}].body");
                functions.add_helper(helper, path);
            }
        }
        let table = core.get("functions").and_then(Cbor::as_map);
        for (name, value) in table.unwrap_or_default() {
            let name = name.as_text().unwrap_or_default();
            let source = Source {
                value,
                scope: Scope::Package,
                path: format!(".core.bytes.functions.{name}"),
            };
            functions
                .known
                .insert(format!("{coordinate}.{name}"), source);
        }
        functions
    }

    fn add_helper(&mut self, helper: &'a Cbor, path: String) {
        let generic = helper
            .get("typeParameters")
            .and_then(Cbor::as_array)
            .is_none_or(|parameters| !parameters.is_empty());
        let source = helper.get("source").and_then(Cbor::as_text);
        let (Some(coordinate), Some(value), Some("edict"), false) = (
            helper.get("coordinate").and_then(Cbor::as_text),
            helper.get("body"),
            source,
            generic,
        ) else {
            return;
        };
        let source = Source {
            value,
            scope: Scope::Lawpack,
            path,
        };
        self.known.insert(coordinate.to_owned(), source);
    }

    /// The number and the arity of a callee; `None` if nothing has that name.
    pub(crate) fn reach(&mut self, callee: &str) -> Option<(usize, usize)> {
        let source = self.known.get(callee)?;
        let arity = source
            .value
            .get("parameters")
            .and_then(Cbor::as_array)
            .map_or(0, <[Cbor]>::len);
        if let Some(number) = self.numbers.get(callee) {
            return Some((*number, arity));
        }
        let number = self.reached.len();
        self.numbers.insert(callee.to_owned(), number);
        self.reached.push(source.clone());
        Some((number, arity))
    }

    /// Function `number`, if so many were reached.
    pub(crate) fn source(&self, number: usize) -> Option<Source<'a>> {
        self.reached.get(number).cloned()
    }
}
