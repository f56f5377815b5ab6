// SPDX-License-Identifier: Apache-2.0
//! Writing files that the command line names, with the failure a user can act on.

use edict_test_model::{Failure, FailureKind, Stage};
use edict_test_store::file::{self, FileError};
use std::path::Path;

/// Writes a file that must not exist.
///
/// # Errors
/// `UsageError` with the reason and what to do.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    file::write_new(path, bytes).map_err(|error| failed(&error))
}

/// As [`write_new`], for a command that can also be told to replace the file.
///
/// # Errors
/// As [`write_new`].
pub(crate) fn write_new_unless_told(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_new(path, bytes).map_err(|mut failure| {
        if failure.message.ends_with(CHOOSE) {
            failure.message.push_str(" or `--existing replace`");
        }
        failure
    })
}

/// Writes a file that may replace one that `ours` accepts.
///
/// # Errors
/// As [`write_new`].
pub(crate) fn replace(
    path: &Path,
    bytes: &[u8],
    ours: impl Fn(&[u8]) -> bool,
) -> Result<(), Failure> {
    file::replace(path, bytes, ours).map_err(|error| failed(&error))
}

/// What to do about a file that is in the way.
const CHOOSE: &str = "; choose another name";

/// The failure of a file that was not written.
pub(crate) fn failed(error: &FileError) -> Failure {
    let advice = match error {
        FileError::Exists(_) => CHOOSE,
        FileError::Foreign(_) => "; move it away first",
        FileError::Io { .. } => "",
    };
    Failure::new(
        Stage::Arguments,
        FailureKind::UsageError,
        format!("{error}{advice}"),
    )
}
