// SPDX-License-Identifier: Apache-2.0
//! Values that requests carry into admission: pins, budgets and the client's policy.

use edict_codec::cbor::Value;

/// A digest as a client pinned it. Domain and algorithm are texts here, because check A2 judges
/// them and not the decoder (section 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin {
    /// Claimed domain.
    pub domain: String,
    /// Claimed algorithm.
    pub algorithm: String,
    /// The 32 bytes.
    pub bytes: [u8; 32],
}

/// Three ceilings, each at least 1 (section 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Most steps.
    pub max_steps: u64,
    /// Most allocated bytes of the cost law.
    pub max_allocated_bytes: u64,
    /// Most encoded bytes of a result or authored payload.
    pub max_output_bytes: u64,
}

impl Budget {
    /// The map of section 0.
    pub fn to_value(self) -> Value {
        Value::text_map([
            ("maxSteps", Value::unsigned(self.max_steps)),
            (
                "maxAllocatedBytes",
                Value::unsigned(self.max_allocated_bytes),
            ),
            ("maxOutputBytes", Value::unsigned(self.max_output_bytes)),
        ])
    }

    /// The name of the first member that is above that of `ceiling`.
    pub fn excess(self, ceiling: Self) -> Option<&'static str> {
        [
            ("maxSteps", self.max_steps, ceiling.max_steps),
            (
                "maxAllocatedBytes",
                self.max_allocated_bytes,
                ceiling.max_allocated_bytes,
            ),
            (
                "maxOutputBytes",
                self.max_output_bytes,
                ceiling.max_output_bytes,
            ),
        ]
        .into_iter()
        .find_map(|(name, ours, most)| (ours > most).then_some(name))
    }
}

/// What an invocation used, or what it can use at most (section 4.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consumed {
    /// Steps.
    pub steps: u64,
    /// Allocated bytes of the cost law.
    pub allocated_bytes: u64,
    /// Encoded bytes of the result or authored payload.
    pub output_bytes: u64,
}

impl Consumed {
    /// The map of section 6.1.
    pub fn to_value(self) -> Value {
        Value::text_map([
            ("steps", Value::unsigned(self.steps)),
            ("allocatedBytes", Value::unsigned(self.allocated_bytes)),
            ("outputBytes", Value::unsigned(self.output_bytes)),
        ])
    }
}

/// What a client allows a package to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// No effects.
    Pure,
    /// Effects on atoms as well.
    Atoms,
}

impl Authority {
    /// The text in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Atoms => "atoms",
        }
    }
}

/// What a client is willing to run (section 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The operation it means.
    pub operation: String,
    /// What the package may do.
    pub authority: Authority,
    /// The greatest budget it accepts.
    pub max_budget: Budget,
}

impl Policy {
    /// The map of section 2.2.
    pub fn to_value(&self) -> Value {
        Value::text_map([
            ("operation", Value::text(self.operation.as_str())),
            ("authority", Value::text(self.authority.name())),
            ("maxBudget", self.max_budget.to_value()),
        ])
    }
}
