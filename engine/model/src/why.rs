// SPDX-License-Identifier: Apache-2.0
//! What changed a verdict: two run records compared in chain order, and the closed set of causes
//! (A12-A15). Records explain; they feed no verdict.

mod classify;
mod compare;
mod files;
mod of_report;
mod prove;
mod recompute;
mod record;
mod stored;

pub use classify::{Cause, causes};
pub use compare::{DifferingLeaf, Explanation, Side, Step, StepName, explain_case};
pub use files::{Dependent, NotChanged, dependents, leaf_identity, not_changed};
pub use of_report::{NoReport, report_record, settle};
pub use prove::{MAX_EXECUTIONS, Proof, TrialOutcome, prove};
pub use record::{CaseRecord, Ending, RunRecord};
pub use stored::{RECORD_SCHEMA, decode_record, record_pieces};
