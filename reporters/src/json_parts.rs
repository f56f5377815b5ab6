// SPDX-License-Identifier: Apache-2.0
//! Parts that several documents share.

use edict_codec::json::Json;
use edict_test_model::Excerpt;

pub(crate) use edict_test_model::run::semantic::{
    body_json as body, d64 as decimal, digest_json as digest,
};

/// `{text, truncated, byteLength}`.
pub(crate) fn excerpt(excerpt: &Excerpt) -> Json {
    Json::object([
        ("text", Json::text(&excerpt.text)),
        ("truncated", Json::Bool(excerpt.truncated)),
        ("byteLength", Json::unsigned(excerpt.byte_length)),
    ])
}

/// A text, or null.
pub(crate) fn text_or_null(text: Option<&str>) -> Json {
    Json::optional(text, Json::text)
}
