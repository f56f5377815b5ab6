// SPDX-License-Identifier: Apache-2.0
//! Type texts, typed values and typed JSON.

use edict_codec::cbor::{Integer, Value, decode, encode};
use edict_codec::json::{JsonLimits, Node, parse, write_record};
use edict_test_model::declared_type::{
    DeclaredType, TypeTable, from_json, from_untyped_json, to_json, to_untyped_json,
};
use std::sync::Arc;

/// The type that a text without names spells.
pub(crate) fn declared(text: &str) -> Arc<DeclaredType> {
    TypeTable::default().resolve(text).unwrap()
}

fn json(text: &str) -> Node {
    parse(text.as_bytes(), JsonLimits::document(1 << 20)).unwrap()
}

#[test]
fn type_texts_have_one_spelling() {
    let good = [
        "Bool",
        "U32",
        "I64",
        "String<max=0>",
        "Bytes<exact=32>",
        "Bytes<max=16>",
        "Bytes<min=1,max=16>",
        "Option<U64>",
        "List<Option<Bytes<max=4>>,max=3>",
        "Record<>",
        "Record<a:U64,b:Record<c:Bool>>",
    ];
    for text in good {
        assert!(TypeTable::default().resolve(text).is_ok(), "{text}");
    }
    let bad = [
        "",
        "u32",
        "U128",
        "String",
        "String<max=01>",
        "String<max=>",
        "String<max=18446744073709551616>",
        "String<max=4",
        "Bytes<min=3,max=2>",
        "Bytes<exact=4>x",
        "Option<Option<U64>>",
        "Option<>",
        "List<U64>",
        "Record<b:U64,a:U64>",
        "Record<a:U64,a:U64>",
        "Record<a: U64>",
        "Record<a:U64,>",
        "unknown@1.Name",
        "Map<U64,U64>",
    ];
    for text in bad {
        assert!(TypeTable::default().resolve(text).is_err(), "{text}");
    }
    let deep = format!("{}U64{}", "List<".repeat(4000), ",max=1>".repeat(4000));
    assert!(TypeTable::default().resolve(&deep).is_err());
}

#[test]
fn values_are_checked_at_their_bounds() {
    let rows: [(&str, &[u8], bool); 24] = [
        ("Bool", b"\xf5", true),
        ("Bool", b"\x01", false),
        ("U32", b"\x1a\xff\xff\xff\xff", true),
        ("U32", b"\x1b\x00\x00\x00\x01\x00\x00\x00\x00", false),
        ("U32", b"\x20", false),
        ("I32", b"\x3a\x7f\xff\xff\xff", true),
        ("I32", b"\x3a\x80\x00\x00\x00", false),
        ("U64", b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", true),
        ("I64", b"\x1b\x80\x00\x00\x00\x00\x00\x00\x00", false),
        ("I64", b"\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", true),
        ("I64", b"\x3b\x80\x00\x00\x00\x00\x00\x00\x00", false),
        // Two scalars of two bytes each: a String counts scalars.
        ("String<max=2>", b"\x64\xc3\xa9\xc3\xa9", true),
        ("String<max=1>", b"\x64\xc3\xa9\xc3\xa9", false),
        ("Bytes<exact=2>", b"\x42\x00\x00", true),
        ("Bytes<exact=2>", b"\x41\x00", false),
        ("Bytes<exact=2>", b"\x43\x00\x00\x00", false),
        ("Option<U64>", b"\xf6", true),
        ("U64", b"\xf6", false),
        ("List<U64,max=1>", b"\x81\x00", true),
        ("List<U64,max=1>", b"\x82\x00\x00", false),
        ("Record<a:U64>", b"\xa1\x61a\x00", true),
        ("Record<a:U64>", b"\xa0", false),
        ("Record<a:U64>", b"\xa2\x61a\x00\x61b\x00", false),
        ("Record<a:U64>", b"\xa1\x61a\x18\x00", false),
    ];
    for (text, bytes, fits) in rows {
        assert_eq!(
            declared(text).decode(bytes).is_ok(),
            fits,
            "{text} {bytes:?}"
        );
    }
}

#[test]
fn a_mismatch_says_where() {
    let declared = declared("Record<items:List<Record<n:U32>,max=3>>");
    let value = decode(b"\xa1\x65items\x82\xa1\x61n\x00\xa1\x61n\x20").unwrap();
    let error = declared.check(&value).unwrap_err();
    assert_eq!(error.path, ".items[1].n");
    assert_eq!(error.problem, "expected U32, found the integer -1");
}

#[test]
fn typed_json_goes_both_ways() {
    let rows = [
        ("U64", "9007199254740991", "9007199254740991"),
        ("U64", "\"9007199254740991\"", "9007199254740991"),
        ("U64", "9007199254740992", "\"9007199254740992\""),
        (
            "U64",
            "\"18446744073709551615\"",
            "\"18446744073709551615\"",
        ),
        (
            "I64",
            "\"-9223372036854775808\"",
            "\"-9223372036854775808\"",
        ),
        ("I64", "-9007199254740991", "-9007199254740991"),
        ("Bool", "true", "true"),
        ("String<max=3>", "\"5\"", "\"5\""),
        (
            "Bytes<max=2>",
            "{\"$edictBytes\":\"00ff\"}",
            "{\"$edictBytes\":\"00ff\"}",
        ),
        ("Option<U32>", "null", "null"),
        ("Option<U32>", "7", "7"),
        ("List<U32,max=2>", "[1,\"2\"]", "[1,2]"),
        (
            "Record<a:U64,b:Bool>",
            "{\"b\":true,\"a\":1}",
            "{\"a\":1,\"b\":true}",
        ),
    ];
    for (text, input, output) in rows {
        let declared = declared(text);
        let value = from_json(&declared, &json(input)).unwrap();
        declared.check(&value).unwrap();
        let written = write_record(&to_json(&declared, &value).unwrap());
        assert_eq!(written.trim_end(), output, "{text} {input}");
    }
}

#[test]
fn typed_json_is_refused_at_its_place() {
    let rows = [
        ("U32", "4294967296", "", "ValueOutOfRange"),
        ("U32", "-1", "", "ValueOutOfRange"),
        ("U32", "\"01\"", "", "ValueOutOfRange"),
        ("U32", "\"-0\"", "", "ValueOutOfRange"),
        ("U32", "\"+1\"", "", "ValueOutOfRange"),
        ("U32", "\"\"", "", "ValueOutOfRange"),
        ("U32", "true", "", "WrongType"),
        ("U32", "null", "", "WrongType"),
        ("String<max=1>", "\"ab\"", "", "LengthOutOfRange"),
        ("String<max=1>", "1", "", "WrongType"),
        ("Bytes<max=1>", "\"00\"", "", "WrongType"),
        ("Bytes<max=1>", "{}", "", "MissingField"),
        (
            "Bytes<max=1>",
            "{\"$edictBytes\":\"0\"}",
            "/$edictBytes",
            "InvalidHex",
        ),
        (
            "Bytes<max=1>",
            "{\"$edictBytes\":\"FF\"}",
            "/$edictBytes",
            "InvalidHex",
        ),
        (
            "Bytes<max=1>",
            "{\"$edictBytes\":\"0000\"}",
            "",
            "LengthOutOfRange",
        ),
        (
            "Bytes<max=1>",
            "{\"$edictBytes\":\"\",\"x\":1}",
            "/x",
            "UnknownField",
        ),
        ("List<U32,max=1>", "[1,2]", "", "TooManyItems"),
        ("List<U32,max=3>", "[1,2,\"x\"]", "/2", "ValueOutOfRange"),
        ("Record<a:U64>", "{\"b\":1}", "/b", "UnknownField"),
        ("Record<a:U64>", "{}", "/a", "MissingField"),
        (
            "Record<a:Record<b:U64>>",
            "{\"a\":{\"b\":null}}",
            "/a/b",
            "WrongType",
        ),
        (
            "Record<a/~b:U64>",
            "{\"a/~b\":true}",
            "/a~1~0b",
            "WrongType",
        ),
    ];
    for (text, input, pointer, kind) in rows {
        let error = from_json(&declared(text), &json(input)).unwrap_err();
        let got = (error.pointer.as_str(), error.kind.name());
        assert_eq!(got, (pointer, kind), "{text} {input}");
        assert!(error.span.is_some());
    }
}

#[test]
fn untyped_json_goes_both_ways() {
    let rows = [
        "null",
        "true",
        "9007199254740991",
        "{\"$edictInt\":\"18446744073709551615\"}",
        "{\"$edictInt\":\"-18446744073709551616\"}",
        "{\"$edictBytes\":\"00ff\"}",
        "[\"a\",[],{}]",
        "{\"a\":1,\"bb\":{\"c\":null}}",
    ];
    for text in rows {
        let value = from_untyped_json(&json(text)).unwrap();
        let written = write_record(&to_untyped_json(&value).unwrap());
        assert_eq!(written.trim_end(), text);
        assert_eq!(decode(&encode(&value)), Ok(value));
    }
    let case = from_untyped_json(&json("{\"$case\":\"A\",\"payload\":1}")).unwrap();
    assert_eq!(
        case,
        Value::Array(vec![Value::text("A"), Value::unsigned(1)])
    );
    for (text, pointer, kind) in [
        (
            "{\"$edictInt\":\"18446744073709551616\"}",
            "/$edictInt",
            "ValueOutOfRange",
        ),
        ("{\"$edictInt\":1}", "/$edictInt", "WrongType"),
        ("{\"$edictInt\":\"1\",\"x\":1}", "/x", "UnknownField"),
        ("[{\"$edictBytes\":\"zz\"}]", "/0/$edictBytes", "InvalidHex"),
    ] {
        let error = from_untyped_json(&json(text)).unwrap_err();
        let got = (error.pointer.as_str(), error.kind.name());
        assert_eq!(got, (pointer, kind));
    }
}

#[test]
fn values_without_a_spelling_are_refused() {
    let marker = Value::text_map([("$edictBytes", Value::text("00"))]);
    let number_key = Value::map(vec![(Value::unsigned(1), Value::Null)]);
    for value in [marker, Value::Array(vec![number_key])] {
        let error = to_untyped_json(&value).unwrap_err();
        assert_eq!(error.kind.name(), "NotRepresentable");
    }
    let wide = Value::Integer(Integer::new(Integer::MIN).unwrap());
    let error = to_json(&declared("U32"), &wide).unwrap_err();
    assert_eq!(error.kind.name(), "WrongType");
}
