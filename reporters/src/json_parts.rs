// SPDX-License-Identifier: Apache-2.0
//! Parts that several documents share: typed digests, bodies, excerpts.

use edict_codec::{digest::TypedDigest, json::Json};
use edict_test_model::{Excerpt, built::Body};

/// A typed digest as its map of three texts.
pub(crate) fn digest(digest: &TypedDigest) -> Json {
    Json::object([
        ("domain", Json::text(digest.domain())),
        ("algorithm", Json::text(digest.algorithm().name())),
        ("bytes", Json::text(digest.hex())),
    ])
}

/// `{blob, byteLength}`.
pub(crate) fn body(body: &Body) -> Json {
    Json::object([
        ("blob", digest(&body.blob)),
        ("byteLength", Json::unsigned(body.byte_length())),
    ])
}

/// `{text, truncated, byteLength}`.
pub(crate) fn excerpt(excerpt: &Excerpt) -> Json {
    Json::object([
        ("text", Json::text(&excerpt.text)),
        ("truncated", Json::Bool(excerpt.truncated)),
        ("byteLength", Json::unsigned(excerpt.byte_length)),
    ])
}

/// An unsigned 64-bit number as its decimal text.
pub(crate) fn decimal(value: u64) -> Json {
    Json::text(value.to_string())
}

/// A text, or null.
pub(crate) fn text_or_null(text: Option<&str>) -> Json {
    Json::optional(text, Json::text)
}
