// SPDX-License-Identifier: Apache-2.0
//! Running programs in the open: their output is the job's output.

use crate::job::{Failure, root};
use std::{
    ffi::OsStr,
    io::Write as _,
    path::Path,
    process::{Command, Output},
};

/// Prints text on standard output; a reader that is gone ends nothing here.
pub(crate) fn say(text: &str) {
    _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints text on standard error.
pub(crate) fn complain(text: &str) {
    _ = std::io::stderr().write_all(text.as_bytes());
}

/// Runs a program in `directory` and fails unless it exits with 0.
pub(crate) fn run<S: AsRef<OsStr>>(
    directory: &Path,
    program: &str,
    arguments: &[S],
) -> Result<(), Failure> {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .status()
        .map_err(|error| Failure::new(format!("start `{program}`: {error}")))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("`{program}` ended with {status}")))
    }
}

/// Runs cargo at the root of the workspace.
pub(crate) fn cargo(arguments: &[&str]) -> Result<(), Failure> {
    run(&root(), env!("CARGO"), arguments)
}

/// Runs a program and returns what it printed, whatever its status.
pub(crate) fn capture<S: AsRef<OsStr>>(
    directory: &Path,
    program: &Path,
    arguments: &[S],
) -> Result<Output, Failure> {
    Command::new(program)
        .args(arguments)
        .current_dir(directory)
        .output()
        .map_err(|error| Failure::new(format!("start `{}`: {error}", program.display())))
}
