// SPDX-License-Identifier: Apache-2.0
//! Diagnostics for machines: bounded lines, of which the primary failure is never the one that is
//! lost.

use edict_codec::json::{Json, JsonLimits, Span, parse};
use edict_test_model::{Diagnostic, Failure, FailureKind, FileSpan, Stage};
use edict_test_reporters::diagnostics::{DiagnosticWriter, Style};

/// The records of these failures, the last one primary, and what stands on the stream.
fn lines(failures: Vec<Failure>) -> (Vec<Json>, String) {
    let mut output = Vec::new();
    let mut writer = DiagnosticWriter::new(&mut output, Style::Jsonl);
    let last = failures.len() - 1;
    for (index, failure) in failures.into_iter().enumerate() {
        writer.write(&Diagnostic::Failure {
            failure,
            primary: index == last,
        });
    }
    let reported = writer.records();
    let alone = writer.primary_alone();
    assert_eq!(alone.len(), 1);
    assert_eq!(*member(&alone[0], "seq"), Json::unsigned(0));
    assert_eq!(*member(&alone[0], "primary"), Json::Bool(true));
    assert_eq!(writer.finish(), reported, "report and stream agree");
    let text = String::from_utf8(output).unwrap();
    let records = text.split_terminator('\n');
    let limits = JsonLimits {
        bytes: 16 * 1024,
        depth: 32,
    };
    let records = records.map(|line| Json::from(&parse(line.as_bytes(), limits).unwrap()));
    (records.collect(), text)
}

/// A member of a record, or of an object below it.
fn member<'a>(record: &'a Json, path: &str) -> &'a Json {
    path.split('/').fold(record, |json, name| match json {
        Json::Object(members) => &members.iter().find(|(it, _)| it == name).unwrap().1,
        other => panic!("{other:?} has no members"),
    })
}

/// Holds a member of a record against a text.
fn says(record: &Json, path: &str, text: &str) {
    assert_eq!(*member(record, path), Json::text(text));
}

/// A failure at a member that nobody knows and that has this name.
fn unknown(name: &str) -> Failure {
    let mut failure = Failure::new(Stage::Manifest, FailureKind::UnknownField, "not known");
    failure.pointer = Some(format!("/limits/{name}"));
    failure.span = Some(FileSpan {
        file: "suite".to_owned(),
        span: Span { start: 7, end: 9 },
        text: None,
    });
    failure
}

#[test]
fn a_name_without_an_end_does_not_push_the_failure_out() {
    let (records, text) = lines(vec![unknown(&"#".repeat(200_000))]);
    assert!(text.len() < 16 * 1024, "{}", text.len());
    assert_eq!(records.len(), 1);
    says(&records[0], "kind", "UnknownField");
    assert_eq!(*member(&records[0], "primary"), Json::Bool(true));
    says(&records[0], "pointer", "/limits");
    assert_eq!(*member(&records[0], "span/start"), Json::unsigned(7));
    // A file whose name alone is too long for the line: the failure stays.
    let mut failure = unknown("a");
    failure.span.as_mut().unwrap().file = "#".repeat(4_096);
    let (records, _) = lines(vec![failure]);
    says(&records[0], "kind", "UnknownField");
    assert_eq!(*member(&records[0], "span"), Json::Null);
}

#[test]
fn the_primary_failure_has_room_after_any_number_of_others() {
    let (records, _) = lines(
        (0..1_500)
            .map(|index| unknown(&index.to_string()))
            .collect(),
    );
    assert_eq!(records.len(), 1_001);
    assert_eq!(*member(&records[999], "primary"), Json::Bool(true));
    says(&records[999], "pointer", "/limits/1499");
    says(&records[1_000], "kind", "DiagnosticsTruncated");
    assert_eq!(
        *member(&records[1_000], "detail/dropped"),
        Json::unsigned(500)
    );
    // Bytes run out before records do.
    let long = "x".repeat(15_000);
    let (records, text) = lines((0..100).map(|_| unknown(&long)).collect());
    assert!(text.len() <= 1024 * 1024, "{}", text.len());
    let count = records.len();
    assert_eq!(*member(&records[count - 2], "primary"), Json::Bool(true));
    says(&records[count - 1], "kind", "DiagnosticsTruncated");
}

#[test]
fn no_reader_takes_a_part_of_a_record_for_a_line() {
    let (records, text) = lines(vec![unknown("a\u{85}b\u{2028}c\u{2029}d\u{7f}#\u{b}")]);
    let breaks = ['\u{85}', '\u{2028}', '\u{2029}', '\u{7f}', '\u{b}', '#'];
    assert!(!text.contains(breaks), "{text}");
    assert_eq!(text.lines().count(), 1);
    let name = "/limits/a\u{85}b\u{2028}c\u{2029}d\u{7f}#\u{b}";
    says(&records[0], "pointer", name);
}
