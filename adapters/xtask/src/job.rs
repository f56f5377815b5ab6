// SPDX-License-Identifier: Apache-2.0
//! What the jobs share: where the workspace is and how a job fails.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Why a job stopped, for people.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<xtask::host::HostError> for Failure {
    fn from(error: xtask::host::HostError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .map_or_else(PathBuf::new, Path::to_path_buf)
}

/// Where cargo puts what it builds: the directory above the profile of this very program.
pub(crate) fn target() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?;
    program
        .ancestors()
        .nth(2)
        .map(Path::to_path_buf)
        .ok_or_else(|| Failure::new("this program stands in no target directory"))
}

/// Copies a directory tree; the destination is made anew.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::new(format!("copy `{}`: {error}", from.display()));
    if to.exists() {
        std::fs::remove_dir_all(to).map_err(failed)?;
    }
    std::fs::create_dir_all(to).map_err(failed)?;
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(failed)?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target).map_err(failed)?;
        }
    }
    Ok(())
}
