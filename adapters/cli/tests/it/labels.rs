// SPDX-License-Identifier: Apache-2.0
//! Names and texts that try to be more than text: through the whole stream, as consumers read it.

use crate::support::{Space, consumers};
use serde_json::json;

/// Runs the two cases of the failing suite with these descriptions: the first passes, the second not.
fn labeled(first: &str, second: &str) -> String {
    let space = Space::of("failing");
    space.only(&["passes", "assertion-fails"]);
    space.manifest(|manifest| {
        manifest["cases"][0]["description"] = json!(first);
        manifest["cases"][1]["description"] = json!(second);
    });
    let (run, report) = space.run(&[]);
    assert_eq!(run.code, 1, "{}", run.stderr);
    let reading = consumers(run.stdout.as_bytes());
    assert_eq!(
        (reading.verdict.as_str(), reading.points, reading.bailout),
        ("failing", 2, false)
    );
    // The report keeps the exact text.
    assert_eq!(report["semantic"]["cases"][0]["label"], first);
    assert_eq!(report["semantic"]["cases"][1]["label"], second);
    run.stdout
}

#[test]
fn bt_017_b01_a_directive_in_a_name_is_text() {
    assert_eq!(
        labeled(
            "validates # TODO later",
            "validates input # SKIP unsupported"
        ),
        "TAP version 14\n1..2\nok 1 - validates \\# TODO later\n\
         not ok 2 - validates input \\# SKIP unsupported\n"
    );
}

#[test]
fn bt_017_b02_line_breaks_forge_no_line() {
    assert_eq!(
        labeled("anything\nnot ok", "a\r\nok 2 - forged\nBail out! no"),
        "TAP version 14\n1..2\nok 1 - anything<U+000A>not ok\n\
         not ok 2 - a<U+000D><U+000A>ok 2 - forged<U+000A>Bail out! no\n"
    );
}

#[test]
fn bt_017_b03_escapes_are_applied_once_and_in_order() {
    assert_eq!(
        labeled("\\# \\ #\n\t\u{c}\u{b}\u{8}\r.", "\\\\#"),
        "TAP version 14\n1..2\n\
         ok 1 - \\\\\\# \\\\ \\#<U+000A><U+0009><U+000C><U+000B><U+0008><U+000D>.\n\
         not ok 2 - \\\\\\\\\\#\n"
    );
}

#[test]
fn bt_017_b04_b05_control_characters_and_separators_are_shown() {
    assert_eq!(
        labeled(
            "\u{1b}[2K\u{9b}\u{85}\u{202e}x\u{feff}",
            "a\u{2028}b\u{2029}c"
        ),
        "TAP version 14\n1..2\n\
         ok 1 - <U+001B>[2K<U+009B><U+0085><U+202E>x<U+FEFF>\n\
         not ok 2 - a<U+2028>b<U+2029>c\n"
    );
}

#[test]
fn bt_017_empty_long_and_braced_names() {
    let long = "ä".repeat(512);
    assert_eq!(
        labeled("   ", "opens {"),
        "TAP version 14\n1..2\nok 1 - passes\nnot ok 2 - opens <U+007B>\n"
    );
    assert_eq!(
        labeled(&long, "e\u{301} 日本 👩\u{200d}🚀"),
        format!("TAP version 14\n1..2\nok 1 - {long}\nnot ok 2 - e\u{301} 日本 👩\u{200d}🚀\n")
    );
    // 1,024 bytes in the manifest, more once control characters are shown.
    let stream = labeled(&"\u{1}".repeat(1024), "b");
    let line = stream.lines().nth(2).unwrap();
    assert!(line.ends_with("<U+0001> [truncated, 8192 bytes]"), "{line}");
    assert!(line.len() <= "ok 1 - ".len() + 1024);
}

#[test]
fn bt_017_skip_texts_are_rendered_like_labels() {
    let space = Space::of("failing");
    space.only(&["passes", "assertion-fails"]);
    space.manifest(|manifest| {
        manifest["cases"][1]["skip"] =
            json!({"reason": "why # TODO\nBail out!", "trackingReference": "owner/repo#684"});
    });
    let (run, _) = space.run(&[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "TAP version 14\n1..2\nok 1 - passes\n\
         ok 2 - assertion-fails # SKIP why \\# TODO<U+000A>Bail out! (tracking: owner/repo\\#684)\n"
    );
    assert_eq!(consumers(run.stdout.as_bytes()).verdict, "green");
}

#[test]
fn bt_017_diagnostics_hold_no_line_that_a_log_scanner_obeys() {
    let space = Space::of("tour");
    space.only(&["choose-left"]);
    space.wrap(
        "compiler",
        "printf '##[error]x\\n::error::y\\033[2K\\n' >&2\nexit 7",
    );
    let (run, _) = space.run(&[]);
    assert_eq!(run.code, 2);
    assert!(!run.stderr.contains('#') && !run.stderr.contains('\u{1b}'));
    for line in run.stderr.lines() {
        assert!(line.starts_with('{') && line.len() <= 16 * 1024, "{line}");
    }
    assert!(!run.stdout.contains("error"), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 3);
}

#[test]
fn bt_017_no_text_of_a_program_reaches_the_stream() {
    let space = Space::of("failing");
    space.only(&["passes"]);
    space.edit(
        "programs/src/choose-left.edict",
        "message: if same then \"\"",
        "message: if same then \"x\\nnot ok 9 - forged\\nBail out! forged\"",
    );
    let (run, report) = space.run(&[]);
    assert_eq!(
        run.stdout, "TAP version 14\n1..1\nok 1 - passes\n",
        "{}",
        run.stderr
    );
    assert_eq!(
        report["semantic"]["cases"][0]["message"]["text"],
        "x\nnot ok 9 - forged\nBail out! forged"
    );
}
