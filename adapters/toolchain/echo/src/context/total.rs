// SPDX-License-Identifier: Apache-2.0
//! Value bytes of all open contexts together (section 8).

use crate::limits;
use std::sync::atomic::{AtomicU64, Ordering};

/// A sum that never exceeds `maxTotalStateBytes`.
#[derive(Debug, Default)]
pub struct StateTotal(AtomicU64);

impl StateTotal {
    /// Replaces a part of `before` bytes by one of `after`; `false`, and nothing changed, when
    /// the sum would exceed the limit.
    pub fn replace(&self, before: u64, after: u64) -> bool {
        self.0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |sum| {
                let sum = sum.saturating_sub(before).saturating_add(after);
                (after <= before || sum <= limits::MAX_TOTAL_STATE_BYTES).then_some(sum)
            })
            .is_ok()
    }
}
