// SPDX-License-Identifier: Apache-2.0
//! The Core tree as canonical CBOR, in both directions (`docs/contracts/artifacts.md`, 1 to 3).

mod decode;
mod encode;
mod expression;
mod reach;
mod types;

pub use decode::function as decode_function;
pub(crate) use encode::{
    arms, block_result, constraint, fold_members, optional_binder, raw_digest,
};
pub use encode::{binder, function, module};
pub use expression::{expression, predicate, raise};
pub use reach::Reach;
pub use types::{named_types, type_value};

/// Domain of the digest of Core.
pub const DOMAIN: &str = "edict.core.module/v1";
