// SPDX-License-Identifier: Apache-2.0
//! H09, H10, H11 and H14: bodies of messages.

use crate::support::{
    client::Host,
    messages::{
        basis, budget, digest, durable, hello, hello_with_frames, invoke, map, nothing, observe,
        open, open_durable, recall, recover, scan, select, sound, text, with, without,
    },
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{Algorithm, TypedDigest},
};

#[test]
fn h09_other_encodings_are_refused_and_the_stream_goes_on() {
    let sound = encode(&map([("worldline", digest("echo/worldline/v1", 1))]));
    let mut trailing = sound.clone();
    trailing.push(0);
    let cases: [(&str, Vec<u8>); 9] = [
        ("long integer", vec![0xa1, 0x61, 0x61, 0x18, 0x01]),
        ("unsorted", vec![0xa2, 0x61, 0x62, 0x01, 0x61, 0x61, 0x02]),
        ("duplicate", vec![0xa2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02]),
        ("indefinite", vec![0xbf, 0xff]),
        ("float", vec![0xfa, 0, 0, 0, 0]),
        ("tag", vec![0xc0, 0xa0]),
        ("trailing byte", trailing),
        ("bad text", vec![0xa1, 0x61, 0xff, 0x01]),
        ("nothing", Vec::new()),
    ];
    let mut host = Host::serve(&[]);
    for (name, body) in cases {
        let reply = host.ask_bytes(8, &body);
        assert_eq!(reply.refusal(), ("malformed-body", None), "{name}");
        assert_eq!(host.ask_bytes(8, &sound).refused(), "context-unknown");
    }
}

/// Asks as a greeted client, or as one that greets for `hello`.
fn refusal_of(host: &mut Host, kind: u16, body: &Value) -> (String, Option<String>) {
    let reply = host.ask(kind, body);
    let (kind, path) = reply.refusal();
    (kind.to_owned(), path.map(str::to_owned))
}

#[test]
fn h10_each_key_of_each_message() {
    let nullable = [(4, "expect"), (5, "basis"), (5, "budget")];
    for (kind, body) in sound() {
        let mut host = if kind == 1 {
            Host::start(&["serve"])
        } else {
            Host::serve(&[])
        };
        let mut expect = |body: &Value, path: String| {
            assert_eq!(
                refusal_of(&mut host, kind, body),
                ("malformed-body".to_owned(), Some(path)),
                "{kind} {body:?}"
            );
        };
        expect(&Value::Array(Vec::new()), ".".to_owned());
        expect(&with(&body, "zzz", Value::Null), ".zzz".to_owned());
        for (key, _) in body.as_map().unwrap() {
            let key = key.as_text().unwrap();
            expect(&without(&body, key), format!(".{key}"));
            expect(&with(&body, key, Value::Bool(true)), format!(".{key}"));
            if !nullable.contains(&(kind, key)) {
                expect(&with(&body, key, Value::Null), format!(".{key}"));
            }
        }
    }
}

fn at(value: &Value, key: &str, inner: &str, new: Value) -> Value {
    with(value, key, with(value.get(key).unwrap(), inner, new))
}

/// Every body must be malformed at its path.
fn led_to(cases: Vec<(u16, Value, &str)>) {
    let mut host = Host::serve(&[]);
    for (kind, body, path) in cases {
        assert_eq!(
            refusal_of(&mut host, kind, &body),
            ("malformed-body".to_owned(), Some(path.to_owned()))
        );
    }
}

#[test]
fn h10_items_of_invoke_and_install_are_led_to() {
    let root = digest("echo/state-root/v1", 0);
    let sha = TypedDigest::new("echo/worldline/v1", Algorithm::Sha256, [1; 32]).to_value();
    let install = crate::support::messages::install();
    let budgeted = |it| with(&invoke(), "budget", it);
    let based = |it| with(&invoke(), "basis", it);
    let extra = with(&basis(1, root), "x", Value::Null);
    let foreign = digest("echo/receipt/v1", 1);
    let short = Value::bytes(vec![0; 31]);
    let no_pin = Value::Array(Vec::new());
    led_to(vec![
        (5, with(&invoke(), "worldline", foreign), ".worldline"),
        (5, with(&invoke(), "worldline", sha), ".worldline"),
        (5, with(&invoke(), "invocation", short), ".invocation"),
        (5, budgeted(budget(0, 1, 1)), ".budget.maxSteps"),
        (5, based(basis(1, Value::Null)), ".basis.stateRoot"),
        (5, based(extra), ".basis.x"),
        (
            2,
            at(&install, "policy", "authority", text("root")),
            ".policy.authority",
        ),
        (
            2,
            at(&install, "policy", "operation", text("")),
            ".policy.operation",
        ),
        (2, with(&install, "packageDigest", no_pin), ".packageDigest"),
    ]);
}

#[test]
fn h10_items_of_open_are_led_to() {
    let unnamed = TypedDigest::new("", Algorithm::Blake3, [0; 32]).to_value();
    let position = |commit| map([("lastLsn", Value::unsigned(3)), ("commit", commit)]);
    let seen = position(digest("echo/wal-record/v1", 1));
    let unseen = position(Value::Null);
    let granted = |bytes: &[u8]| {
        let grants = bytes.iter().map(|it| digest("echo/installation/v1", *it));
        with(&open(1), "grants", Value::Array(grants.collect()))
    };
    let stored = |open: &Value, key: &str, new| at(open, "storage", key, new);
    led_to(vec![
        (4, with(&open(1), "subject", unnamed), ".subject"),
        (4, with(&open(1), "mode", text("recover")), ".mode"),
        (4, granted(&[1, 3, 2]), ".grants[2]"),
        (4, granted(&[1, 1]), ".grants[1]"),
        (4, stored(&open(1), "name", text("a")), ".storage.name"),
        (
            4,
            stored(&open_durable(1, "a"), "name", Value::Null),
            ".storage.name",
        ),
        (4, stored(&open(1), "kind", text("disk")), ".storage.kind"),
        (4, with(&open(1), "expect", seen), ".expect"),
        (
            4,
            with(&recover(1, "a"), "expect", unseen),
            ".expect.commit",
        ),
    ]);
}

fn atom(space: &str, key: Vec<u8>) -> Value {
    map([("space", text(space)), ("key", Value::bytes(key))])
}

fn many(count: u64) -> Value {
    select(
        (0..count)
            .map(|n| atom("s", n.to_be_bytes().to_vec()))
            .collect(),
    )
}

#[test]
fn h10_items_of_observe_are_led_to() {
    let twice = select(vec![atom("s", vec![1]), atom("s", vec![1])]);
    let no_space = select(vec![atom("", vec![1])]);
    let long_key = select(vec![atom("s", vec![0; 257])]);
    let long_space = scan(&"s".repeat(257), Value::Null, 1);
    let long_after = scan("s", Value::bytes(vec![0; 257]), 1);
    let selected = |it| with(&observe(), "select", it);
    let bounded = |it| with(&observe(), "maxBytes", Value::unsigned(it));
    led_to(vec![
        (7, selected(twice), ".select.atoms[1]"),
        (7, selected(no_space), ".select.atoms[0].space"),
        (7, selected(long_key), ".select.atoms[0].key"),
        (7, selected(many(1_025)), ".select.atoms"),
        (7, selected(scan("s", Value::Null, 0)), ".select.limit"),
        (7, selected(scan("s", Value::Null, 1_025)), ".select.limit"),
        (7, selected(long_space), ".select.space"),
        (7, selected(long_after), ".select.after"),
        (7, selected(map([("kind", text("all"))])), ".select.kind"),
        (7, bounded(0), ".maxBytes"),
        (7, bounded(8_388_609), ".maxBytes"),
    ]);
}

#[test]
fn h10_the_greatest_values_are_judged_further() {
    let mut host = Host::serve(&[]);
    let named = open_durable(1, &"a".repeat(64));
    assert_eq!(host.ask(4, &named).refused(), "state-root-absent");
    let space = "s".repeat(256);
    let scanned = scan(&space, Value::bytes(vec![0; 256]), 1_024);
    for select in [many(1_024), scanned] {
        let body = with(&observe(), "select", select);
        assert_eq!(host.ask(7, &body).refused(), "context-unknown");
    }
}

#[test]
fn h10_names_of_contexts() {
    let mut host = Host::serve(&[]);
    let long = "a".repeat(65);
    for name in ["..", ".a", "a/b", "", "-a", "a b", "ä", "a\0", &long] {
        let body = with(&open(1), "storage", durable(name));
        assert_eq!(
            refusal_of(&mut host, 4, &body),
            (
                "malformed-body".to_owned(),
                Some(".storage.name".to_owned())
            ),
            "{name}"
        );
    }
}

#[test]
fn h11_deep_and_large_bodies() {
    let nested = |depth: usize| {
        let mut bytes = vec![0x81; depth - 1];
        bytes.push(0x80);
        bytes
    };
    // An array of n - 1 scalars has n nodes.
    let wide = |nodes: usize| encode(&Value::Array(vec![Value::Null; nodes - 1]));
    let mut host = Host::serve(&[]);
    for (body, path) in [
        (nested(128), Some(".")),
        (nested(129), None),
        (nested(8_000_000), None),
        (wide(65_536), Some(".")),
        (wide(65_537), None),
    ] {
        let reply = host.ask_bytes(5, &body);
        assert_eq!(reply.refusal(), ("malformed-body", path));
    }
    assert_eq!(host.ask(6, &recall()).refused(), "context-unknown");
}

#[test]
fn h14_names_with_control_characters() {
    let mut host = Host::start(&["serve"]);
    let hostile = "\u{1b}[31m\u{0}\n\u{9b}".repeat(100);
    let reply = host.ask(1, &with(&hello(), &hostile, Value::Null));
    let path = reply.refusal().1.unwrap();
    assert!(path.len() <= 256 && path.starts_with(".\u{1b}[31m"));
    let message = reply.text("message").unwrap();
    assert!(message.len() <= 512 && !message.contains(char::is_control));
    host.ask(1, &hello_with_frames(4_096)).ok(0x8001);
    host.ask(9, &nothing()).ok(0x8009);
}
