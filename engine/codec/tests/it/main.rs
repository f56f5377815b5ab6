// SPDX-License-Identifier: Apache-2.0
//! The tests of the codec, one binary.

mod bounds;
mod cbor;
mod digests;
mod json;
#[cfg(test)]
mod support;
