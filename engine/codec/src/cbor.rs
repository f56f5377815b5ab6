// SPDX-License-Identifier: Apache-2.0
//! Canonical CBOR `edict.canonical-cbor/v1`: one spelling per value, and only that one is read.

mod decode;
mod encode;
mod make;
mod read;
mod value;

pub use decode::{
    CborError, CborErrorKind, DecodeLimits, MAX_DEPTH, decode, decode_with, validate,
};
pub use encode::{Encoder, encode};
pub use read::ItemReader;
pub use value::{Integer, Value};
