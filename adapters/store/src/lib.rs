// SPDX-License-Identifier: Apache-2.0
//! What outlives a run: the state directory with its action cache and run records, and beside a report
//! its journal and bodies.
//!
//! An entry that was not rehashed is not believed, and nothing that has a name is overwritten. State
//! never changes a verdict, an identity or a line of TAP (A1).

mod action;
mod blob;
mod disk;
pub mod file;
pub mod gc;
pub mod journal;
pub mod publish;
mod record;
mod run;
mod state;

pub use state::{StateError, Store, check_version};
