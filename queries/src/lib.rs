// SPDX-License-Identifier: Apache-2.0
//! The build graph: which build, verification and plan a suite needs, what may be reused, and the
//! one loop that executes.
//!
//! This is the only crate that knows the query engine; none of its types leave it.

mod build;
mod db;
mod events;
mod execute;
mod inputs;
mod load;
mod plan;
mod reuse;
mod runner;
mod snapshot;
#[cfg(test)]
mod tests;
mod verdict;
mod verify;

pub use db::Ports;
pub use events::EventLog;
pub use load::check_closure;
pub use reuse::{Actions, Decisions, ReusePolicy};
pub use runner::{
    CaseFacts, CrossChecks, Ended, PreparedCase, RunOutcome, Runner, SnapshotFile, SuiteBytes,
};
