// SPDX-License-Identifier: Apache-2.0
//! `init`: the project runs, its lawpacks are what the compiler makes, and nothing is overwritten.

use crate::{
    project::{SOURCE, SUITE, project, run},
    support::{consumers, copy, program, root, verdicts},
};
use std::{
    fs,
    io::Write as _,
    path::Path,
    process::{Command, Stdio},
};

#[test]
fn a_new_project_passes_with_the_real_programs_and_can_be_edited_into_failing() {
    let space = project();
    let checked = space.edict_test(&["check", "--suite", SUITE, "--build"]);
    assert_eq!(checked.code, 0, "{}", checked.stderr);
    let (passed, report) = space.run(&[]);
    assert_eq!(passed.code, 0, "{}", passed.stderr);
    assert_eq!(
        passed.stdout,
        "TAP version 14\n1..1\nok 1 - two and three make five\n"
    );
    assert_eq!(verdicts(&report)["adds-up"], "passed/Passed");
    assert_eq!(report["semantic"]["suite"]["id"], "suite");
    assert_eq!(consumers(passed.stdout.as_bytes()).verdict, "green");
    space.edit(SOURCE, "input.sum, sum)", "input.sum, 4u32)");
    run(&space, 1);
}

#[test]
fn the_vendored_lawpacks_are_what_the_compiler_makes_of_their_definitions() {
    for (name, files) in [
        ("edict-test", &["manifest", "exports"][..]),
        (
            "starter",
            &["manifest", "exports", "adapter", "configuration"],
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        copy(
            &root().join("testdata/lawpacks").join(name),
            directory.path(),
        );
        compile_lawpack(directory.path());
        for file in files {
            let made = fs::read(directory.path().join(format!("out/{file}.cbor"))).unwrap();
            let kept = root().join(format!("adapters/cli/starter/{name}/{file}.cbor"));
            assert_eq!(
                fs::read(kept).unwrap(),
                made,
                "{name}/{file}.cbor; build it again"
            );
        }
        let digest = fs::read_to_string(directory.path().join("out/manifest.sha256")).unwrap();
        let source = fs::read_to_string(project().path(SOURCE)).unwrap();
        assert!(source.contains(digest.trim()), "{name}: {digest}");
    }
}

fn compile_lawpack(directory: &Path) {
    let mut compiler = Command::new(program("edict"))
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let settings = br#"{"schema":"edict.compiler.settings/v1","operation":"build","lawpack":"edict.lawpack.json"}"#;
    compiler.stdin.take().unwrap().write_all(settings).unwrap();
    assert!(compiler.wait().unwrap().success());
}

#[test]
fn only_an_absent_or_empty_directory_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let init = |arguments: &[&str]| {
        let output = Command::new(program("edict-test"))
            .arg("init")
            .args(arguments)
            .current_dir(directory.path())
            .output()
            .unwrap();
        crate::support::Run::of(output)
    };
    fs::create_dir(directory.path().join("empty")).unwrap();
    assert_eq!(init(&["empty", "--id", "my.suite"]).code, 0);
    // What is printed can be pasted.
    let spaced = init(&["it's one/", "--id", "my.suite"]);
    assert_eq!(spaced.code, 0, "{}", spaced.stderr);
    let pasted = r"edict-test --suite 'it'\''s one/edict.test-suite.json'";
    assert!(spaced.stdout.contains(pasted), "{}", spaced.stdout);
    let manifest = fs::read_to_string(directory.path().join("empty/edict.test-suite.json"));
    assert!(manifest.unwrap().contains("\"my.suite\""));
    for (arguments, told) in [
        (&["empty"][..], "exists"),
        (&["no such parent/new"], "no such parent"),
        (&["bad", "--id", "two words"], "is no suite id"),
        (&["two words"], "is no suite id"),
    ] {
        let refused = init(arguments);
        assert_eq!(
            (refused.code, refused.stdout.as_str()),
            (2, ""),
            "{arguments:?}"
        );
        assert_eq!(refused.primary().unwrap(), "arguments/UsageError");
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
    assert!(
        !directory.path().join("bad").exists(),
        "a refusal writes nothing"
    );
}
