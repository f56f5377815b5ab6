// SPDX-License-Identifier: Apache-2.0
//! Programs with effects in the second evaluation: what is read, what is left, and what is refused.

use crate::support::{Built, Workshop, table};
use edict_codec::cbor::{Value, encode};
use serde_json::{Value as Json, json};
use std::fs;

/// A program that replaces a note or raises what its failure says.
fn built() -> (Workshop, Built) {
    let mut workshop = Workshop::new();
    let table = table();
    let cases = table["cases"].as_array().unwrap();
    let case = cases.iter().find(|it| it["id"] == "eff-replace").unwrap();
    let built = workshop.build(case["source"].as_str().unwrap(), &Json::Null);
    (workshop, built.unwrap())
}

fn atom(space: &str, key: &[u8], value: &Value) -> Value {
    Value::text_map([
        ("key", Value::bytes(key)),
        ("space", Value::text(space)),
        ("value", Value::bytes(encode(value))),
    ])
}

fn note(count: u64, text: &[u8]) -> Value {
    Value::text_map([
        ("count", Value::unsigned(count)),
        ("text", Value::bytes(text)),
    ])
}

const NOTES: &str = "case.kit.note/v1";

/// The record of an evaluation on these atoms, and the atoms afterwards.
fn evaluated(built: &Built, name: &str, atoms: &[u8]) -> (i32, Json, Option<Vec<u8>>) {
    let place = |file: &str| built.directory.join(file);
    fs::write(place("before.cbor"), atoms).unwrap();
    let input = Value::text_map([("k", Value::bytes(b"note")), ("t", Value::bytes(b"two"))]);
    fs::write(place("input.bin"), encode(&input)).unwrap();
    let mut request = built.evaluate_request("run", &format!("{name}.body"));
    let after = format!("{name}.after");
    request["inputs"]["atoms"] = json!({"before": "before.cbor", "after": after});
    let said = built.ask(&request);
    let line = if said.code == 0 {
        &said.stdout
    } else {
        &said.stderr
    };
    let record = serde_json::from_str(line).unwrap();
    (said.code, record, fs::read(place(&after)).ok())
}

#[test]
fn a_program_finds_atoms_and_leaves_them() {
    let (_workshop, built) = built();
    let other = atom("other/v1", b"note", &Value::unsigned(1));
    let list = |count, text: &[u8]| {
        encode(&Value::Array(vec![
            atom(NOTES, b"note", &note(count, text)),
            other.clone(),
        ]))
    };
    let (code, record, after) = evaluated(&built, "first", &list(4, b"one"));
    assert_eq!(
        (code, &record["outcome"]),
        (0, &json!("result")),
        "{record}"
    );
    assert_eq!(after, Some(list(5, b"two")));
    // Nothing settles with an obstruction, and nothing is there by itself.
    let (code, record, after) = evaluated(&built, "second", &list(100, b"one"));
    assert_eq!(
        (code, &record["coordinate"]),
        (0, &json!("case.kit@1.Rejected"))
    );
    assert_eq!(after, Some(list(100, b"one")));
    let nothing = encode(&Value::Array(Vec::new()));
    let (code, record, after) = evaluated(&built, "third", &nothing);
    assert_eq!(
        (code, &record["coordinate"]),
        (0, &json!("case.kit@1.NoteMissing"))
    );
    assert_eq!(after, Some(nothing));
}

#[test]
fn effects_need_a_canonical_list_and_a_new_place_for_the_next_one() {
    let (_workshop, built) = built();
    let said = built.ask(&built.evaluate_request("run", "without.body"));
    assert!(said.stderr.contains("InputReadFailed"), "{}", said.stderr);
    let atoms = |keys: [&[u8]; 2]| {
        let rows = keys.map(|key| atom(NOTES, key, &note(1, b"")));
        encode(&Value::Array(rows.to_vec()))
    };
    let rows = Value::Array(vec![Value::text_map([("key", Value::bytes(b"note"))])]);
    let bad = [
        atoms([b"b", b"a"]),
        atoms([b"a", b"a"]),
        encode(&rows),
        encode(&Value::unsigned(1)),
        b"\xff".to_vec(),
    ];
    for (number, bytes) in bad.iter().enumerate() {
        let (code, record, after) = evaluated(&built, &format!("bad{number}"), bytes);
        let kind = record["kind"].as_str();
        assert_eq!((code, kind, after), (2, Some("InvalidArtifact"), None));
    }
    // The input is there now, the atoms are not.
    let said = built.ask(&built.evaluate_request("run", "without.body"));
    assert!(
        said.stderr.contains("EffectsUnsupported"),
        "{}",
        said.stderr
    );
    let good = atoms([b"a", b"note"]);
    assert_eq!(evaluated(&built, "twice", &good).0, 0);
    let mut request = built.evaluate_request("run", "another.body");
    request["inputs"]["atoms"] = json!({"before": "before.cbor", "after": "twice.after"});
    assert!(built.ask(&request).stderr.contains("OutputExists"));
    request["inputs"]["atoms"] = json!({"before": "before.cbor"});
    assert!(built.ask(&request).stderr.contains("InvalidRequest"));
}
