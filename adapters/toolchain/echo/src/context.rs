// SPDX-License-Identifier: Apache-2.0
//! Contexts: open worldlines, each with a state, a position and what it may invoke.

pub mod identity;
pub mod invoke;
pub mod open;
pub mod total;

use crate::{
    refusal::Refusal,
    state::{observe, store::Store},
    wal::{history::Logged, log::Log},
    wire::{
        frame::ReplyType,
        reply::{Reply, optional_digest},
        request::{Basis, Observe},
    },
};
use edict_codec::{cbor::Value, digest::TypedDigest};
use identity::Identity;
use invoke::Outcome;
use std::collections::{BTreeMap, BTreeSet};

/// An open worldline.
#[derive(Debug)]
pub struct Context {
    pub(crate) identity: Identity,
    /// All it may ever invoke, by the bytes of the installation.
    pub(crate) grants: BTreeSet<[u8; 32]>,
    pub(crate) store: Store,
    pub(crate) basis: Basis,
    /// Consumed ids; where the log has the outcome, if there is a log.
    pub(crate) decided: BTreeMap<[u8; 32], Option<Logged>>,
    pub(crate) last_receipt: Option<TypedDigest>,
    pub(crate) log: Option<Log>,
    pub(crate) poisoned: bool,
}

impl Context {
    /// Whose context it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Whether it may invoke the installation.
    pub fn grants(&self, installation: &TypedDigest) -> bool {
        self.grants.contains(installation.bytes())
    }

    /// Sum of value lengths.
    pub fn value_bytes(&self) -> u64 {
        self.store.value_bytes()
    }

    pub(crate) fn decided(&self) -> u64 {
        u64::try_from(self.decided.len()).unwrap_or(u64::MAX)
    }

    fn usable(&self) -> Result<(), Refusal> {
        if self.poisoned {
            Err(Refusal::new(
                "context-poisoned",
                "the context is poisoned, it can only be closed",
            ))
        } else {
            Ok(())
        }
    }

    /// Answers `observe`.
    ///
    /// # Errors
    /// `context-poisoned`, `basis-mismatch`, `observation-too-large`.
    pub fn observe(&self, request: &Observe) -> Result<Reply, Refusal> {
        self.usable()?;
        observe::observe(&self.store, &self.basis, request)
    }

    /// Answers `recall` from the log; nothing is executed again.
    ///
    /// # Errors
    /// `context-poisoned`, `invocation-unknown`, `storage-failed`.
    pub fn recall(&self, invocation: &[u8; 32]) -> Result<Reply, Refusal> {
        self.usable()?;
        let (Some(log), Some(Some(logged))) = (&self.log, self.decided.get(invocation)) else {
            return Err(Refusal::at(
                "invocation-unknown",
                ".invocation",
                "no outcome of this invocation is logged",
            ));
        };
        log.recall(&self.identity, logged, |recalled| {
            Outcome {
                worldline: &self.identity.worldline,
                invocation,
                kind: recalled.decided.kind(),
                record: recalled.decided.record,
                receipt: &recalled.receipt,
                body: recalled.decided.body,
                footprint: recalled.decided.footprint,
                patch: recalled.patch,
                recalled: true,
            }
            .to_reply()
        })
    }

    /// The reply to `close-context`.
    pub fn closing_reply(&self) -> Reply {
        let value = Value::text_map([
            ("worldline", self.identity.worldline.to_value()),
            ("basis", self.basis.to_value()),
            ("decided", Value::unsigned(self.decided())),
            ("lastReceipt", optional_digest(self.last_receipt.as_ref())),
        ]);
        Reply::new(ReplyType::CloseContext, &value)
    }

    /// The reply to `open-context`; `tail` is what recovery found behind the last commit.
    pub fn opening_reply(&self, tail: Option<Tail>) -> Reply {
        let log = self.log.as_ref().map_or(Value::Null, |log| {
            Value::text_map([
                ("epoch", Value::unsigned(log.epoch())),
                ("lastLsn", Value::unsigned(log.tip().lsn)),
                ("commit", log.tip().typed().to_value()),
            ])
        });
        let recovery = tail.map_or(Value::Null, |tail| {
            Value::text_map([
                ("tail", Value::text(tail.name())),
                ("discardedBytes", Value::unsigned(tail.discarded)),
            ])
        });
        let value = Value::text_map([
            ("worldline", self.identity.worldline.to_value()),
            ("basis", self.basis.to_value()),
            ("decided", Value::unsigned(self.decided())),
            ("lastReceipt", optional_digest(self.last_receipt.as_ref())),
            ("wal", log),
            ("recovery", recovery),
        ]);
        Reply::new(ReplyType::OpenContext, &value)
    }
}

/// What recovery found behind the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Bytes that were cut off.
    pub discarded: u64,
}

impl Tail {
    const fn name(self) -> &'static str {
        if self.discarded == 0 { "clean" } else { "torn" }
    }
}
