// SPDX-License-Identifier: Apache-2.0
//! The bundled bounded host: it admits verified program packages, runs them under a budget and
//! leaves evidence of what it did. It knows no caller and no purpose of a program.
//!
//! The contract is `docs/host.md`; section numbers in comments are its own.

pub mod context;
pub mod eval;
pub mod executable;
pub mod fault_point;
pub mod limits;
pub mod meter;
pub mod package;
pub mod pin;
pub mod process;
pub mod receipt;
pub mod refusal;
pub mod settle;
pub mod state;
pub mod wal;
pub mod wire;
