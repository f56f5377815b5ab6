// SPDX-License-Identifier: Apache-2.0
//! The command line of `edict-test` as data: the program reads it, and completions and manual pages
//! are made from it. Everything else is in the program.

pub mod args;
