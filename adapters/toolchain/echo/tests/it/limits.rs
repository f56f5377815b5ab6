// SPDX-License-Identifier: Apache-2.0
//! H26, H53 and H68: limits of section 8 at their value and one above, and what does not matter.

use crate::support::{
    client::Host,
    messages::{map, open, open_durable},
    notes,
    program::{Program, input, record},
    world::{Lane, granting, install, install_body},
};
use echo_host::{
    executable::{Decision, Evaluated, Executable, Facts, Kind},
    fault_point::FaultPoints,
    pin::{Budget, Consumed},
    refusal::Refusal,
    settle,
    state::{
        address,
        patch::PatchEntry,
        store::Store,
        view::{Atom, AtomRequest, AtomView, FootprintRow, Intrinsic},
    },
};
use edict_codec::{cbor::Value, digest::derive_typed};
use std::sync::Arc;

const SPACE: &str = "k.note/v1";
const BUDGET: Budget = Budget {
    max_steps: 1,
    max_allocated_bytes: 1,
    max_output_bytes: 1,
};

/// Creates so many atoms of so many value bytes, numbered from `first`. It stands for a program
/// where only the settlement is looked at, and leaves no evidence.
#[derive(Debug)]
struct Creator {
    facts: Facts,
    first: u64,
    atoms: u64,
    value_bytes: usize,
}

impl Creator {
    fn new(first: u64, atoms: u64, value_bytes: usize) -> Self {
        let digest = |domain| derive_typed(domain, b"");
        Self {
            facts: Facts {
                installation: digest("echo/installation/v1"),
                package: digest("echo.program-package/v1"),
                report: digest("edict.verification-report/v1"),
                operation: "m@1.run".to_owned(),
                kind: Kind::Effectful,
                budget: BUDGET,
                static_bound: Consumed::default(),
                input_type: String::new(),
                output_type: String::new(),
                footprint: vec![FootprintRow {
                    space: SPACE.to_owned(),
                    intrinsic: Intrinsic::Create,
                    max_calls: 5_000,
                }],
                footprint_bytes: Vec::new(),
                size: 0,
            },
            first,
            atoms,
            value_bytes,
        }
    }

    fn evaluate(&self, store: &Store) -> Result<settle::Settlement, Refusal> {
        settle::evaluate(store, self, Value::Null, BUDGET, &FaultPoints::default())
    }
}

impl Executable for Creator {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn decode_input(&self, _input: &[u8]) -> Result<Value, Refusal> {
        Ok(Value::Null)
    }

    fn run(
        &self,
        _input: Value,
        _budget: Budget,
        view: &mut dyn AtomView,
    ) -> Result<Evaluated, Refusal> {
        let value = vec![0; self.value_bytes];
        for number in self.first..self.first + self.atoms {
            let request = AtomRequest::Create { value: &value };
            view.perform(SPACE, &number.to_be_bytes(), &request)?;
        }
        Ok(Evaluated {
            decision: Decision::Result { body: vec![0xa0] },
            basis: None,
            consumed: Consumed::default(),
        })
    }
}

fn kind(result: Result<settle::Settlement, Refusal>) -> Option<&'static str> {
    result.err().map(|refusal| refusal.kind)
}

#[test]
fn h53_atoms_of_a_patch() {
    let store = Store::default();
    assert_eq!(kind(Creator::new(0, 4_096, 1).evaluate(&store)), None);
    let over = Creator::new(0, 4_097, 1).evaluate(&store);
    assert_eq!(kind(over), Some("state-limit"));
}

#[test]
fn h53_bytes_of_a_patch() {
    let store = Store::default();
    // Eight rows of 1,048,576 bytes are above 8 MiB with what stands around the values.
    assert_eq!(kind(Creator::new(0, 7, 1_048_576).evaluate(&store)), None);
    let over = Creator::new(0, 8, 1_048_576).evaluate(&store);
    assert_eq!(kind(over), Some("state-limit"));
}

#[test]
fn h53_calls_of_a_pair() {
    let mut creator = Creator::new(0, 3, 1);
    creator.facts.footprint[0].max_calls = 3;
    assert_eq!(kind(creator.evaluate(&Store::default())), None);
    creator.facts.footprint[0].max_calls = 2;
    let over = creator.evaluate(&Store::default());
    assert_eq!(kind(over), Some("evaluation-fault"));
    creator.facts.footprint[0].space = "k.other/v1".to_owned();
    let outside = creator.evaluate(&Store::default());
    assert_eq!(kind(outside), Some("evaluation-fault"));
}

#[test]
fn h53_bytes_of_a_footprint() {
    // A row has some 340 bytes with a space of 256: the body is full before 13,000 atoms.
    let mut creator = Creator::new(0, 20_000, 1);
    creator.facts.footprint[0].max_calls = 20_000;
    let rows = creator.evaluate(&Store::default());
    assert_eq!(kind(rows), Some("state-limit"));
}

fn entry(number: u64) -> PatchEntry {
    let key = number.to_be_bytes().to_vec();
    let atom = address::atom(SPACE, &key);
    let value: Arc<[u8]> = Arc::from([0].as_slice());
    PatchEntry {
        atom,
        space: SPACE.to_owned(),
        key,
        before: None,
        after: Some(Atom {
            version: address::version(&atom, &value),
            value,
        }),
    }
}

#[test]
fn h53_atoms_of_a_context() {
    let mut store = Store::default();
    let entries: Vec<PatchEntry> = (0..65_536).map(entry).collect();
    let staged = store.stage(&entries).unwrap();
    store.publish(entries, staged);
    let over = store.stage(&[entry(65_536)]).unwrap_err();
    assert_eq!(over.kind, "state-limit");
    let mut gone = entry(0);
    gone.before = gone.after.take().map(|it| it.version);
    store.stage(&[gone, entry(65_536)]).unwrap();
}

#[test]
fn h26_five_hundred_and_twelve_installations() {
    let mut host = Host::serve(&[]);
    let mut sealed = notes::pick();
    let mut last = Value::Null;
    for number in 0..512 {
        sealed.policy.max_budget.max_steps = 1_000_000 + number;
        last = install(&mut host, &sealed);
    }
    sealed.policy.max_budget.max_steps = u64::MAX;
    let body = install_body(&sealed);
    assert_eq!(host.ask(2, &body).refused(), "installation-limit");
    // What is installed already is no addition.
    sealed.policy.max_budget.max_steps = 1_000_000;
    let again = host.ask(2, &install_body(&sealed));
    assert_eq!(again.ok(0x8002).get("repeated"), Some(&Value::Bool(true)));
    host.ask(3, &map([("installation", last)])).ok(0x8003);
    host.ask(2, &body).ok(0x8002);
}

#[test]
fn h26_package_bytes_of_all_installations() {
    let mut host = Host::serve(&[]);
    let mut program = Program::pure(
        "Record<a:U64>",
        "Record<r:U64>",
        &record(&[("r", input("a"))]),
    );
    program.exports["padding"] = serde_json::json!("x".repeat(4_150_000));
    let mut sealed = program.build().seal();
    let size = sealed.package.len() + sealed.report.len();
    let fitting = 67_108_864 / size as u64;
    for number in 0..fitting {
        sealed.policy.max_budget.max_steps = 1_000_000 + number;
        install(&mut host, &sealed);
    }
    sealed.policy.max_budget.max_steps = u64::MAX;
    let body = install_body(&sealed);
    assert_eq!(host.ask(2, &body).refused(), "installation-limit");
    install(&mut host, &notes::pick());
}

#[test]
fn the_log_of_a_context_is_bounded() {
    let space = tempfile::tempdir().unwrap();
    let mut host = Host::serve(&["--state-root", space.path().to_str().unwrap()]);
    let echo = install(&mut host, &notes::echo());
    let open = granting(&open_durable(1, "a"), &[&echo]);
    let mut lane = Lane::open(&mut host, &open);
    let large = map([("a", Value::bytes(vec![7; 8_000_000]))]);
    for id in 0..33 {
        lane.pure(&mut host, &echo, id, &large);
    }
    let request = lane.request(&echo, 33, &large, true);
    assert_eq!(host.ask(5, &request).refused(), "wal-limit");
    let log = space.path().join("a/wal.log").metadata().unwrap().len();
    assert!(log <= 268_435_456);
    // The id is free and what fits is still decided.
    lane.pure(&mut host, &echo, 33, &map([("a", Value::bytes(vec![7]))]));
}

/// The records of a fixed piece of work in that environment.
fn records(umask: &str, variables: &[(&str, &str)], workers: &str) -> Vec<Vec<u8>> {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().to_str().unwrap();
    let options = ["--workers", workers, "--state-root", root];
    let mut host = Host::serve_in(umask, variables, &options);
    let pick = install(&mut host, &notes::pick());
    let create = install(&mut host, &notes::steps(&["create"]).build().seal());
    let mut volatile = Lane::open(&mut host, &granting(&open(1), &[&pick]));
    let stored = granting(&open_durable(2, "a"), &[&create]);
    let mut durable = Lane::open(&mut host, &stored);
    let mut records = Vec::new();
    for id in 0..3u64 {
        let picked = map([("a", Value::unsigned(id))]);
        let note = notes::note(&[u8::from(id > 0)], b"v", b"");
        for outcome in [
            volatile.pure(&mut host, &pick, id, &picked),
            durable.effect(&mut host, &create, id, &note),
        ] {
            records.push(outcome.bytes("record").unwrap().to_vec());
        }
    }
    records
}

#[test]
fn h68_the_surroundings_of_the_process_do_not_matter() {
    let plain = records("022", &[], "1");
    let variables = [
        ("TZ", "Pacific/Kiritimati"),
        ("LANG", "tr_TR.UTF-8"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("HOME", "/nowhere"),
        ("RUST_LOG", "trace"),
    ];
    assert_eq!(records("077", &variables, "4"), plain);
    assert_eq!(plain.len(), 6);
}
