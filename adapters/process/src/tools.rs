// SPDX-License-Identifier: Apache-2.0
//! The private tool directory: copies of verified programs, and nothing else may run (S14).

use crate::PrivateDir;
use rustix::{
    fs::{CWD, Mode, OFlags, chmod, openat},
    io::Errno,
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// A directory of mode 0500 that holds verified copies of mode 0500. Dropping it removes it.
#[derive(Debug)]
pub struct ToolDir(Option<PrivateDir>);

impl ToolDir {
    /// Makes a fresh directory below `parent` with a copy of each program, named as given.
    ///
    /// Names are plain file names, each once.
    ///
    /// # Errors
    /// When a copy cannot be written.
    pub fn create<'a>(
        parent: &Path,
        programs: impl IntoIterator<Item = (&'a str, &'a [u8])>,
    ) -> io::Result<Self> {
        let directory = PrivateDir::create(parent)?;
        for (name, bytes) in programs {
            write(&directory.path().join(name), bytes)?;
        }
        let tools = Self(Some(directory));
        chmod(tools.path(), Mode::RUSR | Mode::XUSR)?;
        Ok(tools)
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), PrivateDir::path)
    }

    /// The copy of that name.
    pub fn program(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Removes it.
    ///
    /// # Errors
    /// When it cannot be removed (`CleanupIncomplete`).
    pub fn remove(mut self) -> io::Result<()> {
        let Some(directory) = self.0.take() else {
            return Ok(());
        };
        unseal(&directory);
        directory.remove()
    }
}

impl Drop for ToolDir {
    fn drop(&mut self) {
        if let Some(directory) = &self.0 {
            unseal(directory);
        }
    }
}

/// A directory can be emptied only when it may be written. A failure shows when it is removed.
fn unseal(directory: &PrivateDir) {
    _ = chmod(directory.path(), Mode::RWXU);
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::RUSR | Mode::XUSR)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(&file, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
