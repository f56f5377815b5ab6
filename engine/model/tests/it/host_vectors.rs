// SPDX-License-Identifier: Apache-2.0
//! Identities, records, receipts, patches and footprints of `host-vectors.json`.

use edict_codec::cbor::decode;
use edict_codec::digest::{Algorithm, TypedDigest};
use edict_codec::hex;
use edict_codec::json::{JsonLimits, Node, parse};
use edict_test_model::evidence::{
    Basis, ExecutionRecord, Receipt, Replica, atom, atom_version, body_digest, decode_footprint,
    decode_patch, input_digest, receipt_digest, worldline,
};
use edict_test_model::run::StorageKind;

struct Vectors(Node);

impl Vectors {
    fn load() -> Self {
        let text = include_str!("../../../../testdata/contracts/host-vectors.json");
        let limits = JsonLimits {
            bytes: 1 << 24,
            depth: 64,
        };
        Self(parse(text.as_bytes(), limits).unwrap())
    }

    fn get(&self, name: &str) -> &Node {
        let vectors = self.0.get("vectors").unwrap().as_array().unwrap();
        let is = |it: &&Node| it.get("name").unwrap().as_text() == Some(name);
        vectors.iter().find(is).unwrap()
    }

    fn preimage(&self, name: &str) -> Vec<u8> {
        hex::decode(
            self.get(name)
                .get("preimageHex")
                .unwrap()
                .as_text()
                .unwrap(),
        )
        .unwrap()
    }

    fn digest(&self, name: &str) -> String {
        let digest = self.get(name).get("digest").unwrap();
        digest.as_text().unwrap().to_owned()
    }
}

#[test]
fn atoms_versions_and_roots() {
    let vectors = Vectors::load();
    let (a, b) = (atom("demo.cell/v1", b"k"), atom("demo.cell/v1", b"l"));
    assert_eq!(hex::encode(&a), vectors.digest("atom-6b"));
    assert_eq!(hex::encode(&b), vectors.digest("atom-6c"));
    let (seven, eight) = (b"\xa1\x61n\x07", b"\xa1\x61n\x08");
    let (a7, a8, b7) = (
        atom_version(&a, seven),
        atom_version(&a, eight),
        atom_version(&b, seven),
    );
    assert_eq!(hex::encode(&a7), vectors.digest("version-a-7"));
    assert_eq!(hex::encode(&a8), vectors.digest("version-a-8"));
    assert_eq!(hex::encode(&b7), vectors.digest("version-b-7"));

    let mut replica = Replica::new();
    assert_eq!(replica.root().hex(), vectors.digest("root-empty"));
    assert_eq!(replica.root(), Basis::genesis().state_root);
    replica.set(a, Some((a7, 4)));
    assert_eq!(replica.root().hex(), vectors.digest("root-a7"));
    replica.set(b, Some((b7, 4)));
    assert_eq!(replica.root().hex(), vectors.digest("root-a7-b7"));
    assert_eq!(replica.len(), 2);
    replica.set(b, None);
    replica.set(a, Some((a8, 4)));
    assert_eq!(replica.root().hex(), vectors.digest("root-a8"));
    replica.set(a, None);
    assert!(replica.is_empty());
    assert_eq!(replica.root().hex(), vectors.digest("root-empty"));
}

#[test]
fn the_order_of_atoms_does_not_matter() {
    let atoms: Vec<_> = (0u8..20)
        .map(|index| {
            let atom = atom("demo.cell/v1", &[index]);
            (atom, atom_version(&atom, &[index]))
        })
        .collect();
    let (mut forth, mut back) = (Replica::new(), Replica::new());
    for (atom, version) in &atoms {
        forth.set(*atom, Some((*version, 1)));
    }
    for (atom, version) in atoms.iter().rev() {
        back.set(*atom, Some(([0; 32], 9)));
        back.set(*atom, Some((*version, 1)));
    }
    assert_eq!(forth.root(), back.root());
}

#[test]
fn worldlines_inputs_and_bodies() {
    let vectors = Vectors::load();
    let subject = TypedDigest::new("example/subject/v1", Algorithm::Blake3, [0x22; 32]);
    for (name, nonce, storage) in [
        ("worldline-volatile", 0x11, StorageKind::Volatile),
        ("worldline-durable", 0x11, StorageKind::Durable),
        ("worldline-other-nonce-durable", 0x12, StorageKind::Durable),
    ] {
        let worldline = worldline(&[nonce; 32], &subject, storage);
        assert_eq!(worldline.hex(), vectors.digest(name));
    }
    let input = input_digest(&vectors.preimage("input"));
    assert_eq!(input.hex(), vectors.digest("input"));
    for name in [
        "body-result",
        "body-budget",
        "body-constraint",
        "body-effectful",
    ] {
        let body = body_digest(&vectors.preimage(name));
        assert_eq!(body.hex(), vectors.digest(name));
    }
}

#[test]
fn records_and_receipts() {
    let vectors = Vectors::load();
    for name in [
        "pure-result",
        "pure-budget-obstruction",
        "effectful-settled",
    ] {
        let record = ExecutionRecord::decode(&vectors.preimage(name)).unwrap();
        assert_eq!(record.semantic.hex(), vectors.digest(name));
        assert_eq!(record.effects.is_some(), name == "effectful-settled");
        assert_eq!(
            record.obstruction.is_some(),
            name == "pure-budget-obstruction"
        );
    }
    for (name, execution) in [
        ("receipt-pure-volatile", "pure-result"),
        ("receipt-effectful-durable", "effectful-settled"),
    ] {
        let bytes = vectors.preimage(name);
        let receipt = Receipt::decode(&bytes).unwrap();
        assert_eq!(receipt.digest, receipt_digest(&bytes));
        assert_eq!(receipt.digest.hex(), vectors.digest(name));
        assert_eq!(receipt.execution.hex(), vectors.digest(execution));
        assert_eq!(receipt.wal.is_some(), name == "receipt-effectful-durable");
    }
}

#[test]
fn patches_and_footprints() {
    let vectors = Vectors::load();
    let patch = decode_patch(&vectors.preimage("patch")).unwrap();
    assert_eq!(patch.len(), 1);
    assert_eq!(patch[0].atom, atom(&patch[0].space, &patch[0].key));
    let footprint = decode_footprint(&vectors.preimage("footprint")).unwrap();
    assert_eq!(footprint.reads[0].seen, patch[0].before);
    assert_eq!(footprint.writes[0].intrinsics, ["echo.dpo@1.atom.replace"]);
}

#[test]
fn no_prefix_and_no_flipped_bit_of_evidence_panics() {
    let vectors = Vectors::load();
    for name in [
        "pure-result",
        "effectful-settled",
        "receipt-effectful-durable",
        "patch",
        "footprint",
    ] {
        let bytes = vectors.preimage(name);
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err());
        }
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 0x20;
            let _ = ExecutionRecord::decode(&changed);
            let _ = Receipt::decode(&changed);
            let _ = decode_patch(&changed);
            let _ = decode_footprint(&changed);
        }
    }
}
