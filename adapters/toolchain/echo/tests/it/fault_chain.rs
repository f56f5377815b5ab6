// SPDX-License-Identifier: Apache-2.0
//! C22 of the crash matrix, and the part of H72 that a build with faults has.

use crate::{
    faults::{note, opened, options},
    support::{
        client::Host,
        messages::{hello, open_durable, recover},
        world::Lane,
    },
};
use edict_codec::cbor::Value;

#[test]
fn h72_faults_are_named_exactly() {
    for fault in [
        "",
        "nothing",
        "create-partial",
        "append-partial",
        "append-full",
        "reply-partial",
        "evaluated:1",
        "evaluated@",
        "evaluated@0",
        "evaluated@x",
        "append-partial:",
        "append-partial:+1",
        "append-partial:1@1@1",
        "evaluated:1@1",
    ] {
        let ended = Host::start(&["serve", "--fault", fault]).end();
        assert_eq!(ended.code, Some(2), "{fault}");
    }
    let twice = ["serve", "--fault", "evaluated", "--fault", "evaluated"];
    assert_eq!(Host::start(&twice).end().code, Some(2));
    let mut host = Host::start(&["serve", "--fault", "evaluated@2"]);
    let reply = host.ask(1, &hello());
    assert_eq!(
        reply.ok(0x8001).get("faultPoints"),
        Some(&Value::Bool(true))
    );
}

#[test]
fn h63_c22_a_random_point_in_a_chain() {
    let points = [
        "invoke-read",
        "invoke-admitted",
        "atom-written",
        "evaluated",
        "append-partial:100",
        "append-written",
        "append-synced",
        "published",
        "reply-partial:100",
        "replied",
    ];
    let mut state = 22u64;
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    // The uninterrupted run.
    let space = tempfile::tempdir().unwrap();
    let mut host = Host::serve(&options(space.path(), None));
    let (create, _, mut lane) = opened(&mut host, &open_durable(1, "a"));
    let mut whole = vec![lane.basis.clone()];
    let mut records = Vec::new();
    for id in 0..100 {
        let outcome = lane.effect(&mut host, &create, id, &note(id));
        records.push(outcome.frame.body.get("record").unwrap().clone());
        whole.push(lane.basis.clone());
    }
    for _ in 0..50 {
        let point = points[usize::try_from(below(points.len() as u64)).unwrap()];
        let fault = format!("{point}@{}", below(100) + 1);
        let space = tempfile::tempdir().unwrap();
        let mut host = Host::serve(&options(space.path(), Some(&fault)));
        let (create, _, lane) = opened(&mut host, &open_durable(1, "a"));
        for (id, basis) in (0..100).zip(&whole) {
            let lane = Lane {
                basis: basis.clone(),
                ..lane.clone()
            };
            host.send(5, &lane.request(&create, id, &note(id), false));
        }
        let ended = host.end();
        assert_eq!(ended.code, None, "{fault}");
        let mut host = Host::serve(&options(space.path(), None));
        let (_, _, found) = opened(&mut host, &recover(1, "a"));
        let decided = usize::try_from(found.decided).unwrap();
        assert!(
            decided >= ended.frames.len() && decided <= ended.frames.len() + 1,
            "{fault}"
        );
        assert_eq!(found.basis, whole[decided], "{fault}");
        for (id, record) in (0..found.decided).zip(&records) {
            let recalled = host.ask(6, &found.recall(id));
            assert_eq!(recalled.ok(0x8005).get("record"), Some(record), "{fault}");
        }
    }
}
