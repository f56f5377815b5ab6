// SPDX-License-Identifier: Apache-2.0
//! The suites through `edict-test`, and the evidence that the runs leave.

use super::support::{Space, table, tools, with};
use edict_codec::{cbor::Value, hex};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use xtask::jim::{
    evidence::{Run, differences},
    home,
    mutation::{Flips, flips, run_suite, run_suite_with},
    public_table, suite,
    table::Table,
    toolchain::repin,
};

#[test]
fn bt_022_every_row_runs_through_the_real_programs() {
    let table = table();
    let space = Space::of(&table);
    let run = run_suite(&tools(), space.path()).unwrap();
    let verdicts = run.verdicts();
    assert_eq!(verdicts.len(), 53);
    for (id, verdict) in &verdicts {
        assert_eq!(verdict, &["passed", "compare", "Passed"], "{id}");
    }
    assert_eq!(run.report["semantic"]["outcome"]["exitCode"], 0);
    assert_eq!(run.report["semantic"]["counts"]["skipped"], 0);
    assert_eq!(differences(&run, &table), BTreeMap::new());
    // Not executed is not green: what the slice cannot run is named, and is no case.
    let uncovered = table.uncovered();
    for id in &uncovered {
        println!("uncovered {id}");
        assert!(!verdicts.contains_key(*id));
    }
    assert_eq!(uncovered.len(), 7);
    written_vectors(&run);
}

/// The written vectors, found in the evidence of `insert-in-middle`.
fn written_vectors(run: &Run) {
    let operations = run.operations("insert-in-middle");
    let roots = [
        "479cca15b93301b1dbd7c706e909af0beffe70d0ed760840c0e789891188765c",
        "67076877709614048c75fc68ae4947f08b98e8cde562c93cd0c0f6b742b3ad1f",
    ];
    let values = [
        "a56474657874446865786f6776657273696f6e006873657175656e6365006a6c696e65427265616b73006b75\
         746631364c656e67746804",
        "a564746578744668656c6c786f6776657273696f6e016873657175656e6365016a6c696e65427265616b7300\
         6b75746631364c656e67746806",
    ];
    for ((operation, root), value) in operations.iter().zip(roots).zip(values) {
        let record = run.body(operation, "record").unwrap();
        let after = record.get("after").unwrap().get("stateRoot").unwrap();
        assert_eq!(
            hex::encode(after.as_array().unwrap()[2].as_bytes().unwrap()),
            root
        );
        let patch = run.body(operation, "patch").unwrap();
        let written = patch.as_array().unwrap()[0].get("value").unwrap();
        assert_eq!(hex::encode(written.as_bytes().unwrap()), value);
    }
}

#[test]
fn bt_022_the_second_evaluator_sees_every_edit_as_the_host_does() {
    let table = table().only(&suite::SMALL);
    let space = Space::of(&table);
    let run = run_suite_with(&tools(), space.path(), &["--cross-check"]).unwrap();
    assert_eq!(run.report["semantic"]["outcome"]["exitCode"], 0);
    let counts = &run.report["telemetry"]["crossCheck"];
    assert_eq!(counts["compared"], suite::SMALL.len());
    assert_eq!(counts["leftOut"], 0);
}

#[test]
fn bt_022_a_corrupted_expectation_fails_its_case_and_no_other() {
    let table = table().only(&suite::SMALL);
    let space = Space::of(&table);
    let payload = space.get("range-end-past-text.payload");
    space.put(
        "range-end-past-text.payload",
        &with(&payload, "byteLength", Value::unsigned(4)),
    );
    let check = space.get("insert-in-middle.input");
    space.put(
        "insert-in-middle.input",
        &with(&check, "text", Value::bytes(*b"hellx")),
    );
    let check = space.get("delete-middle.input");
    space.put(
        "delete-middle.input",
        &with(&check, "version", Value::unsigned(2)),
    );
    let run = run_suite(&tools(), space.path()).unwrap();
    let found = flips(&run);
    let expected = ["delete-middle", "insert-in-middle", "range-end-past-text"];
    assert_eq!(found.verdict.iter().collect::<Vec<_>>(), expected);
    assert!(
        found.setup.is_empty() && found.other.is_empty(),
        "{found:?}"
    );
    assert_eq!(run.report["semantic"]["outcome"]["exitCode"], 1);
    assert_eq!(message(&run, "insert-in-middle"), "text differs");
    assert_eq!(message(&run, "delete-middle"), "version differs");
}

fn message(run: &Run, id: &str) -> String {
    let cases = run.report["semantic"]["cases"].as_array().unwrap();
    let case = cases.iter().find(|it| it["id"] == id).unwrap();
    case["message"]["text"].as_str().unwrap().to_owned()
}

/// Semantic digests of all operations by case: what must not depend on order or place.
fn meaning(run: &Run) -> BTreeMap<String, Vec<Json>> {
    let ids = run.verdicts().into_keys();
    ids.map(|id| {
        let digests = run.operations(&id).into_iter().map(|operation| {
            let record = &operation["record"]["blob"]["bytes"];
            assert!(record.is_string(), "{id}");
            record.clone()
        });
        (id.clone(), digests.collect())
    })
    .collect()
}

#[test]
fn bt_022_order_company_and_place_do_not_change_what_a_case_means() {
    let mut table = table().only(&suite::SMALL);
    let first = Space::of(&table);
    let expected = meaning(&run_suite(&tools(), first.path()).unwrap());
    assert_eq!(expected.len(), suite::SMALL.len());
    table.cases.reverse();
    let second = Space::of(&table);
    assert_eq!(
        meaning(&run_suite(&tools(), second.path()).unwrap()),
        expected
    );
    for id in suite::SMALL {
        suite::write_cases(&table.only(&[id]), &second.path().join("suite")).unwrap();
        let found = meaning(&run_suite(&tools(), second.path()).unwrap());
        assert_eq!(
            found,
            BTreeMap::from([(id.to_owned(), expected[id].clone())])
        );
    }
}

#[test]
fn bt_022_inputs_of_another_length_are_refused_before_invocation() {
    for (member, bytes) in [
        ("bufferId", 31),
        ("bufferId", 33),
        ("basis", 31),
        ("basis", 33),
    ] {
        let space = Space::of(&table().only(&["noop-identical-bytes"]));
        let input = space.get("noop-identical-bytes.input");
        let wrong = Value::bytes(vec![1; bytes]);
        space.put("noop-identical-bytes.input", &with(&input, member, wrong));
        let run = run_suite(&tools(), space.path()).unwrap();
        assert_eq!(
            run.report["semantic"]["outcome"]["exitCode"], 2,
            "{member} {bytes}"
        );
        let [verdict, stage, kind] = run.verdicts().remove("noop-identical-bytes").unwrap();
        assert!(
            !["passed", "assertion_failed"].contains(&verdict.as_str()),
            "{stage}/{kind}"
        );
        let invoked = run.operations("noop-identical-bytes");
        assert!(
            invoked.iter().all(|it| it["role"] != "case"),
            "{stage}/{kind}"
        );
    }
}

#[test]
fn bt_022_vendored_lawpacks_and_pins_are_what_their_sources_give() {
    let space = tempfile::tempdir().unwrap();
    let programs = space.path().join("programs");
    suite::copy(&home().join("programs"), &programs).unwrap();
    let before = std::fs::read(programs.join("src/replace-range.edict")).unwrap();
    repin(&tools(), &programs).unwrap();
    assert_eq!(
        std::fs::read(programs.join("src/replace-range.edict")).unwrap(),
        before
    );
    for pack in ["jim-text", "jim-textseed"] {
        for file in [
            "manifest.cbor",
            "exports.cbor",
            "adapter.cbor",
            "configuration.cbor",
        ] {
            let built = std::fs::read(programs.join("vendor").join(pack).join(file)).unwrap();
            let place = home().join("programs/vendor").join(pack).join(file);
            assert!(
                built == std::fs::read(place).unwrap(),
                "{pack}/{file}: cargo xtask jim-vendor"
            );
        }
    }
}

/// Rows that the public table has not: other bases, several seeded fields, seeds that settle.
fn other_table() -> Table {
    let mut root: Json = serde_json::from_slice(&std::fs::read(public_table()).unwrap()).unwrap();
    let rows = root["cases"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|it| it["id"] == id).unwrap().clone();
    let renamed = |mut row: Json, id: &str| {
        row["id"] = id.into();
        row["bufferKey"] = format!("{id} key").into();
        row
    };
    let mut unknown = renamed(row("basis-stale"), "unknown-basis");
    unknown["basis"] = "unknown".into();
    let mut last = renamed(row("fact-sequence-exhausted"), "last-sequence");
    last["flatSeed"] =
        serde_json::json!({"sequence": "18446744073709551614", "version": 7, "lineBreaks": 3});
    last["expect"] = serde_json::json!({
        "posture": "committable", "byteLength": 3, "utf16Length": 3, "lineCount": 4,
        "sequence": "18446744073709551615", "version": "8",
        "resultText": {"byteLength": 3, "utf8Hex": "786263",
            "sha256": hex::encode(&edict_codec::digest::sha256(b"xbc"))},
    });
    let mut absent = renamed(row("fact-buffer-missing"), "absent-unknown");
    absent["basis"] = "unknown".into();
    let mut foreign = renamed(row("basis-other-buffer"), "foreign-after-edits");
    foreign["setupEdits"] = row("basis-stale")["setupEdits"].clone();
    foreign["expect"]["payload"]["sequence"] = "1".into();
    root["cases"] = vec![unknown, last, absent, foreign].into();
    Table::parse(root.to_string().as_bytes()).unwrap()
}

#[test]
fn bt_022_rows_of_another_table_run_as_well() {
    let table = other_table();
    let space = Space::of(&table);
    let run = run_suite(&tools(), space.path()).unwrap();
    assert_eq!(run.verdicts().len(), 4);
    assert_eq!(flips(&run), Flips::default(), "{:?}", run.verdicts());
    assert_eq!(differences(&run, &table), BTreeMap::new());
}
