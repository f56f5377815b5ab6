// SPDX-License-Identifier: Apache-2.0
//! Jim: the conformance suite of a text editing application, its oracle and its drivers.
//!
//! The oracle knows strings and the written order of judgement, and nothing of the programs: it
//! computes what must come out and the bytes of fixtures, never a program, a patch or a write.

pub mod check;
pub mod evidence;
pub mod identity;
pub mod lane;
pub mod model;
pub mod mutation;
pub mod random;
pub mod settlement;
pub mod story;
pub mod suite;
pub mod table;
pub mod toolchain;

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Why something about Jim cannot be done, for people.
#[derive(Debug)]
pub struct JimError(String);

impl JimError {
    /// An error that says `reason`.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for JimError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for JimError {}

impl From<crate::host::HostError> for JimError {
    fn from(error: crate::host::HostError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for JimError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The directory of the application below the root of the workspace.
pub fn home() -> PathBuf {
    root().join("testdata/jim")
}

/// The public table of cases.
pub fn public_table() -> PathBuf {
    root().join("testdata/contracts/replace-range-cases.json")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map_or_else(PathBuf::new, Path::to_path_buf)
}
