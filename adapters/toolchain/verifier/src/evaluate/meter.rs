// SPDX-License-Identifier: Apache-2.0
//! Three counters that are charged before the work and never refunded.

use crate::cost::Cost;
use crate::decode::core::Budget;
use crate::table::length;

/// What ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted {
    pub(crate) resource: &'static str,
    pub(crate) limit: u64,
}

/// Counters against a budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    budget: Budget,
    pub(crate) steps: u64,
    pub(crate) allocated_bytes: u64,
    pub(crate) output_bytes: u64,
}

impl Meter {
    /// Nothing consumed.
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            budget,
            steps: 0,
            allocated_bytes: 0,
            output_bytes: 0,
        }
    }

    /// Steps are tested first, then bytes; a charge that does not fit is not added.
    pub(crate) fn charge(&mut self, cost: Cost) -> Result<(), Exhausted> {
        let steps = self.steps.saturating_add(cost.steps);
        if steps > self.budget.steps {
            return Err(Exhausted {
                resource: "steps",
                limit: self.budget.steps,
            });
        }
        let bytes = self.allocated_bytes.saturating_add(cost.bytes);
        if bytes > self.budget.allocated_bytes {
            return Err(Exhausted {
                resource: "allocated-bytes",
                limit: self.budget.allocated_bytes,
            });
        }
        self.steps = steps;
        self.allocated_bytes = bytes;
        Ok(())
    }

    /// The length of an encoded result or authored payload.
    pub(crate) fn output(&mut self, bytes: &[u8]) -> Result<(), Exhausted> {
        if length(bytes.len()) > self.budget.output_bytes {
            return Err(Exhausted {
                resource: "output-bytes",
                limit: self.budget.output_bytes,
            });
        }
        self.output_bytes = length(bytes.len());
        Ok(())
    }
}
