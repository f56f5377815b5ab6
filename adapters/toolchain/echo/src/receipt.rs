// SPDX-License-Identifier: Apache-2.0
//! Evidence: the execution record, which says what ran on what, and the receipt, which binds it
//! to a worldline, a request and a position (sections 6.1 and 6.2).

use crate::{
    executable::{Decision, Facts, Kind},
    package::anchored,
    pin::{Budget, Consumed},
    state::{footprint, patch},
    wire::{reply::optional_digest, request::Basis},
};
use edict_codec::{
    cbor::{Encoder, Value, encode},
    digest::{TypedDigest, derive_typed},
};

/// Coordinate of the interpreter: it freezes evaluation, atoms and the cost law.
pub const INTERPRETER: &str = "echo.interpreter/v1";
/// Coordinate of the cost law.
pub const COST_LAW: &str = "echo.cost/v1";
/// `abi` of a record without effects.
pub const PURE_ABI: &str = "echo.pure-execution/v1";
/// `abi` of a record with effects.
pub const EFFECTFUL_ABI: &str = "echo.effectful-execution/v1";
/// `abi` of a record of a foreign package.
pub const ANCHORED_ABI: &str = "echo.anchored-execution/v1";
/// `abi` of a receipt.
pub const RECEIPT_ABI: &str = "echo.receipt/v1";

/// Domain of host builds.
pub const BUILD: &str = "echo/host-build/v1";
/// Domain of requests to invoke.
pub const INVOCATION: &str = "echo/invocation/v1";
/// Domain of receipts.
pub const RECEIPT: &str = "echo/receipt/v1";

/// The bytes every record of that kind begins with: the head of its map, and the first key in
/// canonical order with its value.
pub fn record_start(kind: Kind) -> Vec<u8> {
    let mut start = Encoder::new();
    start.map(match kind {
        Kind::Pure => 12,
        Kind::Effectful | Kind::Anchored => 18,
    });
    start.text("abi");
    start.text(abi(kind));
    start.into_bytes()
}

/// What an effectful invocation did to the state.
#[derive(Clone, Debug)]
pub struct Effects<'a> {
    /// Basis it ran on.
    pub before: &'a Basis,
    /// Basis afterwards; the same unless it settled.
    pub after: &'a Basis,
    /// Footprint body.
    pub footprint: &'a [u8],
    /// Patch body, if it settled.
    pub patch: Option<&'a [u8]>,
}

/// What a record says, besides the facts of its package.
#[derive(Clone, Debug)]
pub struct Execution<'a> {
    /// Input bytes.
    pub input: &'a [u8],
    /// Bytes of the value of the basis expression.
    pub basis: Option<&'a [u8]>,
    /// Effective budget.
    pub budget: Budget,
    /// What was used.
    pub consumed: Consumed,
    /// How it ended.
    pub decision: &'a Decision,
    /// Null in a pure record, which never mentions a Tick, root, footprint or log.
    pub effects: Option<Effects<'a>>,
}

/// The bytes of an execution record.
pub fn record(facts: &Facts, execution: &Execution<'_>) -> Vec<u8> {
    let basis = execution
        .basis
        .map(|bytes| derive_typed("echo/basis-value/v1", bytes));
    let (interpreter, cost_law) = match facts.kind {
        Kind::Pure | Kind::Effectful => (INTERPRETER, COST_LAW),
        Kind::Anchored => (anchored::PROFILE, anchored::COST_LAW),
    };
    let mut members = vec![
        ("abi", Value::text(abi(facts.kind))),
        ("installation", facts.installation.to_value()),
        ("package", facts.package.to_value()),
        ("report", facts.report.to_value()),
        ("operation", Value::text(facts.operation.as_str())),
        ("interpreter", Value::text(interpreter)),
        ("costLaw", Value::text(cost_law)),
        (
            "input",
            derive_typed("echo/input/v1", execution.input).to_value(),
        ),
        ("basis", optional_digest(basis.as_ref())),
        ("budget", facts.kind.budget(execution.budget)),
        ("consumed", facts.kind.consumed(execution.consumed)),
        ("outcome", outcome(execution.decision)),
    ];
    if let Some(effects) = &execution.effects {
        let declared = derive_typed("echo/footprint-declared/v1", &facts.footprint_bytes);
        let posture = if effects.patch.is_some() {
            "settled"
        } else {
            "unchanged"
        };
        members.extend([
            ("before", effects.before.to_value()),
            ("after", effects.after.to_value()),
            ("posture", Value::text(posture)),
            ("declaredFootprint", declared.to_value()),
            ("footprint", footprint::digest(effects.footprint).to_value()),
            (
                "patch",
                optional_digest(effects.patch.map(patch::digest).as_ref()),
            ),
        ]);
    }
    encode(&Value::text_map(members))
}

fn outcome(decision: &Decision) -> Value {
    let (mut members, body) = match decision {
        Decision::Result { body } => (vec![("kind", Value::text("result"))], body),
        Decision::Obstruction {
            origin,
            coordinate,
            body,
        } => (
            vec![
                ("kind", Value::text("obstruction")),
                ("origin", Value::text(origin.name())),
                ("coordinate", Value::text(coordinate.as_str())),
            ],
            body,
        ),
    };
    let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
    members.push(("body", derive_typed("echo/body/v1", body).to_value()));
    members.push(("length", Value::unsigned(length)));
    Value::text_map(members)
}

/// The semantic digest of a record: executions are equivalent iff these are equal.
pub fn semantic_digest(kind: Kind, record: &[u8]) -> TypedDigest {
    let domain = match kind {
        Kind::Pure => "echo/pure-execution/v1",
        Kind::Effectful => "echo/effectful-execution/v1",
        Kind::Anchored => "echo/anchored-execution/v1",
    };
    derive_typed(domain, record)
}

/// The `abi` of records of that kind.
pub const fn abi(kind: Kind) -> &'static str {
    match kind {
        Kind::Pure => PURE_ABI,
        Kind::Effectful => EFFECTFUL_ABI,
        Kind::Anchored => ANCHORED_ABI,
    }
}

/// Where a decision stands in a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPosition {
    /// Epoch of the transaction.
    pub epoch: u64,
    /// Its first record.
    pub first_lsn: u64,
    /// Its commit record.
    pub last_lsn: u64,
    /// dig(echo/wal-record/v1) of the commit record.
    pub commit: TypedDigest,
}

/// What a receipt says.
#[derive(Clone, Debug)]
pub struct Receipt<'a> {
    /// Semantic digest of the record.
    pub execution: &'a TypedDigest,
    /// The worldline.
    pub worldline: &'a TypedDigest,
    /// Its nonce.
    pub nonce: &'a [u8; 32],
    /// The consumed id.
    pub invocation: &'a [u8; 32],
    /// dig(echo/invocation/v1) of the request.
    pub request: &'a TypedDigest,
    /// Position among the decided invocations of the worldline.
    pub ordinal: u64,
    /// Digest of the receipt before.
    pub previous: Option<&'a TypedDigest>,
    /// Build that decided.
    pub build: &'a TypedDigest,
    /// Position in the log of a durable context.
    pub log: Option<&'a LogPosition>,
}

impl Receipt<'_> {
    /// The receipt bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // In canonical key order, without a tree: recovery makes one for every decision.
        let mut bytes = Encoder::new();
        bytes.map(10);
        bytes.text("abi");
        bytes.text(RECEIPT_ABI);
        bytes.text("wal");
        match self.log {
            None => bytes.null(),
            Some(log) => log.write(&mut bytes),
        }
        bytes.text("build");
        self.build.write(&mut bytes);
        bytes.text("nonce");
        bytes.bytes(self.nonce);
        bytes.text("ordinal");
        bytes.unsigned(self.ordinal);
        bytes.text("request");
        self.request.write(&mut bytes);
        bytes.text("previous");
        match self.previous {
            None => bytes.null(),
            Some(previous) => previous.write(&mut bytes),
        }
        bytes.text("execution");
        self.execution.write(&mut bytes);
        bytes.text("worldline");
        self.worldline.write(&mut bytes);
        bytes.text("invocation");
        bytes.bytes(self.invocation);
        bytes.into_bytes()
    }
}

impl LogPosition {
    fn write(&self, bytes: &mut Encoder) {
        bytes.map(4);
        bytes.text("epoch");
        bytes.unsigned(self.epoch);
        bytes.text("commit");
        self.commit.write(bytes);
        bytes.text("lastLsn");
        bytes.unsigned(self.last_lsn);
        bytes.text("firstLsn");
        bytes.unsigned(self.first_lsn);
    }
}

/// dig(echo/receipt/v1) of receipt bytes.
pub fn receipt_digest(receipt: &[u8]) -> TypedDigest {
    derive_typed(RECEIPT, receipt)
}
