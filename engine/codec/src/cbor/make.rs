// SPDX-License-Identifier: Apache-2.0
//! What decoding makes of the items that it has judged: values, or nothing at all.

use super::value::{Integer, Value};

/// What the reader makes of items: values, or nothing at all.
pub(super) trait Make: Sized {
    fn integer(integer: Integer) -> Self;
    fn bytes(bytes: &[u8]) -> Self;
    fn text(text: &str) -> Self;
    fn bool(bool: bool) -> Self;
    fn null() -> Self;
    fn array(items: Vec<Self>) -> Self;
    fn map(entries: Vec<(Self, Self)>) -> Self;
}

impl Make for Value {
    fn integer(integer: Integer) -> Self {
        Self::Integer(integer)
    }

    fn bytes(bytes: &[u8]) -> Self {
        Self::Bytes(bytes.to_vec())
    }

    fn text(text: &str) -> Self {
        Self::text(text)
    }

    fn bool(bool: bool) -> Self {
        Self::Bool(bool)
    }

    fn null() -> Self {
        Self::Null
    }

    fn array(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn map(entries: Vec<(Self, Self)>) -> Self {
        Self::Map(entries)
    }
}

/// Lists of nothing take no memory.
impl Make for () {
    fn integer(_: Integer) {}

    fn bytes(_: &[u8]) {}

    fn text(_: &str) {}

    fn bool(_: bool) {}

    fn null() {}

    fn array(_: Vec<Self>) {}

    fn map(_: Vec<(Self, Self)>) {}
}
