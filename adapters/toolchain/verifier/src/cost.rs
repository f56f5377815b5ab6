// SPDX-License-Identifier: Apache-2.0
//! The cost law `echo.cost/v1`, and the static bound that follows from it.

use crate::table::units;
use std::collections::BTreeMap;

/// Steps and allocated bytes. Saturating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) steps: u64,
    pub(crate) bytes: u64,
}

impl Cost {
    /// One visit of a node.
    pub(crate) const VISIT: Self = Self::new(1, 0);
    /// An Option or a case that carries a value.
    pub(crate) const CELL: Self = Self::new(0, 32);
    /// Nothing.
    pub(crate) const FREE: Self = Self::new(0, 0);

    /// Both counters.
    pub(crate) const fn new(steps: u64, bytes: u64) -> Self {
        Self { steps, bytes }
    }

    /// One after the other.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// One or the other: the greater of each counter.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            steps: self.steps.max(other.steps),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// The same `times` times.
    pub(crate) fn times(self, times: u64) -> Self {
        Self {
            steps: self.steps.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
        }
    }

    /// A record literal of `fields` fields.
    pub(crate) fn record(fields: u64) -> Self {
        Self::new(0, fields.saturating_mul(16).saturating_add(32))
    }

    /// A list literal of `items` items.
    pub(crate) fn list(items: u64) -> Self {
        Self::new(items, items.saturating_mul(16).saturating_add(32))
    }

    /// A comparison of operands of these weights, beyond its visit.
    pub(crate) fn compare(left: u64, right: u64) -> Self {
        Self::new(left.max(right).saturating_sub(1), 0)
    }

    /// Fresh text or bytes of `bytes` bytes.
    pub(crate) fn fresh(bytes: u64) -> Self {
        Self::new(units(bytes), bytes.saturating_add(32))
    }

    /// A look at the whole of `bytes` bytes.
    pub(crate) fn scan(bytes: u64) -> Self {
        Self::new(units(bytes), 0)
    }

    /// An atom read, created or replaced.
    pub(crate) fn atom(key: u64, value: u64) -> Self {
        Self::new(
            units(key).saturating_add(units(value)).saturating_add(8),
            value.saturating_add(64),
        )
    }

    /// An atom deleted.
    pub(crate) fn deletion(key: u64) -> Self {
        Self::new(units(key).saturating_add(8), 32)
    }
}

/// Greatest numbers of calls by space and intrinsic.
pub(crate) type Calls = BTreeMap<(String, String), u64>;

/// What a list of statements may consume and touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Total {
    pub(crate) cost: Cost,
    pub(crate) calls: Calls,
}

impl Total {
    /// No calls.
    pub(crate) fn of(cost: Cost) -> Self {
        Self {
            cost,
            calls: Calls::new(),
        }
    }

    /// One after the other.
    pub(crate) fn and(self, other: Self) -> Self {
        self.merge(other, Cost::and, u64::saturating_add)
    }

    /// One or the other.
    pub(crate) fn or(self, other: Self) -> Self {
        self.merge(other, Cost::or, u64::max)
    }

    /// The same `times` times.
    pub(crate) fn times(mut self, times: u64) -> Self {
        self.cost = self.cost.times(times);
        for calls in self.calls.values_mut() {
            *calls = calls.saturating_mul(times);
        }
        self
    }

    fn merge(
        mut self,
        other: Self,
        cost: fn(Cost, Cost) -> Cost,
        calls: fn(u64, u64) -> u64,
    ) -> Self {
        self.cost = cost(self.cost, other.cost);
        for (pair, count) in other.calls {
            let entry = self.calls.entry(pair).or_insert(0);
            *entry = calls(*entry, count);
        }
        self
    }
}
