// SPDX-License-Identifier: Apache-2.0
//! Files that a caller asked for by name: a lock, a fixture, an export, a new project.

use crate::disk::{Durability, directory, parent, read, temporary};
use edict_codec::bounded::ByteLimit;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Greatest size of a file that may be replaced, in bytes.
const MAX_REPLACED: u64 = 64 << 20;

/// Why a named file was not written. What was there is untouched.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Something has that name already.
    #[error("`{}` exists", .0.display())]
    Exists(PathBuf),
    /// What has that name is nothing that this program wrote.
    #[error("`{}` exists and is nothing that this command may replace", .0.display())]
    Foreign(PathBuf),
    /// The system refused.
    #[error("write `{}`: {source}", path.display())]
    Io {
        /// The name.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Writes a file that must not exist; it appears whole or not at all.
///
/// # Errors
/// [`FileError`].
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let failed = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    let file = temporary(parent(path), bytes, Durability::Synced).map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            Err(FileError::Exists(path.to_owned()))
        }
        Err(error) => Err(failed(error.error)),
    }
}

/// Writes a file that may replace a regular file whose bytes `ours` accepts.
///
/// # Errors
/// [`FileError`].
pub fn replace(path: &Path, bytes: &[u8], ours: impl Fn(&[u8]) -> bool) -> Result<(), FileError> {
    let failed = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return write_new(path, bytes),
        Err(error) => return Err(failed(error)),
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(FileError::Foreign(path.to_owned())),
    }
    if !read(path, ByteLimit::new(MAX_REPLACED)).is_ok_and(|old| ours(&old)) {
        return Err(FileError::Foreign(path.to_owned()));
    }
    let file = temporary(parent(path), bytes, Durability::Synced).map_err(failed)?;
    file.persist(path)
        .map(|_| ())
        .map_err(|error| failed(error.error))
}

/// Makes a directory that is absent, or accepts one that is empty.
///
/// # Errors
/// [`FileError`].
pub fn empty_directory(path: &Path) -> Result<(), FileError> {
    let failed = |source| FileError::Io {
        path: path.to_owned(),
        source,
    };
    directory(path).map_err(failed)?;
    match fs::read_dir(path).map_err(failed)?.next() {
        None => Ok(()),
        Some(_) => Err(FileError::Exists(path.to_owned())),
    }
}

/// Makes one directory; one that is there is accepted.
///
/// # Errors
/// [`FileError`].
pub fn make_directory(path: &Path) -> Result<(), FileError> {
    directory(path).map_err(|source| FileError::Io {
        path: path.to_owned(),
        source,
    })
}
