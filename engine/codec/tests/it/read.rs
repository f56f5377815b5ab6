// SPDX-License-Identifier: Apache-2.0
//! The reader without values takes exactly the scalars and heads that the decoder accepts.

use crate::support::{contract, input};
use edict_codec::cbor::{Encoder, ItemReader, Value, decode, encode};
use proptest::prelude::*;

/// The scalar that `bytes` are, as some method of the reader takes it.
fn scalar(bytes: &[u8]) -> Option<Value> {
    let taken = |value: Value, reader: &ItemReader<'_>| reader.is_at_end().then_some(value);
    let mut reader = ItemReader::new(bytes);
    if let Some(number) = reader.unsigned() {
        return taken(Value::unsigned(number), &reader);
    }
    if let Some(content) = reader.bytes() {
        return taken(Value::bytes(content), &reader);
    }
    if let Some(text) = reader.text() {
        return taken(Value::text(text), &reader);
    }
    reader.null().and_then(|()| taken(Value::Null, &reader))
}

fn decoded_scalar(bytes: &[u8]) -> Option<Value> {
    decode(bytes).ok().filter(|value| match value {
        Value::Integer(integer) => integer.get() >= 0,
        Value::Bytes(_) | Value::Text(_) | Value::Null => true,
        Value::Array(_) | Value::Map(_) | Value::Bool(_) => false,
    })
}

#[test]
fn every_row_of_the_contract_is_the_same_scalar_or_none() {
    let data = contract("strict-cbor-cases.json");
    for row in data["cases"].as_array().unwrap() {
        let bytes = input(row);
        assert_eq!(scalar(&bytes), decoded_scalar(&bytes), "{}", row["name"]);
    }
}

#[test]
fn heads_at_every_width_are_the_shortest_ones() {
    for number in [
        0,
        23,
        24,
        255,
        256,
        65_535,
        65_536,
        u64::from(u32::MAX),
        1 << 32,
        u64::MAX,
    ] {
        let bytes = encode(&Value::unsigned(number));
        let mut reader = ItemReader::new(&bytes);
        assert_eq!(reader.unsigned(), Some(number));
        assert!(reader.is_at_end());
        // The same number behind every longer head.
        for (info, width) in [(24, 1), (25, 2), (26, 4), (27, 8)] {
            if width >= bytes.len() {
                let long = [&[info], &number.to_be_bytes()[8 - width..]].concat();
                assert_eq!(ItemReader::new(&long).unsigned(), None, "{long:?}");
            }
        }
    }
}

#[test]
fn what_is_not_taken_stays() {
    let mut bytes = Encoder::new();
    bytes.map(1);
    bytes.text("key");
    bytes.array(2);
    bytes.bytes(b"content");
    bytes.null();
    let bytes = bytes.into_bytes();
    let mut reader = ItemReader::new(&bytes);
    assert_eq!(reader.array(), None);
    assert_eq!(reader.map(), Some(1));
    assert_eq!(reader.literal("kez"), None);
    assert_eq!(reader.literal("ke"), None);
    assert_eq!(reader.bytes(), None);
    assert_eq!(reader.literal("key"), Some(()));
    assert_eq!(reader.array(), Some(2));
    assert_eq!(reader.text(), None);
    assert_eq!(reader.null(), None);
    assert_eq!(reader.bytes(), Some(b"content".as_slice()));
    assert_eq!(reader.unsigned(), None);
    assert_eq!(reader.null(), Some(()));
    assert!(reader.is_at_end());
    assert_eq!(reader.null(), None);
    // A text that is no UTF-8 can still be refused as such by who reads on.
    let mut reader = ItemReader::new(&[0x61, 0xff]);
    assert_eq!(reader.text(), None);
    assert!(!reader.is_at_end());
}

proptest! {
    #[test]
    fn any_bytes_are_the_scalar_that_the_decoder_sees(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..12),
            any::<u64>().prop_map(|number| encode(&Value::unsigned(number >> (number % 64)))),
            ".{0,40}".prop_map(|text| encode(&Value::text(text))),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(|it| encode(&Value::bytes(it))),
        ]
    ) {
        prop_assert_eq!(scalar(&bytes), decoded_scalar(&bytes));
    }
}
