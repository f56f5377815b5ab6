// SPDX-License-Identifier: Apache-2.0
//! Which queries ran, by name alone: no id of the engine ever leaves this crate.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Counts of query executions since the last look, shared by all handles.
#[derive(Clone, Debug, Default)]
pub struct EventLog(Arc<Mutex<BTreeMap<String, u64>>>);

impl EventLog {
    /// An empty log.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the counts: query name to executions.
    pub fn take(&self) -> BTreeMap<String, u64> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes an execution; `key` is a query name followed by an id in parentheses.
    pub(crate) fn ran(&self, key: &str) {
        let name = key.split('(').next().unwrap_or(key);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(name.to_owned()).or_default() += 1;
    }
}
