// SPDX-License-Identifier: Apache-2.0
//! What the jobs are made of, so that tests can use the same parts.

pub mod chain;
pub mod damage;
pub mod fault;
pub mod host;
pub mod jim;
pub mod random;
