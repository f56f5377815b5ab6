// SPDX-License-Identifier: Apache-2.0
//! Which pairs of context and invocation were spent, and what became of each invocation.

use edict_codec::digest::TypedDigest;
use edict_test_model::{ContextNonce, FailureKind};
use std::collections::{BTreeMap, BTreeSet};

/// The memory of one run. Nothing is ever removed from it.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    spent: BTreeSet<([u8; 32], [u8; 32])>,
    submitted: BTreeMap<([u8; 32], [u8; 32]), Standing>,
    submissions: u64,
}

/// What became of a submitted invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It waits for its one outcome.
    Pending,
    /// It has it.
    Answered,
    /// Its context is closed.
    Closed,
}

impl Ledger {
    /// Spends all `invocations` of the context `nonce`; false, and nothing spent, when one of them
    /// was spent before.
    pub fn spend(&mut self, nonce: &ContextNonce, invocations: &[[u8; 32]]) -> bool {
        let pairs = invocations.iter().map(|it| (*nonce.bytes(), *it));
        if pairs.clone().any(|pair| self.spent.contains(&pair)) {
            return false;
        }
        self.spent.extend(pairs);
        true
    }

    /// Notes that an invocation was sent.
    pub fn submit(&mut self, worldline: &TypedDigest, invocation: [u8; 32]) {
        self.submissions = self.submissions.saturating_add(1);
        let pair = (*worldline.bytes(), invocation);
        self.submitted.insert(pair, Standing::Pending);
    }

    /// Notes that an invocation has its outcome.
    pub fn answer(&mut self, worldline: &TypedDigest, invocation: [u8; 32]) {
        let pair = (*worldline.bytes(), invocation);
        self.submitted.insert(pair, Standing::Answered);
    }

    /// Notes that a context was closed.
    pub fn close(&mut self, worldline: &TypedDigest) {
        let context = *worldline.bytes();
        let own = (context, [0; 32])..=(context, [u8::MAX; 32]);
        for (_, standing) in self.submitted.range_mut(own) {
            *standing = Standing::Closed;
        }
    }

    /// Invocations sent so far.
    pub fn submissions(&self) -> u64 {
        self.submissions
    }

    /// What an outcome is that nobody waits for, or that came where another was due.
    pub fn stray(&self, worldline: &TypedDigest, invocation: [u8; 32]) -> FailureKind {
        match self.submitted.get(&(*worldline.bytes(), invocation)) {
            None => FailureKind::OutcomeUnknown,
            Some(Standing::Pending) => FailureKind::OutcomeReordered,
            Some(Standing::Answered) => FailureKind::OutcomeDuplicate,
            Some(Standing::Closed) => FailureKind::OutcomeLate,
        }
    }
}
