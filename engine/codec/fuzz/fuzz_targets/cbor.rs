// SPDX-License-Identifier: Apache-2.0
//! Any bytes: no panic, and what is accepted encodes to the same bytes.
#![no_main]

use edict_codec::cbor::{DecodeLimits, decode, decode_with, encode};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match decode(bytes) {
        Ok(value) => assert_eq!(encode(&value), bytes),
        Err(error) => assert!(error.offset <= bytes.len()),
    }
    let tight = DecodeLimits {
        depth: 4,
        nodes: 16,
    };
    if let Ok(value) = decode_with(bytes, tight) {
        assert_eq!(decode(bytes), Ok(value));
    }
});
