// SPDX-License-Identifier: Apache-2.0
//! Bytes and identities: canonical CBOR, digest frames and strict JSON.
//!
//! Everything here is a pure function of bytes. The crate knows no suite, no path, no process and
//! no clock, and it never allocates from a length that it has not compared with a limit.
#![deny(clippy::arithmetic_side_effects)]

pub mod bounded;
pub mod cbor;
pub mod digest;
pub mod hex;
pub mod json;
