// SPDX-License-Identifier: Apache-2.0
//! Interned field and case names, and the shapes of records.

use super::value::{ShapeId, Symbol};
use std::{collections::BTreeMap, sync::Arc};

/// The fields of one kind of record.
#[derive(Debug)]
struct Shape {
    /// In canonical key order.
    fields: Arc<[Symbol]>,
    /// Each field with its place, ascending by field.
    places: Vec<(Symbol, usize)>,
}

/// The names of one program.
#[derive(Debug, Default)]
pub(crate) struct Names {
    symbols: Vec<Arc<str>>,
    by_text: BTreeMap<Arc<str>, Symbol>,
    shapes: Vec<Shape>,
    by_fields: BTreeMap<Arc<[Symbol]>, ShapeId>,
}

impl Names {
    /// The symbol of `text`.
    pub(crate) fn symbol(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.by_text.get(text) {
            return *symbol;
        }
        let symbol = Symbol::try_from(self.symbols.len()).unwrap_or(Symbol::MAX);
        let text: Arc<str> = Arc::from(text);
        self.symbols.push(Arc::clone(&text));
        self.by_text.insert(text, symbol);
        symbol
    }

    /// The symbol of `text`, if the program has that name.
    pub(crate) fn find(&self, text: &str) -> Option<Symbol> {
        self.by_text.get(text).copied()
    }

    /// The text of `symbol`.
    pub(crate) fn text(&self, symbol: Symbol) -> &str {
        self.symbols
            .get(symbol as usize)
            .map_or("", |text| text.as_ref())
    }

    /// The shape of records with exactly these fields, in any order; `None` if one stands twice.
    pub(crate) fn shape(&mut self, fields: &[Symbol]) -> Option<ShapeId> {
        let mut fields = fields.to_vec();
        fields
            .sort_by(|left, right| canonical(self.text(*left)).cmp(&canonical(self.text(*right))));
        if fields.windows(2).any(|pair| pair.first() == pair.last()) {
            return None;
        }
        let fields: Arc<[Symbol]> = fields.into();
        if let Some(shape) = self.by_fields.get(&fields) {
            return Some(*shape);
        }
        let shape = ShapeId::try_from(self.shapes.len()).unwrap_or(ShapeId::MAX);
        let mut places: Vec<(Symbol, usize)> = fields.iter().copied().zip(0usize..).collect();
        places.sort_unstable();
        self.shapes.push(Shape {
            fields: Arc::clone(&fields),
            places,
        });
        self.by_fields.insert(fields, shape);
        Some(shape)
    }

    /// The fields of `shape` in canonical key order.
    pub(crate) fn fields(&self, shape: ShapeId) -> &[Symbol] {
        self.shapes
            .get(shape as usize)
            .map_or(&[], |shape| shape.fields.as_ref())
    }

    /// Where `field` stands in records of `shape`.
    pub(crate) fn position(&self, shape: ShapeId, field: Symbol) -> Option<usize> {
        let places = &self.shapes.get(shape as usize)?.places;
        let found = places.binary_search_by_key(&field, |place| place.0).ok()?;
        places.get(found).map(|place| place.1)
    }
}

/// Encoded text keys order by length, then by bytes.
pub(crate) fn canonical(text: &str) -> (usize, &[u8]) {
    (text.len(), text.as_bytes())
}
