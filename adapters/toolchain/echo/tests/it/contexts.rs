// SPDX-License-Identifier: Apache-2.0
//! H16, H26, H28 to H30, H32, H37, H42 to H44 and H57: installations, contexts and admission.

use crate::support::{
    client::Host,
    messages::{
        basis, budget, digest, map, nothing, open, open_durable, recover, scan, text, with,
    },
    notes,
    world::{Lane, granting, install, install_body},
};
use edict_codec::cbor::Value;
use std::os::unix::fs::symlink;

fn a(value: u64) -> Value {
    map([("a", Value::unsigned(value))])
}

fn rooted(space: &tempfile::TempDir) -> Host {
    Host::serve(&["--state-root", space.path().to_str().unwrap()])
}

#[test]
fn h16_installations_are_identified_by_package_report_and_policy() {
    let mut host = Host::serve(&[]);
    let sealed = notes::pick();
    let first = host.ask(2, &install_body(&sealed));
    let again = host.ask(2, &install_body(&sealed));
    let mut other = sealed;
    other.policy.max_budget.max_steps -= 1;
    let other = host.ask(2, &install_body(&other));
    let member = |reply: &crate::support::client::Frame, key: &str| {
        reply.ok(0x8002).get(key).unwrap().clone()
    };
    assert_eq!(member(&first, "repeated"), Value::Bool(false));
    assert_eq!(member(&again, "repeated"), Value::Bool(true));
    assert_eq!(member(&other, "repeated"), Value::Bool(false));
    assert_eq!(
        member(&first, "installation"),
        member(&again, "installation")
    );
    assert_ne!(
        member(&first, "installation"),
        member(&other, "installation")
    );
    assert_eq!(member(&first, "operation"), text("m@1.run"));
    assert_eq!(member(&first, "kind"), text("pure"));
}

#[test]
fn h26_uninstalling() {
    let mut host = Host::serve(&[]);
    let pick = install(&mut host, &notes::pick());
    let lane = Lane::open(&mut host, &granting(&open(1), &[&pick]));
    let body = map([("installation", pick)]);
    assert_eq!(host.ask(3, &body).refused(), "installation-in-use");
    lane.close(&mut host).ok(0x8008);
    assert_eq!(host.ask(3, &body).ok(0x8003), &nothing());
    assert_eq!(host.ask(3, &body).refused(), "installation-unknown");
}

#[test]
fn h28_volatile_contexts() {
    let mut host = Host::serve(&[]);
    let pick = install(&mut host, &notes::pick());
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let unknown = digest("echo/installation/v1", 9);
    let refused = |host: &mut Host, body: &Value| host.ask(4, body).refused().to_owned();
    assert_eq!(
        refused(&mut host, &granting(&open(1), &[&unknown])),
        "installation-unknown"
    );
    assert_eq!(
        refused(&mut host, &granting(&open(1), &[&create, &unknown])),
        "storage-required"
    );
    // A refused opening leaves no nonce behind.
    let lane = Lane::open(&mut host, &granting(&open(1), &[&pick]));
    assert!(lane.log.is_null() && lane.recovery.is_null());
    assert_eq!(refused(&mut host, &open(1)), "nonce-reused");
    lane.close(&mut host).ok(0x8008);
    assert_eq!(refused(&mut host, &open(1)), "nonce-reused");
    assert_eq!(
        refused(&mut host, &with(&open(2), "mode", text("recover"))),
        "malformed-body"
    );
}

#[test]
fn h29_names_and_kinds_of_files() {
    let mut volatile = Host::serve(&[]);
    assert_eq!(
        volatile.ask(4, &open_durable(1, "a")).refused(),
        "state-root-absent"
    );
    let space = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    let path = |name: &str| space.path().join(name);
    symlink(outside.path(), path("link")).unwrap();
    std::fs::write(path("file"), b"").unwrap();
    std::fs::create_dir(path("inner")).unwrap();
    symlink(
        outside.path().join("elsewhere"),
        path("inner").join("wal.log"),
    )
    .unwrap();
    std::fs::create_dir_all(path("locked").join("lock")).unwrap();
    let mut host = rooted(&space);
    for name in ["link", "file", "inner", "locked"] {
        for body in [open_durable(1, name), recover(1, name)] {
            assert_eq!(host.ask(4, &body).refused(), "storage-failed", "{name}");
        }
    }
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(host.ask(4, &recover(1, "none")).refused(), "context-absent");
    std::fs::create_dir(path("empty")).unwrap();
    assert_eq!(
        host.ask(4, &recover(1, "empty")).refused(),
        "context-absent"
    );
    assert!(!path("none").exists());
    let lane = Lane::open(&mut host, &open_durable(1, "new"));
    assert_eq!(lane.log.get("lastLsn"), Some(&Value::unsigned(3)));
    assert_eq!(
        host.ask(4, &open_durable(2, "new")).refused(),
        "context-exists"
    );
    assert_eq!(host.ask(4, &recover(1, "new")).refused(), "writer-active");
    let entries = std::fs::read_dir(path("new")).unwrap().count();
    assert_eq!(entries, 2);
}

#[test]
fn h30_a_worldline_is_named_by_nonce_and_subject() {
    let worldline = |nonce| Lane::open(&mut Host::serve(&[]), &open(nonce)).worldline;
    assert_eq!(worldline(1), worldline(1));
    assert_ne!(worldline(1), worldline(2));
}

#[test]
fn h32_equal_inputs_give_equal_records_and_other_receipts() {
    let run = |nonces: &[u8]| {
        let mut host = Host::serve(&[]);
        let pick = install(&mut host, &notes::pick());
        nonces
            .iter()
            .map(|nonce| {
                let mut lane = Lane::open(&mut host, &granting(&open(*nonce), &[&pick]));
                lane.pure(&mut host, &pick, 1, &a(5))
            })
            .collect::<Vec<_>>()
    };
    let (first, second) = (run(&[1, 2]), run(&[1, 3]));
    let record = first[0].bytes("record").unwrap();
    for outcome in first.iter().chain(&second) {
        assert_eq!(outcome.bytes("record").unwrap(), record);
        assert_eq!(outcome.body(), map([("r", Value::unsigned(5))]));
    }
    assert_ne!(first[0].receipt, first[1].receipt);
    assert_eq!(first[0].receipt, second[0].receipt);
    assert_ne!(first[1].receipt, second[1].receipt);
}

#[test]
fn h37_a_budget_above_the_declared_one() {
    let mut host = Host::serve(&[]);
    let pick = install(&mut host, &notes::pick());
    let mut lane = Lane::open(&mut host, &granting(&open(1), &[&pick]));
    let request = lane.request(&pick, 1, &a(1), true);
    for (over, path) in [
        (budget(1_000_001, 1, 1), ".budget.maxSteps"),
        (budget(1, 1_000_001, 1), ".budget.maxAllocatedBytes"),
        (budget(1, 1, 65_537), ".budget.maxOutputBytes"),
        (budget(1, 1_000_001, 65_537), ".budget.maxAllocatedBytes"),
    ] {
        let reply = host.ask(5, &with(&request, "budget", over));
        assert_eq!(reply.refusal(), ("budget-above-declared", Some(path)));
    }
    let low = with(&request, "budget", budget(3, 48, 4));
    let outcome = lane.invoke(&mut host, &low);
    assert_eq!(
        outcome.coordinate(),
        Some("echo.obstruction.budget-exhausted/v1")
    );
}

#[test]
fn h42_unknown_contexts_and_grants() {
    let mut host = Host::serve(&[]);
    let pick = install(&mut host, &notes::pick());
    let mut lane = Lane::open(&mut host, &granting(&open(1), &[]));
    let request = lane.request(&pick, 1, &a(1), true);
    assert_eq!(host.ask(5, &request).refused(), "installation-not-granted");
    let other = with(&request, "installation", digest("echo/installation/v1", 9));
    assert_eq!(host.ask(5, &other).refused(), "installation-unknown");
    let mut granted = Lane::open(&mut host, &granting(&open(2), &[&pick]));
    granted.pure(&mut host, &pick, 1, &a(1));
    assert_eq!(
        host.ask(6, &granted.recall(1)).refused(),
        "invocation-unknown"
    );
    lane.close(&mut host).ok(0x8008);
    let observation = lane.observe(scan("s", Value::Null, 1), 1);
    for worldline in [lane.worldline.clone(), digest("echo/worldline/v1", 7)] {
        lane.worldline = worldline;
        let bodies = [
            (5, lane.request(&pick, 1, &a(1), true)),
            (6, lane.recall(1)),
            (7, with(&observation, "worldline", lane.worldline.clone())),
            (8, map([("worldline", lane.worldline.clone())])),
        ];
        for (kind, body) in bodies {
            assert_eq!(host.ask(kind, &body).refused(), "context-unknown", "{kind}");
        }
    }
}

#[test]
fn h43_an_id_is_consumed_once() {
    let space = tempfile::tempdir().unwrap();
    let mut host = rooted(&space);
    let pick = install(&mut host, &notes::pick());
    let mut lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &[&pick]));
    // Refused requests consume nothing.
    let wrong = lane.request(&pick, 1, &Value::Null, true);
    assert_eq!(host.ask(5, &wrong).refused(), "input-type");
    let first = lane.pure(&mut host, &pick, 1, &a(1));
    for value in [1, 2] {
        let again = lane.request(&pick, 1, &a(value), true);
        assert_eq!(host.ask(5, &again).refused(), "invocation-replayed");
    }
    lane.pure(&mut host, &pick, 2, &a(2));
    let recalled = host.ask(6, &lane.recall(1));
    let expected = with(&first.frame.body, "recalled", Value::Bool(true));
    assert_eq!(recalled.ok(0x8005), &expected);
    assert_eq!(host.ask(6, &lane.recall(3)).refused(), "invocation-unknown");
}

#[test]
fn h44_bases() {
    let space = tempfile::tempdir().unwrap();
    let mut host = rooted(&space);
    let pick = install(&mut host, &notes::pick());
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let mut lane = Lane::open(
        &mut host,
        &granting(&open_durable(1, "a"), &[&pick, &create]),
    );
    let input = notes::note(b"k", b"v", b"");
    let pure = with(
        &lane.request(&pick, 1, &a(1), true),
        "basis",
        lane.basis.clone(),
    );
    assert_eq!(host.ask(5, &pure).refused(), "basis-not-allowed");
    let without = lane.request(&create, 1, &input, true);
    assert_eq!(host.ask(5, &without).refused(), "basis-required");
    let before = lane.clone();
    lane.effect(&mut host, &create, 1, &input);
    let stale = before.request(&create, 2, &input, false);
    let reply = host.ask(5, &stale);
    assert_eq!(reply.refusal(), ("basis-mismatch", Some(".basis.tick")));
    let root = digest("echo/state-root/v1", 5);
    let other = with(&stale, "basis", basis(1, root));
    let reply = host.ask(5, &other);
    let place = Some(".basis.stateRoot");
    assert_eq!(reply.refusal(), ("basis-mismatch", place));
}

#[test]
fn h57_a_poisoned_context_beside_a_healthy_one() {
    let space = tempfile::tempdir().unwrap();
    let mut host = rooted(&space);
    let create = install(
        &mut host,
        &notes::steps_mapped(&["create"], false).build().seal(),
    );
    let lane_of = |host: &mut Host, nonce: u8, name: &str| {
        Lane::open(host, &granting(&open_durable(nonce, name), &[&create]))
    };
    let (mut sick, mut healthy) = (lane_of(&mut host, 1, "a"), lane_of(&mut host, 2, "b"));
    let input = notes::note(b"k", b"v", b"");
    sick.effect(&mut host, &create, 1, &input);
    healthy.effect(&mut host, &create, 1, &input);
    let fault = host.ask(5, &sick.request(&create, 2, &input, false));
    assert_eq!(fault.refused(), "evaluation-fault");
    assert_eq!(fault.text("scope"), Some("context"));
    let observation = |lane: &Lane| lane.observe(scan(notes::SPACE, Value::Null, 1), 9);
    for (kind, body) in [
        (5, sick.request(&create, 3, &input, false)),
        (6, sick.recall(1)),
        (7, observation(&sick)),
    ] {
        let reply = host.ask(kind, &body);
        assert_eq!(reply.refused(), "context-poisoned");
        assert_eq!(reply.text("scope"), Some("request"));
    }
    healthy.effect(&mut host, &create, 2, &notes::note(b"l", b"v", b""));
    host.ask(7, &observation(&healthy)).ok(0x8007);
    let closed = sick.close(&mut host);
    assert_eq!(closed.ok(0x8008).get("decided"), Some(&Value::unsigned(1)));
    assert_eq!(closed.body.get("basis"), Some(&sick.basis));
    assert_eq!(closed.body.get("lastReceipt"), Some(&sick.last_receipt));
}

fn resident_and_open_files(id: u32) -> (u64, usize) {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let resident = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    let files = std::fs::read_dir(format!("/proc/{id}/fd")).unwrap().count();
    (resident, files)
}

#[test]
fn h57_a_thousand_contexts_leave_nothing_behind() {
    let space = tempfile::tempdir().unwrap();
    let mut host = rooted(&space);
    let mut after_fifty = (0, 0);
    for round in 0..1_000u64 {
        let mut nonce = [0; 32];
        nonce[..8].copy_from_slice(&round.to_be_bytes());
        let body = if round % 10 == 0 {
            open_durable(1, &format!("c{round}"))
        } else {
            open(1)
        };
        let lane = Lane::open(&mut host, &with(&body, "nonce", Value::bytes(nonce)));
        lane.close(&mut host).ok(0x8008);
        if round == 50 {
            after_fifty = resident_and_open_files(host.id());
        }
    }
    let (resident, files) = resident_and_open_files(host.id());
    assert_eq!(files, after_fifty.1);
    // A nonce is remembered for the life of the process, and nothing else.
    assert!(resident < after_fifty.0 + 512, "{resident} {after_fifty:?}");
}

#[test]
fn h57_sixty_four_contexts_may_be_open() {
    let mut host = Host::serve(&[]);
    for nonce in 0..64 {
        Lane::open(&mut host, &open(nonce));
    }
    assert_eq!(host.ask(4, &open(64)).refused(), "context-limit");
    let bye = host.ask(9, &nothing());
    assert_eq!(bye.ok(0x8009).get("contexts"), Some(&Value::unsigned(64)));
}
