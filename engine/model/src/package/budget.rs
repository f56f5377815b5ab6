// SPDX-License-Identifier: Apache-2.0
//! Semantic budgets and counters of a program (L4). The runner compares them and changes none.

use super::fields::{Field, Malformed};
use edict_codec::cbor::Value;

/// A declared or effective budget; every member is at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionBudget {
    /// Steps.
    pub max_steps: u64,
    /// Bytes allocated by the evaluator.
    pub max_allocated_bytes: u64,
    /// Bytes of the encoded result or payload.
    pub max_output_bytes: u64,
}

impl ExecutionBudget {
    /// Reads `{maxSteps, maxAllocatedBytes, maxOutputBytes}`.
    pub(crate) fn decode(field: &Field<'_>) -> Result<Self, Malformed> {
        field.closed(&["maxSteps", "maxAllocatedBytes", "maxOutputBytes"])?;
        Ok(Self {
            max_steps: field.get("maxSteps")?.positive()?,
            max_allocated_bytes: field.get("maxAllocatedBytes")?.positive()?,
            max_output_bytes: field.get("maxOutputBytes")?.positive()?,
        })
    }

    /// Reads `{steps, readBytes, writeBytes}` of a record of shape `upstream`.
    pub(crate) fn decode_anchored(field: &Field<'_>) -> Result<Self, Malformed> {
        let [max_steps, max_allocated_bytes, max_output_bytes] = triple(field)?;
        Ok(Self {
            max_steps,
            max_allocated_bytes,
            max_output_bytes,
        })
    }

    /// As [`ExecutionBudget::to_value`], under the names of shape `upstream`.
    pub fn to_anchored(self) -> Value {
        named(
            self.max_steps,
            self.max_allocated_bytes,
            self.max_output_bytes,
        )
    }

    /// The form in messages.
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

    /// The member that a budget obstruction names `steps`, `allocated-bytes` or `output-bytes`.
    pub fn limit_of(self, resource: &str) -> Option<u64> {
        match resource {
            "steps" => Some(self.max_steps),
            "allocated-bytes" => Some(self.max_allocated_bytes),
            "output-bytes" | "write-bytes" => Some(self.max_output_bytes),
            _ => None,
        }
    }
}

/// Consumed counters, or a static bound of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Steps.
    pub steps: u64,
    /// Bytes allocated by the evaluator.
    pub allocated_bytes: u64,
    /// Bytes of the encoded result or authored payload.
    pub output_bytes: u64,
}

impl Counters {
    /// Reads `{steps, allocatedBytes, outputBytes}`.
    pub(crate) fn decode(field: &Field<'_>) -> Result<Self, Malformed> {
        field.closed(&["steps", "allocatedBytes", "outputBytes"])?;
        Ok(Self {
            steps: field.get("steps")?.unsigned()?,
            allocated_bytes: field.get("allocatedBytes")?.unsigned()?,
            output_bytes: field.get("outputBytes")?.unsigned()?,
        })
    }

    /// Reads `{steps, readBytes, writeBytes}` of a record of shape `upstream`.
    pub(crate) fn decode_anchored(field: &Field<'_>) -> Result<Self, Malformed> {
        let [steps, allocated_bytes, output_bytes] = triple(field)?;
        Ok(Self {
            steps,
            allocated_bytes,
            output_bytes,
        })
    }

    /// As [`Counters::to_value`], under the names of shape `upstream`.
    pub fn to_anchored(self) -> Value {
        named(self.steps, self.allocated_bytes, self.output_bytes)
    }

    /// The form in messages.
    pub fn to_value(self) -> Value {
        Value::text_map([
            ("steps", Value::unsigned(self.steps)),
            ("allocatedBytes", Value::unsigned(self.allocated_bytes)),
            ("outputBytes", Value::unsigned(self.output_bytes)),
        ])
    }

    /// Whether every member is within `budget`.
    pub fn within_budget(self, budget: ExecutionBudget) -> bool {
        self.within(Self {
            steps: budget.max_steps,
            allocated_bytes: budget.max_allocated_bytes,
            output_bytes: budget.max_output_bytes,
        })
    }

    /// Whether every member is at most that of `bound`.
    pub fn within(self, bound: Self) -> bool {
        self.steps <= bound.steps
            && self.allocated_bytes <= bound.allocated_bytes
            && self.output_bytes <= bound.output_bytes
    }
}

fn triple(field: &Field<'_>) -> Result<[u64; 3], Malformed> {
    field.closed(&["steps", "readBytes", "writeBytes"])?;
    let member = |key: &str| field.get(key)?.unsigned();
    Ok([
        member("steps")?,
        member("readBytes")?,
        member("writeBytes")?,
    ])
}

fn named(steps: u64, read: u64, written: u64) -> Value {
    Value::text_map([
        ("steps", Value::unsigned(steps)),
        ("readBytes", Value::unsigned(read)),
        ("writeBytes", Value::unsigned(written)),
    ])
}
