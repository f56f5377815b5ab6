// SPDX-License-Identifier: Apache-2.0
//! The visitor that writes down the leaves of a recipe, in preimage order (A2).

use super::{Recipe, RecipeVisitor, Scalar};
use crate::ids::Locator;
use edict_codec::digest::TypedDigest;

/// One part of a recipe with its label. Where a file was is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Its place in the recipe.
    pub label: String,
    /// What it was.
    pub value: LeafValue,
}

/// The value of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeafValue {
    /// A digest.
    Digest(TypedDigest),
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// Nothing.
    Absent,
}

/// The leaves of a recipe in preimage order.
pub fn leaves(recipe: &dyn Recipe) -> Vec<Leaf> {
    let mut writer = RecordWriter::default();
    recipe.visit(&mut writer);
    writer.leaves
}

/// Where the files of a recipe are now, by label. For people; no key knows them.
pub fn locators(recipe: &dyn Recipe) -> Vec<(String, Locator)> {
    let mut writer = RecordWriter::default();
    recipe.visit(&mut writer);
    writer.locators
}

#[derive(Debug, Default)]
struct RecordWriter {
    leaves: Vec<Leaf>,
    locators: Vec<(String, Locator)>,
}

impl RecordWriter {
    fn push(&mut self, label: &str, value: LeafValue) {
        self.leaves.push(Leaf {
            label: label.to_owned(),
            value,
        });
    }
}

impl RecipeVisitor for RecordWriter {
    fn leaf(&mut self, label: &str, digest: &TypedDigest, locator: Option<&Locator>) {
        if let Some(locator) = locator {
            self.locators.push((label.to_owned(), locator.clone()));
        }
        self.push(label, LeafValue::Digest(digest.clone()));
    }

    fn scalar(&mut self, label: &str, value: Scalar<'_>) {
        let value = match value {
            Scalar::Text(text) => LeafValue::Text(text.to_owned()),
            Scalar::Number(number) => LeafValue::Number(number),
            Scalar::Absent => LeafValue::Absent,
        };
        self.push(label, value);
    }

    fn constant(&mut self, _: &str) {}

    fn list(&mut self, body: &mut dyn FnMut(&mut dyn RecipeVisitor)) {
        body(self);
    }

    fn identity(&mut self, _: &'static str, body: &mut dyn FnMut(&mut dyn RecipeVisitor)) {
        body(self);
    }
}
