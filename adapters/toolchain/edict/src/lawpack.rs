// SPDX-License-Identifier: Apache-2.0
//! Lawpacks: authoring, artifacts, closures, and what a program sees of them.

pub mod adapter;
pub mod assemble;
pub mod authoring;
pub mod closure;
pub mod configuration;
pub mod context;
mod definition;
pub mod error;
pub mod exports;
pub mod manifest;
pub mod target;
