// SPDX-License-Identifier: Apache-2.0
//! A client of `echo-host` for the jobs that measure it and kill it.

pub(crate) mod lane;
pub(crate) mod programs;
pub(crate) mod wire;
