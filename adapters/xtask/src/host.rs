// SPDX-License-Identifier: Apache-2.0
//! The one client of the host that all jobs share, written from the contract and not from the host.

pub mod lane;
pub mod process;
pub mod requests;
pub mod wire;

pub use process::Host;

use std::fmt;

/// Why a host did not do what its contract promises, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError(String);

impl HostError {
    /// An error that says `reason`.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for HostError {}

impl From<std::io::Error> for HostError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}
