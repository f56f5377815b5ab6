// SPDX-License-Identifier: Apache-2.0
//! The subcommands `check`, `lock` and `fixture` as their users call them.

use crate::support::{Space, program};
use serde_json::{Value, json};
use std::fs;

const SUITE: &str = "suite/edict.test-suite.json";
const LOCK: &str = "suite/edict.test-toolchain-lock.json";

#[test]
fn check_names_the_identities_that_a_run_reports() {
    let space = Space::of("tour");
    let (_, report) = space.run(&["--no-state"]);
    let run = space.edict_test(&["check", "--suite", SUITE, "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["identity"], report["semantic"]["suite"]["identity"]);
    let cases = report["semantic"]["cases"].as_array().unwrap();
    let wanted: Vec<Value> = cases
        .iter()
        .map(|case| json!({"id": case["id"], "identity": case["case"]}))
        .collect();
    assert_eq!(answer["cases"], json!(wanted));
    let text = space.edict_test(&["check", "--suite", SUITE]);
    assert_eq!(text.code, 0);
    assert_eq!(text.stdout.lines().count(), 15);
    assert!(!text.stdout.contains("TAP"));
}

#[test]
fn check_builds_only_when_asked() {
    let space = Space::of("broken");
    assert_eq!(space.edict_test(&["check", "--suite", SUITE]).code, 0);
    let run = space.edict_test(&["check", "--suite", SUITE, "--build"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.stdout, "");
    assert_eq!(run.primary().as_deref(), Some("build/CompilerRefused"));
    let tour = Space::of("tour");
    let run = tour.edict_test(&["check", "--suite", SUITE, "--build"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn check_refuses_what_a_run_refuses_and_says_all_it_finds() {
    let space = Space::of("tour");
    fs::remove_file(space.path("fixtures/branch-loud.input.bin")).unwrap();
    fs::remove_file(space.path("fixtures/create.input.bin")).unwrap();
    let run = space.edict_test(&["check", "--suite", SUITE]);
    assert_eq!(run.code, 2);
    assert_eq!(run.primary().as_deref(), Some("snapshot/InputMissing"));
    assert!(run.kinds().iter().all(|kind| kind == "InputMissing"));
    assert_eq!(run.records().len(), 2, "{}", run.stderr);
}

#[test]
fn lock_pins_what_it_measures_and_check_sees_drift() {
    let space = Space::unpinned("tour");
    let pinned = space.edict_test(&["lock", "--suite", SUITE]);
    assert_eq!(pinned.code, 0, "{}", pinned.stderr);
    let lock = fs::read(space.directory.path().join(LOCK)).unwrap();
    // Without a word nothing is written over.
    let again = space.edict_test(&["lock", "--suite", SUITE]);
    assert_eq!(again.code, 2);
    assert_eq!(again.stdout, "");
    assert_eq!(fs::read(space.directory.path().join(LOCK)).unwrap(), lock);
    let same = space.edict_test(&["lock", "--check", LOCK]);
    assert_eq!((same.code, same.stderr.as_str()), (0, ""));
    assert_eq!(same.stdout, pinned.stdout);
    // A program inside of the suite that changes after it was pinned.
    fs::create_dir(space.path("tools")).unwrap();
    fs::copy(program("edict"), space.path("tools/edict")).unwrap();
    space.pin(&["--compiler", "suite/tools/edict"]);
    let text: Value =
        serde_json::from_slice(&fs::read(space.directory.path().join(LOCK)).unwrap()).unwrap();
    assert_eq!(
        text["roles"]["compiler"]["locator"],
        json!({"scope": "suite", "path": "tools/edict"})
    );
    assert_eq!(text["roles"]["host"]["locator"]["scope"], "outside");
    let mut bytes = fs::read(space.path("tools/edict")).unwrap();
    bytes.push(0);
    fs::write(space.path("tools/edict"), bytes).unwrap();
    let before = fs::read(space.directory.path().join(LOCK)).unwrap();
    let drift = space.edict_test(&["lock", "--check", LOCK]);
    assert_eq!(drift.code, 1, "{}", drift.stderr);
    assert!(drift.stdout.contains("compiler"), "{}", drift.stdout);
    assert!(!drift.stdout.contains("verifier"), "{}", drift.stdout);
    assert_eq!(fs::read(space.directory.path().join(LOCK)).unwrap(), before);
}

#[test]
fn locks_of_equal_programs_are_equal_wherever_they_stand() {
    let (one, two) = (Space::of("tour"), Space::of("tour"));
    let read = |space: &Space| fs::read(space.directory.path().join(LOCK)).unwrap();
    assert_eq!(read(&one), read(&two));
    let out = one.edict_test(&["lock", "--out", "elsewhere.json"]);
    assert_eq!(out.code, 0, "{}", out.stderr);
    let (_, a) = one.run(&["--no-state"]);
    let (_, b) = two.run(&["--no-state"]);
    assert_eq!(
        a["semantic"]["suite"]["lock"],
        b["semantic"]["suite"]["lock"]
    );
    let missing = one.edict_test(&["lock", "--out", "x.json", "--host", "absent"]);
    assert_eq!(missing.code, 2);
    assert_eq!(missing.primary().as_deref(), Some("toolchain/ToolMissing"));
    assert!(!one.directory.path().join("x.json").exists());
}

/// The package of the first program of a run, as a file.
fn package(space: &Space) -> &'static str {
    let (_, report) = space.run(&["--no-state"]);
    let bytes = space.artifact(&report, 0, "executable-operation-package");
    fs::write(space.directory.path().join("package.cbor"), bytes).unwrap();
    "package.cbor"
}

#[test]
fn fixtures_round_trip_through_the_declared_type() {
    let space = Space::of("tour");
    space.only(&["refuses-out-of-range"]);
    let package = package(&space);
    let input = ["--package", package, "--part", "input"];
    let payload = [
        "--package",
        package,
        "--part",
        "payload",
        "--coordinate",
        "tour.kit@1.OutOfRange",
    ];
    for (selection, name) in [
        (&input[..], "refuses-out-of-range.input.bin"),
        (&payload[..], "refuses-out-of-range.payload.bin"),
        (&["--untyped"][..], "refuses-out-of-range.input.bin"),
    ] {
        let file = format!("suite/fixtures/{name}");
        let decoded =
            space.edict_test(&[&["fixture", "decode"], selection, &["--in", &file]].concat());
        assert_eq!(decoded.code, 0, "{}", decoded.stderr);
        fs::write(space.directory.path().join("value.json"), &decoded.stdout).unwrap();
        let out = format!("{name}.{}", selection.len());
        let encoded = space.edict_test(
            &[
                &["fixture", "encode"],
                selection,
                &["--in", "value.json", "--out", &out],
            ]
            .concat(),
        );
        assert_eq!(encoded.code, 0, "{}", encoded.stderr);
        let made = fs::read(space.directory.path().join(&out)).unwrap();
        assert_eq!(made, fs::read(space.directory.path().join(&file)).unwrap());
    }
    // The identity is that of the report.
    let (_, report) = space.run(&["--no-state"]);
    fs::write(
        space.directory.path().join("input.json"),
        "{\"have\": 5, \"want\": 6}",
    )
    .unwrap();
    let encoded = space.edict_test(
        &[
            &["fixture", "encode"],
            &input[..],
            &["--in", "input.json", "--out", "made.bin"],
        ]
        .concat(),
    );
    assert_eq!(encoded.code, 0, "{}", encoded.stderr);
    fs::copy(
        space.directory.path().join("made.bin"),
        space.path("fixtures/refuses-out-of-range.input.bin"),
    )
    .unwrap();
    let (_, changed) = space.run(&["--no-state"]);
    let identity = |report: &Value| {
        report["semantic"]["cases"][0]["input"]["bytes"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        encoded.stdout.contains(&identity(&changed)),
        "{}",
        encoded.stdout
    );
    assert!(report["complete"] == true);
}

#[test]
fn fixtures_of_another_type_are_refused_with_a_pointer() {
    let space = Space::of("tour");
    space.only(&["refuses-out-of-range"]);
    let package = package(&space);
    for (text, pointer) in [
        ("{\"have\": 5}", "/want"),
        ("{\"have\": 5, \"want\": \"six\"}", "/want"),
        ("{\"have\": 5, \"want\": 6, \"more\": 1}", "/more"),
        ("{\"have\": 5, \"want\": -1}", "/want"),
    ] {
        fs::write(space.directory.path().join("value.json"), text).unwrap();
        let run = space.edict_test(&[
            "fixture",
            "encode",
            "--package",
            package,
            "--part",
            "input",
            "--in",
            "value.json",
            "--out",
            "out.bin",
        ]);
        assert_eq!(run.code, 2, "{text}");
        assert_eq!(run.stdout, "");
        let primary = run.records().into_iter().next().unwrap();
        assert_eq!(primary["pointer"], pointer, "{text}: {primary:#}");
        assert!(!space.directory.path().join("out.bin").exists());
    }
}

#[test]
fn a_command_without_its_action_says_that_one_is_needed() {
    let space = Space::unpinned("tour");
    for command in ["cache", "report", "fixture"] {
        let run = space.edict_test(&[command]);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{command}");
        assert!(
            run.stderr.contains("an action is required"),
            "{}",
            run.stderr
        );
    }
}

/// A checkout of one file `src/a.rs`, which is `x` and a line feed, as Git leaves it.
fn checkout(space: &Space) {
    let at = |path: &str| space.directory.path().join("checkout").join(path);
    fs::create_dir_all(at(".git")).unwrap();
    fs::create_dir_all(at("src")).unwrap();
    fs::write(at(".git/HEAD"), "1".repeat(40)).unwrap();
    fs::write(at("src/a.rs"), "x\n").unwrap();
    let mut index = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
    index.extend([0; 24]);
    index.extend(0o10_0644_u32.to_be_bytes());
    index.extend([0; 12]);
    index.extend([
        0x58, 0x7b, 0xe6, 0xb4, 0xc3, 0xf9, 0x3f, 0x93, 0xc4, 0x89, 0xc0, 0x11, 0x1b, 0xba, 0x55,
        0x96, 0x14, 0x7a, 0x26, 0xcb,
    ]);
    index.extend(b"\0\x08src/a.rs\0\0");
    index.extend([0; 20]);
    fs::write(at(".git/index"), index).unwrap();
}

#[test]
fn lock_refuses_a_dirty_work_tree() {
    let space = Space::unpinned("tour");
    checkout(&space);
    let changed = space.directory.path().join("checkout/src/a.rs");
    let added = space.directory.path().join("checkout/src/b.rs");
    let lock = ["lock", "--suite", SUITE, "--source", "host=checkout:src"];
    let refused = |path: &str| {
        let run = space.edict_test(&lock);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert_eq!(run.primary().as_deref(), Some("toolchain/SourceTreeDirty"));
        assert!(run.stderr.contains(path), "{}", run.stderr);
        assert!(!space.directory.path().join(LOCK).exists());
    };
    fs::write(&changed, "y\n").unwrap();
    refused("src/a.rs");
    fs::write(&changed, "x\n").unwrap();
    fs::write(&added, "").unwrap();
    refused("src/b.rs");
    fs::remove_file(&added).unwrap();
    std::os::unix::fs::symlink("a.rs", &added).unwrap();
    refused("src/b.rs");
    fs::remove_file(&added).unwrap();
    fs::remove_file(&changed).unwrap();
    fs::create_dir(space.directory.path().join("checkout/src/empty")).unwrap();
    refused("src/a.rs");
    fs::write(&changed, "x\n").unwrap();
    let pinned = space.edict_test(&lock);
    assert_eq!(pinned.code, 0, "{}", pinned.stderr);
    assert_eq!(space.edict_test(&["--suite", SUITE]).code, 0);
}
