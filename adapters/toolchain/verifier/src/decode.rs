// SPDX-License-Identifier: Apache-2.0
//! Strict decoding of artifacts: exact keys, exact kinds, and a path to whatever disagrees.

pub(crate) mod adapter;
pub(crate) mod core;
pub(crate) mod expression;
pub(crate) mod lawpack;
pub(crate) mod reader;
mod type_text;
pub(crate) mod types;
