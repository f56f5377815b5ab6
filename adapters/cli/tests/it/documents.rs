// SPDX-License-Identifier: Apache-2.0
//! Input that is refused: the exact kind and place, no process of the toolchain, and nothing on disk
//! but a report that says incomplete.

use crate::{
    standin::refused,
    support::{Run, Space},
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, os::unix::fs::symlink, path::PathBuf};

/// The tour with a toolchain that says so when it is started: every program answers with 9.
fn space() -> Space {
    let space = Space::of("tour");
    let script = space.script("never", "#!/bin/sh\nexit 9\n");
    let other = space.script("never-verifies", "#!/bin/sh\nexit 8\n");
    space.pin(&[
        "--compiler",
        &script,
        "--host",
        &script,
        "--verifier",
        &other,
    ]);
    space
}

/// Runs the suite without state; nothing may appear but the report, and no input may change.
fn run(space: &Space) -> (Run, Value) {
    let before = space.tree();
    let ran = space.run(&["--no-state"]);
    let after = space.tree();
    let report = space.directory.path().join("run.json");
    let new: BTreeSet<PathBuf> = after
        .keys()
        .filter(|path| !before.contains_key(*path))
        .cloned()
        .collect();
    assert_eq!(new, BTreeSet::from([report.clone()]), "{}", ran.0.stderr);
    for (path, bytes) in &before {
        assert_eq!(after.get(path), Some(bytes), "{} changed", path.display());
    }
    fs::remove_file(report).unwrap();
    ran
}

/// Pointer, and the text that the span covers.
fn place(space: &Space, run: &Run, file: &str) -> (Value, String) {
    let primary = run
        .records()
        .into_iter()
        .find(|it| it["primary"] == true)
        .unwrap();
    let span = &primary["span"];
    let at = |name: &str| usize::try_from(span[name].as_u64().unwrap()).unwrap();
    let text = fs::read(space.path(file)).unwrap();
    let covered = String::from_utf8_lossy(&text[at("start")..at("end")]).into_owned();
    (primary["pointer"].clone(), covered)
}

const MANIFEST: &str = "edict.test-suite.json";
const LOCK: &str = "edict.test-toolchain-lock.json";

#[test]
fn bt_002_b26_repeated_keys_are_refused_at_every_depth() {
    let limits = "\"cases\": [";
    let rows = [
        ("\"schema\":", "\"id\": \"a\", \"schema\":", "\"id\""),
        ("\"schema\":", "\"\\u0069d\": \"a\", \"schema\":", "\"id\""),
        (
            "\"id\": \"branch-loud\",",
            "\"id\": \"branch-loud\", \"id\": \"branch-loud\",",
            "\"id\"",
        ),
        (
            limits,
            "\"limits\": {\"maxCases\": 2, \"maxCases\": 2}, \"cases\": [",
            "\"maxCases\"",
        ),
        (
            "\"kind\": \"caseResult\",",
            "\"kind\": \"caseResult\", \"kind\": \"caseResult\",",
            "\"kind\"",
        ),
    ];
    for (old, new, covered) in rows {
        let space = space();
        space.edit(MANIFEST, old, new);
        let (ran, report) = run(&space);
        refused(&ran, &report, "manifest/DuplicateKey");
        assert_eq!(
            place(&space, &ran, MANIFEST),
            (Value::Null, covered.to_owned())
        );
        assert_eq!(
            ran.stdout.lines().count(),
            2,
            "no plan is known: {}",
            ran.stdout
        );
        assert_eq!(report["semantic"]["suite"], Value::Null);
        assert_eq!(report["semantic"]["cases"], json!([]));
    }
}

#[test]
fn bt_002_b27_member_names_are_compared_by_code_points() {
    let other = space();
    other.edit(MANIFEST, "\"schema\":", "\"Cases\": [], \"schema\":");
    let (ran, report) = run(&other);
    refused(&ran, &report, "manifest/UnknownField");
    assert_eq!(place(&other, &ran, MANIFEST).0, "/Cases");
    let escaped = space();
    escaped.edit(
        MANIFEST,
        "\"cases\": [",
        "\"c\\u0061ses\": [], \"cases\": [",
    );
    let (ran, report) = run(&escaped);
    refused(&ran, &report, "manifest/DuplicateKey");
}

#[test]
fn bt_002_documents_are_refused_with_kind_pointer_and_span() {
    let rows: [(&str, &str, &str, &str, &str); 9] = [
        (
            "edict.test-suite/v1",
            "edict.test-suite/v2",
            "UnsupportedSchema",
            "/schema",
            "\"edict.test-suite/v2\"",
        ),
        (
            "\"id\": \"branch-loud\",",
            "\"id\": \"choose-left\",",
            "DuplicateCaseId",
            "/cases/3/id",
            "\"choose-left\"",
        ),
        (
            "\"id\": \"branch-loud\",",
            "\"id\": \"-\",",
            "InvalidIdentifier",
            "/cases/3/id",
            "\"-\"",
        ),
        (
            "\"id\": \"branch-loud\",",
            "\"id\": null,",
            "WrongType",
            "/cases/3/id",
            "null",
        ),
        (
            "fixtures/branch-loud.input.bin",
            "../branch-loud.input.bin",
            "PathEscape",
            "/cases/3/input",
            "\"../branch-loud.input.bin\"",
        ),
        (
            "fixtures/branch-loud.input.bin",
            "/etc/passwd",
            "PathEscape",
            "/cases/3/input",
            "\"/etc/passwd\"",
        ),
        (
            "fixtures/branch-loud.input.bin",
            "fixtures//b.bin",
            "InvalidPath",
            "/cases/3/input",
            "\"fixtures//b.bin\"",
        ),
        (
            "\"toolchainLock\":",
            "\"filter\": 1, \"toolchainLock\":",
            "UnknownField",
            "/filter",
            "\"filter\"",
        ),
        (
            "\"description\": \"the loud branch\",",
            "\"timeout\": 3,",
            "UnknownField",
            "/cases/3/timeout",
            "\"timeout\"",
        ),
    ];
    for (old, new, kind, pointer, covered) in rows {
        let space = space();
        space.edit(MANIFEST, old, new);
        let (ran, report) = run(&space);
        refused(&ran, &report, &format!("manifest/{kind}"));
        assert_eq!(
            place(&space, &ran, MANIFEST),
            (pointer.into(), covered.to_owned()),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn bt_002_a_lock_is_refused_after_the_plan() {
    let rows = [
        (
            "edict.test-toolchain-lock/v1",
            "edict.test-toolchain-lock/v0",
            "UnsupportedSchema",
        ),
        (
            "\"shape\":",
            "\"comment\": \"\", \"shape\":",
            "UnknownField",
        ),
        (
            "\"shape\":",
            "\"shape\": \"bundled\", \"shape\":",
            "DuplicateKey",
        ),
        ("\"verifier\": {", "\"Verifier\": {", "UnknownField"),
    ];
    for (old, new, kind) in rows {
        let space = space();
        space.edit(LOCK, old, new);
        let (ran, report) = run(&space);
        refused(&ran, &report, &format!("lock/{kind}"));
        assert!(ran.stdout.starts_with("TAP version 14\n1..14\nBail out! "));
        assert_eq!(report["semantic"]["counts"]["notRun"], 14);
        assert_eq!(report["semantic"]["suite"]["lock"], Value::Null);
        place(&space, &ran, LOCK);
    }
    let space = space();
    fs::remove_file(space.path(LOCK)).unwrap();
    let (ran, report) = run(&space);
    refused(&ran, &report, "lock/LockUnreadable");
}

/// What stands in place of a file of the suite.
fn spoil(space: &Space, file: &str, with: &str) {
    let path = space.path(file);
    let kept = space.directory.path().join("kept");
    fs::rename(&path, &kept).unwrap();
    match with {
        "nothing" => {}
        "link inside" => {
            fs::copy(&kept, space.path("inside")).unwrap();
            symlink(space.path("inside"), path).unwrap();
        }
        "link outside" => symlink(kept, path).unwrap(),
        "directory" => fs::create_dir(path).unwrap(),
        "fifo" => mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap(),
        other => panic!("{other}"),
    }
}

#[test]
fn bt_002_b30_links_pipes_and_holes_are_refused_where_a_file_was_expected() {
    let source = "programs/src/branch.edict";
    let fixture = "fixtures/branch-loud.input.bin";
    let application = "programs/branch.application.json";
    let exports = "programs/vendor/tour-kit/exports.cbor";
    for file in [source, fixture, application, exports] {
        for (with, kind) in [
            ("nothing", "InputMissing"),
            ("link inside", "SymlinkRejected"),
            ("link outside", "SymlinkRejected"),
            ("directory", "NotARegularFile"),
            ("fifo", "NotARegularFile"),
        ] {
            let space = space();
            spoil(&space, file, with);
            let (ran, report) = run(&space);
            refused(&ran, &report, &format!("snapshot/{kind}"));
            assert!(ran.stdout.starts_with("TAP version 14\n1..14\nBail out! "));
            let primary = ran
                .records()
                .into_iter()
                .find(|it| it["primary"] == true)
                .unwrap();
            assert!(!primary["caseId"].is_null(), "{file} {with}: {primary:#}");
        }
    }
}

#[test]
fn b30_a_pipe_as_manifest_or_lock_is_refused_like_any_other_file() {
    let other = space();
    spoil(&other, LOCK, "fifo");
    let (ran, report) = run(&other);
    refused(&ran, &report, "lock/LockUnreadable");
    let space = space();
    spoil(&space, MANIFEST, "fifo");
    let (ran, report) = run(&space);
    refused(&ran, &report, "manifest/ManifestUnreadable");
}

#[test]
fn bt_002_a_link_on_the_way_is_an_escape_like_the_link_itself() {
    let space = space();
    let moved = space.directory.path().join("moved");
    fs::rename(space.path("fixtures"), &moved).unwrap();
    symlink(&moved, space.path("fixtures")).unwrap();
    let (ran, report) = run(&space);
    refused(&ran, &report, "snapshot/SymlinkRejected");
}

#[test]
fn bt_002_application_documents_are_judged_by_the_runner_too() {
    let application = "programs/branch.application.json";
    let rows = [
        ("edict.application/v1", "edict.application/v2", "/schema"),
        ("\"coordinate\":", "\"extra\": 1, \"coordinate\":", "/extra"),
        ("\"src/branch.edict\"", "\"../outside.edict\"", "/sources/0"),
        (
            "\"src/branch.edict\"",
            "\"src/branch.edict\", \"src/take.edict\"",
            "/sources",
        ),
    ];
    for (old, new, pointer) in rows {
        let space = space();
        space.edit(application, old, new);
        let (ran, report) = run(&space);
        refused(&ran, &report, "snapshot/ApplicationInvalid");
        let primary = ran
            .records()
            .into_iter()
            .find(|it| it["primary"] == true)
            .unwrap();
        assert_eq!(primary["pointer"], pointer, "{primary:#}");
        assert_eq!(primary["caseId"], "branch-loud");
    }
}

#[test]
fn bt_002_the_default_state_directory_is_no_input_and_not_made_for_a_refused_manifest() {
    let space = space();
    space.edit(MANIFEST, "edict.test-suite/v1", "edict.test-suite/v2");
    let before = space.tree();
    let refusal = space.edict_test(&["--suite", "suite/edict.test-suite.json"]);
    assert_eq!(refusal.code, 2);
    assert_eq!(space.tree(), before);
}
