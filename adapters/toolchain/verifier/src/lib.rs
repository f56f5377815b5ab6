// SPDX-License-Identifier: Apache-2.0
//! Independent verification of what the compiler writes, from the artifact contracts alone.
//!
//! Nothing here parses source or shares a line with the compiler: Core is typed again, Target IR,
//! projection and package are made again from it, and everything is compared.

mod closure;
mod cost;
mod decode;
mod package;
mod retype;
mod table;
mod translate;
mod visit;

pub mod evaluate;
pub mod process;
pub mod report;
pub mod verify;

pub use closure::LawpackFiles;
