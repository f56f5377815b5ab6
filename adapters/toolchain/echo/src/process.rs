// SPDX-License-Identifier: Apache-2.0
//! The process around the host: command line, schedule, streams and end (section 1).

pub mod admission;
pub mod args;
pub mod greeting;
pub mod host;
pub mod output;
pub mod schedule;
pub mod serve;
