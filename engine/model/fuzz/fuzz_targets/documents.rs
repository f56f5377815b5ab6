// SPDX-License-Identifier: Apache-2.0
//! Any bytes as a document: no panic, and a rejection lies within the input.
#![no_main]

use edict_test_model::{
    suite::{ApplicationDocument, LockDocument, Shape, SuiteDocument},
    why::decode_record,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let errors = [
        SuiteDocument::decode(bytes).err(),
        LockDocument::decode(bytes).err(),
        ApplicationDocument::decode(bytes, Shape::Bundled).err(),
        ApplicationDocument::decode(bytes, Shape::Upstream).err(),
        decode_record(bytes).err(),
    ];
    for error in errors.into_iter().flatten() {
        assert!(error.span.start <= error.span.end && error.span.end <= bytes.len());
    }
});
