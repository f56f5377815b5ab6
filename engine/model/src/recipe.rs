// SPDX-License-Identifier: Apache-2.0
//! One walk over what decides an action or an identity, and the visitors that walk it (A2, A3).
//!
//! What is not visited cannot influence an action; what is visited is explained. Two keys are equal
//! exactly when the two lists of leaves are equal, order included.

mod build;
mod diff;
mod explain;
mod key;
mod record;
mod verify;

pub use build::{APPLICATION, ApplicationSubject, BuildRecipe, ContentFile, LawpackFiles};
pub use diff::{Difference, differing};
pub use explain::explain;
pub use key::{BUILD, VERIFY, key, preimage, stored};
pub use record::{Leaf, LeafValue, leaves, locators};
pub use verify::{ArtifactPin, VerifyRecipe};

use crate::ids::Locator;
use edict_codec::digest::TypedDigest;

/// Everything that decides the outcome of one action, in one fixed order.
pub trait Recipe {
    /// Context of the digest of the preimage: the domain of the key.
    fn context(&self) -> &'static str;

    /// Shows every part to `visitor`, in the order of the preimage.
    fn visit(&self, visitor: &mut dyn RecipeVisitor);
}

/// A part of a recipe that is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar<'a> {
    /// A text.
    Text(&'a str),
    /// A number.
    Number(u64),
    /// Nothing, which is not the empty text.
    Absent,
}

/// Sees every part of a recipe. `locator` is for people: no visitor may let it reach a key.
pub trait RecipeVisitor {
    /// A digest.
    fn leaf(&mut self, label: &str, digest: &TypedDigest, locator: Option<&Locator>);

    /// A text, a number, or nothing.
    fn scalar(&mut self, label: &str, value: Scalar<'_>);

    /// A text of the preimage that the labels already determine: no leaf.
    fn constant(&mut self, text: &str);

    /// A list of the preimage. Labels inside tell its positions.
    fn list(&mut self, body: &mut dyn FnMut(&mut dyn RecipeVisitor));

    /// A list that stands in the preimage as its own identity under `context`.
    fn identity(&mut self, context: &'static str, body: &mut dyn FnMut(&mut dyn RecipeVisitor));
}
