// SPDX-License-Identifier: Apache-2.0
//! Atoms: addressed values, the private view of one invocation, and the state root.

pub mod view;
