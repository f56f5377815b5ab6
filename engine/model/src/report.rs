// SPDX-License-Identifier: Apache-2.0
//! Machine reports read back: strictly decoded, recomputed offline, compared link by link (C7).
//!
//! What a report says is a claim. [`ReportDocument`] judges its shape, [`verify`](verify::verify)
//! recomputes what it says from its own members and bodies, and
//! [`diff`](diff::diff) names the links in which two of them differ.

mod body;
mod check;
pub mod diff;
mod fields;
mod identity;
mod read;
mod suite;
pub mod verify;

pub use body::{BodyBytes, BodyEntry, NamedBody};
pub use check::{CheckOutcome, ReportCheck, Verification};
pub use read::{MAX_REPORT_BYTES, ReadReport, ReportDocument, SCHEMA};
pub use suite::{CaseContent, SuiteContent, SuiteReadError};
