// SPDX-License-Identifier: Apache-2.0
//! Any bytes: no panic, spans within the input, and what is accepted survives both writers.
#![no_main]

use edict_codec::json::{Json, JsonLimits, parse, write_document, write_record};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // Written documents are longer than what was read.
    let limits = JsonLimits::document(1 << 26);
    match parse(bytes, limits) {
        Ok(node) => {
            let json = Json::from(&node);
            for text in [write_document(&json), write_record(&json)] {
                let again = parse(text.as_bytes(), limits).map(|node| Json::from(&node));
                assert_eq!(again, Ok(json.clone()));
            }
        }
        Err(error) => assert!(error.span.start <= error.span.end && error.span.end <= bytes.len()),
    }
});
