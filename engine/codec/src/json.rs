// SPDX-License-Identifier: Apache-2.0
//! Strict JSON: tokens with byte spans, an ordered tree without duplicate keys, and one writer.

mod canonical;
mod token;
mod tree;
mod write;

pub use canonical::canonical;
pub use token::{JsonError, JsonErrorKind, Span};
pub use tree::{JsonLimits, Member, Node, Tree, parse};
pub use write::{Json, write_document, write_record};
