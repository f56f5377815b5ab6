// SPDX-License-Identifier: Apache-2.0
//! Settlement: what an evaluation did becomes evidence, a transaction and a Tick, or nothing.
//!
//! Every refusal here comes before the first effect, except those of the log itself.

use crate::{
    context::{
        Context,
        invoke::{Outcome, Surroundings},
        total::StateTotal,
    },
    executable::{Decision, Evaluated, Executable, Facts, Kind},
    fault_point::FaultPoints,
    limits,
    pin::Budget,
    receipt::{Effects, Execution, LogPosition, Receipt, receipt_digest, record, semantic_digest},
    refusal::Refusal,
    state::{
        overlay::Overlay,
        patch::{self, PatchEntry},
        store::{Staged, Store},
    },
    wal::{decision::Decided, history::Logged, log::Appending, transaction::Sealed},
    wire::{
        reply::Reply,
        request::{Basis, Invoke},
    },
};
use edict_codec::cbor::Value;

/// A finished evaluation with what it would do to the state.
#[derive(Debug)]
pub struct Settlement {
    evaluated: Evaluated,
    budget: Budget,
    /// Footprint body; none if pure.
    footprint: Option<Vec<u8>>,
    change: Option<Change>,
}

/// A net effect that is not empty.
#[derive(Debug)]
struct Change {
    entries: Vec<PatchEntry>,
    body: Vec<u8>,
    staged: Staged,
}

/// Runs the program on a private view of `store`.
///
/// # Errors
/// `evaluation-fault`, `state-limit`.
pub fn evaluate(
    store: &Store,
    executable: &dyn Executable,
    input: Value,
    budget: Budget,
    fault_points: &FaultPoints,
) -> Result<Settlement, Refusal> {
    let facts = executable.facts();
    let mut overlay = Overlay::new(store, &facts.footprint, fault_points);
    let evaluated = executable.run(input, budget, &mut overlay)?;
    let footprint = match facts.kind {
        Kind::Pure => None,
        Kind::Effectful | Kind::Anchored => Some(overlay.footprint()?),
    };
    let change = match &evaluated.decision {
        Decision::Obstruction { .. } => None,
        Decision::Result { .. } => change(store, overlay.into_patch())?,
    };
    fault_points.reach("evaluated");
    if matches!(evaluated.decision, Decision::Obstruction { .. }) {
        fault_points.reach("obstruction-evaluated");
    }
    Ok(Settlement {
        evaluated,
        budget,
        footprint,
        change,
    })
}

fn change(store: &Store, entries: Vec<PatchEntry>) -> Result<Option<Change>, Refusal> {
    if entries.is_empty() {
        return Ok(None);
    }
    if !limits::admits(limits::MAX_ATOMS_PER_PATCH, entries.len()) {
        return Err(Refusal::new(
            "state-limit",
            format!("a patch of more than {} atoms", limits::MAX_ATOMS_PER_PATCH),
        ));
    }
    let body = patch::to_body(&entries);
    if !limits::admits(limits::MAX_PATCH_BYTES, body.len()) {
        return Err(Refusal::new(
            "state-limit",
            format!("a patch of more than {} bytes", limits::MAX_PATCH_BYTES),
        ));
    }
    let staged = store.stage(&entries)?;
    Ok(Some(Change {
        entries,
        body,
        staged,
    }))
}

/// Room in the total of the host, given back unless the settlement is published.
struct Room<'a> {
    total: &'a StateTotal,
    before: u64,
    after: u64,
    kept: bool,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.total.replace(self.after, self.before);
        }
    }
}

/// Everything a decided invocation leaves behind, before it is written.
struct Evidence {
    receipt: Vec<u8>,
    sealed: Option<Sealed>,
    reply: Reply,
}

impl Context {
    pub(crate) fn settle(
        &mut self,
        request: &Invoke,
        facts: &Facts,
        settlement: Settlement,
        surroundings: &Surroundings<'_>,
    ) -> Result<Reply, Refusal> {
        let mut room = self.room(&settlement, surroundings.total)?;
        let after = match &settlement.change {
            None => self.basis.clone(),
            Some(change) => Basis {
                tick: self.basis.tick.saturating_add(1),
                state_root: change.staged.root.clone(),
            },
        };
        let evidence = self.evidence(request, facts, &settlement, &after, surroundings);
        let reply = evidence.reply.within(surroundings.max_frame_bytes)?;
        let offset = self.append(evidence.sealed.as_ref(), &settlement, surroundings)?;
        self.publish(request, settlement.change, after, offset, &evidence.receipt);
        room.kept = true;
        surroundings.fault_points.reach("published");
        Ok(reply)
    }

    /// Totals that are left when the invocation settles.
    fn room<'a>(
        &self,
        settlement: &Settlement,
        total: &'a StateTotal,
    ) -> Result<Room<'a>, Refusal> {
        if self.decided() >= limits::MAX_INVOCATIONS {
            return Err(Refusal::new(
                "state-limit",
                format!("{} invocations are decided", limits::MAX_INVOCATIONS),
            ));
        }
        let before = self.store.value_bytes();
        let after = settlement
            .change
            .as_ref()
            .map_or(before, |change| change.staged.value_bytes());
        if !total.replace(before, after) {
            return Err(Refusal::new(
                "state-limit",
                "the states of all contexts are too large",
            ));
        }
        Ok(Room {
            total,
            before,
            after,
            kept: false,
        })
    }

    fn evidence(
        &self,
        request: &Invoke,
        facts: &Facts,
        settlement: &Settlement,
        after: &Basis,
        surroundings: &Surroundings<'_>,
    ) -> Evidence {
        let patch = settlement
            .change
            .as_ref()
            .map(|change| change.body.as_slice());
        let evaluated = &settlement.evaluated;
        let footprint = settlement.footprint.as_deref();
        let record = record(
            facts,
            &Execution {
                input: &request.input,
                basis: evaluated.basis.as_deref(),
                budget: settlement.budget,
                consumed: evaluated.consumed,
                decision: &evaluated.decision,
                effects: footprint.map(|footprint| Effects {
                    before: &self.basis,
                    after,
                    footprint,
                    patch,
                }),
            },
        );
        let (is_result, body) = match &evaluated.decision {
            Decision::Result { body } => (true, body),
            Decision::Obstruction { body, .. } => (false, body),
        };
        let decided = Decided {
            invocation: request.invocation,
            request: *request.request.bytes(),
            is_result,
            record: &record,
            body,
            footprint,
        };
        let kind = decided.kind();
        let ordinal = self.decided();
        let sealed = self
            .log
            .as_ref()
            .map(|log| log.decision(decided, patch, after, ordinal.saturating_add(1)));
        let position = sealed.as_ref().map(|sealed| LogPosition {
            epoch: sealed.epoch,
            first_lsn: sealed.first_lsn,
            last_lsn: sealed.tip.lsn,
            commit: sealed.tip.typed(),
        });
        let execution = semantic_digest(facts.kind, &record);
        let receipt = Receipt {
            execution: &execution,
            worldline: &self.identity.worldline,
            nonce: &self.identity.nonce,
            invocation: &request.invocation,
            request: &request.request,
            ordinal,
            previous: self.last_receipt.as_ref(),
            build: surroundings.build,
            log: position.as_ref(),
        }
        .to_bytes();
        let reply = Outcome {
            worldline: &self.identity.worldline,
            invocation: &request.invocation,
            kind,
            record: &record,
            receipt: &receipt,
            body,
            footprint,
            patch,
            recalled: false,
        }
        .to_reply();
        Evidence {
            receipt,
            sealed,
            reply,
        }
    }

    /// Makes the decision durable; gives the offset of its record.
    fn append(
        &mut self,
        sealed: Option<&Sealed>,
        settlement: &Settlement,
        surroundings: &Surroundings<'_>,
    ) -> Result<Option<u64>, Refusal> {
        let (Some(log), Some(sealed)) = (self.log.as_mut(), sealed) else {
            return Ok(None);
        };
        let offset = log.length();
        let added = u64::try_from(sealed.bytes.len()).unwrap_or(u64::MAX);
        if offset.saturating_add(added) > limits::MAX_WAL_BYTES {
            return Err(Refusal::new(
                "wal-limit",
                format!("a log of more than {} bytes", limits::MAX_WAL_BYTES),
            ));
        }
        let appending = match settlement.evaluated.decision {
            Decision::Result { .. } => Appending::Result,
            Decision::Obstruction { .. } => Appending::Obstruction,
        };
        log.append(sealed, appending, surroundings.fault_points)?;
        Ok(Some(offset))
    }

    /// From here on everybody sees the decision, at once and whole.
    fn publish(
        &mut self,
        request: &Invoke,
        change: Option<Change>,
        after: Basis,
        offset: Option<u64>,
        receipt: &[u8],
    ) {
        let logged = offset.map(|offset| Logged {
            offset,
            ordinal: self.decided(),
            previous: self.last_receipt.as_ref().map(|it| *it.bytes()),
        });
        if let Some(change) = change {
            self.store.publish(change.entries, change.staged);
        }
        self.basis = after;
        self.decided.insert(request.invocation, logged);
        self.last_receipt = Some(receipt_digest(receipt));
    }
}
