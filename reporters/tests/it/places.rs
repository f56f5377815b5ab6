// SPDX-License-Identifier: Apache-2.0
//! Where a failure stands in the documents of its suite, and what people are told to do.

use crate::diagnostics::refused;
use edict_test_model::{
    CaseId, Diagnostic, Failure, FailureKind, Stage, diagnostic::Excerpt, suite::Role,
};
use edict_test_reporters::diagnostics::{DiagnosticWriter, Style};
use expect_test::{Expect, expect};

/// A manifest of one case with a setup entry, at the path `suites/a/suite.json`, and its lock.
fn placed(failure: Failure, style: Style) -> String {
    let manifest = br#"{
  "toolchainLock": "lock.json",
  "cases": [
    {"id": "other"},
    {
      "id": "one",
      "application": "programs/one.json",
      "input": "one.bin",
      "setup": [{"application": "programs/set.json", "input": "set.bin"}],
      "expect": {"kind": "obstruction", "payload": "payload.bin"}
    }
  ]
}"#;
    let lock = br#"{"roles": {"compiler": {"kind": "executable"}}}"#;
    let mut output = Vec::new();
    let mut writer = DiagnosticWriter::new(&mut output, style);
    let documents = writer.documents();
    documents.suite("suites/a/suite.json".to_owned());
    documents.manifest(manifest[..].into());
    documents.lock(lock[..].into());
    writer.write(&Diagnostic::Failure {
        failure,
        primary: true,
    });
    writer.finish();
    String::from_utf8(output).unwrap()
}

fn place(failure: Failure, expected: &Expect) {
    expected.assert_eq(&placed(failure, Style::Human { color: false }));
}

fn of_one(stage: Stage, kind: FailureKind, message: &str) -> Failure {
    Failure::new(stage, kind, message).of_case(&CaseId::parse("one").unwrap())
}

#[test]
fn a_failure_of_an_input_is_placed_in_the_manifest() {
    let (stage, kind) = (Stage::Admission, FailureKind::InputRefused);
    let failure = of_one(stage, kind, "the host refused: input-type");
    place(
        failure,
        &expect![[r#"
        error[InputRefused]: the host refused: input-type
          case one
         --> suites/a/suite.json:8:16
          |
        8 |       "input": "one.bin",
          |                ^^^^^^^^^ /cases/1/input
          help: `edict-test fixture encode` writes a fixture of the declared type
    "#]],
    );
}

#[test]
fn a_failure_of_a_setup_entry_is_placed_there() {
    let (stage, kind) = (Stage::Admission, FailureKind::InputRefused);
    let failure = of_one(stage, kind, "the host refused: input-type").in_setup(0);
    place(
        failure,
        &expect![[r#"
        error[InputRefused]: the host refused: input-type
          case one, setup operation 0
         --> suites/a/suite.json:9:63
          |
        9 |       "setup": [{"application": "programs/set.json", "input": "set.bin"}],
          |                                                               ^^^^^^^^^ /cases/1/setup/0/input
          help: `edict-test fixture encode` writes a fixture of the declared type
    "#]],
    );
}

#[test]
fn a_failure_of_a_declared_file_is_placed_where_it_is_declared() {
    let mut failure = of_one(Stage::Snapshot, FailureKind::InputMissing, "no such file");
    failure.pointer = Some("/cases/1/expect/payload".to_owned());
    place(
        failure,
        &expect![[r#"
        error[InputMissing]: no such file
          case one
          --> suites/a/suite.json:10:52
           |
        10 |       "expect": {"kind": "obstruction", "payload": "payload.bin"}
           |                                                    ^^^^^^^^^^^^^ /cases/1/expect/payload
          help: correct the path, or make the file readable
    "#]],
    );
}

#[test]
fn a_failure_of_a_role_is_placed_in_the_lock() {
    let failure = Failure::new(
        Stage::Toolchain,
        FailureKind::ToolMissing,
        "no such program",
    );
    place(
        failure.of_role(Role::Compiler),
        &expect![[r#"
        error[ToolMissing]: no such program
          role compiler
         --> suites/a/lock.json:1:24
          |
        1 | {"roles": {"compiler": {"kind": "executable"}}}
          |                        ^^^^^^^^^^^^^^^^^^^^^^ /roles/compiler
          help: `edict-test lock --check LOCK` shows what changed, `edict-test lock` pins it anew
    "#]],
    );
}

#[test]
fn a_missing_lock_is_placed_where_the_manifest_names_it() {
    let failure = Failure::new(Stage::Lock, FailureKind::LockUnreadable, "no such file");
    place(
        failure,
        &expect![[r#"
        error[LockUnreadable]: no such file
         --> suites/a/suite.json:2:20
          |
        2 |   "toolchainLock": "lock.json",
          |                    ^^^^^^^^^^^ /toolchainLock
          help: `edict-test lock --suite PATH` writes a lock
    "#]],
    );
}

#[test]
fn a_source_is_named_from_where_the_suite_was_named() {
    let mut failure = refused(b"package a@1;\n", &[(0, 7)]).in_setup(0);
    failure.case = CaseId::parse("one").ok();
    place(
        failure,
        &expect![[r#"
        error[CompilerRefused]: the compiler refuses the application
          case one, setup operation 0
        error[typeCheck/UnknownField]: no such field
         --> suites/a/programs/src/m.edict:1:1
          |
        1 | package a@1;
          | ^^^^^^^
          |
          = help: do you mean `other`?
    "#]],
    );
}

#[test]
fn what_a_child_wrote_is_shown_and_harmless() {
    let text = format!("one\u{1b}[2K\n##[error]two\n{}", "more\n".repeat(30));
    let failure = Failure::new(Stage::Host, FailureKind::HostLost, "the host is gone")
        .with_excerpt(Excerpt::of(&text));
    place(
        failure,
        &expect![[r#"
        error[HostLost]: the host is gone
          | one<U+001B>[2K
          | #<U+0023>[error]two
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | more
          | [12 more lines]
          help: the host is at fault, not the case
    "#]],
    );
}

#[test]
fn records_have_the_same_places() {
    let (stage, kind) = (Stage::Admission, FailureKind::InputRefused);
    let record = placed(of_one(stage, kind, "refused"), Style::Jsonl);
    let place = r#""pointer":"/cases/1/input","span":{"file":"suite","start":150,"end":159}"#;
    assert!(record.contains(place), "{record}");
}

#[test]
fn a_failure_about_nothing_declared_has_no_place() {
    let failure = of_one(Stage::Compare, FailureKind::AssertionFailed, "one is two");
    let record = placed(failure, Style::Jsonl);
    assert!(record.contains(r#""pointer":null,"span":null"#), "{record}");
}
