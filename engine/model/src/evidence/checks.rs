// SPDX-License-Identifier: Apache-2.0
//! The results of V1 to V18 and the first failure among them (F11).

use crate::failure::FailureKind;
use crate::run::{Check, CheckResult};
use edict_codec::digest::TypedDigest;

/// The stable names of the checks of an operation, in order.
pub const CHECK_NAMES: [&str; 18] = [
    "V1", "V2", "V3", "V4", "V5", "V6", "V7", "V8", "V9", "V10", "V11", "V12", "V13", "V14", "V15",
    "V16", "V17", "V18",
];

/// A check that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{check}: {message}")]
pub struct CheckFailure {
    /// `V1` to `V18`.
    pub check: &'static str,
    /// The kind that F11 gives it.
    pub kind: FailureKind,
    /// What it should have been, where it is one digest.
    pub expected: Option<TypedDigest>,
    /// What it was.
    pub actual: Option<TypedDigest>,
    /// One sentence.
    pub message: String,
}

/// Why one check does not hold, before its number is known.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) kind: FailureKind,
    pub(super) expected: Option<TypedDigest>,
    pub(super) actual: Option<TypedDigest>,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            kind,
            expected: None,
            actual: None,
            message: message.into(),
        })
    }
}

/// `Ok` when `holds`, else a fault of `kind`.
pub(super) fn ensure(
    holds: bool,
    kind: FailureKind,
    message: &'static str,
) -> Result<(), Box<Fault>> {
    if holds {
        Ok(())
    } else {
        Err(Fault::new(kind, message))
    }
}

/// `Ok` when two digests are equal in all three members.
pub(super) fn same(
    what: &'static str,
    expected: &TypedDigest,
    actual: &TypedDigest,
    kind: FailureKind,
) -> Result<(), Box<Fault>> {
    if expected == actual {
        return Ok(());
    }
    Err(Box::new(Fault {
        kind,
        expected: Some(expected.clone()),
        actual: Some(actual.clone()),
        message: format!("{what} is another one"),
    }))
}

/// The results so far. What was not set is not applicable.
#[derive(Debug)]
pub(super) struct Results {
    results: [CheckResult; 18],
    failure: Option<CheckFailure>,
}

impl Results {
    pub(super) fn new() -> Self {
        Self {
            results: [CheckResult::NotApplicable; 18],
            failure: None,
        }
    }

    /// Notes the result of check `number` (1 to 18); whether it passed.
    pub(super) fn note(&mut self, number: usize, outcome: Result<(), Box<Fault>>) -> bool {
        let index = number.saturating_sub(1);
        let passed = outcome.is_ok();
        if let Some(slot) = self.results.get_mut(index) {
            *slot = if passed {
                CheckResult::Passed
            } else {
                CheckResult::Failed
            };
        }
        // The checks run in the order of their numbers, so the first failure is the lowest one.
        if let (Err(fault), None) = (outcome, &self.failure) {
            self.failure = Some(CheckFailure {
                check: CHECK_NAMES.get(index).copied().unwrap_or("V1"),
                kind: fault.kind,
                expected: fault.expected,
                actual: fault.actual,
                message: fault.message,
            });
        }
        passed
    }

    pub(super) fn finish(self) -> (Vec<Check>, Option<CheckFailure>) {
        let checks = CHECK_NAMES
            .into_iter()
            .zip(self.results)
            .map(|(name, result)| Check { name, result })
            .collect();
        (checks, self.failure)
    }
}
