// SPDX-License-Identifier: Apache-2.0
//! The smaller conformance programs: slice, assembly, boundary and decimal scanner.

use super::support::{Served, programs, tools};
use edict_codec::cbor::Value;
use std::sync::OnceLock;
use xtask::jim::{
    home,
    lane::{Lane, Programs},
    random::Dice,
    story::Step,
    suite,
};

const PROBES: [&str; 4] = [
    "probe-slice",
    "probe-assembly",
    "probe-boundary",
    "probe-decimal",
];

fn probes() -> &'static Programs {
    static BUILT: OnceLock<Programs> = OnceLock::new();
    BUILT.get_or_init(|| {
        let space = tempfile::tempdir().unwrap();
        suite::copy(&home().join("programs"), space.path()).unwrap();
        let mut built = Programs::new();
        for name in PROBES {
            built.insert(name.to_owned(), tools().build(space.path(), name).unwrap());
        }
        built
    })
}

/// How a probe ends.
#[derive(Debug, PartialEq, Eq)]
enum End {
    Status(u64, String),
    Obstruction(String),
}

/// Runs a probe.
fn probe<const N: usize>(
    served: &mut Served,
    lane: &mut Lane,
    program: &'static str,
    input: [(&str, Value); N],
) -> End {
    let step = Step {
        program,
        input: Value::text_map(input),
        after: None,
    };
    let ended = lane.run(&mut served.host, &step).unwrap();
    if let Some(coordinate) = ended.coordinate {
        return End::Obstruction(coordinate);
    }
    let message = ended
        .body
        .get("message")
        .unwrap()
        .as_text()
        .unwrap()
        .to_owned();
    let status = ended.body.get("status").unwrap().as_u64().unwrap();
    End::Status(status, message)
}

fn open(served: &mut Served) -> Lane {
    assert!(!programs().is_empty());
    Lane::open(&mut served.host, probes(), "probes", 77, false).unwrap()
}

fn passed() -> End {
    End::Status(0, String::new())
}

fn failed(message: &str) -> End {
    End::Status(1, message.to_owned())
}

#[test]
fn bt_022_slices_are_cut_exactly_where_they_are_proved() {
    let mut served = Served::start();
    let mut lane = open(&mut served);
    let text = "aé€😀\n".as_bytes();
    for start in 0..=text.len() + 1 {
        for end in 0..=text.len() + 1 {
            let input = |expected: &[u8]| {
                [
                    ("text", Value::bytes(text)),
                    ("start", Value::unsigned(start as u64)),
                    ("end", Value::unsigned(end as u64)),
                    ("expected", Value::bytes(expected)),
                ]
            };
            let Some(cut) = text.get(start..end) else {
                let ended = probe(&mut served, &mut lane, "probe-slice", input(b""));
                let coordinate = "echo.obstruction.input-constraint/v1".to_owned();
                assert_eq!(ended, End::Obstruction(coordinate));
                continue;
            };
            let found = probe(&mut served, &mut lane, "probe-slice", input(cut));
            assert_eq!(found, passed());
            let longer = [cut, b"?"].concat();
            let found = probe(&mut served, &mut lane, "probe-slice", input(&longer));
            assert_eq!(found, failed("slice differs"));
        }
    }
}

#[test]
fn bt_022_parts_are_joined_in_their_order() {
    let mut served = Served::start();
    let mut lane = open(&mut served);
    let mut dice = Dice::new(5);
    for _ in 0..50 {
        let parts: Vec<String> = (0..3).map(|_| dice.text(80)).collect();
        let input = |expected: String| {
            let part = |index: usize| Value::bytes(parts[index].as_bytes());
            [
                ("prefix", part(0)),
                ("insertion", part(1)),
                ("suffix", part(2)),
                ("expected", Value::bytes(expected)),
            ]
        };
        let whole = parts.concat();
        let found = probe(
            &mut served,
            &mut lane,
            "probe-assembly",
            input(whole.clone()),
        );
        assert_eq!(found, passed());
        let found = probe(&mut served, &mut lane, "probe-assembly", input(whole + "z"));
        assert_eq!(found, failed("length differs"));
    }
    let swapped = [
        ("prefix", "ab"),
        ("insertion", "c"),
        ("suffix", "d"),
        ("expected", "dcab"),
    ];
    let swapped = swapped.map(|(name, text)| (name, Value::bytes(text.as_bytes())));
    let found = probe(&mut served, &mut lane, "probe-assembly", swapped);
    assert_eq!(found, failed("text differs"));
}

#[test]
fn bt_022_boundaries_and_validity_are_those_of_the_standard_library() {
    let mut served = Served::start();
    let mut lane = open(&mut served);
    let invalid: [&[u8]; 5] = [
        b"\xff",
        b"a\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xf5\x80\x80\x80",
    ];
    for bytes in ["aé€😀\n".as_bytes(), b"", b"plain"]
        .into_iter()
        .chain(invalid)
    {
        let valid = str::from_utf8(bytes).is_ok();
        for offset in 0..=bytes.len() + 1 {
            // The written rule looks at one byte, so it also judges bytes that are no text.
            let boundary = offset == bytes.len()
                || offset == 0
                || bytes
                    .get(offset)
                    .is_some_and(|byte| !(0x80..=0xBF).contains(byte));
            if let Ok(text) = str::from_utf8(bytes) {
                assert_eq!(boundary, text.is_char_boundary(offset));
            }
            let input = |boundary: bool, valid: bool| {
                [
                    ("text", Value::bytes(bytes)),
                    ("offset", Value::unsigned(offset as u64)),
                    ("boundary", Value::Bool(boundary)),
                    ("valid", Value::Bool(valid)),
                ]
            };
            let mut ask = |boundary, valid| {
                probe(
                    &mut served,
                    &mut lane,
                    "probe-boundary",
                    input(boundary, valid),
                )
            };
            assert_eq!(ask(boundary, valid), passed(), "{bytes:?} {offset}");
            assert_eq!(ask(!boundary, valid), failed("boundary differs"));
            assert_eq!(ask(boundary, !valid), failed("validity differs"));
        }
    }
}

#[test]
fn bt_022_digits_are_read_as_numbers_that_fit() {
    let mut served = Served::start();
    let mut lane = open(&mut served);
    for digits in [
        "",
        "0",
        "7",
        "00012",
        "18446744073709551615",
        "18446744073709551616",
        "99999999999999999999999999999999",
        "1 2",
        "-1",
        "+1",
        "12a",
        "/",
        ":",
        "١",
    ] {
        let expected = if digits.starts_with('+') {
            None
        } else {
            digits.parse::<u64>().ok()
        };
        let input = |number: Option<u64>| {
            [
                ("digits", Value::bytes(digits.as_bytes())),
                ("expected", number.map_or(Value::Null, Value::unsigned)),
            ]
        };
        let found = probe(&mut served, &mut lane, "probe-decimal", input(expected));
        assert_eq!(found, passed(), "{digits}");
        let other = if expected.is_some() { None } else { Some(1) };
        let found = probe(&mut served, &mut lane, "probe-decimal", input(other));
        assert_eq!(found, failed("number differs"), "{digits}");
    }
}
