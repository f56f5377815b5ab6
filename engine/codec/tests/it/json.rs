// SPDX-License-Identifier: Apache-2.0
//! The strict reader and the writer: every row of the contract, then properties.

use crate::support::{contract, input, json_to_oracle, node_to_cbor, node_to_oracle};
use edict_codec::{
    cbor, hex,
    json::{
        Json, JsonErrorKind, JsonLimits, Node, Span, Tree, parse, write_document, write_record,
    },
};
use proptest::prelude::*;

const LIMITS: JsonLimits = JsonLimits::document(1 << 20);

fn kind(text: &[u8]) -> Option<JsonErrorKind> {
    parse(text, LIMITS).err().map(|error| error.kind)
}

#[test]
fn every_row_of_the_contract_has_its_result() {
    let data = contract("strict-json-cases.json");
    let rows = data["cases"].as_array().unwrap();
    assert_eq!(rows.len(), 86);
    let mut wrong = Vec::new();
    for row in rows {
        let parsed = parse(&input(row), LIMITS);
        let got = parsed
            .as_ref()
            .map_or_else(|error| error.kind.name(), |_| "accept");
        let want = row["kind"].as_str().unwrap_or("accept");
        if got != want {
            wrong.push(format!("{}: {got} instead of {want}", row["name"]));
        }
        if let (Ok(node), Some(value)) = (&parsed, row["valueCborHex"].as_str()) {
            let encoded = hex::encode(&cbor::encode(&node_to_cbor(node)));
            if encoded != value {
                wrong.push(format!("{}: another value", row["name"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_rejection_points_at_the_offending_token() {
    let span = |text: &str| {
        let Span { start, end } = parse(text.as_bytes(), LIMITS).unwrap_err().span;
        text[start..end].to_owned()
    };
    assert_eq!(span(r#"{"a":1,"a":2}"#), r#""a""#);
    assert_eq!(span("[1.5]"), "1.5");
    assert_eq!(span("[18446744073709551616]"), "18446744073709551616");
    assert_eq!(span("[1] x"), "x");
    assert_eq!(span("[nul1]"), "n");
    assert_eq!(span("[\"\\x41\"]"), "\\x");
    assert_eq!(span("[\"\\ud800\"]"), "\\ud800");
    assert_eq!(span("[\"a\nb\"]"), "\n");
    assert_eq!(span("[01]"), "01");
    assert_eq!(span("{\"a\" 1}"), "1");
    assert_eq!(span(&format!("{}0", "[".repeat(33))), "[");
}

#[test]
fn every_value_and_name_carries_its_bytes() {
    let text = " {\"a\" : [ 1 , \"\\u00e9\" ] }";
    let node = parse(text.as_bytes(), LIMITS).unwrap();
    let at = |span: Span| &text[span.start..span.end];
    assert_eq!(at(node.span), "{\"a\" : [ 1 , \"\\u00e9\" ] }");
    let member = &node.as_object().unwrap()[0];
    assert_eq!(at(member.name_span), "\"a\"");
    let items = member.value.as_array().unwrap();
    assert_eq!(
        items.iter().map(|item| at(item.span)).collect::<Vec<_>>(),
        ["1", "\"\\u00e9\""]
    );
}

#[test]
fn the_limits_are_exact() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let with = |text: &str, limits| parse(text.as_bytes(), limits).err().map(|error| error.kind);
    assert_eq!(with(&nested(32), LIMITS), None);
    assert_eq!(
        with(&nested(33), LIMITS),
        Some(JsonErrorKind::NestingTooDeep)
    );
    let deep = JsonLimits {
        bytes: 4096,
        depth: 64,
    };
    assert_eq!(with(&nested(64), deep), None);
    assert_eq!(with(&nested(65), deep), Some(JsonErrorKind::NestingTooDeep));
    let short = JsonLimits { bytes: 3, depth: 1 };
    assert_eq!(with("123", short), None);
    assert_eq!(with("1234", short), Some(JsonErrorKind::TooLarge));
    assert_eq!(
        with("", JsonLimits { bytes: 0, depth: 0 }),
        Some(JsonErrorKind::EmptyDocument)
    );
    assert_eq!(with("1", JsonLimits { bytes: 9, depth: 0 }), None);
    assert_eq!(
        with("[]", JsonLimits { bytes: 9, depth: 0 }),
        Some(JsonErrorKind::NestingTooDeep)
    );
}

#[test]
fn what_is_wrong_first_is_reported_first() {
    assert_eq!(
        kind(b"\xef\xbb\xbf\xff"),
        Some(JsonErrorKind::ByteOrderMark)
    );
    assert_eq!(
        kind(b"{\"a\":1,\"a\":1}\xff"),
        Some(JsonErrorKind::InvalidUtf8)
    );
    assert_eq!(kind(b" \t\r\n"), Some(JsonErrorKind::EmptyDocument));
    assert_eq!(kind(b"{\"a\":1,\"a\":"), Some(JsonErrorKind::DuplicateKey));
    assert_eq!(kind(b"{\"a\":01,\"a\":1}"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"tru"), Some(JsonErrorKind::UnexpectedEnd));
    assert_eq!(kind(b"truth"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"[1,]"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"[1 2]"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"[1"), Some(JsonErrorKind::UnexpectedEnd));
    assert_eq!(kind(b"{1:2}"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"{\"a\"}"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"]"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(
        kind(b"\"\\ud800\\u0041\""),
        Some(JsonErrorKind::LoneSurrogate)
    );
    assert_eq!(
        kind(b"\"\\ud800\\ud800\""),
        Some(JsonErrorKind::LoneSurrogate)
    );
    assert_eq!(kind(b"\"\\ud800\\u12"), Some(JsonErrorKind::UnexpectedEnd));
    assert_eq!(kind(b"\"\\u12g4\""), Some(JsonErrorKind::InvalidEscape));
    assert_eq!(kind(b"-"), Some(JsonErrorKind::UnexpectedEnd));
    assert_eq!(kind(b"-x"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"1."), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"1e+"), Some(JsonErrorKind::JsonSyntax));
    assert_eq!(kind(b"1.0e5"), Some(JsonErrorKind::NumberForm));
    assert_eq!(kind(b"-0.0"), Some(JsonErrorKind::NumberForm));
}

#[test]
fn a_document_has_one_item_a_line_and_a_record_none() {
    let json = Json::object([
        (
            "text",
            Json::text("\u{8}\t\n\u{c}\r\"\\\u{1}\u{7f}/é\u{2028}"),
        ),
        (
            "list",
            Json::Array(vec![Json::Integer(-1), Json::Null, Json::Bool(true)]),
        ),
        ("empty", Json::Array(Vec::new())),
        ("object", Json::Object(Vec::new())),
    ]);
    let document = "{\n  \"text\": \"\\b\\t\\n\\f\\r\\\"\\\\\\u0001\u{7f}/é\u{2028}\",\n  \"list\": [\n    -1,\n    null,\n    true\n  ],\n  \"empty\": [],\n  \"object\": {}\n}\n";
    assert_eq!(write_document(&json), document);
    let record = "{\"text\":\"\\b\\t\\n\\f\\r\\\"\\\\\\u0001\u{7f}/é\u{2028}\",\"list\":[-1,null,true],\"empty\":[],\"object\":{}}";
    assert_eq!(write_record(&json), record);
    assert_eq!(write_document(&Json::Null), "null\n");
}

fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        any::<i64>().prop_map(|value| Json::Integer(value.into())),
        any::<u64>().prop_map(|value| Json::Integer(value.into())),
        any::<String>().prop_map(Json::Text),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6).prop_map(Json::object),
        ]
    })
}

fn texts() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\\u",
        "d800",
        "dc00",
        "0041",
        "null",
        "true",
        "false",
        "1",
        "0",
        "-",
        "-0",
        ".",
        "e",
        "E+",
        " ",
        "\n",
        "a",
        "\"a\"",
        "\"b\":",
        "é",
        "\u{0}",
        "18446744073709551615",
        "-9223372036854775808",
        "18446744073709551616",
    ]);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

/// Whether the two readers are meant to differ on a text that ours refuses.
fn stricter(kind: JsonErrorKind) -> bool {
    use JsonErrorKind as K;
    matches!(
        kind,
        K::DuplicateKey | K::NumberForm | K::NumberRange | K::NestingTooDeep
    )
}

fn no_member_twice(node: &Node) -> bool {
    match &node.tree {
        Tree::Array(items) => items.iter().all(no_member_twice),
        Tree::Object(members) => members.iter().enumerate().all(|(index, member)| {
            members[..index]
                .iter()
                .all(|before| before.name != member.name)
                && no_member_twice(&member.value)
        }),
        Tree::Null | Tree::Bool(_) | Tree::Integer(_) | Tree::Text(_) => true,
    }
}

proptest! {
    #[test]
    fn a_tree_written_and_read_again_is_equal(json in values()) {
        for text in [write_document(&json), write_record(&json)] {
            let node = parse(text.as_bytes(), LIMITS).unwrap();
            prop_assert_eq!(&Json::from(&node), &json);
            let oracle: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(oracle, json_to_oracle(&json));
        }
    }

    #[test]
    fn accepted_text_means_to_the_other_reader_the_same(text in texts()) {
        let oracle = serde_json::from_str::<serde_json::Value>(&text);
        match parse(text.as_bytes(), LIMITS) {
            Ok(node) => {
                prop_assert!(no_member_twice(&node));
                prop_assert_eq!(node_to_oracle(&node), oracle.unwrap());
            }
            Err(error) => prop_assert!(stricter(error.kind) || oracle.is_err(), "{}", error),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused_within_the_input(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Err(error) = parse(&bytes, LIMITS) {
            prop_assert!(error.span.start <= error.span.end);
            prop_assert!(error.span.end <= bytes.len());
        }
    }
}
