// SPDX-License-Identifier: Apache-2.0
//! The state directory: its layout, its version and its lock (A1, A7).

use crate::disk::{Durability, create, directory, names, read};
use edict_codec::{bounded::ByteLimit, digest::TypedDigest};
use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Content of `VERSION`.
const VERSION: &[u8] = b"edict-test-store/1\n";
/// Tells backup programs to leave the directory out.
const CACHEDIR_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n# This directory is a cache of edict-test and can be removed at any time.\n";
/// Keeps the directory out of a clean work tree.
const GITIGNORE: &[u8] = b"*\n";
const LOCK: &str = "lock";
/// Directories of the layout.
pub(crate) const BLOB: &str = "blob";
pub(crate) const ACTION: &str = "action";
pub(crate) const RUNS: &str = "runs";
pub(crate) const QUARANTINE: &str = "quarantine";
/// Everything that may stand in a state directory that is being made.
const LAYOUT: [&str; 7] = [
    LOCK,
    ".gitignore",
    "CACHEDIR.TAG",
    BLOB,
    ACTION,
    RUNS,
    QUARANTINE,
];

/// Why there is no state: `StateUnusable` for an explicit place, a warning for the default one.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The directory has another version.
    #[error("`{path}` is a state directory of another version; remove it or choose another one")]
    Version {
        /// The directory.
        path: String,
    },
    /// The directory holds something else.
    #[error("`{path}` is not a state directory: it holds `{name}`")]
    Foreign {
        /// The directory.
        path: String,
        /// What is in it.
        name: String,
    },
    /// A run or a collection uses it.
    #[error("`{path}` is in use by another run; try again when it has ended")]
    Busy {
        /// The directory.
        path: String,
    },
    /// It cannot be made, read or written.
    #[error("use the state directory `{path}`: {source}")]
    Io {
        /// The directory.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// An open state directory, locked until dropped.
#[derive(Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
    /// Identity of the runner, which goes into every record.
    pub(crate) producer: TypedDigest,
    quarantined: AtomicU64,
    /// Held for its lock.
    _lock: File,
}

impl Store {
    /// Opens or makes the state directory `root` for a run; other runs may use it too.
    ///
    /// # Errors
    /// [`StateError`]; nothing in a foreign directory is touched.
    pub fn open(root: &Path, producer: TypedDigest) -> Result<Self, StateError> {
        let io = |source| io_error(root, source);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(io)?;
        if !is_ours(root)? {
            let _lock = lock(root, true)?;
            // Another run may have made it while this one waited for the lock.
            if !is_ours(root)? {
                make(root).map_err(io)?;
            }
        }
        let lock = lock(root, false)?;
        Ok(Self::new(root, producer, lock))
    }

    /// Opens an existing state directory for a collection; nobody else may use it.
    ///
    /// # Errors
    /// [`StateError`], `Busy` while a run uses it.
    pub fn open_exclusive(root: &Path, producer: TypedDigest) -> Result<Self, StateError> {
        if !is_ours(root)? {
            let missing = io::Error::from(io::ErrorKind::NotFound);
            return Err(io_error(root, missing));
        }
        let lock = lock_file(root)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self::new(root, producer, lock)),
            Err(TryLockError::WouldBlock) => Err(StateError::Busy { path: show(root) }),
            Err(TryLockError::Error(source)) => Err(io_error(root, source)),
        }
    }

    fn new(root: &Path, producer: TypedDigest, lock: File) -> Self {
        Self {
            root: root.to_owned(),
            producer,
            quarantined: AtomicU64::new(0),
            _lock: lock,
        }
    }

    /// Moves an entry out of the way. What cannot be moved stays, and is refused again next time.
    pub(crate) fn quarantine(&self, path: &Path) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = self.quarantined.fetch_add(1, Ordering::Relaxed);
        let target = format!("{name}-{}-{number}", std::process::id());
        _ = std::fs::rename(path, self.root.join(QUARANTINE).join(target));
    }

    /// The path of an entry named by a digest.
    pub(crate) fn entry(&self, kind: &str, digest: &TypedDigest) -> PathBuf {
        let hex = digest.hex();
        let (shelf, name) = hex.split_at_checked(2).unwrap_or_default();
        self.root.join(kind).join(shelf).join(name)
    }
}

/// Makes the directory of the entry at `path`.
pub(crate) fn make_shelf(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), directory)
}

/// Whether a state directory that may be at `root` is of this version. One that is not there, or has
/// no version yet, is none of another one.
///
/// # Errors
/// `Version`.
pub fn check_version(root: &Path) -> Result<(), StateError> {
    match is_ours(root) {
        Err(error @ StateError::Version { .. }) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Whether `root` has our version; false for a directory that is empty or only half made.
fn is_ours(root: &Path) -> Result<bool, StateError> {
    let version = root.join("VERSION");
    if std::fs::symlink_metadata(&version).is_ok() {
        let found = read(&version, ByteLimit::new(VERSION.len() as u64));
        return match found {
            Ok(found) if found == VERSION => Ok(true),
            _ => Err(StateError::Version { path: show(root) }),
        };
    }
    let entries = std::fs::read_dir(root).map_err(|source| io_error(root, source))?;
    for entry in entries {
        let name = entry.map_err(|source| io_error(root, source))?.file_name();
        let name = name.to_string_lossy();
        let known = LAYOUT.contains(&&*name) || name.starts_with(crate::disk::TEMPORARY);
        if !known {
            return Err(StateError::Foreign {
                path: show(root),
                name: name.into_owned(),
            });
        }
    }
    Ok(false)
}

/// Makes everything, the version last.
fn make(root: &Path) -> io::Result<()> {
    for (name, bytes) in [(".gitignore", GITIGNORE), ("CACHEDIR.TAG", CACHEDIR_TAG)] {
        create(&root.join(name), bytes, Durability::Unsynced)?;
    }
    for name in [BLOB, ACTION, RUNS, QUARANTINE] {
        directory(&root.join(name))?;
    }
    create(&root.join("VERSION"), VERSION, Durability::Unsynced).map(|_| ())
}

fn lock(root: &Path, exclusive: bool) -> Result<File, StateError> {
    let file = lock_file(root)?;
    let locked = if exclusive {
        file.lock()
    } else {
        file.lock_shared()
    };
    locked.map_err(|source| io_error(root, source))?;
    Ok(file)
}

fn lock_file(root: &Path) -> Result<File, StateError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(root.join(LOCK))
        .map_err(|source| io_error(root, source))
}

pub(crate) fn show(path: &Path) -> String {
    path.display().to_string()
}

fn io_error(root: &Path, source: io::Error) -> StateError {
    StateError::Io {
        path: show(root),
        source,
    }
}

/// The entries of a two-level directory named by digests: path and hexadecimal name.
pub(crate) fn entries(root: &Path, kind: &str) -> Vec<(PathBuf, String)> {
    let top = root.join(kind);
    let mut found = Vec::new();
    for shelf in names(&top) {
        for name in names(&top.join(&shelf)) {
            found.push((top.join(&shelf).join(&name), format!("{shelf}{name}")));
        }
    }
    found
}
