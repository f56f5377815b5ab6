// SPDX-License-Identifier: Apache-2.0
//! From the model to text: TAP 14, the machine report, diagnostics and exports.
//!
//! Nothing here computes a verdict, opens a file or reads an environment; every writer gets the
//! stream that it writes to.

pub mod diagnostics;
pub mod export;
pub mod label;
pub mod lock;
pub mod offline;
pub mod report;
pub mod tap;
pub mod why_json;
pub mod why_text;

mod json_parts;
