// SPDX-License-Identifier: Apache-2.0
//! The private tool directory: copies of verified programs, and nothing else may run (S14).

use crate::PrivateDir;
use rustix::{
    fs::{CWD, Mode, OFlags, chmod, openat},
    io::Errno,
};
use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

/// A tool directory that is being filled. Nothing in it runs before it is sealed; dropping it removes
/// it.
#[derive(Debug)]
pub struct ToolStage {
    directory: PrivateDir,
    /// The copy that is being written. It is closed before the next one begins: a file that is open
    /// for writing cannot be executed.
    open: Option<(String, OwnedFd)>,
}

impl ToolStage {
    /// Makes a fresh directory below `parent`.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(parent: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: PrivateDir::create(parent)?,
            open: None,
        })
    }

    /// Appends bytes to the copy `name`, a plain file name, which begins with its first bytes.
    ///
    /// # Errors
    /// When they cannot be written, or for a copy that another one has followed already.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some((current, file)) = &self.open
            && current == name
        {
            return write_all(file, bytes);
        }
        self.open = None;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let path = self.directory.path().join(name);
        let file = openat(CWD, path, flags, Mode::RUSR | Mode::XUSR)?;
        write_all(&file, bytes)?;
        self.open = Some((name.to_owned(), file));
        Ok(())
    }

    /// Closes every copy; from here on they can run.
    ///
    /// # Errors
    /// When the directory cannot be sealed.
    pub fn seal(self) -> io::Result<ToolDir> {
        let Self { directory, open } = self;
        drop(open);
        let tools = ToolDir(Some(directory));
        chmod(tools.path(), Mode::RUSR | Mode::XUSR)?;
        Ok(tools)
    }
}

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
        let mut stage = ToolStage::create(parent)?;
        for (name, bytes) in programs {
            stage.write(name, bytes)?;
        }
        stage.seal()
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

/// Writes all of `bytes`.
pub(crate) fn write_all(file: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    let mut rest = bytes;
    while !rest.is_empty() {
        match rustix::io::write(file, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
