// SPDX-License-Identifier: Apache-2.0
//! The compiler of the bundled toolchain: Edict source to Core, Target IR, result projection and
//! executable operation package. It never evaluates a program.

pub mod application;
pub mod build;
pub mod core;
pub mod core_artifact;
mod deep_stack;
pub mod diagnostic;
pub mod document;
pub mod failure;
pub mod jsonl;
pub mod lawpack;
pub mod lower;
pub mod output;
pub mod package;
pub mod paths;
pub mod projection;
pub mod shape;
pub mod syntax;
pub mod type_text;
pub mod types;
