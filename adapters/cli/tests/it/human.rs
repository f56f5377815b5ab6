// SPDX-License-Identifier: Apache-2.0
//! Diagnostics for people: the text around each mistake, colors on a terminal only.

use crate::support::{Run, Space};
use expect_test::expect;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::{
    fs::OpenOptions,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    process::{Command, Stdio},
};

const SUITE: &str = "suite/edict.test-suite.json";
const SOURCE: &str = "programs/src/measures.edict";

fn human(space: &Space, more: &[&str]) -> Run {
    let arguments = [&["--suite", SUITE, "--diagnostics", "human"], more].concat();
    space.edict_test(&arguments)
}

/// A suite with a program that has a mistake.
fn mistaken() -> Space {
    let space = Space::of("tour");
    space.edit(SOURCE, "  let length", "  let é = 1;\n  let length");
    space
}

#[test]
fn a_refused_program_shows_its_text_its_marks_and_its_help() {
    let space = Space::of("tour");
    space.edit(
        SOURCE,
        "input.expected, len(input.bytes)",
        "input.expectd, len(bytes)",
    );
    let run = human(&space, &[]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    expect![[r#"
        error[CompilerRefused]: the compiler refuses the application: ApplicationCompilationFailed: compile `src/measures.edict`: 2 mistakes
          case measures-utf8
        error[typeCheck/UnknownField]: no field `expectd` in tour.measures@1.Input
          --> suite/programs/src/measures.edict:14:46
           |
        14 |   let length = test.equalU64("length", input.expectd, len(bytes));
           |                                              ^^^^^^^
           |
           = help: did you mean `expected`?
        error[typeCheck/UnresolvedType]: there is no local `bytes`
          --> suite/programs/src/measures.edict:14:59
           |
        14 |   let length = test.equalU64("length", input.expectd, len(bytes));
           |                                                           ^^^^^
           |
           = help: declare it, or import it with an alias
    "#]].assert_eq(&run.stderr);
}

#[test]
fn what_an_author_writes_reaches_people_escaped() {
    let space = mistaken();
    space.edit(SOURCE, "let é", "let \u{1b}[31m\u{202e}##[error]");
    let run = human(&space, &[]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    expect![[r#"
        error[CompilerRefused]: the compiler refuses the application: InvalidApplicationSource: compile `src/measures.edict`: 1 mistake
          case measures-utf8
        error[parse/Lex]: character `\u{1b}` is not allowed here
          --> suite/programs/src/measures.edict:14:7
           |
        14 |   let <U+001B>[31m<U+202E>#<U+0023>[error] = 1;
           |       ^^^^^^^^
           |
           = help: escapes are \" \\ \n \t \r \0, in a string \u{H} with 1 to 6 hexadecimal digits, in a byte string \xHH
    "#]].assert_eq(&run.stderr);
    assert!(!run.stderr.contains('\u{1b}') && !run.stderr.contains("##"));
}

#[test]
fn a_problem_of_the_manifest_shows_its_line() {
    let space = Space::of("tour");
    space.edit(
        "edict.test-suite.json",
        "\"larger-by-helper\"",
        "\"choose-left\"",
    );
    let run = human(&space, &[]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    expect![[r#"
        error[DuplicateCaseId]: case id "choose-left" is already used by /cases/0
          --> suite/edict.test-suite.json:17:13
           |
        17 |       "id": "choose-left",
           |             ^^^^^^^^^^^^^ /cases/1/id
          help: give it a name of the right form that nothing else has
    "#]]
    .assert_eq(&run.stderr);
    let space = Space::of("tour");
    space.edit(
        "programs/measures.application.json",
        "\"target\"",
        "\"tarnet\"",
    );
    let run = human(&space, &[]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    expect![[r#"
        error[ApplicationInvalid]: the document: member "tarnet" is not known (UnknownField)
          case measures-utf8
          --> suite/programs/measures.application.json:19:3
           |
        19 |   "tarnet": {
           |   ^^^^^^^^ /tarnet
          help: correct the member of the application document
    "#]]
    .assert_eq(&run.stderr);
}

/// What the runner writes to a standard error that is a terminal.
fn on_a_terminal(space: &Space, adapt: impl FnOnce(&mut Command)) -> String {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let terminal = openpt(flags).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let name = std::ffi::OsStr::from_bytes(name.to_bytes());
    let stderr = OpenOptions::new()
        .read(true)
        .write(true)
        .open(name)
        .unwrap();
    let mut command = space.command(&["--suite", SUITE, "--diagnostics", "human"]);
    command.env_remove("NO_COLOR").env("TERM", "xterm");
    command.stdout(Stdio::null()).stderr(stderr);
    adapt(&mut command);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut text = Vec::new();
    let mut terminal = std::fs::File::from(terminal);
    let mut buffer = [0; 4096];
    // The last writer is gone: Linux answers the next read with an error.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        text.extend_from_slice(&buffer[..count]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(2));
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

#[test]
fn colors_are_for_terminals_that_want_them() {
    let space = mistaken();
    let plain = human(&space, &[]).stderr;
    assert!(plain.contains('^') && !plain.contains('\u{1b}'), "{plain}");
    let colored = human(&space, &["--color", "always"]).stderr;
    assert!(
        colored.contains("\u{1b}[1;31merror[CompilerRefused]\u{1b}[0m"),
        "{colored}"
    );
    assert_eq!(human(&space, &["--color", "never"]).stderr, plain);
    assert_eq!(on_a_terminal(&space, |_| ()), colored);
    let without =
        |name: &str, value: &str| on_a_terminal(&space, |command| _ = command.env(name, value));
    assert_eq!(without("NO_COLOR", "1"), plain);
    assert_eq!(without("TERM", "dumb"), plain);
    assert_eq!(without("NO_COLOR", ""), colored);
    let never = on_a_terminal(&space, |command| _ = command.args(["--color", "never"]));
    assert_eq!(never, plain);
    let always = on_a_terminal(&space, |command| {
        command.args(["--color", "always"]).env("NO_COLOR", "1");
    });
    assert_eq!(always, colored);
}

#[test]
fn check_tells_people_every_problem_with_its_place() {
    let space = Space::of("tour");
    let manifest = "edict.test-suite.json";
    space.edit(manifest, "fixtures/choose-left.input.bin", "fixtures/a.bin");
    space.edit(
        manifest,
        "fixtures/larger-by-helper.input.bin",
        "fixtures/b.bin",
    );
    let run = space.edict_test(&["check", "--suite", SUITE, "--diagnostics", "human"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    expect![[r#"
        error[InputMissing]: read `fixtures/a.bin`: there is no such file
          case choose-left
          --> suite/edict.test-suite.json:10:16
           |
        10 |       "input": "fixtures/a.bin",
           |                ^^^^^^^^^^^^^^^^ /cases/0/input
          help: correct the path, or make the file readable
        error[InputMissing]: read `fixtures/b.bin`: there is no such file
          case larger-by-helper
          --> suite/edict.test-suite.json:20:16
           |
        20 |       "input": "fixtures/b.bin",
           |                ^^^^^^^^^^^^^^^^ /cases/1/input
          help: correct the path, or make the file readable
    "#]]
    .assert_eq(&run.stderr);
}
