// SPDX-License-Identifier: Apache-2.0
//! H61, H62, H64 to H67 and section 7.3: the log, cut, damaged, lengthened and continued.

use crate::support::{
    client::Host,
    messages::{digest, map, open, open_durable, recover, scan, with},
    notes,
    world::{Lane, granting, install},
};
use edict_codec::{
    cbor::Value,
    digest::{Algorithm, TypedDigest},
};
use std::path::PathBuf;
use tempfile::TempDir;

/// A finished log of genesis, a settled decision, an obstruction and a pure decision.
struct Written {
    space: TempDir,
    bytes: Vec<u8>,
    /// Ends of the commits.
    ends: Vec<usize>,
    /// What its client knew after each.
    lanes: Vec<Lane>,
}

impl Written {
    fn new() -> Self {
        let space = tempfile::tempdir().unwrap();
        let mut host = rooted(&space);
        let path = space.path().join("a").join("wal.log");
        let pick = install(&mut host, &notes::pick());
        let create = install(&mut host, &notes::steps(&["create"]).build().seal());
        let open = granting(&open_durable(1, "a"), &[&pick, &create]);
        let mut lane = Lane::open(&mut host, &open);
        let (mut ends, mut lanes) = (Vec::new(), Vec::new());
        let input = notes::note(b"k", b"one", b"");
        for id in 0..4 {
            match id {
                0 => {}
                3 => drop(lane.pure(&mut host, &pick, 3, &map([("a", Value::unsigned(7))]))),
                _ => drop(lane.effect(&mut host, &create, id, &input)),
            }
            ends.push(usize::try_from(path.metadata().unwrap().len()).unwrap());
            lanes.push(lane.clone());
        }
        assert_eq!(host.end().code, Some(0));
        Self {
            bytes: std::fs::read(path).unwrap(),
            space,
            ends,
            lanes,
        }
    }

    fn path(&self) -> PathBuf {
        self.space.path().join("a").join("wal.log")
    }

    fn put(&self, bytes: &[u8]) {
        std::fs::write(self.path(), bytes).unwrap();
    }

    fn stored(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }
}

fn rooted(space: &TempDir) -> Host {
    Host::serve(&["--state-root", space.path().to_str().unwrap()])
}

/// Recovers and closes; gives the tail and the number of discarded bytes.
fn tail_of(host: &mut Host) -> Result<(Lane, String, u64), String> {
    let reply = host.ask(4, &recover(1, "a"));
    if reply.kind == 0x8FFF {
        return Err(reply.refused().to_owned());
    }
    let lane = Lane::opened(&reply, &recover(1, "a"), &host.build);
    lane.close(host).ok(0x8008);
    let tail = lane
        .recovery
        .get("tail")
        .unwrap()
        .as_text()
        .unwrap()
        .to_owned();
    let discarded = lane
        .recovery
        .get("discardedBytes")
        .unwrap()
        .as_u64()
        .unwrap();
    Ok((lane, tail, discarded))
}

#[test]
fn h64_a_log_cut_at_every_byte() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    assert_eq!(written.ends.last(), Some(&written.bytes.len()));
    for cut in 0..=written.bytes.len() {
        written.put(&written.bytes[..cut]);
        let Some(last) = written.ends.iter().rposition(|end| *end <= cut) else {
            assert_eq!(tail_of(&mut host).unwrap_err(), "wal-corrupt", "{cut}");
            assert_eq!(written.stored(), &written.bytes[..cut]);
            continue;
        };
        let committed = written.ends[last];
        let discarded = (cut - committed) as u64;
        let kind = if discarded == 0 { "clean" } else { "torn" };
        let (lane, tail, count) = tail_of(&mut host).unwrap();
        assert_eq!((tail.as_str(), count), (kind, discarded), "{cut}");
        let known = &written.lanes[last];
        assert_eq!(lane.basis, known.basis, "{cut}");
        assert_eq!(lane.decided, known.decided, "{cut}");
        assert_eq!(lane.last_receipt, known.last_receipt, "{cut}");
        assert_eq!(lane.log.get("epoch"), Some(&Value::unsigned(2)));
        assert_eq!(&written.stored()[..committed], &written.bytes[..committed]);
        let (again, tail, _) = tail_of(&mut host).unwrap();
        assert_eq!(tail, "clean", "{cut}");
        assert_eq!(again.log.get("epoch"), Some(&Value::unsigned(3)));
        assert_eq!(again.last_receipt, lane.last_receipt);
    }
}

#[test]
fn h65_every_byte_of_the_log_flipped() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    for index in 0..written.bytes.len() {
        let mut bytes = written.bytes.clone();
        bytes[index] ^= 1 << (index % 8);
        written.put(&bytes);
        let kind = if (8..12).contains(&index) {
            "wal-version"
        } else {
            "wal-corrupt"
        };
        assert_eq!(tail_of(&mut host).unwrap_err(), kind, "{index}");
        assert_eq!(written.stored(), bytes, "{index}");
    }
    // Another version is named before any other damage.
    let mut bytes = written.bytes[..20].to_vec();
    bytes[0] = 0;
    bytes[11] = 2;
    written.put(&bytes);
    assert_eq!(tail_of(&mut host).unwrap_err(), "wal-version");
}

#[test]
fn other_tails_are_torn_only_if_a_cut_write_leaves_them() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    let mut almost = vec![0; 200];
    almost[199] = 1;
    for (tail, is_torn) in [
        (vec![0; 1], true),
        (vec![0; 64], true),
        (vec![0; 100_000], true),
        (vec![9; 63], true),
        (vec![9; 64], false),
        (almost, false),
        // Valid records of another place in the log.
        (written.bytes[64..written.ends[0]].to_vec(), false),
    ] {
        let bytes = [written.bytes.clone(), tail.clone()].concat();
        written.put(&bytes);
        let found = tail_of(&mut host);
        if is_torn {
            let (_, kind, discarded) = found.unwrap();
            assert_eq!((kind.as_str(), discarded), ("torn", tail.len() as u64));
        } else {
            assert_eq!(found.unwrap_err(), "wal-corrupt");
            assert_eq!(written.stored(), bytes);
        }
    }
}

fn expecting(lane: &Lane, commit: &Value) -> Value {
    let expect = map([
        ("lastLsn", lane.log.get("lastLsn").unwrap().clone()),
        ("commit", commit.clone()),
    ]);
    with(&recover(1, "a"), "expect", expect)
}

#[test]
fn h66_expected_history_identity_and_grants() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    let commit = |lane: &Lane| lane.log.get("commit").unwrap().clone();
    let shorter = &written.bytes[..written.ends[1]];
    written.put(shorter);
    let last = written.lanes.last().unwrap();
    let subject = TypedDigest::new("example/subject/v1", Algorithm::Sha256, [0x22; 32]);
    let beyond = expecting(last, &commit(last));
    let other = expecting(&written.lanes[1], &commit(last));
    let foreign = Value::Array(vec![digest("echo/installation/v1", 9)]);
    for (body, kind, path) in [
        (beyond, "history-lost", ".expect.lastLsn"),
        (other, "history-lost", ".expect.commit"),
        (recover(2, "a"), "context-identity-mismatch", ".nonce"),
        (
            with(&recover(1, "a"), "subject", subject.to_value()),
            "context-identity-mismatch",
            ".subject",
        ),
        (
            with(&recover(1, "a"), "grants", foreign),
            "installation-unknown",
            ".grants[0]",
        ),
    ] {
        assert_eq!(host.ask(4, &body).refusal(), (kind, Some(path)));
        assert_eq!(written.stored(), shorter);
    }
    for lane in &written.lanes[..2] {
        let body = expecting(lane, &commit(lane));
        let opened = host.ask(4, &body);
        let opened = Lane::opened(&opened, &body, &host.build);
        opened.close(&mut host).ok(0x8008);
    }
    // It opens with the new grants only: what it was created with is not stored.
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let pick = install(&mut host, &notes::pick());
    let lane = Lane::open(&mut host, &granting(&recover(1, "a"), &[&pick]));
    let request = lane.request(&create, 9, &Value::Null, false);
    assert_eq!(host.ask(5, &request).refused(), "installation-not-granted");
}

#[test]
fn h61_one_writer_at_a_time() {
    let written = Written::new();
    let mut first = rooted(&written.space);
    let mut second = rooted(&written.space);
    let lane = Lane::open(&mut first, &recover(1, "a"));
    assert_eq!(second.ask(4, &recover(1, "a")).refused(), "writer-active");
    assert_eq!(
        second.ask(4, &open_durable(1, "a")).refused(),
        "context-exists"
    );
    assert_eq!(first.kill().code, None);
    let after = Lane::open(&mut second, &recover(1, "a"));
    assert_eq!(lane.log.get("epoch"), Some(&Value::unsigned(2)));
    assert_eq!(after.log.get("epoch"), Some(&Value::unsigned(3)));
    assert_eq!(after.basis, lane.basis);
}

#[test]
fn h61_a_copy_of_an_open_worldline_is_not_opened_beside_it() {
    let written = Written::new();
    std::fs::create_dir(written.space.path().join("b")).unwrap();
    let copy = written.space.path().join("b").join("wal.log");
    std::fs::copy(written.path(), copy).unwrap();
    let mut host = rooted(&written.space);
    Lane::open(&mut host, &recover(1, "a"));
    assert_eq!(host.ask(4, &recover(1, "b")).refused(), "writer-active");
}

#[test]
fn h62_a_foreign_writer_fences_this_one_off() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    let pick = install(&mut host, &notes::pick());
    let lane = Lane::open(&mut host, &granting(&recover(1, "a"), &[&pick]));
    let lengthened = [written.stored(), vec![0; 7]].concat();
    written.put(&lengthened);
    let input = map([("a", Value::unsigned(1))]);
    let reply = host.ask(5, &lane.request(&pick, 9, &input, true));
    assert_eq!(reply.refused(), "fenced");
    assert_eq!(reply.text("scope"), Some("context"));
    for (kind, body) in [
        (5, lane.request(&pick, 9, &input, true)),
        (6, lane.recall(1)),
        (7, lane.observe(scan(notes::SPACE, Value::Null, 1), 9)),
    ] {
        assert_eq!(host.ask(kind, &body).refused(), "context-poisoned");
    }
    lane.close(&mut host).ok(0x8008);
    assert_eq!(written.stored(), lengthened);
}

#[test]
fn h67_a_killed_and_continued_run_equals_an_uninterrupted_one() {
    let run = |killed_after: &[u64]| {
        let space = tempfile::tempdir().unwrap();
        let mut host = rooted(&space);
        let mut records = Vec::new();
        let mut lane: Option<Lane> = None;
        for id in 0..6u64 {
            let create = install(&mut host, &notes::steps(&["create"]).build().seal());
            let open = match &lane {
                None => Some(open_durable(1, "a")),
                Some(_) if killed_after.contains(&id) => Some(recover(1, "a")),
                Some(_) => None,
            };
            if let Some(open) = open {
                let opened = Lane::open(&mut host, &granting(&open, &[&create]));
                lane = Some(match lane.take() {
                    None => opened,
                    Some(known) => {
                        assert_eq!(opened.basis, known.basis);
                        assert_eq!(opened.last_receipt, known.last_receipt);
                        assert_eq!(opened.decided, known.decided);
                        Lane {
                            log: opened.log,
                            ..known
                        }
                    }
                });
            }
            let current = lane.as_mut().unwrap();
            let input = notes::note(&[u8::try_from(id / 2).unwrap()], b"v", b"");
            let outcome = current.effect(&mut host, &create, id, &input);
            records.push(outcome.bytes("record").unwrap().to_vec());
            if killed_after.contains(&(id + 1)) {
                assert_eq!(host.kill().code, None);
                host = rooted(&space);
            }
        }
        let recalled: Vec<Value> = (0..6)
            .map(|id| {
                let reply = host.ask(6, &lane.as_ref().unwrap().recall(id));
                reply.ok(0x8005).get("record").unwrap().clone()
            })
            .collect();
        let expected: Vec<Value> = records
            .iter()
            .map(|it| Value::bytes(it.as_slice()))
            .collect();
        assert_eq!(recalled, expected);
        (records, lane.unwrap())
    };
    let (whole, whole_lane) = run(&[]);
    let (parts, parts_lane) = run(&[1, 3, 4]);
    assert_eq!(whole, parts);
    assert_eq!(whole_lane.basis, parts_lane.basis);
    assert_eq!(parts_lane.log.get("epoch"), Some(&Value::unsigned(4)));
    assert_ne!(whole_lane.log.get("lastLsn"), parts_lane.log.get("lastLsn"));
}

#[test]
fn a_recovered_outcome_is_recalled_byte_for_byte() {
    let space = tempfile::tempdir().unwrap();
    let mut host = rooted(&space);
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let open = granting(&open_durable(1, "a"), &[&create]);
    let mut lane = Lane::open(&mut host, &open);
    let outcomes: Vec<Value> = (0..3)
        .map(|id| {
            let input = notes::note(&[u8::from(id == 1)], b"v", b"");
            lane.effect(&mut host, &create, id, &input).frame.body
        })
        .collect();
    assert_eq!(host.kill().code, None);
    let mut host = rooted(&space);
    Lane::open(&mut host, &recover(1, "a"));
    for (id, body) in (0..3).zip(outcomes) {
        let recalled = host.ask(6, &lane.recall(id));
        assert_eq!(
            recalled.ok(0x8005),
            &with(&body, "recalled", Value::Bool(true))
        );
    }
}

#[test]
fn a_full_host_writes_nothing() {
    let written = Written::new();
    let mut host = rooted(&written.space);
    for nonce in 2..66 {
        Lane::open(&mut host, &open(nonce));
    }
    assert_eq!(
        host.ask(4, &open_durable(99, "new")).refused(),
        "context-limit"
    );
    assert!(!written.space.path().join("new").exists());
    assert_eq!(host.ask(4, &recover(1, "a")).refused(), "context-limit");
    assert_eq!(written.stored(), written.bytes);
    assert_eq!(host.ask(4, &recover(1, "none")).refused(), "context-absent");
}

#[test]
fn an_unfinished_log_is_no_context_and_is_removed() {
    let space = tempfile::tempdir().unwrap();
    let directory = space.path().join("a");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("wal.tmp"), b"half").unwrap();
    let mut host = rooted(&space);
    assert_eq!(host.ask(4, &recover(1, "a")).refused(), "context-absent");
    let lane = Lane::open(&mut host, &open_durable(1, "a"));
    assert_eq!(lane.recovery, Value::Null);
    assert!(!directory.join("wal.tmp").exists());
    assert_eq!(lane.basis.get("tick"), Some(&Value::unsigned(0)));
    let closed = lane.close(&mut host);
    assert_eq!(closed.ok(0x8008).get("lastReceipt"), Some(&Value::Null));
}
