// SPDX-License-Identifier: Apache-2.0
//! H63: the crash matrix of section 7.5, C1 to C21.

use crate::support::{
    client::{Ended, Frame, Host},
    messages::{map, nothing, open_durable, recover, with},
    notes,
    world::{Lane, granting, install},
};
use edict_codec::cbor::Value;
use std::path::Path;

/// A state root and what the client of the crashed process knew.
struct Case {
    space: tempfile::TempDir,
    create: Value,
    pick: Value,
    lane: Option<Lane>,
    log: Vec<u8>,
}

/// The note that invocation `id` creates.
pub(crate) fn note(id: u64) -> Value {
    notes::note(&id.to_be_bytes(), b"value", b"")
}

pub(crate) fn options<'a>(space: &'a Path, fault: Option<&'a str>) -> Vec<&'a str> {
    let mut options = vec!["--state-root", space.to_str().unwrap()];
    options.extend(fault.into_iter().flat_map(|fault| ["--fault", fault]));
    options
}

pub(crate) fn opened(host: &mut Host, body: &Value) -> (Value, Value, Lane) {
    let create = install(host, &notes::steps(&["create"]).build().seal());
    let pick = install(host, &notes::pick());
    let lane = Lane::open(host, &granting(body, &[&create, &pick]));
    (create, pick, lane)
}

impl Case {
    /// A log with one settled invocation, and a host that dies at `fault`.
    fn before(fault: &str) -> (Self, Host) {
        let space = tempfile::tempdir().unwrap();
        let mut host = Host::serve(&options(space.path(), None));
        let (create, _, mut lane) = opened(&mut host, &open_durable(1, "a"));
        lane.effect(&mut host, &create, 1, &note(1));
        assert_eq!(host.end().code, Some(0));
        let mut host = Host::serve(&options(space.path(), Some(fault)));
        let (create, pick, again) = opened(&mut host, &recover(1, "a"));
        let log = std::fs::read(space.path().join("a/wal.log")).unwrap();
        let lane = Lane {
            log: again.log,
            ..lane
        };
        let case = Self {
            space,
            create,
            pick,
            lane: Some(lane),
            log,
        };
        (case, host)
    }

    fn lane(&mut self) -> &mut Lane {
        self.lane.as_mut().unwrap()
    }

    fn stored(&self) -> Vec<u8> {
        std::fs::read(self.space.path().join("a/wal.log")).unwrap()
    }

    /// Sends invocation 2 to a host that does not survive it.
    fn invoke_to_death(&mut self, mut host: Host) -> Ended {
        let create = self.create.clone();
        let request = self.lane().request(&create, 2, &note(2), false);
        host.send(5, &request);
        let ended = host.end();
        assert_eq!(ended.code, None, "{:?}", ended.frames);
        ended
    }

    /// Recovers with a whole host and judges what is there: `applied` invocations more than the
    /// client knew, none of them twice, and everything usable.
    fn recovered(&mut self, applied: u64, discarded: u64) -> (Host, Lane) {
        let mut host = Host::serve(&options(self.space.path(), None));
        let (_, _, found) = opened(&mut host, &recover(1, "a"));
        let known = self.lane().clone();
        assert_eq!(found.decided, known.decided + applied);
        let tail = found.recovery.get("discardedBytes").unwrap().as_u64();
        assert_eq!(tail, Some(discarded));
        let reply = host.ask(6, &known.recall(2));
        let mut lane = Lane {
            log: found.log.clone(),
            ..known
        };
        if applied == 0 {
            assert_eq!(reply.refused(), "invocation-unknown");
            assert_eq!(found.basis, lane.basis);
            assert_eq!(found.last_receipt, lane.last_receipt);
            let outcome = lane.effect(&mut host, &self.create, 2, &note(2));
            assert_eq!(outcome.posture(), Some("settled"));
        } else {
            lane = self.catch_up(lane, &reply, &found);
            let again = lane.request(&self.create, 2, &note(2), false);
            assert_eq!(host.ask(5, &again).refused(), "invocation-replayed");
        }
        lane.effect(&mut host, &self.create, 3, &note(3));
        (host, lane)
    }

    /// Takes a recalled outcome as if it had been received.
    fn catch_up(&self, mut lane: Lane, recalled: &Frame, found: &Lane) -> Lane {
        let mut frame = recalled.clone();
        frame.body = with(recalled.ok(0x8005), "recalled", Value::Bool(false));
        let log = std::mem::replace(&mut lane.log, self.lane.as_ref().unwrap().log.clone());
        let request = lane.request(&self.create, 2, &note(2), false);
        lane.check(frame, &request);
        lane.log = log;
        assert_eq!(lane.basis, found.basis);
        assert_eq!(lane.last_receipt, found.last_receipt);
        lane
    }
}

/// The bytes invocation 2 appends.
fn transaction_bytes() -> u64 {
    let (mut case, mut host) = Case::before("published@9");
    let before = case.log.len();
    let create = case.create.clone();
    case.lane().effect(&mut host, &create, 2, &note(2));
    (case.stored().len() - before) as u64
}

fn created_to_death(fault: &str) -> tempfile::TempDir {
    let space = tempfile::tempdir().unwrap();
    let mut host = Host::serve(&options(space.path(), Some(fault)));
    host.send(4, &open_durable(1, "a"));
    assert_eq!(host.end().code, None, "{fault}");
    space
}

#[test]
fn h63_c1_c2_a_creation_that_was_not_renamed() {
    for fault in [
        "create-partial:0",
        "create-partial:1",
        "create-partial:300",
        "create-synced",
    ] {
        let space = created_to_death(fault);
        let mut host = Host::serve(&options(space.path(), None));
        assert_eq!(host.ask(4, &recover(1, "a")).refused(), "context-absent");
        let lane = Lane::open(&mut host, &open_durable(1, "a"));
        assert_eq!(lane.decided, 0);
        assert!(!space.path().join("a/wal.tmp").exists());
    }
}

#[test]
fn h63_c3_c4_a_creation_that_was_renamed() {
    for fault in ["create-renamed", "create-replied"] {
        let space = created_to_death(fault);
        let mut host = Host::serve(&options(space.path(), None));
        assert_eq!(
            host.ask(4, &open_durable(1, "a")).refused(),
            "context-exists"
        );
        let lane = Lane::open(&mut host, &recover(1, "a"));
        assert_eq!(lane.decided, 0);
        assert_eq!(lane.basis.get("tick"), Some(&Value::unsigned(0)));
        assert_eq!(lane.log.get("epoch"), Some(&Value::unsigned(2)));
    }
}

#[test]
fn h63_c5_to_c8_nothing_was_written() {
    for fault in [
        "invoke-read",
        "invoke-admitted",
        "atom-written",
        "evaluated",
    ] {
        let (mut case, host) = Case::before(fault);
        let ended = case.invoke_to_death(host);
        assert!(ended.frames.is_empty());
        assert_eq!(case.stored(), case.log, "{fault}");
        case.recovered(0, 0);
    }
}

#[test]
fn h63_c9_a_transaction_cut_anywhere() {
    let bytes = transaction_bytes();
    // Heads, digests and payloads of all three records are cut; H64 cuts at every byte.
    for kept in (0..bytes).step_by(97).chain([1, 63, 64, 65, bytes - 1]) {
        let (mut case, host) = Case::before(&format!("append-partial:{kept}"));
        case.invoke_to_death(host);
        assert_eq!(case.stored().len() as u64, case.log.len() as u64 + kept);
        case.recovered(0, kept);
    }
}

#[test]
fn h63_c10_to_c14_the_transaction_is_there() {
    for fault in [
        "append-written",
        "append-synced",
        "published",
        "reply-partial:0",
        "reply-partial:21",
        "reply-partial:1000",
        "replied",
    ] {
        let (mut case, host) = Case::before(fault);
        let ended = case.invoke_to_death(host);
        let kept = fault
            .strip_prefix("reply-partial:")
            .map_or(0, |it| it.parse().unwrap());
        assert_eq!(ended.rest.len(), kept, "{fault}");
        assert_eq!(ended.frames.len(), usize::from(fault == "replied"));
        case.recovered(1, 0);
    }
}

#[test]
fn h63_c15_points_that_only_obstructions_reach() {
    for (fault, applied) in [("obstruction-evaluated", 0), ("obstruction-synced", 1)] {
        let (mut case, mut host) = Case::before(fault);
        let create = case.create.clone();
        // A result passes by.
        case.lane().effect(&mut host, &create, 7, &note(7));
        let known = case.lane().clone();
        // Its atom exists already.
        host.send(5, &known.request(&create, 8, &note(7), false));
        assert_eq!(host.end().code, None);
        let mut host = Host::serve(&options(case.space.path(), None));
        let (_, _, found) = opened(&mut host, &recover(1, "a"));
        assert_eq!(found.basis, known.basis);
        assert_eq!(found.decided, known.decided + applied);
    }
}

#[test]
fn h63_c16_c17_recovery_is_interrupted() {
    for (fault, epoch) in [("recover-cut", 3), ("recover-synced", 4)] {
        let (mut case, host) = Case::before("append-partial:50");
        case.invoke_to_death(host);
        let mut host = Host::serve(&options(case.space.path(), Some(fault)));
        host.send(4, &recover(1, "a"));
        assert_eq!(host.end().code, None, "{fault}");
        let (_, lane) = case.recovered(0, 0);
        assert_eq!(lane.log.get("epoch"), Some(&Value::unsigned(epoch)));
    }
}

#[test]
fn h63_c18_no_space_is_left() {
    let bytes = transaction_bytes();
    for kept in [0, 1, 64, 200, bytes - 1, bytes] {
        let (mut case, mut host) = Case::before(&format!("append-full:{kept}"));
        let create = case.create.clone();
        let request = case.lane().request(&create, 2, &note(2), false);
        let full = host.ask(5, &request);
        assert_eq!(full.refused(), "storage-full");
        assert_eq!(full.text("scope"), Some("request"));
        assert_eq!(case.stored(), case.log);
        case.lane().invoke(&mut host, &request);
    }
}

#[test]
fn h63_c19_a_sync_that_fails() {
    let (mut case, mut host) = Case::before("sync-error");
    let create = case.create.clone();
    let request = case.lane().request(&create, 2, &note(2), false);
    let unknown = host.ask(5, &request);
    assert_eq!(unknown.refused(), "durability-unknown");
    assert_eq!(unknown.text("scope"), Some("context"));
    assert_eq!(
        host.ask(6, &case.lane().recall(2)).refused(),
        "context-poisoned"
    );
    case.lane().close(&mut host).ok(0x8008);
    assert_eq!(host.end().code, Some(0));
    // The bytes were written, so the file says that it happened.
    case.recovered(1, 0);
}

#[test]
fn h63_c20_closing_is_interrupted() {
    for (fault, kind) in [("close-begun", 8), ("shutdown-begun", 9)] {
        let (mut case, mut host) = Case::before(fault);
        let body = match kind {
            8 => map([("worldline", case.lane().worldline.clone())]),
            _ => nothing(),
        };
        host.send(kind, &body);
        assert_eq!(host.end().code, None);
        case.recovered(0, 0);
    }
}

#[test]
fn h63_c21_two_contexts() {
    let (mut case, mut host) = Case::before("append-partial:70@3");
    let other = granting(&open_durable(2, "b"), &[&case.create, &case.pick]);
    let mut other = Lane::open(&mut host, &other);
    let create = case.create.clone();
    other.effect(&mut host, &create, 1, &note(1));
    other.effect(&mut host, &create, 2, &note(2));
    case.invoke_to_death(host);
    let (mut host, _) = case.recovered(0, 70);
    let found = Lane::open(&mut host, &recover(2, "b"));
    assert_eq!(found.basis, other.basis);
    assert_eq!(found.last_receipt, other.last_receipt);
    assert_eq!(found.recovery.get("tail"), Some(&Value::text("clean")));
}
