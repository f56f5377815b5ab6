// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask man DIR`: completions and manual pages from the command line itself.

use crate::{command::cargo, job::Failure};

/// Writes them into `directory`, which must exist.
pub(crate) fn write(directory: &str) -> Result<(), Failure> {
    let place = std::path::absolute(directory)
        .map_err(|error| Failure::new(format!("`{directory}`: {error}")))?;
    let place = place
        .to_str()
        .ok_or_else(|| Failure::new("the directory is not UTF-8".to_owned()))?;
    cargo(&[
        "run",
        "--quiet",
        "-p",
        "edict-test",
        "--example",
        "man",
        "--",
        place,
    ])
}
