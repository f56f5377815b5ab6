// SPDX-License-Identifier: Apache-2.0
//! The table, the oracle, the written identities and the fixture writer; no program runs here.

use super::support::table;
use edict_codec::{cbor::encode, hex};
use serde_json::Value as Json;
use std::{collections::BTreeMap, path::Path};
use xtask::jim::{
    check::check,
    home,
    identity::{atom, basis, buffer_id, state_root, stored},
    model::{Edit, Fact, State, judge},
    public_table, suite,
    table::Table,
};

#[test]
fn bt_022_the_oracle_agrees_with_every_row_of_the_table() {
    let table = table();
    assert_eq!(table.cases.len(), 60);
    assert_eq!(table.uncovered().len(), 7);
    check(&table).unwrap();
}

/// The public table with one place changed.
fn changed(case: &str, pointer: &str, value: Json) -> Result<Table, String> {
    let mut root: Json = serde_json::from_slice(&std::fs::read(public_table()).unwrap()).unwrap();
    let cases = root["cases"].as_array_mut().unwrap();
    let row = cases.iter_mut().find(|it| it["id"] == case).unwrap();
    *row.pointer_mut(pointer).unwrap() = value;
    Table::parse(root.to_string().as_bytes()).map_err(|error| error.to_string())
}

#[test]
fn bt_022_a_wrong_expectation_is_found_before_anything_is_built() {
    let zeros = "0".repeat(64);
    for (case, pointer, value) in [
        (
            "insert-at-start",
            "/expect/resultText/sha256",
            Json::from(zeros),
        ),
        (
            "insert-at-start",
            "/expect/resultText/byteLength",
            Json::from(12),
        ),
        (
            "insert-at-start",
            "/expect/resultText/utf8Hex",
            Json::from("00"),
        ),
        ("insert-crlf", "/expect/lineCount", Json::from(3)),
        ("insert-crlf", "/expect/sequence", Json::from("2")),
        ("insert-crlf", "/expect/version", Json::from("0")),
        (
            "unicode-four-byte-insert",
            "/expect/utf16Length",
            Json::from(3),
        ),
        (
            "unicode-four-byte-insert",
            "/expect/byteLength",
            Json::from(4),
        ),
        ("basis-stale", "/expect/payload/sequence", Json::from("2")),
        (
            "basis-stale",
            "/expect/coordinate",
            Json::from("jim.text@1.NoOp"),
        ),
        ("basis-stale", "/expect/code", Json::from("no-op")),
        ("basis-stale", "/basis", Json::from("current")),
        ("delete-all", "/endByte", Json::from("4")),
        (
            "edit-after-emptying",
            "/setupEdits/0/endByte",
            Json::from(9),
        ),
    ] {
        let table = changed(case, pointer, value).unwrap();
        let error = check(&table).unwrap_err().to_string();
        assert!(error.contains(&format!("{case}: ")), "{pointer}: {error}");
        let out = tempfile::tempdir().unwrap();
        suite::write(&table, out.path()).unwrap_err();
        assert_eq!(
            std::fs::read_dir(out.path()).unwrap().count(),
            0,
            "{pointer}"
        );
    }
    for (pointer, value, why) in [
        (
            "/replacement/byteLength",
            Json::from(1),
            "segments disagree",
        ),
        ("/flatSlice", Json::from("maybe"), "unknown flatSlice"),
        ("/basis", Json::from("other"), "unknown basis"),
        ("/startByte", Json::from("-1"), "no unsigned number"),
        ("/expect/posture", Json::from("maybe"), "unknown posture"),
        (
            "/replacement/segments/0/times",
            Json::from(u64::MAX),
            "more than 4194304 bytes",
        ),
    ] {
        let error = changed("insert-at-start", pointer, value).unwrap_err();
        assert!(
            error.contains(why) && error.contains("insert-at-start"),
            "{error}"
        );
    }
    let seed = serde_json::json!({"text": "x"});
    let error = changed("fact-sequence-exhausted", "/flatSeed", seed).unwrap_err();
    assert!(error.contains("unknown field `text`"), "{error}");
}

#[test]
fn bt_022_identities_equal_the_written_vectors() {
    let id = buffer_id("insert-in-middle");
    let hexed = hex::encode;
    assert_eq!(
        hexed(&id),
        "ad87ff2a6066598c001cf390dc91a8a6da2e8aed9d68a45bd7bd75eac53ca3d7"
    );
    assert_eq!(
        hexed(&atom(&id)),
        "ae670268a25918df457b28e6201338824b988ab6e9329d7377d45ea983981d0e"
    );
    let before = State::created("hexo");
    assert_eq!(
        hexed(&stored(&before)),
        "a56474657874446865786f6776657273696f6e006873657175656e6365006a6c696e65427265616b73006b75\
         746631364c656e67746804"
    );
    assert_eq!(
        hexed(&basis(&id, &before)),
        "9c598059028b5ef3b2b87e7cb35d1942fa48d8d7d0ab79e872d34a0e62fd6ef2"
    );
    let edit = Edit {
        start: 2,
        end: 2,
        replacement: b"ll".to_vec(),
    };
    let after = judge(&Fact::Buffer(before.clone()), true, &edit).unwrap();
    assert_eq!(
        hexed(&stored(&after)),
        "a564746578744668656c6c786f6776657273696f6e016873657175656e6365016a6c696e65427265616b7300\
         6b75746631364c656e67746806"
    );
    assert_eq!(
        hexed(&basis(&id, &after)),
        "887d8a99973941549c61254dd01d76ecd5a802979b8324f0eb5c663e84d34811"
    );
    for (state, root) in [
        (
            before,
            "479cca15b93301b1dbd7c706e909af0beffe70d0ed760840c0e789891188765c",
        ),
        (
            after,
            "67076877709614048c75fc68ae4947f08b98e8cde562c93cd0c0f6b742b3ad1f",
        ),
    ] {
        assert_eq!(state_root(&[(atom(&id), stored(&state))]).hex(), root);
    }
}

#[test]
fn bt_022_a_basis_never_comes_back_with_the_text() {
    let id = buffer_id("basis-stale-even-if-text-matches");
    let first = State::created("abc");
    let apply = |state: &State, start, end, text: &str| {
        let edit = Edit {
            start,
            end,
            replacement: text.into(),
        };
        judge(&Fact::Buffer(state.clone()), true, &edit).unwrap()
    };
    let second = apply(&first, 1, 1, "Z");
    let third = apply(&second, 1, 2, "");
    assert_eq!(first.text, third.text);
    for (state, expected) in [
        (
            &first,
            "3d2461e1b129f4df7bdba70ba9f204895f98473f633c6029c30141c1279d0906",
        ),
        (
            &second,
            "368fd5c21dc7ba8db9e7d02bf6694d94e9c72db23d88de29c68bf6eddd80f28a",
        ),
        (
            &third,
            "141482a707ffe9492ce06bc457a6992126edc39ba63e5e265e80ff48a5c9ea95",
        ),
    ] {
        assert_eq!(hex::encode(&basis(&id, state)), expected);
    }
}

/// Every file below a directory with its bytes.
fn tree(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(place) = pending.pop() {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path
                    .strip_prefix(directory)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn bt_022_the_committed_suite_is_what_the_writer_writes() {
    let out = tempfile::tempdir().unwrap();
    let (first, second) = (out.path().join("first"), out.path().join("second"));
    let small = table().only(&suite::SMALL);
    assert_eq!(small.cases.len(), suite::SMALL.len());
    suite::write(&small, &first).unwrap();
    suite::write(&small, &second).unwrap();
    let written = tree(&first);
    assert_eq!(written, tree(&second));
    let mut committed = tree(&home());
    committed.retain(|name, _| {
        name == suite::MANIFEST || name.starts_with("fixtures/") || name.starts_with("programs/")
    });
    for (name, bytes) in &committed {
        assert_eq!(
            Some(bytes),
            written.get(name),
            "{name}; run: cargo xtask jim-vendor"
        );
    }
    assert_eq!(committed.len(), written.len());
    suite::write(&small, &first).unwrap_err();
}

#[test]
fn bt_022_uncovered_rows_are_listed_and_never_written() {
    let out = tempfile::tempdir().unwrap();
    suite::write(&table(), out.path()).unwrap();
    let listed = std::fs::read_to_string(out.path().join("uncovered.txt")).unwrap();
    let table = table();
    let expected: Vec<_> = table
        .uncovered()
        .into_iter()
        .map(|id| format!("uncovered {id}\n"))
        .collect();
    assert_eq!(listed, expected.concat());
    let manifest = std::fs::read_to_string(out.path().join(suite::MANIFEST)).unwrap();
    for id in table.uncovered() {
        assert!(!manifest.contains(&format!("\"{id}\"")), "{id}");
    }
    assert_eq!(manifest.matches("\"description\"").count(), 53);
}

#[test]
fn bt_022_invalid_replacements_are_judged_before_any_state() {
    for fact in [
        Fact::Absent,
        Fact::Foreign,
        Fact::Buffer(State::created("abc")),
    ] {
        let found = judge(
            &fact,
            false,
            &Edit {
                start: 9,
                end: 1,
                replacement: vec![0xFF],
            },
        );
        let found = found.unwrap_err();
        assert_eq!(found.coordinate, "echo.obstruction.input-constraint/v1");
        let payload = xtask::jim::story::payload(&[1; 32], &found);
        assert_eq!(
            hex::encode(&encode(&payload)),
            "a16a636f6e73747261696e746777686572652e30"
        );
    }
}
