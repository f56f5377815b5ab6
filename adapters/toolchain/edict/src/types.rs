// SPDX-License-Identifier: Apache-2.0
//! Types of the language and what can be said about them.

pub mod ty;
