// SPDX-License-Identifier: Apache-2.0
//! The meter: every charge is tested before its work, and nothing is refunded (section 4.3).
#![deny(clippy::arithmetic_side_effects)]

use crate::pin::{Budget, Consumed};
use edict_codec::cbor::Value;

/// A resource of the cost law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Steps.
    Steps,
    /// Allocated bytes of the cost law.
    AllocatedBytes,
    /// Encoded bytes of a result or authored payload.
    OutputBytes,
}

impl Resource {
    /// The text in payloads.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Steps => "steps",
            Self::AllocatedBytes => "allocated-bytes",
            Self::OutputBytes => "output-bytes",
        }
    }
}

/// A charge that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} exhausted at {limit}", resource.name())]
pub struct Exhausted {
    /// What ran out.
    pub resource: Resource,
    /// The effective limit of it.
    pub limit: u64,
}

impl Exhausted {
    /// The standard payload `{limit, resource}`.
    pub fn payload(self) -> Value {
        Value::text_map([
            ("limit", Value::unsigned(self.limit)),
            ("resource", Value::text(self.resource.name())),
        ])
    }
}

/// The counters of one invocation and their limits.
#[derive(Clone, Debug)]
pub struct Meter {
    budget: Budget,
    consumed: Consumed,
}

impl Meter {
    /// Counters at zero.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            consumed: Consumed::default(),
        }
    }

    /// What was charged so far.
    pub fn consumed(&self) -> Consumed {
        self.consumed
    }

    /// The greatest output, in bytes.
    pub fn max_output_bytes(&self) -> u64 {
        self.budget.max_output_bytes
    }

    /// Charges `count` single steps one after the other: of a group that does not fit, those that
    /// do fit are counted.
    ///
    /// # Errors
    /// `steps`.
    #[inline]
    pub fn units(&mut self, count: u32) -> Result<(), Exhausted> {
        let steps = self.consumed.steps.saturating_add(u64::from(count));
        if steps > self.budget.max_steps {
            self.consumed.steps = self.budget.max_steps;
            return Err(self.exhausted(Resource::Steps));
        }
        self.consumed.steps = steps;
        Ok(())
    }

    /// Charges `steps` and `bytes` together: steps are tested first, and a charge that does not
    /// fit is not counted.
    ///
    /// # Errors
    /// `steps`, then `allocated-bytes`.
    #[inline]
    pub fn charge(&mut self, steps: u64, bytes: u64) -> Result<(), Exhausted> {
        let steps = self.consumed.steps.saturating_add(steps);
        if steps > self.budget.max_steps {
            return Err(self.exhausted(Resource::Steps));
        }
        let bytes = self.consumed.allocated_bytes.saturating_add(bytes);
        if bytes > self.budget.max_allocated_bytes {
            return Err(self.exhausted(Resource::AllocatedBytes));
        }
        self.consumed.steps = steps;
        self.consumed.allocated_bytes = bytes;
        Ok(())
    }

    /// Counts `length` encoded bytes of a result or authored payload.
    ///
    /// # Errors
    /// `output-bytes`.
    pub fn output(&mut self, length: usize) -> Result<(), Exhausted> {
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        if length > self.budget.max_output_bytes {
            return Err(self.exhausted(Resource::OutputBytes));
        }
        self.consumed.output_bytes = length;
        Ok(())
    }

    /// The failed charge of `resource`.
    pub fn exhausted(&self, resource: Resource) -> Exhausted {
        Exhausted {
            resource,
            limit: match resource {
                Resource::Steps => self.budget.max_steps,
                Resource::AllocatedBytes => self.budget.max_allocated_bytes,
                Resource::OutputBytes => self.budget.max_output_bytes,
            },
        }
    }
}

/// Units of 64 bytes, rounded up: `u(n)` of the cost law.
pub fn units_of(length: usize) -> u64 {
    u64::try_from(length.div_ceil(64)).unwrap_or(u64::MAX)
}

/// A length as a quantity of the cost law.
pub fn amount(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}
