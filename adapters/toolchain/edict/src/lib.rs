// SPDX-License-Identifier: Apache-2.0
//! The compiler of the bundled toolchain: Edict source to Core, Target IR, result projection and
//! executable operation package. It never evaluates a program.

pub mod core;
pub mod lawpack;
pub mod types;
