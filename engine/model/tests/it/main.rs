// SPDX-License-Identifier: Apache-2.0
//! The tests of the model, one binary.

mod documents;
mod identities;
#[cfg(test)]
mod support;
