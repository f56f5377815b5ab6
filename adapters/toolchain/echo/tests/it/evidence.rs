// SPDX-License-Identifier: Apache-2.0
//! H71: records and receipts of the shared vectors, byte for byte.

use crate::vectors::{
    cell, member, preimage, store_of, subject, vector_digest, vector_value, version,
};
use echo_host::{
    context::identity::Identity,
    executable::{Decision, Facts, Kind, Origin},
    fault_point::FaultPoints,
    pin::{Budget, Consumed},
    receipt::{self, Effects, Execution, LogPosition, Receipt},
    state::{
        overlay::Overlay,
        patch,
        view::{AtomRequest, AtomView as _, FootprintRow, Intrinsic},
    },
    wire::request::Basis,
};
use edict_codec::{
    digest::{Algorithm, TypedDigest, derive_typed},
    hex,
};

pub(crate) fn budget() -> Budget {
    Budget {
        max_steps: 1_000,
        max_allocated_bytes: 4_096,
        max_output_bytes: 256,
    }
}

fn facts(name: &str, kind: Kind) -> Facts {
    let record = vector_value(name);
    Facts {
        installation: member(&record, "installation"),
        package: member(&record, "package"),
        report: member(&record, "report"),
        operation: record
            .get("operation")
            .unwrap()
            .as_text()
            .unwrap()
            .to_owned(),
        kind,
        budget: budget(),
        static_bound: Consumed::default(),
        input_type: String::new(),
        output_type: String::new(),
        footprint: rows(),
        footprint_bytes: preimage("footprint-declared"),
        size: 0,
    }
}

fn rows() -> Vec<FootprintRow> {
    [Intrinsic::Read, Intrinsic::Replace]
        .map(|intrinsic| FootprintRow {
            space: "demo.cell/v1".to_owned(),
            intrinsic,
            max_calls: 1,
        })
        .to_vec()
}

fn consumed(steps: u64, allocated_bytes: u64, output_bytes: u64) -> Consumed {
    Consumed {
        steps,
        allocated_bytes,
        output_bytes,
    }
}

fn root(name: &str, tick: u64) -> Basis {
    Basis {
        tick,
        state_root: TypedDigest::new(
            "echo/state-root/v1",
            Algorithm::Blake3,
            hex::decode_32(&vector_digest(name)).unwrap(),
        ),
    }
}

fn pure_execution<'a>(input: &'a [u8], decision: &'a Decision, used: Consumed) -> Execution<'a> {
    Execution {
        input,
        basis: None,
        budget: budget(),
        consumed: used,
        decision,
        effects: None,
    }
}

#[test]
fn h71_pure_records_and_their_semantic_digests() {
    let facts = facts("pure-result", Kind::Pure);
    let input = preimage("input");
    let result = Decision::Result {
        body: preimage("body-result"),
    };
    let exhausted = Decision::Obstruction {
        origin: Origin::Budget,
        coordinate: "echo.obstruction.budget-exhausted/v1".to_owned(),
        body: preimage("body-budget"),
    };
    for (name, decision, used) in [
        ("pure-result", &result, consumed(12, 80, 30)),
        (
            "pure-budget-obstruction",
            &exhausted,
            consumed(1_000, 80, 0),
        ),
    ] {
        let record = receipt::record(&facts, &pure_execution(&input, decision, used));
        assert_eq!(hex::encode(&record), hex::encode(&preimage(name)));
        assert!(record.starts_with(&receipt::record_start(Kind::Pure)));
        assert_eq!(
            receipt::semantic_digest(Kind::Pure, &record).hex(),
            vector_digest(name)
        );
    }
}

#[test]
fn h71_an_effectful_record_from_a_real_overlay() {
    let a7 = cell(0x6b, 7);
    let store = store_of(vec![a7.clone()]);
    let declared = rows();
    let points = FaultPoints::default();
    let mut overlay = Overlay::new(&store, &declared, &points);
    overlay
        .perform("demo.cell/v1", &[0x6b], &AtomRequest::Read)
        .unwrap();
    let replace = AtomRequest::Replace {
        value: &[0xa1, 0x61, 0x6e, 8],
        expected: &version(&a7),
    };
    overlay.perform("demo.cell/v1", &[0x6b], &replace).unwrap();
    let footprint = overlay.footprint().unwrap();
    assert_eq!(footprint, preimage("footprint"));
    let patch = patch::to_body(&overlay.into_patch());
    assert_eq!(patch, preimage("patch"));
    assert_eq!(patch::digest(&patch).hex(), vector_digest("patch"));

    let decision = Decision::Result {
        body: preimage("body-effectful"),
    };
    let (before, after) = (root("root-a7", 1), root("root-a8", 2));
    let input = preimage("input");
    let record = receipt::record(
        &facts("effectful-settled", Kind::Effectful),
        &Execution {
            effects: Some(Effects {
                before: &before,
                after: &after,
                footprint: &footprint,
                patch: Some(&patch),
            }),
            ..pure_execution(&input, &decision, consumed(40, 300, 4))
        },
    );
    assert_eq!(record, preimage("effectful-settled"));
    assert!(record.starts_with(&receipt::record_start(Kind::Effectful)));
    assert_eq!(
        receipt::semantic_digest(Kind::Effectful, &record).hex(),
        vector_digest("effectful-settled")
    );
}

#[test]
fn h71_receipts() {
    for (name, storage, ordinal) in [
        ("receipt-pure-volatile", "volatile", 0),
        ("receipt-effectful-durable", "durable", 1),
    ] {
        let row = vector_value(name);
        let identity = Identity::new([0x11; 32], subject(), storage);
        let invocation = row.get("invocation").unwrap().as_bytes().unwrap();
        let position = row.get("wal").unwrap().as_map().map(|_| LogPosition {
            epoch: 1,
            first_lsn: 7,
            last_lsn: 9,
            commit: member(row.get("wal").unwrap(), "commit"),
        });
        let previous = row.get("previous").and_then(TypedDigest::from_value);
        let bytes = Receipt {
            execution: &member(&row, "execution"),
            worldline: &identity.worldline,
            nonce: &identity.nonce,
            invocation: invocation.try_into().unwrap(),
            request: &derive_typed("echo/invocation/v1", &preimage("request")),
            ordinal,
            previous: previous.as_ref(),
            build: &member(&row, "build"),
            log: position.as_ref(),
        }
        .to_bytes();
        assert_eq!(bytes, preimage(name));
        assert_eq!(receipt::receipt_digest(&bytes).hex(), vector_digest(name));
    }
}
