// SPDX-License-Identifier: Apache-2.0
//! Types of the language and what can be said about them.

pub mod builtin;
mod calls;
mod check;
mod compile;
mod environment;
mod facts;
mod graph;
pub mod relate;
mod resolve;
pub mod size;
pub mod ty;

pub(crate) use compile::oversized;
pub use compile::{Compiled, compile_module};
