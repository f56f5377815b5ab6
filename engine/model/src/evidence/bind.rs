// SPDX-License-Identifier: Apache-2.0
//! Binding the outcomes of one context: V1 to V18 of `docs/evidence.md` 6.3, every identity recomputed.

mod effects;
mod outcome;
mod position;
mod subject;

use super::checks::{Fault, Results};
use super::hello::HostHello;
use super::invocation::{Basis, InvokeRequest};
use super::log::LogReplica;
use super::opening::Opening;
use super::receipt::Receipt;
use super::record::{EvidenceError, ExecutionRecord, ObstructionOrigin};
use super::replica::Replica;
use super::{CheckFailure, OperationEvidence, Program};
use crate::built::Body;
use crate::failure::FailureKind;
use crate::ids::ContextNonce;
use crate::package::{Counters, ExecutionBudget, ProgramKind};
use crate::run::{Check, SettlementReport, StateReport, StorageKind, WalReport};
use edict_codec::cbor::Value;
use edict_codec::digest::TypedDigest;

/// What the runner knows of an opened context before anything ran in it.
#[derive(Clone, Debug)]
pub struct ContextFacts {
    /// The nonce as planned.
    pub nonce: ContextNonce,
    /// The subject as planned: the case identity.
    pub subject: TypedDigest,
    /// The storage as planned.
    pub storage: StorageKind,
    /// The host that was accepted.
    pub hello: HostHello,
    /// The reply to `open-context`.
    pub opening: Opening,
    /// The log rebuilt from evidence; then V16 also recomputes every commit. A live run has none.
    pub log: Option<LogReplica>,
}

/// Binds the operations of one context in their order.
#[derive(Clone, Debug)]
pub struct Binder {
    facts: ContextFacts,
    worldline: TypedDigest,
    basis: Basis,
    replica: Replica,
    decided: u64,
    last_receipt: Option<TypedDigest>,
    last_lsn: u64,
}

/// One operation with the result of every check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundOperation {
    /// `V1` to `V18`, in order.
    pub checks: Vec<Check>,
    /// The first check that failed.
    pub failure: Option<CheckFailure>,
    /// The ordinal of the receipt; the expected one when there is no readable receipt.
    pub ordinal: u64,
    /// What an effectful record says of atoms and log; `None` for a pure one.
    pub settlement: Option<SettlementReport>,
    /// The outcome. It exists exactly when no check failed.
    pub terminal: Option<Terminal>,
}

/// A terminal outcome that is bound to its invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Semantic digest of the record.
    pub semantic_digest: TypedDigest,
    /// The effective budget.
    pub budget: ExecutionBudget,
    /// What was consumed.
    pub consumed: Counters,
    /// The value or the obstruction.
    pub outcome: BoundOutcome,
}

/// How an invocation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundOutcome {
    /// A value of the declared output type.
    Result {
        /// The value.
        value: Value,
        /// Its canonical bytes.
        body: Body,
    },
    /// A terminal obstruction with a typed payload.
    Obstruction {
        /// Who raised it.
        origin: ObstructionOrigin,
        /// Its coordinate.
        coordinate: String,
        /// The payload.
        payload: Value,
        /// Its canonical bytes.
        body: Body,
    },
}

/// Record, receipt and request of one operation, decoded.
struct Decoded {
    record: ExecutionRecord,
    receipt: Receipt,
}

impl Binder {
    /// A binder for a context whose opening was checked ([`Opening::check_fresh`]).
    pub fn new(facts: ContextFacts) -> Self {
        let opening = &facts.opening;
        Self {
            worldline: super::worldline(facts.nonce.bytes(), &facts.subject, facts.storage),
            basis: opening.basis.clone(),
            replica: Replica::new(),
            decided: opening.decided,
            last_receipt: opening.last_receipt.clone(),
            last_lsn: opening.wal.as_ref().map_or(0, |wal| wal.last_lsn),
            facts,
        }
    }

    /// The basis that the next effectful invocation must select.
    pub fn basis(&self) -> &Basis {
        &self.basis
    }

    /// The worldline recomputed from nonce, subject and storage.
    pub fn worldline(&self) -> &TypedDigest {
        &self.worldline
    }

    /// Binds the next operation: `program` on `input`. The binder moves on only if every check
    /// passed; after a failure nothing further of this context can be bound.
    pub fn bind(
        &mut self,
        program: &Program,
        input: &Body,
        operation: &OperationEvidence,
    ) -> BoundOperation {
        let mut results = Results::new();
        results.note(1, self.frame(operation));
        let decoded = match decode(program, operation) {
            Ok(decoded) => decoded,
            Err(fault) => {
                results.note(2, Err(fault));
                let (checks, failure) = results.finish();
                return BoundOperation {
                    checks,
                    failure,
                    ordinal: self.decided,
                    settlement: None,
                    terminal: None,
                };
            }
        };
        results.note(2, subject::pins(program, &decoded.record));
        let outcome = self.judge(program, input, operation, &decoded, &mut results);
        let settlement = settlement(&decoded);
        let ordinal = decoded.receipt.ordinal;
        let (checks, failure) = results.finish();
        let terminal = match (&failure, outcome) {
            (None, Some(outcome)) => Some(Terminal {
                semantic_digest: decoded.record.semantic.clone(),
                budget: decoded.record.budget,
                consumed: decoded.record.consumed,
                outcome,
            }),
            _ => None,
        };
        if terminal.is_some() {
            self.advance(operation, &decoded);
        }
        BoundOperation {
            checks,
            failure,
            ordinal,
            settlement,
            terminal,
        }
    }

    /// V1 as far as it outlives the frame: sequence, type and frame digest are the port's.
    fn frame(&self, operation: &OperationEvidence) -> Result<(), Box<Fault>> {
        let frame = &operation.frame;
        if frame.recalled {
            return Err(Fault::new(
                FailureKind::ReplayedContext,
                "the host only recalled this outcome",
            ));
        }
        super::checks::ensure(
            frame.worldline == self.worldline && frame.invocation == operation.invocation,
            FailureKind::OutcomeUnknown,
            "the outcome names another worldline or invocation",
        )
    }

    /// V3 to V18.
    fn judge(
        &self,
        program: &Program,
        input: &Body,
        operation: &OperationEvidence,
        decoded: &Decoded,
        results: &mut Results,
    ) -> Option<BoundOutcome> {
        let Decoded { record, receipt } = decoded;
        let request = InvokeRequest::decode(&operation.request.bytes);
        results.note(3, subject::semantic_digest(record, receipt));
        results.note(4, self.context(operation, receipt, request.as_ref()));
        results.note(5, subject::files(program, record));
        results.note(6, subject::installation(program, record, request.as_ref()));
        let budgeted = results.note(
            7,
            subject::input_and_budget(program, input, operation, record, request.as_ref()),
        );
        let mut bound = None;
        if results.note(8, outcome::body(operation, record)) {
            let judged = outcome::typed(program, operation, record);
            results.note(9, judged.map(|outcome| bound = Some(outcome)));
        }
        results.note(10, self.position(receipt));
        results.note(
            11,
            super::checks::same(
                "the build of the receipt",
                &self.facts.hello.build,
                &receipt.build,
                FailureKind::HostBuildMismatch,
            ),
        );
        self.effects(program, operation, decoded, request.as_ref(), results);
        results.note(16, self.log_position(operation, decoded));
        results.note(
            17,
            effects::presence(program, operation, record, request.as_ref()),
        );
        // Counters that V7 refuses say nothing about the bound.
        if budgeted {
            let within = record.consumed.within(program.package.static_bound);
            results.note(
                18,
                super::checks::ensure(
                    within,
                    FailureKind::BudgetMismatch,
                    "more was consumed than the static bound allows",
                ),
            );
        }
        bound
    }

    /// V12 to V15; not applicable where a pure program or record has no effects to judge.
    fn effects(
        &self,
        program: &Program,
        operation: &OperationEvidence,
        decoded: &Decoded,
        request: Result<&InvokeRequest, &crate::package::Malformed>,
        results: &mut Results,
    ) {
        let Some(record) = &decoded.record.effects else {
            return;
        };
        if program.package.kind == ProgramKind::Pure {
            return;
        }
        let selected = request.ok().and_then(|request| request.basis.as_ref());
        results.note(
            12,
            effects::settlement(&self.basis, selected, &decoded.record, record),
        );
        let footprint = effects::footprint(program, &self.replica, operation, record);
        // The patch must lie within the writes of the footprint, which V15 judges by itself.
        let writes = footprint.as_ref().and_then(|(writes, _)| writes.as_ref());
        match effects::patch(&self.replica, operation, record, writes) {
            effects::Patch::Absent => {}
            effects::Patch::Broken(fault) => {
                results.note(13, Err(fault));
            }
            effects::Patch::Rows(rows) => {
                results.note(13, Ok(()));
                results.note(14, effects::root(&self.replica, &rows, record));
            }
        }
        if let Some((_, outcome)) = footprint {
            results.note(15, outcome);
        }
    }

    /// Moves on behind an operation whose checks all passed.
    fn advance(&mut self, operation: &OperationEvidence, decoded: &Decoded) {
        if let Some(log) = self.facts.log.clone() {
            self.facts.log = Some(log.decision(operation, &decoded.record, self));
        }
        if let Some(effects) = &decoded.record.effects {
            self.basis = effects.after.clone();
            for row in effects::rows(operation) {
                effects::apply(&mut self.replica, &row);
            }
        }
        if let Some(wal) = &decoded.receipt.wal {
            self.last_lsn = wal.last_lsn;
        }
        self.decided = self.decided.saturating_add(1);
        self.last_receipt = Some(decoded.receipt.digest.clone());
    }

    /// Invocations decided and bound so far.
    pub fn decided(&self) -> u64 {
        self.decided
    }

    /// Digest of the receipt of the last of them.
    pub fn last_receipt(&self) -> Option<&TypedDigest> {
        self.last_receipt.as_ref()
    }
}

/// V2: decoding. The pins of V2 are judged by [`subject::pins`].
fn decode(_program: &Program, operation: &OperationEvidence) -> Result<Decoded, Box<Fault>> {
    let fault = |what: &str, error: EvidenceError| {
        let kind = match &error {
            EvidenceError::Malformed(_) => FailureKind::EvidenceMalformed,
            EvidenceError::UnknownAbi(_) => FailureKind::EvidenceVersionUnsupported,
        };
        Fault::new(kind, format!("the {what} is unusable: {error}"))
    };
    Ok(Decoded {
        record: ExecutionRecord::decode(&operation.record.bytes)
            .map_err(|error| fault("record", error))?,
        receipt: Receipt::decode(&operation.receipt.bytes)
            .map_err(|error| fault("receipt", error))?,
    })
}

/// The settlement that the report shows of an effectful record in a log.
fn settlement(decoded: &Decoded) -> Option<SettlementReport> {
    let effects = decoded.record.effects.as_ref()?;
    let wal = decoded.receipt.wal.as_ref()?;
    let state = |basis: &Basis| StateReport {
        tick: basis.tick,
        state_root: basis.state_root.clone(),
    };
    Some(SettlementReport {
        posture: if effects.settled {
            "settled"
        } else {
            "unchanged"
        }
        .to_owned(),
        before: state(&effects.before),
        after: state(&effects.after),
        declared_footprint: effects.declared_footprint.clone(),
        wal: WalReport {
            epoch: wal.epoch,
            first_lsn: wal.first_lsn,
            last_lsn: wal.last_lsn,
            commit: wal.commit.clone(),
        },
    })
}
