// SPDX-License-Identifier: Apache-2.0
//! The four line shapes and their only order.

use edict_test_reporters::tap::{Point, TapError, TapWriter};

fn stream(write: impl FnOnce(&mut TapWriter<&mut Vec<u8>>)) -> String {
    let mut bytes = Vec::new();
    write(&mut TapWriter::new(&mut bytes));
    String::from_utf8(bytes).unwrap()
}

#[test]
fn bt_016_points_skips_and_plan_have_the_exact_bytes() {
    let written = stream(|tap| {
        tap.plan(3).unwrap();
        tap.point(Point::Ok, "choose-left", "a").unwrap();
        tap.point(Point::NotOk, "evil # SKIP because", "b").unwrap();
        let skip = Point::Skip {
            reason: "why # TODO",
            tracking_reference: "owner/repo#684",
        };
        tap.point(skip, "later", "c").unwrap();
        tap.finish().unwrap();
    });
    assert_eq!(
        written,
        "TAP version 14\n1..3\nok 1 - choose-left\nnot ok 2 - evil \\# SKIP because\n\
         ok 3 - later # SKIP why \\# TODO (tracking: owner/repo\\#684)\n"
    );
}

#[test]
fn bt_017_a_label_cannot_forge_a_line_or_a_directive() {
    let written = stream(|tap| {
        tap.plan(3).unwrap();
        tap.point(Point::NotOk, "a\nok 2 - forged", "a").unwrap();
        tap.point(Point::NotOk, "\u{1b}[2K\u{202e}x", "b").unwrap();
        tap.point(Point::NotOk, "   ", "case-6").unwrap();
        tap.finish().unwrap();
    });
    assert_eq!(
        written,
        "TAP version 14\n1..3\nnot ok 1 - a<U+000A>ok 2 - forged\n\
         not ok 2 - <U+001B>[2K<U+202E>x\nnot ok 3 - case-6\n"
    );
}

#[test]
fn bt_018_a_zero_plan_is_never_written() {
    let written = stream(|tap| {
        assert!(matches!(tap.plan(0), Err(TapError::OutOfOrder("plan"))));
        tap.bail_out("NoExecutableCases", "the suite has no cases")
            .unwrap();
    });
    assert_eq!(
        written,
        "TAP version 14\nBail out! NoExecutableCases: the suite has no cases\n"
    );
}

#[test]
fn bt_018_a_point_above_the_plan_and_an_early_end_are_refused() {
    let written = stream(|tap| {
        tap.plan(1).unwrap();
        assert!(matches!(
            tap.finish(),
            Err(TapError::OutOfOrder("normal end"))
        ));
        tap.point(Point::Ok, "only", "only").unwrap();
        let second = tap.point(Point::Ok, "second", "second");
        assert!(matches!(
            second,
            Err(TapError::OutOfOrder("point above the plan"))
        ));
        tap.finish().unwrap();
        assert!(matches!(
            tap.bail_out("Late", "x"),
            Err(TapError::OutOfOrder("bail-out"))
        ));
    });
    assert_eq!(written, "TAP version 14\n1..1\nok 1 - only\n");
}

#[test]
fn a_failing_stream_is_an_error_of_every_line() {
    /// Fails on the first write.
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(matches!(TapWriter::new(Full).plan(1), Err(TapError::Io(_))));
    assert!(matches!(
        TapWriter::new(Full).bail_out("K", "t"),
        Err(TapError::Io(_))
    ));
}
