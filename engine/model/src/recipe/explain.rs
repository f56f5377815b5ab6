// SPDX-License-Identifier: Apache-2.0
//! The visitor that tells people what a recipe is made of, locators included.

use super::{Recipe, RecipeVisitor, Scalar};
use crate::ids::Locator;
use edict_codec::digest::TypedDigest;
use std::fmt::Write as _;

/// One line a leaf: label, value and, where there is one, the place.
pub fn explain(recipe: &dyn Recipe) -> String {
    let mut explainer = Explainer::default();
    recipe.visit(&mut explainer);
    explainer.text
}

#[derive(Debug, Default)]
struct Explainer {
    text: String,
}

impl RecipeVisitor for Explainer {
    fn leaf(&mut self, label: &str, digest: &TypedDigest, locator: Option<&Locator>) {
        // Writing into a string cannot fail.
        let _ = match locator {
            Some(locator) => writeln!(self.text, "{label}  {digest}  {locator}"),
            None => writeln!(self.text, "{label}  {digest}"),
        };
    }

    fn scalar(&mut self, label: &str, value: Scalar<'_>) {
        // Writing into a string cannot fail.
        let _ = match value {
            Scalar::Text(text) => writeln!(self.text, "{label}  {text:?}"),
            Scalar::Number(number) => writeln!(self.text, "{label}  {number}"),
            Scalar::Absent => writeln!(self.text, "{label}  null"),
        };
    }

    fn constant(&mut self, _: &str) {}

    fn list(&mut self, body: &mut dyn FnMut(&mut dyn RecipeVisitor)) {
        body(self);
    }

    fn identity(&mut self, _: &'static str, body: &mut dyn FnMut(&mut dyn RecipeVisitor)) {
        body(self);
    }
}
