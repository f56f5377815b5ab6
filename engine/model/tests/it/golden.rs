// SPDX-License-Identifier: Apache-2.0
//! The golden report as evidence: its bodies, and liars who keep everything else coherent.

use edict_codec::cbor::{Value, decode, encode};
use edict_codec::digest::{Algorithm, TypedDigest};
use edict_codec::hex;
use edict_codec::json::{JsonLimits, Node, parse};
use edict_test_model::built::Body;
use edict_test_model::evidence::{
    Binder, ContextFacts, ExecutionRecord, HostHello, LogReplica, Opening, OperationEvidence,
    OutcomeFrame, OutcomeKind, Program, worldline,
};
use edict_test_model::ids::ContextNonce;
use edict_test_model::run::StorageKind;
use std::path::PathBuf;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// A file below `testdata/`.
#[expect(
    clippy::disallowed_methods,
    reason = "bodies are files named by their digest"
)]
pub(crate) fn file(path: &str) -> Vec<u8> {
    std::fs::read(root().join(path)).unwrap()
}

/// The golden report with access to its bodies.
pub(crate) struct Golden(Node);

/// One case of it, ready to be bound.
pub(crate) struct GoldenCase {
    pub(crate) facts: ContextFacts,
    pub(crate) operations: Vec<(Program, Body, OperationEvidence)>,
}

impl Golden {
    pub(crate) fn load() -> Self {
        let limits = JsonLimits {
            bytes: 1 << 26,
            depth: 64,
        };
        Self(parse(&file("golden-report/report.json"), limits).unwrap())
    }

    fn at(&self, path: &str) -> &Node {
        path.split('/').fold(&self.0, |node, step| {
            step.parse::<usize>()
                .ok()
                .and_then(|index| node.as_array()?.get(index))
                .or_else(|| node.get(step))
                .unwrap()
        })
    }

    /// Evidence of the case at `position` of `evidence.cases`.
    pub(crate) fn case(&self, position: usize) -> GoldenCase {
        let case = self.at(&format!("evidence/cases/{position}"));
        let context = case.get("context").unwrap();
        let index = usize::try_from(case.get("index").unwrap().as_integer().unwrap()).unwrap();
        let subject = digest(self.at(&format!("semantic/cases/{}/case", index - 1)));
        let nonce = ContextNonce::new(hex32(context.get("nonce").unwrap()));
        let durable = context.get("storage").unwrap().as_text() == Some("durable");
        let hello = HostHello::decode(&body(self.at("evidence/hosts/0/hello")).bytes).unwrap();
        let log = durable.then(|| LogReplica::genesis(&nonce, &subject, &hello.build));
        let storage = if durable {
            StorageKind::Durable
        } else {
            StorageKind::Volatile
        };
        let opened = digest(context.get("worldline").unwrap());
        let opening = match &log {
            Some(log) => log.opening(opened),
            None => Opening {
                wal: None,
                ..LogReplica::genesis(&nonce, &subject, &hello.build).opening(opened)
            },
        };
        let operations = case.get("operations").unwrap().as_array().unwrap();
        GoldenCase {
            operations: operations
                .iter()
                .map(|operation| self.operation(operation))
                .collect(),
            facts: ContextFacts {
                nonce,
                subject,
                storage,
                hello,
                opening,
                log,
            },
        }
    }

    fn operation(&self, node: &Node) -> (Program, Body, OperationEvidence) {
        let get = |name: &str| node.get(name).unwrap();
        let optional = |name: &str| get(name).as_object().map(|_| body(get(name)));
        let program = get("program").as_integer().unwrap();
        let artifacts = self.at(&format!("semantic/programs/{program}/artifacts"));
        let artifact = |role: &str| {
            let rows = artifacts.as_array().unwrap();
            let row = rows
                .iter()
                .find(|row| row.get("role").unwrap().as_text() == Some(role));
            body(row.unwrap())
        };
        let program = Program::decode(
            artifact("executable-operation-package"),
            artifact("verification-report"),
        )
        .unwrap();
        let receipt = body(get("receipt"));
        let record = body(get("record"));
        let kind = ExecutionRecord::decode(&record.bytes)
            .unwrap()
            .outcome_kind();
        let named = decode(&receipt.bytes).unwrap();
        let input = body(get("input"));
        let operation = OperationEvidence {
            invocation: hex32(get("invocation")),
            request: body(get("request")),
            input: input.clone(),
            frame: OutcomeFrame {
                worldline: TypedDigest::from_value(named.get("worldline").unwrap()).unwrap(),
                invocation: hex32(get("invocation")),
                kind,
                recalled: false,
            },
            record,
            receipt,
            body: body(get("result")),
            footprint: optional("footprint"),
            patch: optional("patch"),
        };
        (program, input, operation)
    }
}

impl GoldenCase {
    pub(crate) fn binder(&self) -> Binder {
        assert_eq!(
            self.facts.opening.worldline,
            worldline(
                self.facts.nonce.bytes(),
                &self.facts.subject,
                self.facts.storage
            )
        );
        Binder::new(self.facts.clone())
    }

    /// A binder that stands before the last operation, as a live run has it: without the log.
    pub(crate) fn live_binder(&self) -> Binder {
        let mut binder = Binder::new(ContextFacts {
            log: None,
            ..self.facts.clone()
        });
        for (program, input, operation) in &self.operations[..self.operations.len() - 1] {
            assert_eq!(binder.bind(program, input, operation).failure, None);
        }
        binder
    }
}

/// An outcome that can be changed in one place while the rest stays coherent.
pub(crate) struct Liar {
    pub(crate) record: Value,
    pub(crate) receipt: Value,
    pub(crate) operation: OperationEvidence,
    /// Whether the receipt keeps naming the record as it is now.
    pub(crate) rebind: bool,
}

impl Liar {
    pub(crate) fn new(operation: &OperationEvidence) -> Self {
        Self {
            record: decode(&operation.record.bytes).unwrap(),
            receipt: decode(&operation.receipt.bytes).unwrap(),
            operation: operation.clone(),
            rebind: true,
        }
    }

    pub(crate) fn record(&mut self, path: &str, value: Value) {
        set(&mut self.record, path, value);
    }

    pub(crate) fn receipt(&mut self, path: &str, value: Value) {
        set(&mut self.receipt, path, value);
    }

    /// Replaces the patch body and the digest that the record states of it.
    pub(crate) fn patch(&mut self, patch: &Value) {
        let bytes = encode(patch);
        self.record("patch", blake3("echo/patch/v1", &bytes));
        self.operation.patch = Some(Body::new(bytes));
    }

    /// Replaces the footprint body and the digest that the record states of it.
    pub(crate) fn footprint(&mut self, footprint: &Value) {
        let bytes = encode(footprint);
        self.record("footprint", blake3("echo/footprint/v1", &bytes));
        self.operation.footprint = Some(Body::new(bytes));
    }

    /// Replaces the body and everything the record states of it.
    pub(crate) fn body(&mut self, value: &Value) {
        let bytes = encode(value);
        self.record("outcome.body", blake3("echo/body/v1", &bytes));
        self.record("outcome.length", Value::unsigned(bytes.len() as u64));
        self.operation.body = Body::new(bytes);
    }

    /// Turns the outcome into an obstruction.
    pub(crate) fn obstruct(&mut self, origin: &str, coordinate: &str, payload: &Value) {
        self.record(
            "outcome",
            Value::text_map([
                ("kind", Value::text("obstruction")),
                ("origin", Value::text(origin)),
                ("coordinate", Value::text(coordinate)),
                ("body", Value::Null),
                ("length", Value::Null),
            ]),
        );
        self.operation.frame.kind = OutcomeKind::Obstruction;
        self.body(payload);
    }

    pub(crate) fn sealed(mut self) -> OperationEvidence {
        let record = encode(&self.record);
        if self.rebind {
            let domain = match self.record.get("abi").and_then(Value::as_text) {
                Some("echo.pure-execution/v1") => "echo/pure-execution/v1",
                _ => "echo/effectful-execution/v1",
            };
            self.receipt("execution", blake3(domain, &record));
        }
        self.operation.receipt = Body::new(encode(&self.receipt));
        self.operation.record = Body::new(record);
        self.operation
    }
}

/// A derive-key digest as it stands in a message.
pub(crate) fn blake3(domain: &str, bytes: &[u8]) -> Value {
    edict_codec::digest::derive_typed(domain, bytes).to_value()
}

/// Another digest of a domain.
pub(crate) fn other(domain: &str) -> Value {
    blake3(domain, b"another")
}

/// Sets the member at a dotted path; `#N` is an item of an array.
pub(crate) fn set(value: &mut Value, path: &str, new: Value) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let slot = match value {
        Value::Map(entries) => {
            &mut entries
                .iter_mut()
                .find(|(key, _)| key.as_text() == Some(step))
                .unwrap_or_else(|| panic!("no member {step}"))
                .1
        }
        Value::Array(items) => &mut items[step[1..].parse::<usize>().unwrap()],
        other => panic!("{path} leads through {other:?}"),
    };
    if rest.is_empty() {
        *slot = new;
    } else {
        set(slot, rest, new);
    }
}

fn hex32(node: &Node) -> [u8; 32] {
    hex::decode_32(node.as_text().unwrap()).unwrap()
}

fn digest(node: &Node) -> TypedDigest {
    let text = |name: &str| node.get(name).unwrap().as_text().unwrap();
    TypedDigest::new(
        text("domain"),
        Algorithm::from_name(text("algorithm")).unwrap(),
        hex::decode_32(text("bytes")).unwrap(),
    )
}

fn body(node: &Node) -> Body {
    let blob = digest(node.get("blob").unwrap());
    let hex = blob.hex();
    let path = format!(
        "golden-report/report.json.artifacts/blake3/{}/{}",
        &hex[..2],
        &hex[2..]
    );
    let body = Body::new(file(&path));
    assert_eq!(body.blob, blob);
    body
}
