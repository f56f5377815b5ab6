// SPDX-License-Identifier: Apache-2.0
//! Reading what a suite declares: once, below an open directory, through no link, within limits.
//!
//! [`SuiteRoot`] reads inputs (P1, P2), [`toolchain`] everything that a lock pins (S12, S14, S15).
//! Nothing here writes or judges a suite.

pub mod git;
pub mod program;
mod read;
mod root;
pub mod toolchain;
pub mod tree;

pub use root::{Place, SuiteRoot};
