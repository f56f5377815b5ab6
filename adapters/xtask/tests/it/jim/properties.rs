// SPDX-License-Identifier: Apache-2.0
//! Properties beyond the table: the real programs on one host, beside the oracle.

use super::support::{Served, edit, programs, state, with};
use edict_codec::cbor::Value;
use xtask::jim::{
    identity::{basis, buffer_id, state_value},
    lane::Lane,
    model::{Fact, State, judge},
    random::{self, Buffer},
    story,
};

#[test]
fn bt_022_random_edits_agree_with_the_oracle_after_every_step() {
    let mut served = Served::start();
    let tally = random::run(&mut served.host, programs(), 300, 22).unwrap();
    assert_eq!(tally.settled + tally.obstructed, 300);
    assert!(tally.settled > 60 && tally.obstructed > 60, "{tally:?}");
}

#[test]
fn bt_022_every_pair_of_cuts_agrees_with_the_oracle() {
    let text = "aé€😀\n";
    let mut served = Served::start();
    let mut buffer = served.buffer(1, text);
    let mut pure = 0;
    for start in 0..=12_u64 {
        for end in 0..=12_u64 {
            let cut = text
                .as_bytes()
                .get(index(start)..index(end))
                .unwrap_or_default();
            for replacement in [b"".as_slice(), b"x", "é".as_bytes(), cut] {
                let edit = edit(start, end, replacement);
                pure += usize::from(pure_agrees(&mut served, &mut buffer.lane, text, &edit));
                // A settled edit leaves another text, so each pair begins with a fresh buffer.
                if buffer.edit(&mut served.host, None, &edit).unwrap().is_ok() {
                    let number = (start * 13 + end) * 1_000 + replacement.len() as u64 + 2;
                    let old = std::mem::replace(&mut buffer, again(&mut served, number, text));
                    old.lane.close(&mut served.host).unwrap();
                }
            }
        }
    }
    assert!(pure > 0, "no edit settled");
}

fn index(offset: u64) -> usize {
    usize::try_from(offset).unwrap()
}

/// A buffer under a name of its own, however often it is asked for.
fn again(served: &mut Served, number: u64, text: &str) -> Buffer {
    let mut number = number * 10;
    while served.root.path().join(format!("lane-{number}")).exists() {
        number += 1;
    }
    served.buffer(number, text)
}

/// Whether the edit settles; the pure program must say the same as the oracle either way.
fn pure_agrees(
    served: &mut Served,
    lane: &mut Lane,
    text: &str,
    edit: &xtask::jim::model::Edit,
) -> bool {
    let id = buffer_id("pure");
    let input = story::replace(&id, &[0; 32], edit).input;
    let input = Value::map(
        input
            .as_map()
            .unwrap()
            .iter()
            .filter(|(name, _)| name.as_text() != Some("basis"))
            .cloned()
            .chain([(Value::text("text"), Value::bytes(text.as_bytes()))])
            .collect(),
    );
    let step = story::Step {
        program: "replace-pure",
        input,
        after: None,
    };
    let ended = lane.run(&mut served.host, &step).unwrap();
    assert!(ended.footprint.is_null() && ended.patch.is_null());
    match judge(&Fact::Buffer(State::created(text)), true, edit) {
        Ok(after) => {
            assert_eq!(
                ended.body,
                Value::text_map([("text", Value::bytes(after.text))])
            );
            true
        }
        Err(found) => {
            assert_eq!(
                ended.coordinate.as_deref(),
                Some(found.coordinate),
                "{edit:?}"
            );
            assert_eq!(ended.body, story::payload(&id, &found));
            false
        }
    }
}

#[test]
fn bt_022_an_edit_and_its_inverse_restore_the_text_and_nothing_else() {
    let mut served = Served::start();
    for (number, text, start, end, replacement) in [
        (1, "hello\nworld", 3_u64, 8_u64, "€\n\n😀"),
        (2, "", 0, 0, "\r\n"),
        (3, "aé€😀\n", 1, 11, ""),
    ] {
        let mut buffer = served.buffer(number, text);
        let before = state(&buffer);
        buffer
            .edit(&mut served.host, None, &edit(start, end, replacement))
            .unwrap()
            .unwrap();
        let inserted = start + replacement.len() as u64;
        let removed = &text.as_bytes()[index(start)..index(end)];
        buffer
            .edit(&mut served.host, None, &edit(start, inserted, removed))
            .unwrap()
            .unwrap();
        let after = state(&buffer);
        assert_eq!(after.text, before.text);
        assert_eq!(
            (after.utf16_length, after.line_breaks),
            (before.utf16_length, before.line_breaks)
        );
        assert_eq!((after.sequence, after.version), (2, 2));
        assert_ne!(basis(&buffer.id, &after), basis(&buffer.id, &before));
    }
}

#[test]
fn bt_022_replacements_that_are_no_text_end_before_any_state() {
    let mut served = Served::start();
    let mut buffer = served.buffer(1, "abc");
    let broken: [&[u8]; 6] = [
        b"\xff",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
    ];
    for bytes in broken {
        for claimed in [None, Some([7; 32])] {
            let found = buffer
                .edit(&mut served.host, claimed, &edit(9, 1, bytes))
                .unwrap();
            let found = found.unwrap_err();
            assert_eq!(found.coordinate, "echo.obstruction.input-constraint/v1");
        }
    }
    // Also where no buffer is.
    let there = std::mem::replace(&mut buffer.id, buffer_id("nowhere"));
    buffer.fact = Fact::Absent;
    let found = buffer
        .edit(&mut served.host, None, &edit(0, 0, b"\xff"))
        .unwrap()
        .unwrap_err();
    assert_eq!(found.coordinate, "echo.obstruction.input-constraint/v1");
    let found = buffer
        .edit(&mut served.host, None, &edit(0, 0, b"x"))
        .unwrap()
        .unwrap_err();
    assert_eq!(found.coordinate, "jim.text@1.FactMissing");
    assert_ne!(there, buffer.id);
}

#[test]
fn bt_022_inputs_that_are_no_value_of_their_type_are_refused() {
    let mut served = Served::start();
    let mut buffer = served.buffer(1, "abc");
    let before = buffer.lane.basis.clone();
    let sound = story::replace(
        &buffer.id,
        &story::current(&buffer.id, &buffer.fact),
        &edit(0, 1, b"x"),
    );
    for (member, value) in [
        ("bufferId", Value::bytes([1; 31])),
        ("bufferId", Value::bytes([1; 33])),
        ("basis", Value::bytes([1; 31])),
        ("basis", Value::bytes([1; 33])),
        ("replacement", Value::bytes(vec![b'a'; 65_537])),
        ("startByte", Value::text("0")),
    ] {
        let mut step = sound.clone();
        step.input = with(&step.input, member, value);
        let (_, request) = buffer.lane.request(&step, Value::Null).unwrap();
        let reply = served.host.ask(5, &request).unwrap();
        assert_eq!(reply.refused(), Some("input-type"), "{member}");
        assert_eq!(buffer.lane.basis, before);
    }
    buffer
        .edit(&mut served.host, None, &edit(0, 1, b"x"))
        .unwrap()
        .unwrap();
}

#[test]
fn bt_022_retained_bytes_that_are_no_text_are_malformed_after_the_basis() {
    let mut served = Served::start();
    let mut buffer = served.buffer(1, "");
    let id = buffer_id("broken");
    let mut broken = State::created("");
    broken.text = vec![0xFF];
    buffer
        .lane
        .run(&mut served.host, &story::seed(&id, &broken))
        .unwrap();
    buffer.id = id;
    buffer.fact = Fact::Buffer(broken);
    let found = buffer
        .edit(&mut served.host, Some([7; 32]), &edit(0, 1, b"x"))
        .unwrap();
    assert_eq!(
        found.unwrap_err().coordinate,
        "jim.text@1.BasisNotCanonical"
    );
    let found = buffer
        .edit(&mut served.host, None, &edit(9, 1, b"x"))
        .unwrap();
    assert_eq!(found.unwrap_err().coordinate, "jim.text@1.FactMalformed");
}

#[test]
fn bt_022_every_counter_ends_the_edit_that_would_overflow_it() {
    let mut served = Served::start();
    let mut buffer = served.buffer(1, "");
    let full = |change: fn(&mut State)| {
        let mut state = State::created("a\nb");
        change(&mut state);
        state
    };
    for (key, seeded, edit, counter) in [
        (
            "c1",
            full(|it| it.sequence = u64::MAX),
            edit(0, 1, b"x"),
            "sequence",
        ),
        (
            "c2",
            full(|it| it.version = u64::MAX),
            edit(0, 1, b"x"),
            "version",
        ),
        (
            "c3",
            full(|it| it.utf16_length = u64::MAX),
            edit(0, 0, b"x"),
            "utf16Length",
        ),
        (
            "c4",
            full(|it| it.utf16_length = 0),
            edit(0, 1, b"x"),
            "utf16Length",
        ),
        (
            "c5",
            full(|it| it.line_breaks = u64::MAX),
            edit(0, 0, b"\n"),
            "lineBreaks",
        ),
        (
            "c6",
            full(|it| it.line_breaks = 0),
            edit(1, 2, b"x"),
            "lineBreaks",
        ),
        (
            "c7",
            full(|it| it.line_breaks = u64::MAX),
            edit(0, 1, b"x"),
            "lineCount",
        ),
    ] {
        buffer.id = buffer_id(key);
        buffer
            .lane
            .run(&mut served.host, &story::seed(&buffer.id, &seeded))
            .unwrap();
        buffer.fact = Fact::Buffer(seeded);
        let found = buffer
            .edit(&mut served.host, None, &edit)
            .unwrap()
            .unwrap_err();
        assert_eq!(found.coordinate, "jim.text@1.ArithmeticOverflow", "{key}");
        assert_eq!(
            story::payload(&buffer.id, &found).get("counter"),
            Some(&Value::text(counter)),
            "{key}"
        );
    }
}

#[test]
fn bt_022_a_buffer_is_created_once_and_checked_field_by_field() {
    let mut served = Served::start();
    let mut buffer = served.buffer(1, "a😀\n");
    let again = buffer
        .lane
        .run(&mut served.host, &story::create(&buffer.id, "other"))
        .unwrap();
    assert_eq!(again.coordinate.as_deref(), Some("jim.text@1.BufferExists"));
    assert_eq!(
        again.body,
        Value::text_map([("bufferId", Value::bytes(buffer.id))])
    );
    let whole = state(&buffer);
    let observed = buffer.lane.observe(&mut served.host, &buffer.id).unwrap();
    assert_eq!(observed, Some(state_value(&whole)));
    let sound = story::check(&buffer.id, &whole);
    let verdict = |served: &mut Served, lane: &mut Lane, member: &str, value: Value| {
        let mut step = sound.clone();
        step.input = with(&step.input, member, value);
        let ended = lane.run(&mut served.host, &step).unwrap();
        let status = ended.body.get("status").and_then(Value::as_u64).unwrap();
        let message = ended
            .body
            .get("message")
            .and_then(Value::as_text)
            .unwrap()
            .to_owned();
        (status, message)
    };
    let lane = &mut buffer.lane;
    assert_eq!(
        verdict(&mut served, lane, "version", Value::unsigned(0)),
        (0, String::new())
    );
    for (member, value) in [
        ("basis", Value::bytes([1; 32])),
        ("text", Value::bytes(*b"a")),
        ("utf16Length", Value::unsigned(5)),
        ("lineBreaks", Value::unsigned(2)),
        ("sequence", Value::unsigned(1)),
        ("version", Value::unsigned(1)),
    ] {
        let expected = (1, format!("{member} differs"));
        assert_eq!(verdict(&mut served, lane, member, value), expected);
    }
}
