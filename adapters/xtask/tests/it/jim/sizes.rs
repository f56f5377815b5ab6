// SPDX-License-Identifier: Apache-2.0
//! Texts and replacements at the bound of the slice, one under it and one over it.

use super::support::{Served, edit, programs, state};
use edict_codec::cbor::Value;
use xtask::jim::{lane::Ended, model::MAX_TEXT, story};

/// A text of exactly so many bytes, of scalars of every width.
fn text(bytes: usize) -> String {
    let mut text = "aé€😀\n".repeat(bytes / 11);
    text.push_str(&"z".repeat(bytes - text.len()));
    text
}

fn consumed(ended: &Ended, name: &str) -> u64 {
    ended
        .record
        .get("consumed")
        .unwrap()
        .get(name)
        .unwrap()
        .as_u64()
        .unwrap()
}

#[test]
fn bt_022_texts_reach_the_bound_and_not_a_byte_more() {
    let mut served = Served::start();
    for (number, bytes, settles) in [(1, 65_535, true), (2, 65_536, true), (3, 65_537, false)] {
        // By a short insertion into a long text, and by a long replacement in a short one.
        let mut buffer = served.buffer(number, &text(bytes - 7));
        let outcome = buffer
            .edit(&mut served.host, None, &edit(11, 11, "1234567"))
            .unwrap();
        assert_eq!(outcome.is_ok(), settles, "{bytes}");
        let mut buffer = served.buffer(number + 10, "ab");
        let outcome = buffer
            .edit(&mut served.host, None, &edit(1, 1, text(bytes - 2)))
            .unwrap();
        assert_eq!(outcome.is_ok(), settles, "{bytes}");
        if let Err(found) = outcome {
            assert_eq!(found.coordinate, "jim.text@1.TextLimitExceeded");
            let payload = story::payload(&buffer.id, &found);
            assert_eq!(payload.get("byteLength"), Some(&Value::unsigned(65_537)));
            assert_eq!(payload.get("limit"), Some(&Value::unsigned(MAX_TEXT)));
        } else {
            assert_eq!(state(&buffer).text.len(), bytes);
        }
    }
}

#[test]
fn bt_022_replacements_reach_the_bound_and_one_more_is_no_input() {
    let mut served = Served::start();
    for (number, bytes) in [(1, 65_535), (2, 65_536)] {
        let mut buffer = served.buffer(number, "");
        buffer
            .edit(&mut served.host, None, &edit(0, 0, text(bytes)))
            .unwrap()
            .unwrap();
        let length = state(&buffer).text.len() as u64;
        buffer
            .edit(&mut served.host, None, &edit(0, length, text(bytes - 1)))
            .unwrap()
            .unwrap();
    }
    let mut buffer = served.buffer(3, "");
    let claimed = story::current(&buffer.id, &buffer.fact);
    let step = story::replace(&buffer.id, &claimed, &edit(0, 0, text(65_537)));
    let (_, request) = buffer.lane.request(&step, Value::Null).unwrap();
    assert_eq!(
        served.host.ask(5, &request).unwrap().refused(),
        Some("input-type")
    );
}

#[test]
fn bt_022_the_largest_edit_fits_its_budget_and_one_step_less_does_not() {
    let mut served = Served::start();
    let mut buffer = served.buffer(1, &text(65_536));
    // 32,769 is a boundary of the repeated text: 2,979 times eleven bytes.
    let range = (0, 32_769);
    let edit = edit(range.0, range.1, "\u{1f680}".repeat(8_192));
    let claimed = story::current(&buffer.id, &buffer.fact);
    let step = story::replace(&buffer.id, &claimed, &edit);
    let before = buffer.lane.basis.clone();
    // A full run in another context says what the edit consumes.
    let mut twin = served.buffer(2, &text(65_536));
    twin.id = buffer.id;
    let claimed = story::current(&twin.id, &twin.fact);
    let seeded = state(&twin);
    twin.lane
        .run(&mut served.host, &story::seed(&twin.id, &seeded))
        .unwrap();
    let whole = twin
        .lane
        .run(&mut served.host, &story::replace(&twin.id, &claimed, &edit))
        .unwrap();
    assert_eq!(whole.coordinate, None);
    let (steps, bytes) = (
        consumed(&whole, "steps"),
        consumed(&whole, "allocatedBytes"),
    );
    println!("the largest edit takes {steps} steps and {bytes} allocated bytes");
    let declared = programs()["replace-range"]
        .content
        .get("budget")
        .unwrap()
        .clone();
    let member = |name: &str| declared.get(name).unwrap().as_u64().unwrap();
    assert!(steps < member("maxSteps") && bytes < member("maxAllocatedBytes"));
    let less = |steps: u64| {
        Value::text_map([
            ("maxSteps", Value::unsigned(steps)),
            (
                "maxAllocatedBytes",
                Value::unsigned(member("maxAllocatedBytes")),
            ),
            ("maxOutputBytes", Value::unsigned(member("maxOutputBytes"))),
        ])
    };
    let ended = buffer
        .lane
        .run_within(&mut served.host, &step, less(steps - 1))
        .unwrap();
    assert_eq!(
        ended.coordinate.as_deref(),
        Some("echo.obstruction.budget-exhausted/v1")
    );
    let payload = Value::text_map([
        ("limit", Value::unsigned(steps - 1)),
        ("resource", Value::text("steps")),
    ]);
    assert_eq!(ended.body, payload);
    assert!(ended.patch.is_null());
    assert_eq!(buffer.lane.basis, before);
    let ended = buffer
        .lane
        .run_within(&mut served.host, &step, less(steps))
        .unwrap();
    assert_eq!(ended.coordinate, None);
}

#[test]
fn bt_022_the_static_bound_of_the_edit_fits_the_declared_budget() {
    let package = &programs()["replace-range"].content;
    let bound = package.get("staticBound").unwrap();
    let budget = package.get("budget").unwrap();
    let pairs = [
        ("steps", "maxSteps"),
        ("allocatedBytes", "maxAllocatedBytes"),
        ("outputBytes", "maxOutputBytes"),
    ];
    for (counter, limit) in pairs {
        let bound = bound.get(counter).unwrap().as_u64().unwrap();
        let budget = budget.get(limit).unwrap().as_u64().unwrap();
        println!("{counter}: at most {bound} of {budget}");
        assert!(bound <= budget, "{counter}");
    }
}
