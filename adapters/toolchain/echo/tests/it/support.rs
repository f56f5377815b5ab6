// SPDX-License-Identifier: Apache-2.0
//! What the tests share: a client of the process, messages, vectors, programs and atoms.

pub(crate) mod atoms;
pub(crate) mod client;
pub(crate) mod messages;
pub(crate) mod notes;
pub(crate) mod program;
pub(crate) mod replica;
pub(crate) mod toolchain;
pub(crate) mod typed_json;
pub(crate) mod vectors;
pub(crate) mod world;
