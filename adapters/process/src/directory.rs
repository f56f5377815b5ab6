// SPDX-License-Identifier: Apache-2.0
//! Fresh private directories: mode 0700, named by this process, removed at the end (P4, P6).

use std::{
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Names tried before giving up; a name is taken only by leftovers of a killed process of this number.
const MAX_NAMES: u32 = 4096;

/// A directory of this process alone. Dropping it removes it as far as possible; [`Self::remove`] says
/// whether that worked.
#[derive(Debug)]
pub struct PrivateDir {
    path: Option<PathBuf>,
}

impl PrivateDir {
    /// Makes a directory that did not exist before below `parent`, which must exist.
    ///
    /// # Errors
    /// When the directory cannot be made, or 4,096 names are taken.
    pub fn create(parent: &Path) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = std::path::absolute(parent)?;
        for _ in 0..MAX_NAMES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("edict-test-{}-{number}", std::process::id()));
            match Self::named(path) {
                Ok(made) => return Ok(made),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }

    /// Makes the directory `path`, absolute, which did not exist before.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn named(path: PathBuf) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path: Some(path) })
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new(""))
    }

    /// Removes it with everything in it; follows no link.
    ///
    /// # Errors
    /// When something cannot be removed (`CleanupIncomplete`).
    pub fn remove(mut self) -> io::Result<()> {
        self.path.take().map_or(Ok(()), fs::remove_dir_all)
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            // Nobody is left to tell; whoever needs to know calls `remove`.
            _ = fs::remove_dir_all(path);
        }
    }
}
