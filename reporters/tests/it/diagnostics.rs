// SPDX-License-Identifier: Apache-2.0
//! Diagnostics for people: excerpts, marks, colors, and texts that would like to drive a terminal.

use edict_codec::json::Span;
use edict_test_model::{
    Detail, Diagnostic, Failure, FailureKind, FileSpan, Stage, diagnostic::SourceDiagnostic,
};
use edict_test_reporters::diagnostics::{DiagnosticWriter, Style};
use expect_test::{Expect, expect};
use proptest::{collection::vec, prelude::*};
use std::sync::Arc;

fn written(failure: Failure, color: bool) -> String {
    let mut output = Vec::new();
    let mut writer = DiagnosticWriter::new(&mut output, Style::Human { color });
    writer.write(&Diagnostic::Failure {
        failure,
        primary: true,
    });
    writer.finish();
    String::from_utf8(output).unwrap()
}

/// A refusal with one diagnostic for each of these spans.
pub(crate) fn refused(text: &[u8], spans: &[(usize, usize)]) -> Failure {
    let text: Arc<[u8]> = text.into();
    let diagnostics = spans
        .iter()
        .map(|(start, end)| {
            let head = text.get(..*start).unwrap_or(&text);
            let line = head.split(|byte| *byte == b'\n').count();
            let feed = head.iter().rposition(|byte| *byte == b'\n');
            SourceDiagnostic {
                file: "src/m.edict".to_owned(),
                span: Span {
                    start: *start,
                    end: *end,
                },
                line: line as u64,
                column: (start - feed.map_or(0, |at| at + 1) + 1) as u64,
                stage: "typeCheck".to_owned(),
                kind: "UnknownField".to_owned(),
                message: "no such field".to_owned(),
                help: Some("do you mean `other`?".to_owned()),
                text: Some(Arc::clone(&text)),
            }
        })
        .collect();
    let message = "the compiler refuses the application";
    Failure::new(Stage::Build, FailureKind::CompilerRefused, message).with_detail(Detail::Refused {
        failure_kind: "ApplicationCompilationFailed".to_owned(),
        diagnostics,
    })
}

fn check(text: &[u8], spans: &[(usize, usize)], expected: &Expect) {
    expected.assert_eq(&written(refused(text, spans), false));
}

#[test]
fn a_refusal_shows_each_place_with_a_mark_and_help() {
    check(
        b"package a@1;\nlet a = b.c;\r\nlet d = e.f;\n",
        &[(23, 24), (35, 38)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:2:11
              |
            2 | let a = b.c;
              |           ^
              |
              = help: do you mean `other`?
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:3:9
              |
            3 | let d = e.f;
              |         ^^^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn a_span_over_lines_is_marked_from_end_to_end() {
    let text = b"let a = if b {\n  c\n} else {\n  d\n};\nlet e = 1;\n";
    check(
        text,
        &[(8, 33)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:9
              |
            1 |   let a = if b {
              |  _________^
            2 | |   c
            3 | | } else {
            4 | |   d
            5 | | };
              | |_^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn of_a_very_long_span_the_first_line_is_shown() {
    let text = b"/* one\ntwo\nthree\nfour\nfive\nsix\nseven\neight";
    check(
        text,
        &[(0, 42)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:1
              |
            1 | /* one
              | ^^^^^^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn the_end_of_a_file_has_a_place() {
    check(
        b"package a@1",
        &[(11, 11)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:12
              |
            1 | package a@1
              |            ^
              |
              = help: do you mean `other`?
        "#]],
    );
    check(
        b"package a@1\n",
        &[(12, 12)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:2:1
              |
            2 |
              | ^
              |
              = help: do you mean `other`?
        "#]],
    );
    check(
        b"",
        &[(0, 0)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:1
              |
            1 |
              | ^
              |
              = help: do you mean `other`?
        "#]],
    );
    // A span that lies is one at the end.
    check(
        b"abc",
        &[(90, 95)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:91
              |
            1 | abc
              |    ^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn a_long_line_is_cut_around_its_mark() {
    let text = format!(
        "let a = \"{}\" + b.c + \"{}\";",
        "é".repeat(300),
        "x".repeat(5000)
    );
    let at = text.find("b.c").unwrap();
    check(
        text.as_bytes(),
        &[(at, at + 3)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:614
              |
            1 | …éééééééééééééééééééééééééééé" + b.c + "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
              |                                  ^^^
              |
              = help: do you mean `other`?
        "#]],
    );
    let whole = (0, text.len());
    check(
        text.as_bytes(),
        &[whole],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:1
              |
            1 | let a = "ééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééééé…
              | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn marks_stand_below_wide_and_tabbed_text() {
    check(
        "\tlet s = \"日本語 é\" + x;".as_bytes(),
        &[(27, 28)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:28
              |
            1 |     let s = "日本語 é" + x;
              |                           ^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn a_source_cannot_drive_a_terminal() {
    let text = "a \u{1b}[2J\u{9b}31m \u{202e}x\u{200b}\u{0}\u{7f} ##vso[x] b\r c".as_bytes();
    let at = text.iter().position(|byte| *byte == b'b').unwrap();
    check(
        text,
        &[(at, at + 1)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:32
              |
            1 | a <U+001B>[2J<U+009B>31m <U+202E>x<U+200B><U+0000><U+007F> #<U+0023>vso[x] b<U+000D> c
              |                                                                            ^
              |
              = help: do you mean `other`?
        "#]],
    );
    // Bytes that are no text, and a span into the middle of a scalar.
    check(
        b"a\xff\xfe\xe2\x82b",
        &[(1, 2)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:2
              |
            1 | a<FF><FE><E2><82>b
              |  ^^^^
              |
              = help: do you mean `other`?
        "#]],
    );
    check(
        "€".as_bytes(),
        &[(1, 2)],
        &expect![[r#"
            error[CompilerRefused]: the compiler refuses the application
            error[typeCheck/UnknownField]: no such field
             --> src/m.edict:1:2
              |
            1 | €
              | ^
              |
              = help: do you mean `other`?
        "#]],
    );
}

#[test]
fn no_text_of_a_compiler_drives_a_terminal() {
    let mut failure = refused(b"x", &[(0, 1)]);
    let Some(Detail::Refused { diagnostics, .. }) = &mut failure.detail else {
        panic!("it has no detail");
    };
    let evil = "\u{1b}[31m##[error]\n::error::x";
    for it in diagnostics {
        it.file = evil.to_owned();
        it.stage = evil.to_owned();
        it.kind = evil.to_owned();
        it.message = format!("{evil}{}", "y".repeat(2000));
        it.help = Some(evil.to_owned());
    }
    evil.clone_into(&mut failure.message);
    let text = written(failure.clone(), false);
    let Some(Detail::Refused { diagnostics, .. }) = &mut failure.detail else {
        panic!("it has no detail");
    };
    for it in diagnostics {
        it.text = None;
    }
    let text = text + &written(failure, false);
    assert!(!text.contains('\u{1b}') && !text.contains("##"), "{text}");
    assert!(
        text.lines()
            .all(|line| !line.trim_start().starts_with("::")),
        "{text}"
    );
    assert!(text.lines().all(|line| line.len() < 1200), "{text}");
}

#[test]
fn colors_are_the_only_difference() {
    let failure = refused(b"let a = b.c;", &[(8, 11)]);
    let (plain, colored) = (written(failure.clone(), false), written(failure, true));
    assert!(!plain.contains('\u{1b}'));
    let mut rest = colored.as_str();
    let mut bare = String::new();
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        bare.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    assert_ne!(plain, colored);
    assert_eq!(plain, bare);
}

#[test]
fn a_document_shows_the_member_at_fault() {
    let text: Arc<[u8]> = b"{\n  \"id\": 5\n}\n".as_slice().into();
    let mut failure = Failure::new(Stage::Manifest, FailureKind::WrongType, "`id` is no text");
    failure.pointer = Some("/id".to_owned());
    failure.span = Some(FileSpan {
        file: "suite".to_owned(),
        span: Span { start: 10, end: 11 },
        text: None,
    });
    expect![[r#"
        error[WrongType]: `id` is no text
          at suite bytes 10..11 /id
          help: give the member the form that docs/suite.md or docs/lock.md states
    "#]]
    .assert_eq(&written(failure.clone(), false));
    expect![[r#"
        error[WrongType]: `id` is no text
         --> suite:2:9
          |
        2 |   "id": 5
          |         ^ /id
          help: give the member the form that docs/suite.md or docs/lock.md states
    "#]]
    .assert_eq(&written(failure.with_text(&text), false));
}

proptest! {
    /// No file and no span make a panic, a control character or an endless excerpt.
    #[test]
    fn any_bytes_and_spans_make_a_harmless_excerpt(
        pieces in vec(prop_oneof![
            Just(b"\n".to_vec()), Just(b"\r\n".to_vec()), Just(b"\t".to_vec()), Just(b"#".to_vec()),
            Just("\u{1b}[2J\u{202e}日é".as_bytes().to_vec()), vec(any::<u8>(), 0..3),
            vec(32u8..127, 0..200),
        ], 0..20),
        start in 0usize..2000,
        length in 0usize..2000,
    ) {
        let text = pieces.concat();
        let start = start.min(text.len() + 2);
        let shown = written(refused(&text[..], &[(start, start + length)]), false);
        let is_harmless = |it: char| it == '\n' || !(it.is_control() || it == '\u{202e}');
        prop_assert!(shown.chars().all(is_harmless), "{shown}");
        prop_assert!(!shown.contains("##"));
        prop_assert!(shown.lines().count() <= 6 + 8, "{shown}");
        prop_assert!(shown.lines().all(|line| line.chars().count() <= 8 * 165), "{shown}");
    }
}
