// SPDX-License-Identifier: Apache-2.0
//! `why --file` and `why-not`: what a file decides and why an edit changed nothing.

use crate::{
    project::{SOURCE, SUITE, project, run},
    why::{break_source, check, document},
};
use expect_test::expect;

#[test]
fn a_file_is_told_with_what_depends_on_it_and_where_its_change_was_cut_off() {
    let space = project();
    run(&space, 0);
    let file = ["why", "--file", SOURCE, "--suite", SUITE];
    check(
        &space.edict_test(&file),
        0,
        &expect![[r"
        cases/src/adds-up.edict: decides 1 case   (run 1)

          adds-up
            as       application.source[0]
            reaches  build, verify, execute, verdict
            run 1  build built, verify verified, execute executed
    "]],
    );
    run(&space, 0);
    check(
        &space.edict_test(&file),
        0,
        &expect![[r"
        cases/src/adds-up.edict: decides 1 case   (run 2)

          adds-up
            as       application.source[0]
            reaches  build, verify, execute, verdict
            run 2  build reused, verify reused, execute executed: the file is the one of the run before; cut off at build, executed afresh as always
    "]],
    );
    space.edit(SOURCE, "// One case:", "// The one case:");
    run(&space, 0);
    // The path may be typed as seen from the working directory.
    let typed = [
        "why",
        "--file",
        "suite/cases/src/adds-up.edict",
        "--suite",
        SUITE,
    ];
    check(
        &space.edict_test(&typed),
        0,
        &expect![[r"
        cases/src/adds-up.edict: decides 1 case   (run 3)

          adds-up
            as       application.source[0]
            reaches  build, verify, execute, verdict
            run 3  build built, verify verified, execute executed: the file changed and Core did not; cut off after verify, whose report names the file
    "]],
    );
    break_source(&space);
    run(&space, 1);
    let answer = document(&space.edict_test(&[&file[..], &["--json"]].concat()));
    assert_eq!(answer["cases"][0]["change"], "all");
    let none = [
        "why",
        "--file",
        "edict.test-toolchain-lock.json",
        "--suite",
        SUITE,
    ];
    let none = space.edict_test(&none);
    assert_eq!(none.code, 0);
    assert!(none.stdout.contains("decides no case"), "{}", none.stdout);
}

/// Their bytes are no leaf, yet what they say decides: it would be wrong to say that nothing depends
/// on them.
#[test]
fn documents_are_said_to_decide_by_what_they_say() {
    let space = project();
    run(&space, 0);
    let said = "it is the manifest, the lock or an application document";
    for file in [
        "edict.test-suite.json",
        "edict.test-toolchain-lock.json",
        "cases/adds-up.application.json",
    ] {
        let answer = space.edict_test(&["why", "--file", file, "--suite", SUITE]);
        assert!(answer.stdout.contains(said), "{}", answer.stdout);
        let answer = space.edict_test(&["why-not", "adds-up", "--edited", file, "--suite", SUITE]);
        assert!(answer.stdout.contains("notAnInput"), "{}", answer.stdout);
        assert!(answer.stdout.contains(said), "{}", answer.stdout);
    }
    let other = space.edict_test(&["why", "--file", "absent", "--suite", SUITE]);
    assert!(
        other.stdout.contains("decides no case   (run 1)"),
        "{}",
        other.stdout
    );
}

#[test]
fn an_edit_that_changed_nothing_has_a_reason_in_both_spellings() {
    let space = project();
    run(&space, 0);
    let reason = |file: &str| {
        let long = [
            "why", "--not", "adds-up", "--edited", file, "--suite", SUITE, "--json",
        ];
        let short = [
            "why-not", "adds-up", "--edited", file, "--suite", SUITE, "--json",
        ];
        let (long, short) = (space.edict_test(&long), space.edict_test(&short));
        assert_eq!(long.stdout, short.stdout);
        assert_eq!(
            (long.code, short.code),
            (0, 0),
            "{}{}",
            long.stderr,
            short.stderr
        );
        document(&long)["reason"].as_str().unwrap().to_owned()
    };
    assert_eq!(reason(SOURCE), "sameContent");
    assert_eq!(reason("edict.test-suite.json"), "notAnInput");
    space.edit(SOURCE, "// One case:", "// The one case:");
    assert_eq!(reason(SOURCE), "notRunSince");
    run(&space, 0);
    assert_eq!(reason(SOURCE), "nonsemantic");
    space.edit(SOURCE, "0u32)", "1u32)");
    run(&space, 0);
    assert_eq!(reason(SOURCE), "ranWithIt");
    let lost = ["why-not", "adds-up", "--edited", "absent", "--suite", SUITE];
    assert_eq!(
        space.edict_test(&lost).primary().unwrap(),
        "arguments/UsageError"
    );
}
