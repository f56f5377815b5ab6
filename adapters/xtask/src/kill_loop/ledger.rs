// SPDX-License-Identifier: Apache-2.0
//! What the client of killed processes knows, and what a recovered context must therefore hold.

use super::chain::{Chain, Decided};
use crate::job::Failure;
use edict_codec::{cbor::Value, digest::derive_typed};
use xtask::host::{
    Host,
    lane::Lane,
    requests::{bytes, member},
    wire::Frame,
};

/// Acknowledged outcomes of one history and how far it may have come.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Receipts in the order of the invocations.
    receipts: Vec<Vec<u8>>,
    /// Invocations that were sent and not answered.
    unanswered: u64,
    /// Outcomes acknowledged since the last opening.
    fresh: u64,
    /// Whether some process said that the context is open.
    was_opened: bool,
    epoch: u64,
}

/// What a recovery showed.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) is_torn: bool,
    /// The kill left invocations undone.
    pub(crate) is_interrupted: bool,
    /// Commits that were kept although no reply had told of them.
    pub(crate) unacknowledged: u64,
}

impl Ledger {
    /// Invocations known to be decided.
    pub(crate) fn decided(&self) -> u64 {
        self.receipts.len() as u64
    }

    /// Outcomes acknowledged since the last opening.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.fresh
    }

    /// Notes that so many invocations are on their way.
    pub(crate) fn sent(&mut self, count: u64) {
        self.unanswered = count;
        self.fresh = 0;
    }

    /// A context that was open once can never be created again.
    pub(crate) fn may_begin_with(&self, mode: &str) -> Result<(), Failure> {
        if self.was_opened && mode == "create" {
            return Err(Failure::new("a context that was open has lost its log"));
        }
        Ok(())
    }

    /// A process was killed while it opened the context; these replies had left it.
    pub(crate) fn opening_interrupted(&mut self, replies: &[Frame]) {
        self.was_opened |= replies.iter().any(|frame| frame.kind == 0x8004);
    }

    /// Takes an outcome and holds it against the uninterrupted run.
    pub(crate) fn acknowledge(&mut self, frame: Frame, chain: &Chain) -> Result<(), Failure> {
        let id = self.decided();
        let outcome = frame.ok(0x8005)?;
        equal(&outcome, id, chain, false)?;
        self.receipts.push(bytes(&outcome, "receipt")?);
        self.unanswered = self.unanswered.saturating_sub(1);
        self.fresh += 1;
        Ok(())
    }

    /// Judges a context that was just opened, outcome by outcome.
    pub(crate) fn recovered(
        &mut self,
        host: &mut Host,
        lane: &Lane,
        chain: &Chain,
    ) -> Result<Found, Failure> {
        let number = |value: &Value, key: &str| {
            let number = member(value, key)?.as_u64();
            number.ok_or_else(|| Failure::new(format!("`{key}` is no number")))
        };
        let decided = number(&lane.opened, "decided")?;
        let known = self.decided();
        if decided < known || decided > known + self.unanswered {
            return Err(Failure::new(format!(
                "{decided} invocations are decided after {known} acknowledged and {} unanswered",
                self.unanswered
            )));
        }
        if chain.basis(decided) != Some(&lane.basis) {
            return Err(Failure::new(format!(
                "another basis after {decided} invocations"
            )));
        }
        let epoch = number(&member(&lane.opened, "wal")?, "epoch")?;
        if epoch <= self.epoch {
            return Err(Failure::new(format!(
                "epoch {epoch} follows epoch {}",
                self.epoch
            )));
        }
        let recovery = member(&lane.opened, "recovery")?;
        let found = Found {
            is_torn: recovery.get("tail").and_then(Value::as_text) == Some("torn"),
            is_interrupted: decided < known + self.unanswered,
            unacknowledged: decided - known,
        };
        self.recall_all(host, lane, chain, decided)?;
        (self.was_opened, self.epoch, self.unanswered) = (true, epoch, 0);
        Ok(found)
    }

    /// Recalls every decided invocation, and one more that must be unknown.
    fn recall_all(
        &mut self,
        host: &mut Host,
        lane: &Lane,
        chain: &Chain,
        decided: u64,
    ) -> Result<(), Failure> {
        let mut last = Value::Null;
        for id in 0..decided {
            let outcome = host.ask(6, &lane.recall(id))?.ok(0x8005)?;
            equal(&outcome, id, chain, true)?;
            let receipt = bytes(&outcome, "receipt")?;
            last = derive_typed("echo/receipt/v1", &receipt).to_value();
            match usize::try_from(id)
                .ok()
                .and_then(|id| self.receipts.get(id))
            {
                None => self.receipts.push(receipt),
                Some(known) if *known == receipt => {}
                Some(_) => {
                    return Err(Failure::new(format!("invocation {id} has another receipt")));
                }
            }
        }
        if member(&lane.opened, "lastReceipt")? != last {
            return Err(Failure::new(
                "the last receipt is not that of the last invocation",
            ));
        }
        let beyond = host.ask(6, &lane.recall(decided))?;
        if beyond.refused() == Some("invocation-unknown") {
            return Ok(());
        }
        Err(Failure::new(format!(
            "invocation {decided} is known and not decided"
        )))
    }
}

/// Fails unless the outcome is that of the uninterrupted run.
fn equal(outcome: &Value, id: u64, chain: &Chain, is_recalled: bool) -> Result<(), Failure> {
    let is_same = chain.decided(id) == Some(&Decided::of(outcome)?);
    if is_same && member(outcome, "recalled")? == Value::Bool(is_recalled) {
        return Ok(());
    }
    Err(Failure::new(format!(
        "invocation {id} came to something else than without a kill"
    )))
}
