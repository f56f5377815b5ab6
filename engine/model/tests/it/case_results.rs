// SPDX-License-Identifier: Apache-2.0
//! `edict.test.case-result/v1`: one detail each, the first that applies (R2, BT-005).

use crate::types::declared;
use edict_codec::cbor::{Value, encode};
use edict_test_model::case_result::{CaseResult, InvalidCaseResult, decode, decode_bound};
use edict_test_model::obstruction::{ObstructionMatch, compare};

const TYPE: &str = "Record<assertions:U32,message:String<max=2000>,status:U32>";

fn result(status: u64, assertions: u64, message: &str) -> Vec<u8> {
    encode(&Value::text_map([
        ("status", Value::unsigned(status)),
        ("assertions", Value::unsigned(assertions)),
        ("message", Value::text(message)),
    ]))
}

#[test]
fn results_in_bounds_are_read_exactly() {
    let declared = declared(TYPE);
    for (passed, assertions, message) in [
        (true, 1, String::new()),
        (false, 65_535, "left differs".to_owned()),
        (true, 2, "m".repeat(1024)),
    ] {
        let bytes = result(u64::from(!passed), u64::from(assertions), &message);
        let expected = CaseResult {
            passed,
            assertions,
            message,
        };
        assert_eq!(decode(&bytes, &declared), Ok(expected));
    }
}

#[test]
fn bt_005_each_defect_has_its_one_detail() {
    use InvalidCaseResult as Detail;
    let good = result(0, 1, "");
    let map = |entries: Vec<(&str, Value)>| encode(&Value::text_map(entries));
    let text = Value::text("");
    let one = || Value::unsigned(1);
    let rows = [
        (
            "a byte more",
            [good.as_slice(), b"\x00"].concat(),
            Detail::TrailingBytes,
        ),
        (
            "two results",
            [good.as_slice(), good.as_slice()].concat(),
            Detail::TrailingBytes,
        ),
        ("nothing", vec![], Detail::NotCanonical),
        (
            "cut short",
            good[..good.len() - 1].to_vec(),
            Detail::NotCanonical,
        ),
        ("a long head", b"\xb8\x03".to_vec(), Detail::NotCanonical),
        (
            "a float",
            b"\xfb\x3f\xf0\x00\x00\x00\x00\x00\x00".to_vec(),
            Detail::NotCanonical,
        ),
        (
            "invalid UTF-8",
            b"\xa1\x61\xff\x00".to_vec(),
            Detail::InvalidUtf8,
        ),
        ("a list", b"\x83\x00\x01\x60".to_vec(), Detail::NotRecord),
        ("a number", b"\x00".to_vec(), Detail::NotRecord),
        (
            "a fourth field, another missing",
            map(vec![("status", one()), ("extra", one())]),
            Detail::UnknownField,
        ),
        (
            "a key that is no text",
            b"\xa1\x00\x00".to_vec(),
            Detail::UnknownField,
        ),
        ("no field", b"\xa0".to_vec(), Detail::MissingField),
        (
            "no message",
            map(vec![("status", one()), ("assertions", one())]),
            Detail::MissingField,
        ),
        (
            "a negative status",
            map(vec![
                ("status", Value::Integer((-1i64).into())),
                ("assertions", one()),
                ("message", text.clone()),
            ]),
            Detail::WrongType,
        ),
        (
            "a status of 64 bits",
            map(vec![
                ("status", Value::unsigned(1 << 32)),
                ("assertions", one()),
                ("message", text.clone()),
            ]),
            Detail::WrongType,
        ),
        (
            "a null message",
            map(vec![
                ("status", one()),
                ("assertions", one()),
                ("message", Value::Null),
            ]),
            Detail::WrongType,
        ),
        ("status 2", result(2, 0, ""), Detail::StatusRange),
        ("no assertion", result(0, 0, ""), Detail::AssertionsRange),
        (
            "65,536 assertions",
            result(0, 65_536, ""),
            Detail::AssertionsRange,
        ),
        (
            "1,025 bytes",
            result(0, 1, &"m".repeat(1025)),
            Detail::MessageTooLong,
        ),
        // 513 scalars of two bytes: the bound counts bytes.
        (
            "1,026 bytes in 513 scalars",
            result(0, 1, &"é".repeat(513)),
            Detail::MessageTooLong,
        ),
    ];
    let declared = declared(TYPE);
    for (what, bytes, detail) in rows {
        assert_eq!(decode(&bytes, &declared), Err(detail), "{what}");
    }
}

#[test]
fn another_declared_type_is_no_case_result_whatever_the_bytes() {
    let others = [
        "Record<assertions:U32,message:String<max=9>,status:U64>",
        "Record<assertions:U32,message:Bytes<max=9>,status:U32>",
        "Record<assertions:U32,status:U32>",
        "Record<assertions:U32,extra:U32,message:String<max=9>,status:U32>",
        "U32",
    ];
    for text in others {
        let declared = declared(text);
        let detail = InvalidCaseResult::OutputTypeMismatch;
        assert_eq!(decode(&result(0, 1, ""), &declared), Err(detail), "{text}");
        assert_eq!(decode_bound(b"\x07", &declared), Err(detail), "{text}");
    }
    assert!(decode_bound(&result(1, 1, "x"), &declared(TYPE)).is_ok());
}

#[test]
fn obstructions_compare_as_typed_values() {
    let payload = Value::text_map([("limit", Value::unsigned(4))]);
    let bytes = encode(&payload);
    let rows = [
        ("a@1.B", bytes.as_slice(), ObstructionMatch::Equal),
        ("a@2.B", &bytes, ObstructionMatch::OtherCoordinate),
        (
            "a@1.B",
            b"\xa1\x65limit\x05",
            ObstructionMatch::OtherPayload,
        ),
        ("a@1.B", b"\xa0", ObstructionMatch::OtherPayload),
        // The same value in a longer spelling is no value of the codec.
        (
            "a@1.B",
            b"\xa1\x65limit\x18\x04",
            ObstructionMatch::OtherPayload,
        ),
        ("a@1.B", b"", ObstructionMatch::OtherPayload),
    ];
    for (coordinate, expected, outcome) in rows {
        assert_eq!(compare(coordinate, expected, "a@1.B", &payload), outcome);
    }
}
