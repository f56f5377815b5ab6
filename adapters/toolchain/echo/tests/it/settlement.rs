// SPDX-License-Identifier: Apache-2.0
//! H45 to H54 and H56 through the process: what settles, what does not, and what is observed.

use crate::support::{
    client::Host,
    messages::{map, open_durable, scan, select, text, with},
    notes,
    world::{Lane, Outcome, granting, install},
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::derive_typed,
};

const INTRINSICS: [&str; 4] = ["create", "delete", "read", "replace"];

/// A host with one context that may use each intrinsic alone.
struct World {
    host: Host,
    lane: Lane,
    installed: Vec<Value>,
    next: u64,
    _space: tempfile::TempDir,
}

impl World {
    fn new(extra: &[crate::support::program::Sealed]) -> Self {
        let space = tempfile::tempdir().unwrap();
        let mut host = Host::serve(&["--state-root", space.path().to_str().unwrap()]);
        let mut installed: Vec<Value> = INTRINSICS
            .iter()
            .map(|name| install(&mut host, &notes::steps(&[name]).build().seal()))
            .collect();
        installed.extend(extra.iter().map(|sealed| install(&mut host, sealed)));
        let grants: Vec<&Value> = installed.iter().collect();
        let lane = Lane::open(&mut host, &granting(&open_durable(1, "a"), &grants));
        Self {
            host,
            lane,
            installed,
            next: 0,
            _space: space,
        }
    }

    /// Invokes the installation of that index.
    fn run(&mut self, index: usize, key: &[u8], value: &[u8], expected: &[u8]) -> Outcome {
        self.next += 1;
        let input = notes::note(key, value, expected);
        let installation = self.installed[index].clone();
        self.lane
            .effect(&mut self.host, &installation, self.next, &input)
    }

    /// The refusal of the same.
    fn refused(&mut self, index: usize, key: &[u8], value: &[u8]) -> String {
        self.next += 1;
        let input = notes::note(key, value, b"");
        let request = self
            .lane
            .request(&self.installed[index], self.next, &input, false);
        self.host.ask(5, &request).refused().to_owned()
    }

    fn named(&mut self, name: &str, key: &[u8], value: &[u8], expected: &[u8]) -> Outcome {
        let index = INTRINSICS.iter().position(|it| *it == name).unwrap();
        self.run(index, key, value, expected)
    }
}

#[test]
fn h45_h46_each_intrinsic_and_its_failures() {
    let mut world = World::new(&[notes::steps(&["create", "create"]).build().seal()]);
    let created = world.named("create", b"k", b"one", b"");
    assert_eq!(created.posture(), Some("settled"));
    let version = created.version();
    let again = world.named("create", b"k", b"two", b"");
    assert_eq!(again.coordinate(), Some("k@1.exists"));
    assert_eq!(again.posture(), Some("unchanged"));
    let wrong = world.named("replace", b"k", b"two", b"wrong");
    assert_eq!(wrong.coordinate(), Some("k@1.stale"));
    let missing = world.named("replace", b"l", b"two", &version);
    assert_eq!(missing.coordinate(), Some("k@1.missing"));
    let replaced = world.named("replace", b"k", b"two", &version);
    assert_eq!(replaced.posture(), Some("settled"));
    let read = world.named("read", b"k", b"", b"");
    assert_eq!(read.version(), replaced.version());
    assert_eq!(read.posture(), Some("unchanged"));
    assert_eq!(
        world.named("delete", b"k", b"", &version).coordinate(),
        Some("k@1.stale")
    );
    let deleted = world.named("delete", b"k", b"", &replaced.version());
    assert_eq!(deleted.version(), replaced.version());
    assert_eq!(
        world.named("read", b"k", b"", b"").coordinate(),
        Some("k@1.missing")
    );
    assert_eq!(world.lane.basis.get("tick"), Some(&Value::unsigned(3)));
    // Both creations are of one program: the second meets the first, and nothing settles.
    let twice = world.run(4, b"m", b"one", b"");
    assert_eq!(twice.coordinate(), Some("k@1.exists"));
    assert_eq!(twice.posture(), Some("unchanged"));
}

#[test]
fn h47_an_equal_end_is_no_change() {
    let mut world = World::new(&[notes::steps(&["delete", "create"]).build().seal()]);
    let version = world.named("create", b"k", b"one", b"").version();
    let back = world.run(4, b"k", b"one", &version);
    assert_eq!(back.posture(), Some("unchanged"));
    assert_eq!(back.version(), version);
    assert_eq!(back.bytes("patch"), None);
    let other = world.run(4, b"k", b"two", &version);
    assert_eq!(other.posture(), Some("settled"));
    let patch = decode(other.bytes("patch").unwrap()).unwrap();
    assert_eq!(patch.as_array().unwrap().len(), 1);
    let footprint = decode(other.bytes("footprint").unwrap()).unwrap();
    let writes = footprint.get("writes").unwrap().as_array().unwrap();
    assert_eq!(
        writes[0].get("intrinsics"),
        Some(&Value::Array(vec![
            text("echo.dpo@1.atom.create"),
            text("echo.dpo@1.atom.delete"),
        ]))
    );
}

#[test]
fn h48_an_obstruction_discards_its_writes() {
    let mut world = World::new(&[notes::create_then_fail()]);
    let before = world.lane.basis.clone();
    let obstructed = world.run(4, b"k", b"one", b"");
    assert_eq!(obstructed.coordinate(), Some("k@1.small"));
    assert_eq!(world.lane.basis, before);
    let footprint = decode(obstructed.bytes("footprint").unwrap()).unwrap();
    assert_eq!(
        footprint.get("writes").unwrap().as_array().unwrap().len(),
        1
    );
    assert_eq!(
        world.named("read", b"k", b"", b"").coordinate(),
        Some("k@1.missing")
    );
}

#[test]
fn h50_two_atoms_are_one_tick() {
    let mut world = World::new(&[notes::steps(&["create", "create'"]).build().seal()]);
    let both = world.run(4, b"k", b"one", b"");
    assert_eq!(both.posture(), Some("settled"));
    assert_eq!(world.lane.basis.get("tick"), Some(&Value::unsigned(1)));
    // `Replica::apply` demands that the entries ascend.
    let patch = decode(both.bytes("patch").unwrap()).unwrap();
    assert_eq!(patch.as_array().unwrap().len(), 2);
    // The second of two writes fails: the first is not there either.
    let half = world.run(4, b"k'", b"one", b"");
    assert_eq!(half.coordinate(), Some("k@1.exists"));
    let version = world.named("read", b"k'", b"", b"").version();
    world.named("delete", b"k'", b"", &version);
    let last = world.run(4, b"l", b"one", b"");
    assert_eq!(last.posture(), Some("settled"));
}

/// A small generator of numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

#[test]
fn h51_two_hundred_patches_with_a_replica() {
    let mut world = World::new(&[]);
    let mut numbers = Numbers(7);
    let mut versions: std::collections::BTreeMap<u8, Vec<u8>> = std::collections::BTreeMap::new();
    let mut settled = 0;
    while settled < 200 {
        let key = u8::try_from(numbers.below(12)).unwrap();
        let value = numbers.below(1_000_000).to_be_bytes();
        let outcome = match versions.get(&key).cloned() {
            None => world.named("create", &[key], &value, b""),
            Some(version) if numbers.below(4) == 0 => world.named("delete", &[key], b"", &version),
            Some(version) => world.named("replace", &[key], &value, &version),
        };
        // `Lane::effect` recomputed the root from the patch alone.
        settled += usize::from(outcome.posture() == Some("settled"));
        let patch = decode(outcome.bytes("patch").unwrap()).unwrap();
        match patch.as_array().unwrap()[0].get("after").unwrap() {
            Value::Null => versions.remove(&key),
            after => versions.insert(key, after.as_bytes().unwrap().to_vec()),
        };
    }
    let observed = world
        .lane
        .observe(scan(notes::SPACE, Value::Null, 1_024), 8_388_608);
    let reply = world.host.ask(7, &observed);
    let entries = reply.ok(0x8007).get("entries").unwrap().as_array().unwrap();
    assert_eq!(entries.len(), versions.len());
    for (entry, (key, version)) in entries.iter().zip(&versions) {
        assert_eq!(
            entry.get("key").unwrap().as_bytes(),
            Some([*key].as_slice())
        );
        assert_eq!(
            entry.get("version").unwrap().as_bytes(),
            Some(version.as_slice())
        );
        let atom = entry.get("atom").unwrap().as_bytes().unwrap();
        assert_eq!(world.lane.replica.version(atom), Some(version.as_slice()));
    }
}

#[test]
fn h51_the_order_of_settlement_does_not_show_in_the_root() {
    let root = |keys: &[&[u8]]| {
        let mut world = World::new(&[]);
        for key in keys {
            world.named("create", key, key, b"");
        }
        world.lane.basis.get("stateRoot").unwrap().clone()
    };
    assert_eq!(root(&[b"a", b"b", b"c"]), root(&[b"c", b"a", b"b"]));
}

#[test]
fn h53_keys_and_values_at_their_limits() {
    let mut world = World::new(&[]);
    // A value of Bytes has a head of five bytes at that length.
    let largest = vec![1; 1_048_576 - 5];
    let key = [2; 256];
    world.named("create", &key, &largest, b"");
    let mut over = largest;
    over.push(1);
    assert_eq!(world.refused(0, b"k", &over), "state-limit");
    assert_eq!(world.refused(0, &[2; 257], b"v"), "state-limit");
    world.named("create", b"", b"", b"");
    assert_eq!(world.lane.basis.get("tick"), Some(&Value::unsigned(2)));
}

#[test]
fn h53_state_bytes_at_their_limit() {
    let mut world = World::new(&[]);
    let value = vec![1; 1_048_576 - 5];
    for key in 0..64u8 {
        world.named("create", &[key], &value, b"");
    }
    assert_eq!(world.refused(0, b"one more", b""), "state-limit");
    let version = world.named("read", &[0], b"", b"").version();
    world.named("replace", &[0], b"", &version);
    world.named("create", b"one more", b"", b"");
}

#[test]
fn h54_observations() {
    let mut world = World::new(&[]);
    for key in 0..5u8 {
        world.named("create", &[key], &[key; 10], b"");
    }
    let atom = |space: &str, key: &[u8]| map([("space", text(space)), ("key", Value::bytes(key))]);
    let ask = |world: &mut World, select: Value, max: u64| {
        let body = world.lane.observe(select, max);
        world.host.ask(7, &body)
    };
    let pairs = vec![
        atom(notes::SPACE, &[3]),
        atom(notes::SPACE, &[9]),
        atom("x", &[3]),
    ];
    let reply = ask(&mut world, select(pairs.clone()), 11);
    let body = reply.ok(0x8007);
    let entries = body.get("entries").unwrap().as_array().unwrap();
    let values: Vec<bool> = entries
        .iter()
        .map(|it| it.get("value").unwrap().is_null())
        .collect();
    assert_eq!(values, [false, true, true]);
    assert!(entries[1].get("version").unwrap().is_null());
    assert!(!entries[1].get("atom").unwrap().is_null());
    assert_eq!(
        entries[0].get("value").unwrap().as_bytes().unwrap(),
        encode(&Value::bytes(vec![3; 10]))
    );
    assert_eq!(body.get("more"), Some(&Value::Bool(false)));
    let mut judged = with(body, "select", select(pairs.clone()))
        .as_map()
        .unwrap()
        .to_vec();
    judged.retain(|(key, _)| key.as_text() != Some("digest"));
    let digest = derive_typed("echo/observation/v1", &encode(&Value::Map(judged)));
    assert_eq!(body.get("digest"), Some(&digest.to_value()));
    // The value has eleven bytes.
    assert_eq!(
        ask(&mut world, select(pairs), 10).refused(),
        "observation-too-large"
    );

    let mut after = Value::Null;
    let mut pages = Vec::new();
    loop {
        let reply = ask(&mut world, scan(notes::SPACE, after, 2), 100);
        let body = reply.ok(0x8007);
        let keys: Vec<Value> = body
            .get("entries")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry.get("key").unwrap().clone())
            .collect();
        pages.push(keys.len());
        if body.get("more") == Some(&Value::Bool(false)) {
            break;
        }
        after = keys.last().unwrap().clone();
    }
    assert_eq!(pages, [2, 2, 1]);
    let stale = world.lane.clone();
    world.named("create", b"another", b"", b"");
    let body = stale.observe(scan(notes::SPACE, Value::Null, 1), 100);
    assert_eq!(world.host.ask(7, &body).refused(), "basis-mismatch");
}

/// The record, patch and footprint bytes of a fixed piece of work, per context.
type Works = Vec<Vec<Vec<u8>>>;

/// Sends the work of eight contexts interleaved in a shuffled order, all before the first read.
fn interleaved(workers: &str, seed: u64) -> Works {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().to_str().unwrap();
    let mut host = Host::serve(&["--workers", workers, "--state-root", root]);
    let replace = notes::steps(&["create", "delete", "create"]).build().seal();
    let installation = install(&mut host, &replace);
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let mut lanes: Vec<Lane> = (0..8u8)
        .map(|nonce| {
            let open = open_durable(nonce, &format!("c{nonce}"));
            Lane::open(&mut host, &granting(&open, &[&installation, &create]))
        })
        .collect();
    let mut numbers = Numbers(seed);
    let mut works: Works = vec![Vec::new(); lanes.len()];
    for round in 0..3u64 {
        let mut order: Vec<usize> = (0..lanes.len()).collect();
        for index in (1..order.len()).rev() {
            order.swap(
                index,
                usize::try_from(numbers.below(index as u64 + 1)).unwrap(),
            );
        }
        let mut sent = std::collections::BTreeMap::new();
        for index in order {
            let lane = &lanes[index];
            let key = [u8::try_from(index).unwrap(), u8::try_from(round).unwrap()];
            let input = notes::note(&key, &[u8::try_from(index).unwrap(); 50], b"");
            let program = if round == 1 { &installation } else { &create };
            let request = lane.request(program, round, &input, false);
            sent.insert(host.send(5, &request), (index, request));
        }
        while !sent.is_empty() {
            let reply = host.read();
            let (index, request) = sent.remove(&reply.sequence).unwrap();
            let outcome = lanes[index].check(reply, &request);
            for key in ["record", "receipt", "body", "footprint", "patch"] {
                works[index].push(outcome.bytes(key).unwrap_or_default().to_vec());
            }
        }
    }
    host.ask(9, &Value::Map(Vec::new())).ok(0x8009);
    assert_eq!(host.end().code, Some(0));
    for (index, work) in works.iter_mut().enumerate() {
        work.push(std::fs::read(space.path().join(format!("c{index}/wal.log"))).unwrap());
    }
    works
}

#[test]
fn h56_contexts_interleaved_leave_the_same_bytes() {
    let expected = interleaved("1", 1);
    for seed in 0..10 {
        assert_eq!(interleaved("1", seed), expected, "1 worker, {seed}");
        assert_eq!(interleaved("4", seed), expected, "4 workers, {seed}");
    }
}
