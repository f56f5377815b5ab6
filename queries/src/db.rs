// SPDX-License-Identifier: Apache-2.0
//! The database: what a query can reach beside its inputs, and how handles are shared.

use crate::{events::EventLog, reuse::Actions};
use edict_test_model::ports::{Compiler, ExecutionPort, Verifier};
use std::{fmt, sync::Arc};

/// The outside world of the graph.
#[derive(Clone)]
pub struct Ports {
    /// Builds applications.
    pub compiler: Arc<dyn Compiler>,
    /// Verifies builds.
    pub verifier: Arc<dyn Verifier>,
    /// Executes frozen plans.
    pub host: Arc<dyn ExecutionPort>,
    /// What may be taken from earlier runs, and what was.
    pub actions: Arc<Actions>,
}

impl fmt::Debug for Ports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ports").finish_non_exhaustive()
    }
}

/// What every query sees.
#[salsa::db]
pub(crate) trait Db: salsa::Database {
    /// The outside world. Queries reach nothing else.
    fn ports(&self) -> &Ports;
}

/// One handle of the database; clones share all memory.
#[salsa::db]
#[derive(Clone)]
pub(crate) struct Engine {
    ports: Ports,
    // Last field: a setter waits until the storage of every other handle is gone, and by then the
    // ports of that handle must be gone too.
    storage: salsa::Storage<Self>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// A database without inputs; `log` hears which queries ran.
    pub(crate) fn new(ports: Ports, log: EventLog) -> Self {
        let hear = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                log.ran(&format!("{database_key:?}"));
            }
        };
        Self {
            ports,
            storage: salsa::Storage::new(Some(Box::new(hear))),
        }
    }
}

#[salsa::db]
impl salsa::Database for Engine {}

#[salsa::db]
impl Db for Engine {
    fn ports(&self) -> &Ports {
        &self.ports
    }
}
