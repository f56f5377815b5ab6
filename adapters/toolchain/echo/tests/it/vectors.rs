// SPDX-License-Identifier: Apache-2.0
//! H71: every row of the shared vectors, by the code that makes such bytes in the host.

use crate::evidence::budget;
use crate::support::vectors::{bytes, document, named, value};
use echo_host::{
    context::identity::Identity,
    pin::{Authority, Policy},
    process::greeting::Greeting,
    receipt,
    state::{
        accumulator::{Accumulator, element, empty_root},
        address,
        patch::PatchEntry,
        store::Store,
        view::Atom,
    },
    wal::{
        format::{self, Head, RecordKind},
        payload::Payload,
        transaction::{Tip, Transaction},
    },
    wire::frame,
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{TypedDigest, derive, derive_typed, frame_typed, sha256},
    hex,
};
use std::{collections::BTreeSet, sync::Arc};

pub(crate) fn vector_value(name: &str) -> Value {
    value(&named(&document(), name)["value"])
}

pub(crate) fn vector_digest(name: &str) -> String {
    named(&document(), name)["digest"]
        .as_str()
        .unwrap()
        .to_owned()
}

pub(crate) fn preimage(name: &str) -> Vec<u8> {
    bytes(&named(&document(), name)["preimageHex"])
}

pub(crate) fn member(value: &Value, key: &str) -> TypedDigest {
    TypedDigest::from_value(value.get(key).unwrap()).unwrap()
}

/// Names that some function below compares with what the host makes.
const COVERED: &[&str] = &[
    "interpreter-profile",
    "atom-6b",
    "atom-6c",
    "version-a-7",
    "version-a-8",
    "version-b-7",
    "state-element-a-7",
    "root-empty",
    "root-a7",
    "root-a7-b7",
    "root-a8",
    "worldline-volatile",
    "worldline-durable",
    "worldline-other-nonce-durable",
    "installation-pure",
    "installation-effectful",
    "input",
    "body-result",
    "body-budget",
    "body-constraint",
    "pure-result",
    "pure-budget-obstruction",
    "footprint-declared",
    "footprint",
    "patch",
    "body-effectful",
    "effectful-settled",
    "request",
    "receipt-pure-volatile",
    "receipt-effectful-durable",
];

#[test]
fn h71_every_row_is_compared_and_is_its_own_digest() {
    let document = document();
    let rows = document["vectors"].as_array().unwrap();
    let names: BTreeSet<&str> = rows
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, COVERED.iter().copied().collect());
    for row in rows {
        if let Some(preimage) = row.get("preimageHex") {
            let preimage = bytes(preimage);
            if let Some(json) = row.get("value") {
                assert_eq!(encode(&value(json)), preimage, "{}", row["name"]);
                assert_eq!(decode(&preimage).unwrap(), value(json), "{}", row["name"]);
            }
            if let Some(expected) = row.get("digest") {
                let digest = derive(row["context"].as_str().unwrap(), &preimage);
                assert_eq!(hex::encode(&digest), expected.as_str().unwrap());
            }
        }
    }
}

#[test]
fn h71_the_stand_ins_are_framed_digests() {
    let document = document();
    for (member, domain, name) in [
        ("package", "echo.program-package/v1", "package"),
        ("report", "edict.verification-report/v1", "report"),
        (
            "packageEffectful",
            "echo.program-package/v1",
            "package-effectful",
        ),
        (
            "reportEffectful",
            "edict.verification-report/v1",
            "report-effectful",
        ),
    ] {
        let item = encode(&Value::text_map([("vector", Value::text(name))]));
        assert_eq!(
            frame_typed(domain, &item).hex(),
            document["standIns"][member].as_str().unwrap()
        );
    }
}

pub(crate) fn cell(key: u8, n: u8) -> PatchEntry {
    let (space, key) = ("demo.cell/v1".to_owned(), vec![key]);
    let atom = address::atom(&space, &key);
    let value: Arc<[u8]> = Arc::from([0xa1, 0x61, 0x6e, n].as_slice());
    let version = address::version(&atom, &value);
    PatchEntry {
        atom,
        space,
        key,
        before: None,
        after: Some(Atom { value, version }),
    }
}

pub(crate) fn version(entry: &PatchEntry) -> [u8; 32] {
    entry.after.as_ref().unwrap().version
}

pub(crate) fn store_of(entries: Vec<PatchEntry>) -> Store {
    let mut store = Store::default();
    let staged = store.stage(&entries).unwrap();
    store.publish(entries, staged);
    store
}

#[test]
fn h71_atoms_versions_and_roots() {
    let (a7, a8, b7) = (cell(0x6b, 7), cell(0x6b, 8), cell(0x6c, 7));
    assert_eq!(hex::encode(&a7.atom), vector_digest("atom-6b"));
    assert_eq!(hex::encode(&b7.atom), vector_digest("atom-6c"));
    assert_eq!(hex::encode(&version(&a7)), vector_digest("version-a-7"));
    assert_eq!(hex::encode(&version(&a8)), vector_digest("version-a-8"));
    assert_eq!(hex::encode(&version(&b7)), vector_digest("version-b-7"));

    let document = document();
    let row = named(&document, "state-element-a-7");
    let element = element(&a7.atom, &version(&a7));
    assert_eq!(
        hex::encode(&element[..32]),
        row["first32"].as_str().unwrap()
    );
    assert_eq!(
        hex::encode(&sha256(&element)),
        row["sha256OfAll"].as_str().unwrap()
    );

    assert_eq!(empty_root().hex(), vector_digest("root-empty"));
    let mut store = store_of(vec![a7.clone()]);
    assert_eq!(store.root().hex(), vector_digest("root-a7"));
    let both = store_of(vec![b7.clone(), a7.clone()]);
    let other_order = store_of(vec![a7.clone(), b7]);
    assert_eq!(both.root().hex(), vector_digest("root-a7-b7"));
    assert_eq!(other_order.root(), both.root());
    let mut change = a8;
    change.before = Some(version(&a7));
    let staged = store.stage(std::slice::from_ref(&change)).unwrap();
    store.publish(vec![change], staged);
    assert_eq!(store.root().hex(), vector_digest("root-a8"));
}

#[test]
fn h71_adding_and_subtracting_cancel_out() {
    let mut accumulator = Accumulator::default();
    accumulator.add(&[1; 32], &[2; 32]);
    assert_ne!(accumulator.root(0, 0), *empty_root().bytes());
    accumulator.subtract(&[1; 32], &[2; 32]);
    assert_eq!(accumulator.root(0, 0), *empty_root().bytes());
}

pub(crate) fn subject() -> TypedDigest {
    member(&vector_value("worldline-volatile"), "subject")
}

#[test]
fn h71_worldlines() {
    for (name, nonce, storage) in [
        ("worldline-volatile", 0x11, "volatile"),
        ("worldline-durable", 0x11, "durable"),
        ("worldline-other-nonce-durable", 0x12, "durable"),
    ] {
        let identity = Identity::new([nonce; 32], subject(), storage);
        assert_eq!(identity.worldline.hex(), vector_digest(name), "{name}");
    }
}

#[test]
fn h71_installations_bind_package_report_and_policy() {
    for name in ["installation-pure", "installation-effectful"] {
        let row = vector_value(name);
        let policy = row.get("policy").unwrap();
        let policy = Policy {
            operation: policy
                .get("operation")
                .unwrap()
                .as_text()
                .unwrap()
                .to_owned(),
            authority: match policy.get("authority").unwrap().as_text().unwrap() {
                "pure" => Authority::Pure,
                _ => Authority::Atoms,
            },
            max_budget: budget(),
        };
        let value = Value::text_map([
            ("package", row.get("package").unwrap().clone()),
            ("report", row.get("report").unwrap().clone()),
            ("policy", policy.to_value()),
            ("interpreter", Value::text(receipt::INTERPRETER)),
            ("costLaw", Value::text(receipt::COST_LAW)),
        ]);
        let digest = derive_typed("echo/installation/v1", &encode(&value));
        assert_eq!(digest.hex(), vector_digest(name));
    }
}

#[test]
fn h71_the_hello_frame() {
    let document = document();
    let row = &document["helloFrame"];
    let body = bytes(&row["bodyHex"]);
    assert_eq!(encode(&value(&row["value"])), body);
    let bytes = bytes(&row["frameHex"]);
    assert_eq!(frame::encode(1, 1, &body), bytes);
    let read = frame::FrameReader::new(bytes.as_slice()).read().unwrap();
    assert_eq!(read.unwrap().body, body);
}

#[test]
fn h71_the_greeting_names_the_interpreter() {
    let hello = echo_host::wire::request::Hello {
        protocol: "echo.host-transport/v1".to_owned(),
        profiles: Vec::new(),
        evidence: Vec::new(),
        max_frame_bytes: 16_777_216,
    };
    let body = Greeting::new(1, false).answer(&hello).unwrap().body;
    let body = decode(&body).unwrap();
    let identity = member(body.get("interpreter").unwrap(), "identity");
    assert_eq!(identity.hex(), vector_digest("interpreter-profile"));
    assert_eq!(body.get("limits").unwrap().as_map().unwrap().len(), 40);
}

fn records_of(log: &serde_json::Value) -> Vec<(RecordKind, Value)> {
    let kinds = [
        RecordKind::Genesis,
        RecordKind::Epoch,
        RecordKind::Decision,
        RecordKind::Patch,
        RecordKind::Commit,
    ];
    log["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| {
            let kind = record["kind"].as_u64().unwrap();
            let kind = kinds.into_iter().find(|it| *it as u64 == kind).unwrap();
            (kind, value(&record["payload"]))
        })
        .collect()
}

#[test]
fn h71_the_log_is_written_as_it_stands() {
    let document = document();
    let log = &document["log"];
    let expected = bytes(&log["hex"]);
    let worldline = hex::decode_32(log["worldline"].as_str().unwrap()).unwrap();
    let mut written = format::file_header(&worldline);
    assert_eq!(format::parse_file_header(&written), Ok(worldline));
    let mut tip = Tip {
        lsn: 0,
        digest: format::genesis_previous(&worldline),
    };
    let mut transaction = Transaction::begin(tip, 1);
    let mut ends = Vec::new();
    for (index, (kind, value)) in records_of(log).into_iter().enumerate() {
        let record = &log["records"][index];
        let bytes = encode(&value);
        let payload = Payload::from_bytes(kind, &bytes).unwrap();
        transaction.push(&payload);
        if kind == RecordKind::Commit {
            let sealed = transaction.seal();
            tip = sealed.tip;
            assert_eq!(tip.lsn, record["lsn"].as_u64().unwrap());
            written.extend(sealed.bytes);
            ends.push(written.len() as u64);
            transaction = Transaction::begin(tip, 1);
        }
    }
    assert_eq!(hex::encode(&written), hex::encode(&expected));
    let commit_ends: Vec<u64> = log["commitEnds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|end| end.as_u64().unwrap())
        .collect();
    assert_eq!(ends, commit_ends);
    for record in log["records"].as_array().unwrap() {
        let offset = usize::try_from(record["offset"].as_u64().unwrap()).unwrap();
        let head = Head::from_bytes(expected[offset..offset + 64].try_into().unwrap()).unwrap();
        assert_eq!(head.lsn, record["lsn"].as_u64().unwrap());
    }
}
