// SPDX-License-Identifier: Apache-2.0
//! Core: the typed, ordered form of a module that every later artifact is made from.

pub mod cost;
pub mod depth;
pub mod extent;
pub mod tree;
