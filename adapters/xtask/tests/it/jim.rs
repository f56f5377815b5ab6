// SPDX-License-Identifier: Apache-2.0
//! Jim: its table, its programs and the real toolchain, held against the oracle.

mod crash;
mod mutations;
mod probes;
mod properties;
mod renaming;
mod sizes;
mod suites;
mod support;
mod table;
