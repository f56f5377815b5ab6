// SPDX-License-Identifier: Apache-2.0
//! Lawpacks: authoring, artifacts, closures, and what a program sees of them.

pub mod context;
