// SPDX-License-Identifier: Apache-2.0
//! Footprint bodies: which atoms an invocation touched and which it wrote (section 5.4).

use super::view::Intrinsic;
use edict_codec::{
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};
use std::collections::BTreeSet;

/// dig(echo/footprint/v1) of a footprint body.
pub fn digest(body: &[u8]) -> TypedDigest {
    derive_typed("echo/footprint/v1", body)
}

/// The body of rows that ascend by atom.
pub fn to_body(reads: Vec<Value>, writes: Vec<Value>) -> Vec<u8> {
    encode(&Value::text_map([
        ("reads", Value::Array(reads)),
        ("writes", Value::Array(writes)),
    ]))
}

/// A row of `reads`: a touched atom and its version in the basis.
pub fn read_row(atom: &[u8; 32], space: &str, key: &[u8], seen: Option<[u8; 32]>) -> Value {
    Value::text_map([
        ("atom", Value::bytes(*atom)),
        ("space", Value::text(space)),
        ("key", Value::bytes(key)),
        ("seen", seen.map_or(Value::Null, Value::bytes)),
    ])
}

/// A row of `writes`: an atom and the intrinsics that wrote it.
pub fn write_row(atom: &[u8; 32], intrinsics: &BTreeSet<Intrinsic>) -> Value {
    let intrinsics = intrinsics
        .iter()
        .map(|it| Value::text(it.coordinate()))
        .collect();
    Value::text_map([
        ("atom", Value::bytes(*atom)),
        ("intrinsics", Value::Array(intrinsics)),
    ])
}
