// SPDX-License-Identifier: Apache-2.0
//! The meaning of a suite, a run and a verdict.
//!
//! A pure crate: no I/O, no clock, no randomness, no process. The outside world is reached through
//! the traits of [`ports`]; what is printed about a run is made elsewhere from the types of [`run`].

pub mod abi;
pub mod binding;
pub mod built;
pub mod case_result;
pub mod declared_type;
pub mod diagnostic;
pub mod evidence;
pub mod failure;
pub mod ids;
pub mod limits;
pub mod obstruction;
pub mod package;
pub mod plan;
pub mod ports;
pub mod recipe;
pub mod report;
pub mod run;
pub mod suite;
pub mod verdict;
pub mod why;

pub use diagnostic::{Detail, Diagnostic, Excerpt, FileSpan, Severity, WarningKind};
pub use failure::{Failure, FailureKind, FailureRecord, Form, Stage};
pub use ids::{CaseId, CaseIndex, ContextNonce, Coordinate, Locator, ProgramIndex, RunId, SuiteId};
pub use limits::{Limit, Limits};
pub use verdict::Verdict;
