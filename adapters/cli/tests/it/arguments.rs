// SPDX-License-Identifier: Apache-2.0
//! Command lines that ask for two things at once, or for something that would not be done: refused,
//! never half obeyed.

use crate::support::Space;

const SUITE: &str = "suite/edict.test-suite.json";
const LOCK: &str = "suite/edict.test-toolchain-lock.json";

/// Each command line is a usage error whose message has the words, and prints no answer.
fn refuses(space: &Space, rows: &[(&[&str], &str)]) {
    for (arguments, words) in rows {
        let run = space.edict_test(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.stdout);
        assert_eq!(
            run.primary().as_deref(),
            Some("arguments/UsageError"),
            "{arguments:?}"
        );
        assert!(run.stderr.contains(words), "{arguments:?}: {}", run.stderr);
        assert!(!run.stdout.contains("ok "), "{arguments:?}: {}", run.stdout);
    }
}

#[test]
fn isolation_takes_one_word_of_each_pair() {
    let space = Space::of("tour");
    refuses(
        &space,
        &[
            (
                &["--suite", SUITE, "--isolation", "required,best-effort"],
                "one of `required` and `best-effort`",
            ),
            (
                &["--suite", SUITE, "--isolation", "required,required"],
                "one of `required` and `best-effort`",
            ),
            (
                &["--suite", SUITE, "--isolation", "process,required,context"],
                "one of `context` and `process`",
            ),
        ],
    );
}

#[test]
fn numbers_are_decimal_digits_without_sign_or_leading_zero() {
    let space = Space::of("tour");
    assert_eq!(space.edict_test(&["--suite", SUITE]).code, 0);
    let state = "suite/.edict-test";
    let gc = ["cache", "gc", "--state", state, "--dry-run"];
    for (option, value) in [
        ("--max-bytes", "007"),
        ("--max-bytes", "+7"),
        ("--max-age-days", "00"),
        ("--keep-runs", "01"),
        ("--keep-runs", " 1"),
        ("--keep-runs", "1_0"),
    ] {
        let arguments = [gc.as_slice(), &[option, value]].concat();
        refuses(&space, &[(&arguments, "no sign and no leading zero")]);
    }
    let why = ["why", "create", "--suite", SUITE];
    for (option, value) in [
        ("--prove-max", "016"),
        ("--prove-max", "+16"),
        ("--from", "01"),
        ("--to", "+1"),
    ] {
        let arguments = [why.as_slice(), &[option, value]].concat();
        refuses(&space, &[(&arguments, "no sign and no leading zero")]);
    }
    for (value, words) in [("0", "1 to 64"), ("65", "1 to 64")] {
        let arguments = [why.as_slice(), &["--prove-max", value]].concat();
        refuses(&space, &[(&arguments, words)]);
    }
    let kept = [gc.as_slice(), &["--keep-runs", "0", "--max-bytes", "10"]].concat();
    assert_eq!(space.edict_test(&kept).code, 0);
}

#[test]
fn lock_names_one_place_and_obeys_every_option() {
    let space = Space::of("tour");
    refuses(
        &space,
        &[
            (&["lock"], "--suite or --out or --check is required"),
            (
                &["lock", "--shape", "bundled"],
                "--suite or --out or --check is required",
            ),
            (
                &["lock", "--check", LOCK, "--compiler", "edict"],
                "cannot be used with",
            ),
            (
                &["lock", "--check", LOCK, "--host", "edict"],
                "cannot be used with",
            ),
            (
                &["lock", "--check", LOCK, "--shape", "upstream"],
                "cannot be used with",
            ),
            (
                &["lock", "--check", LOCK, "--existing", "replace"],
                "cannot be used with",
            ),
            (
                &["lock", "--check", LOCK, "--source", "host=.:src"],
                "cannot be used with",
            ),
            (
                &["lock", "--out", "own.json", "--provider-package", "suite"],
                "--provider-package is of shape upstream",
            ),
            (
                &[
                    "lock",
                    "--out",
                    "own.json",
                    "--source",
                    "targetProfile=.:suite",
                ],
                "targetProfile is no program",
            ),
        ],
    );
    assert!(!space.directory.path().join("own.json").exists());
}

#[test]
fn fixture_takes_one_type() {
    let space = Space::of("tour");
    let from = ["fixture", "encode", "--in", SUITE, "--out", "made.bin"];
    let more = |options: &[&'static str]| [from.as_slice(), options].concat();
    refuses(
        &space,
        &[
            (&more(&[]), "--package or --untyped is required"),
            (
                &more(&["--part", "input"]),
                "--package or --untyped is required",
            ),
            (
                &more(&["--untyped", "--part", "input"]),
                "cannot be used with",
            ),
            (
                &more(&["--untyped", "--coordinate", "a@1"]),
                "cannot be used with",
            ),
            (
                &more(&["--package", SUITE, "--part", "input", "--coordinate", "a@1"]),
                "--coordinate is of --part payload",
            ),
        ],
    );
    assert!(!space.directory.path().join("made.bin").exists());
    // What stands there is not written over, and the advice names no option of another command.
    let run = space.edict_test(&[
        "fixture",
        "encode",
        "--untyped",
        "--in",
        SUITE,
        "--out",
        SUITE,
    ]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("exists; choose another name"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("--existing"), "{}", run.stderr);
}

#[test]
fn why_asks_one_question() {
    let space = Space::of("tour");
    let file = [
        "why",
        "--suite",
        SUITE,
        "--file",
        "fixtures/create.input.bin",
    ];
    let not = [
        "why", "--suite", SUITE, "--not", "create", "--edited", SUITE,
    ];
    for more in [
        &["--prove"] as &[&str],
        &["--from", "1"],
        &["--to", "1"],
        &["--prove-max", "2"],
    ] {
        refuses(
            &space,
            &[
                (&[file.as_slice(), more].concat(), "cannot be used with"),
                (&[not.as_slice(), more].concat(), "cannot be used with"),
            ],
        );
    }
    refuses(
        &space,
        &[
            (
                &["why", "create", "--suite", SUITE, "--edited", SUITE],
                "cannot be used with",
            ),
            (
                &["why", "create", "--suite", SUITE, "--prove-max", "2"],
                "--prove is required",
            ),
        ],
    );
}
