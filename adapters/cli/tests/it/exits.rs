// SPDX-License-Identifier: Apache-2.0
//! Every way to exit status 2 leaves a version line and a bail-out; help and version leave no TAP.

use crate::support::{Run, Space, consumers};
use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

/// A document without a plan: version, and a bail-out of this kind.
#[track_caller]
fn bails(run: &Run, primary: &str) {
    let kind = primary.split('/').next_back().unwrap();
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert!(
        run.stdout
            .starts_with(&format!("TAP version 14\nBail out! {kind}: ")),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.lines().count(), 2, "{}", run.stdout);
    assert_eq!(run.primary().as_deref(), Some(primary), "{}", run.stderr);
    assert_eq!(consumers(run.stdout.as_bytes()).verdict, "failing");
}

#[test]
fn every_usage_error_of_the_run_form_is_a_bail_out() {
    let space = Space::unpinned("tour");
    let rows: [&[&str]; 12] = [
        &[],
        &["--suite"],
        &["--suite", "a", "--suite", "b"],
        &["--sui", "a"],
        &["--suite", "a", "--unknown"],
        &["--suite", "a", "extra"],
        &["run", "--suite", "a"],
        &["--suite", "a", "--report-existing", "append"],
        &["--suite", "a", "--state", "x", "--no-state"],
        &["--suite", "a", "--keep-journal"],
        &["--suite", "a", "--isolation", "none"],
        &["-v"],
    ];
    for arguments in rows {
        bails(&space.edict_test(arguments), "arguments/UsageError");
    }
    assert!(
        space
            .edict_test(&[])
            .stdout
            .contains("Bail out! UsageError: "),
    );
}

#[test]
fn unreadable_suites_are_bail_outs_without_a_plan() {
    let space = Space::unpinned("tour");
    for path in [
        "absent/suite.json",
        "suite/absent.json",
        "suite",
        "suite/",
        "",
    ] {
        let run = space.edict_test(&["--suite", path]);
        assert_eq!(run.code, 2, "{path}");
        let kind = run.primary().unwrap();
        assert!(
            ["manifest/ManifestUnreadable", "arguments/UsageError"].contains(&kind.as_str()),
            "{path}: {kind}"
        );
        bails(&run, &kind);
    }
    for (text, kind) in [
        ("", "EmptyDocument"),
        ("{", "UnexpectedEnd"),
        ("\u{feff}{}", "ByteOrderMark"),
        ("{} {}", "TrailingData"),
        ("[1.5]", "NumberForm"),
        ("[]", "WrongType"),
        ("{}", "MissingField"),
    ] {
        std::fs::write(space.path("edict.test-suite.json"), text).unwrap();
        let run = space.edict_test(&["--suite", "suite/edict.test-suite.json"]);
        bails(&run, &format!("manifest/{kind}"));
    }
    std::fs::write(space.path("edict.test-suite.json"), b"{\"\xff\":1}").unwrap();
    let run = space.edict_test(&["--suite", "suite/edict.test-suite.json"]);
    bails(&run, "manifest/InvalidUtf8");
}

#[test]
fn a_path_that_is_no_text_is_a_path_and_is_shown_by_its_bytes() {
    let space = Space::unpinned("tour");
    let foreign = OsStr::from_bytes(b"absent-\xff<.json");
    let output = space.command(&["--suite"]).arg(foreign).output().unwrap();
    let run = Run::of(output);
    bails(&run, "manifest/ManifestUnreadable");
    assert!(
        run.stdout.contains("absent-<FF><3C>.json"),
        "{}",
        run.stdout
    );
    // One that exists works.
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    let directory = space.directory.path().join(OsStr::from_bytes(b"su\xffite"));
    std::fs::rename(&space.suite, &directory).unwrap();
    let output = space
        .command(&["--no-state", "--suite"])
        .arg(directory.join("edict.test-suite.json"))
        .output()
        .unwrap();
    let run = Run::of(output);
    assert_eq!(run.code, 0, "{}\n{}", run.stdout, run.stderr);
}

#[test]
fn places_that_cannot_be_used_are_bail_outs() {
    let space = Space::of("tour");
    let suite = ["--suite", "suite/edict.test-suite.json"];
    std::fs::write(space.directory.path().join("file"), "x").unwrap();
    let run = space.edict_test(&[&suite[..], &["--state", "file"]].concat());
    assert_eq!(run.code, 2);
    assert_eq!(
        run.primary().as_deref(),
        Some("arguments/StateUnusable"),
        "{}",
        run.stderr
    );
    assert!(
        run.stdout.starts_with("TAP version 14\n")
            && run.stdout.contains("Bail out! StateUnusable: ")
    );
    let run = space.edict_test(&[&suite[..], &["--temp-root", "absent"]].concat());
    assert_eq!(run.code, 2);
    let last = run.stdout.lines().next_back().unwrap();
    assert!(last.starts_with("Bail out! "), "{}", run.stdout);
    assert!(
        run.stdout.starts_with("TAP version 14\n1..14\n"),
        "{}",
        run.stdout
    );
}

#[test]
fn help_and_version_print_no_tap() {
    let space = Space::unpinned("tour");
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["-h"],
        &["-V"],
        &["--suite", "a", "--help"],
    ] {
        let run = space.edict_test(arguments);
        assert_eq!(run.code, 0, "{arguments:?}");
        assert!(!run.stdout.contains("TAP version"), "{}", run.stdout);
        assert_eq!(run.stderr, "");
    }
    let help = space.edict_test(&["--help"]).stdout;
    for word in [
        "Exit status",
        "stdout",
        "stderr",
        "Ceilings",
        "Example",
        "--report-json",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
}

#[test]
fn usage_errors_of_subcommands_leave_standard_output_empty() {
    let space = Space::unpinned("tour");
    let rows: [&[&str]; 8] = [
        &["check"],
        &["check", "--suite", "a", "--suite", "b"],
        &["lock"],
        &["lock", "--suite", "a", "--shape", "other"],
        &["fixture"],
        &["fixture", "encode", "--untyped"],
        &["why"],
        &["report", "verify"],
    ];
    for arguments in rows {
        let run = space.edict_test(arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert_eq!(run.stdout, "", "{arguments:?}");
        assert_eq!(
            run.primary().as_deref(),
            Some("arguments/UsageError"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn nothing_in_the_environment_changes_a_run() {
    let space = Space::of("failing");
    let (wanted, report) = space.run(&["--no-state"]);
    let output = space
        .command(&[
            "--suite",
            "suite/edict.test-suite.json",
            "--no-state",
            "--report-json",
            "other.json",
        ])
        .env_clear()
        .env("TMPDIR", "/nonexistent")
        .env("CI", "true")
        .env("TERM", "dumb")
        .env("LANG", "tr_TR.UTF-8")
        .env("TZ", "Asia/Kathmandu")
        .env("EDICT_TEST_UPDATE", "1")
        .env("RUST_LOG", "trace")
        .output()
        .unwrap();
    let run = Run::of(output);
    assert_eq!(run.stdout, wanted.stdout);
    assert_eq!(run.stderr, wanted.stderr);
    let other = std::fs::read(space.directory.path().join("other.json")).unwrap();
    let other: serde_json::Value = serde_json::from_slice(&other).unwrap();
    assert_eq!(other["semantic"], report["semantic"]);
}
