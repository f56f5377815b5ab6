// SPDX-License-Identifier: Apache-2.0
//! Paths of documents: relative, below the directory of the document, through no symbolic link.

use edict_codec::bounded::{BoundedReadError, ByteLimit, read_all};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Empty, too long, or with an empty or `.` component, a backslash or a control character.
    #[error(
        "a path is relative, of components of 1 to 255 bytes joined by `/`, at most 4096 bytes"
    )]
    Invalid,
    /// Absolute, or with a `..` component.
    #[error("the path leaves the directory of the document")]
    Escape,
}

/// Checks the form of a path.
///
/// # Errors
/// Characters first, then escape, then components.
pub fn check(path: &str) -> Result<(), PathError> {
    let character = |sign: char| sign == '\\' || sign.is_control();
    if path.is_empty() || path.len() > 4_096 || path.contains(character) {
        return Err(PathError::Invalid);
    }
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Err(PathError::Escape);
    }
    if path
        .split('/')
        .any(|part| part.is_empty() || part == "." || part.len() > 255)
    {
        return Err(PathError::Invalid);
    }
    Ok(())
}

/// Why a file below a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A component is a symbolic link.
    #[error("`{0}` is a symbolic link")]
    Link(String),
    /// The file system, or the size.
    #[error("{0}")]
    Io(#[from] BoundedReadError),
    /// Not a regular file.
    #[error("not a regular file")]
    NotAFile,
}

impl ReadError {
    /// `escape` for a link, which may lead anywhere, `unreadable` for everything else.
    pub const fn kind(&self, escape: &'static str, unreadable: &'static str) -> &'static str {
        match self {
            Self::Link(_) => escape,
            Self::Io(_) | Self::NotAFile => unreadable,
        }
    }
}

/// Reads the checked `path` below `root`, at most `limit` bytes.
///
/// # Errors
/// A symbolic link on the way, no regular file, or more than `limit` bytes.
pub fn read_below(root: &Path, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
    let full = below(root, path)?;
    let metadata = fs::symlink_metadata(&full).map_err(BoundedReadError::from)?;
    if !metadata.is_file() {
        return Err(ReadError::NotAFile);
    }
    Ok(read(&full, limit)?)
}

/// The checked `path` below `root`, every existing component being no symbolic link.
///
/// # Errors
/// A symbolic link on the way.
pub fn below(root: &Path, path: &str) -> Result<PathBuf, ReadError> {
    let mut full = root.to_path_buf();
    for part in path.split('/') {
        full.push(part);
        if fs::symlink_metadata(&full).is_ok_and(|metadata| metadata.is_symlink()) {
            return Err(ReadError::Link(part.to_owned()));
        }
    }
    Ok(full)
}

/// Reads a file that the caller of the process named, at most `limit` bytes.
///
/// # Errors
/// The file system, or more than `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, BoundedReadError> {
    if fs::metadata(path)?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
    }
    read_all(&mut File::open(path)?, ByteLimit::new(limit))
}

/// The directory of a document, for joining relative paths.
pub fn directory_of(document: &Path) -> PathBuf {
    match document.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_path_buf(),
        None => PathBuf::from("."),
    }
}
