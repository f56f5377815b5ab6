// SPDX-License-Identifier: Apache-2.0
//! Atoms: addressed values, the private view of one invocation, and the state root (section 5).

pub mod accumulator;
pub mod address;
pub mod footprint;
pub mod observe;
pub mod overlay;
pub mod patch;
pub mod store;
pub mod view;
