// SPDX-License-Identifier: Apache-2.0
//! The visitor that makes preimages and keys (D2, D4).

use super::{Recipe, RecipeVisitor, Scalar};
use crate::ids::Locator;
use edict_codec::{
    cbor::{CborError, Value, decode, encode},
    digest::{TypedDigest, derive_typed},
};

/// Context of build keys.
pub const BUILD: &str = "edict.test/build/v1";
/// Context of verify keys.
pub const VERIFY: &str = "edict.test/verify/v1";

/// The canonical preimage of a recipe.
pub fn preimage(recipe: &dyn Recipe) -> Vec<u8> {
    let mut hasher = KeyHasher::default();
    recipe.visit(&mut hasher);
    encode(&Value::Array(hasher.parts))
}

/// The key of a recipe: the digest of its preimage under its context.
pub fn key(recipe: &dyn Recipe) -> TypedDigest {
    derive_typed(recipe.context(), &preimage(recipe))
}

/// The identity of a stored preimage under `context`, decoded strictly before it is digested (D3).
///
/// # Errors
/// The codec's rejection; such bytes have no identity.
pub fn stored(context: &str, preimage: &[u8]) -> Result<TypedDigest, CborError> {
    decode(preimage)?;
    Ok(derive_typed(context, preimage))
}

/// Collects the items of the list that is being visited. Locators never reach it.
#[derive(Debug, Default)]
struct KeyHasher {
    parts: Vec<Value>,
}

impl KeyHasher {
    fn within(body: &mut dyn FnMut(&mut dyn RecipeVisitor)) -> Value {
        let mut inner = Self::default();
        body(&mut inner);
        Value::Array(inner.parts)
    }
}

impl RecipeVisitor for KeyHasher {
    fn leaf(&mut self, _: &str, digest: &TypedDigest, _: Option<&Locator>) {
        self.parts.push(digest.to_value());
    }

    fn scalar(&mut self, _: &str, value: Scalar<'_>) {
        self.parts.push(match value {
            Scalar::Text(text) => Value::text(text),
            Scalar::Number(number) => Value::unsigned(number),
            Scalar::Absent => Value::Null,
        });
    }

    fn constant(&mut self, text: &str) {
        self.parts.push(Value::text(text));
    }

    fn list(&mut self, body: &mut dyn FnMut(&mut dyn RecipeVisitor)) {
        self.parts.push(Self::within(body));
    }

    fn identity(&mut self, context: &'static str, body: &mut dyn FnMut(&mut dyn RecipeVisitor)) {
        let preimage = encode(&Self::within(body));
        self.parts.push(derive_typed(context, &preimage).to_value());
    }
}
