// SPDX-License-Identifier: Apache-2.0
//! `History`: what the committed transactions of a log add up to, receipts included.

use super::{
    decision::Executed,
    payload::{Epoch, Genesis},
    transaction::Tip,
};
use crate::{
    context::identity::Identity,
    receipt::{BUILD, LogPosition, Receipt, receipt_digest},
    state::{
        accumulator::{self, empty_root},
        patch::PatchEntry,
        store::Store,
    },
    wire::request::Basis,
};
use edict_codec::digest::{Algorithm, TypedDigest};
use std::collections::BTreeMap;

/// Where the log has a decided invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Offset of the decision record in the file.
    pub offset: u64,
    /// Position among the decided invocations.
    pub ordinal: u64,
    /// Bytes of the digest of the receipt before.
    pub previous: Option<[u8; 32]>,
}

/// A log, replayed up to its last commit.
#[derive(Debug)]
pub struct History {
    /// Whose log it is.
    pub identity: Identity,
    /// The atoms.
    pub store: Store,
    /// Settled changes.
    pub(super) tick: u64,
    /// Root after them.
    pub(super) root: [u8; 32],
    /// Decided invocations by id.
    pub decided: BTreeMap<[u8; 32], Logged>,
    /// Digest of the last receipt.
    pub last_receipt: Option<TypedDigest>,
    /// Build of each epoch.
    pub builds: BTreeMap<u64, TypedDigest>,
    /// The last epoch.
    pub epoch: u64,
    /// The last commit.
    pub tip: Tip,
    /// Bytes up to its end.
    pub length: u64,
    /// Bytes after it, of a torn tail.
    pub discarded: u64,
    /// The commit with the LSN that was asked for, if there is one.
    pub watched: Option<[u8; 32]>,
}

/// Where a transaction stands.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) epoch: u64,
    pub(super) first_lsn: u64,
    /// Its commit.
    pub(super) tip: Tip,
}

/// The history that a committed genesis begins.
pub(super) fn begin(
    worldline: &[u8; 32],
    genesis: Genesis,
    opened: &Epoch,
    epoch: u64,
) -> Result<History, &'static str> {
    let identity = Identity::new(genesis.nonce, genesis.subject, "durable");
    let sound = genesis.worldline == *identity.worldline.bytes()
        && genesis.worldline == *worldline
        && genesis.state_root == *empty_root().bytes()
        && opened.epoch == epoch
        && opened.previous_lsn == 0
        && opened.previous_commit.is_none();
    if !sound {
        return Err("the genesis contradicts itself");
    }
    Ok(History {
        identity,
        store: Store::default(),
        tick: 0,
        root: genesis.state_root,
        decided: BTreeMap::new(),
        last_receipt: None,
        builds: BTreeMap::from([(opened.epoch, build(opened))]),
        epoch: opened.epoch,
        tip: Tip {
            lsn: 0,
            digest: [0; 32],
        },
        length: 0,
        discarded: 0,
        watched: None,
    })
}

fn build(opened: &Epoch) -> TypedDigest {
    TypedDigest::new(BUILD, Algorithm::Blake3, opened.build)
}

impl History {
    /// Tick and root.
    pub fn basis(&self) -> Basis {
        Basis {
            tick: self.tick,
            state_root: accumulator::typed(self.root),
        }
    }

    pub(super) fn reopen(&mut self, opened: &Epoch, epoch: u64) -> Result<(), &'static str> {
        let sound = opened.epoch == epoch
            && opened.previous_lsn == self.tip.lsn
            && opened.previous_commit == Some(self.tip.digest);
        if !sound {
            return Err("an epoch names another commit before it");
        }
        self.epoch = opened.epoch;
        self.builds.insert(opened.epoch, build(opened));
        Ok(())
    }

    pub(super) fn settle(&mut self, patch: Vec<PatchEntry>) -> Result<(), &'static str> {
        if patch.is_empty() {
            return Err("a patch changes nothing");
        }
        self.root = self.store.replay(patch)?;
        self.tick = self.tick.saturating_add(1);
        Ok(())
    }

    pub(super) fn decide(
        &mut self,
        (executed, offset): (&Executed, u64),
        place: &Place,
    ) -> Result<(), &'static str> {
        let ordinal = u64::try_from(self.decided.len()).unwrap_or(u64::MAX);
        let position = LogPosition {
            epoch: place.epoch,
            first_lsn: place.first_lsn,
            last_lsn: place.tip.lsn,
            commit: place.tip.typed(),
        };
        let receipt = rebuild_receipt(
            &self.identity,
            executed,
            (ordinal, self.last_receipt.as_ref()),
            self.builds
                .get(&place.epoch)
                .ok_or("a decision stands in no epoch")?,
            &position,
        );
        let logged = Logged {
            offset,
            ordinal,
            previous: self.last_receipt.as_ref().map(|it| *it.bytes()),
        };
        let invocation = executed.invocation;
        if self.decided.insert(invocation, logged).is_some() {
            return Err("an invocation is decided twice");
        }
        self.last_receipt = Some(receipt_digest(&receipt));
        Ok(())
    }
}

/// The receipt of a logged decision.
pub(super) fn rebuild_receipt(
    identity: &Identity,
    executed: &Executed,
    (ordinal, previous): (u64, Option<&TypedDigest>),
    build: &TypedDigest,
    position: &LogPosition,
) -> Vec<u8> {
    Receipt {
        execution: &executed.execution,
        worldline: &identity.worldline,
        nonce: &identity.nonce,
        invocation: &executed.invocation,
        request: &executed.request,
        ordinal,
        previous,
        build,
        log: Some(position),
    }
    .to_bytes()
}
