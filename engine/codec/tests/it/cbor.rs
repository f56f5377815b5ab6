// SPDX-License-Identifier: Apache-2.0
//! The canonical codec: every row of the contract, then properties.

use crate::support::{contract, input, value_to_oracle};
use edict_codec::{
    cbor::{
        CborErrorKind, DecodeLimits, Encoder, Integer, MAX_DEPTH, Value, decode, decode_with,
        encode, validate,
    },
    hex,
};
use proptest::prelude::*;

fn kind(text: &str) -> Option<CborErrorKind> {
    decode(&hex::decode(text).unwrap())
        .err()
        .map(|error| error.kind)
}

#[test]
fn every_row_of_the_contract_has_its_result() {
    let data = contract("strict-cbor-cases.json");
    let rows = data["cases"].as_array().unwrap();
    assert_eq!(rows.len(), 94);
    let mut wrong = Vec::new();
    for row in rows {
        let bytes = input(row);
        let decoded = decode(&bytes);
        let got = decoded
            .as_ref()
            .map_or_else(|error| error.kind.name(), |_| "accept");
        let want = row["kind"].as_str().unwrap_or("accept");
        if got != want {
            wrong.push(format!("{}: {got} instead of {want}", row["name"]));
        }
        if decoded.is_ok_and(|value| encode(&value) != bytes) {
            wrong.push(format!("{}: re-encodes to other bytes", row["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_first_broken_rule_of_an_item_wins() {
    use CborErrorKind as K;
    // Reserved before unsupported before a head cut short before its form.
    assert_eq!(kind("dc"), Some(K::ReservedHead));
    assert_eq!(kind("df"), Some(K::ReservedHead));
    assert_eq!(kind("3f"), Some(K::ReservedHead));
    assert_eq!(kind("d9"), Some(K::UnsupportedType));
    assert_eq!(kind("fb3f"), Some(K::UnsupportedType));
    assert_eq!(kind("f8"), Some(K::UnsupportedType));
    assert_eq!(kind("e0"), Some(K::UnsupportedType));
    assert_eq!(kind("5f"), Some(K::IndefiniteLength));
    assert_eq!(kind("9f"), Some(K::IndefiniteLength));
    assert_eq!(kind("18"), Some(K::UnexpectedEnd));
    assert_eq!(kind("9800"), Some(K::NonMinimalHead));
    // Nesting before length: the 129th container is refused though its count is absurd.
    let deep = format!("{}9bffffffffffffffff", "81".repeat(MAX_DEPTH));
    assert_eq!(kind(&deep), Some(K::NestingTooDeep));
    let form = format!("{}9800", "81".repeat(MAX_DEPTH));
    assert_eq!(kind(&form), Some(K::NonMinimalHead));
}

#[test]
fn a_count_is_compared_with_the_bytes_left() {
    use CborErrorKind as K;
    assert_eq!(kind("820000"), None);
    assert_eq!(kind("8300"), Some(K::LengthExceedsInput));
    assert_eq!(kind("8200"), Some(K::LengthExceedsInput));
    assert_eq!(kind("828000"), None);
    assert_eq!(kind("82811818"), Some(K::UnexpectedEnd));
    assert_eq!(kind("a2000001"), Some(K::LengthExceedsInput));
    assert_eq!(kind("a10000"), None);
    assert_eq!(kind("6261"), Some(K::LengthExceedsInput));
    assert_eq!(kind("bbffffffffffffffff"), Some(K::LengthExceedsInput));
}

#[test]
fn a_rejection_names_the_offset_of_its_item() {
    let offset = |text: &str| decode(&hex::decode(text).unwrap()).unwrap_err().offset;
    assert_eq!(offset("82001817"), 2);
    assert_eq!(offset("a2616101616102"), 4);
    assert_eq!(offset("a2616201616102"), 4);
    assert_eq!(offset("0000"), 1);
    assert_eq!(offset("8161ff"), 1);
    assert_eq!(offset(""), 0);
}

#[test]
fn callers_can_bound_depth_and_items() {
    let limits = |depth, nodes| DecodeLimits { depth, nodes };
    let check = |text: &str, limits| {
        let bytes = hex::decode(text).unwrap();
        decode_with(&bytes, limits).err().map(|error| error.kind)
    };
    assert_eq!(check("8180", limits(2, 2)), None);
    assert_eq!(
        check("8180", limits(1, 2)),
        Some(CborErrorKind::NestingTooDeep)
    );
    assert_eq!(
        check("8180", limits(2, 1)),
        Some(CborErrorKind::TooManyNodes)
    );
    // Map keys are items.
    assert_eq!(check("a10000", limits(1, 3)), None);
    assert_eq!(
        check("a10000", limits(1, 2)),
        Some(CborErrorKind::TooManyNodes)
    );
    assert_eq!(check("00", limits(0, 1)), None);
    assert_eq!(check("00", limits(0, 0)), Some(CborErrorKind::TooManyNodes));
}

#[test]
fn integers_have_the_range_of_the_encoding() {
    let text = |value: i128| hex::encode(&encode(&Value::Integer(Integer::new(value).unwrap())));
    assert_eq!(text(Integer::MAX), "1bffffffffffffffff");
    assert_eq!(text(Integer::MIN), "3bffffffffffffffff");
    assert_eq!(text(-1), "20");
    assert_eq!(text(i128::from(i64::MIN)), "3b7fffffffffffffff");
    assert_eq!(Integer::new(Integer::MAX + 1), None);
    assert_eq!(Integer::new(Integer::MIN - 1), None);
}

#[test]
fn a_map_is_put_in_canonical_order_however_it_was_given() {
    let entry = |key: Value| (key, Value::Null);
    let map = Value::map(vec![
        entry(Value::text("b")),
        entry(Value::text("aa")),
        entry(Value::Bytes(Vec::new())),
        entry(Value::Integer(Integer::from(-1i64))),
        entry(Value::unsigned(24)),
        entry(Value::text("a")),
        entry(Value::text("a")),
    ]);
    let bytes = encode(&map);
    assert_eq!(hex::encode(&bytes), "a61818f620f640f66161f66162f6626161f6");
    assert_eq!(decode(&bytes), Ok(map));
    let texts = Value::text_map([("b", Value::Null), ("aa", Value::Null), ("a", Value::Null)]);
    assert_eq!(hex::encode(&encode(&texts)), "a36161f66162f6626161f6");
}

#[test]
fn pieces_written_one_by_one_are_the_whole_value() {
    let mut encoder = Encoder::new();
    encoder.map(2);
    encoder.text("a");
    encoder.array(3);
    encoder.unsigned(70_000);
    encoder.bytes(&[0; 24]);
    encoder.bool(true);
    encoder.text("b");
    encoder.raw(&encode(&Value::Null));
    let value = Value::text_map([
        (
            "a",
            Value::Array(vec![
                Value::unsigned(70_000),
                Value::bytes(vec![0; 24]),
                Value::Bool(true),
            ]),
        ),
        ("b", Value::Null),
    ]);
    assert_eq!(encoder.into_bytes(), encode(&value));
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (Integer::MIN..=Integer::MAX)
            .prop_map(|value| Value::Integer(Integer::new(value).unwrap())),
        (-300i64..300).prop_map(|value| Value::Integer(value.into())),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(Value::Bytes),
        any::<String>().prop_map(Value::Text),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((inner.clone(), inner), 0..6).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_encoded_decodes_to_itself_and_as_the_other_writer_has_it(value in values()) {
        let bytes = encode(&value);
        prop_assert_eq!(decode(&bytes), Ok(value.clone()));
        let mut oracle = Vec::new();
        ciborium::into_writer(&value_to_oracle(&value), &mut oracle).unwrap();
        prop_assert_eq!(bytes, oracle);
    }

    #[test]
    fn any_bytes_that_are_accepted_encode_to_themselves(
        bytes in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..48),
            // Heads and small arguments make accepted inputs likely.
            prop::collection::vec(prop::sample::select(vec![
                0u8, 1, 0x17, 0x18, 0x20, 0x40, 0x41, 0x60, 0x61, 0x80, 0x81, 0x82, 0xa0, 0xa1,
                0xa2, 0xf4, 0xf6, 0xff,
            ]), 0..24),
        ],
    ) {
        let limits = DecodeLimits { depth: 3, nodes: 9 };
        prop_assert_eq!(
            validate(&bytes, limits),
            decode_with(&bytes, limits).map(|_| ()),
        );
        match decode(&bytes) {
            Ok(value) => prop_assert_eq!(encode(&value), bytes),
            Err(error) => prop_assert!(error.offset <= bytes.len()),
        }
    }

    #[test]
    fn a_changed_byte_is_another_value_or_none(value in values(), at in any::<prop::sample::Index>(), flip in 1u8..) {
        let bytes = encode(&value);
        let mut changed = bytes.clone();
        let at = at.index(changed.len());
        changed[at] ^= flip;
        prop_assert_ne!(decode(&changed), Ok(value));
    }
}
