// SPDX-License-Identifier: Apache-2.0
//! Trees of files: a provider package as a whole, or chosen paths of a work tree (D4, S15).

use crate::{
    read::read_regular,
    root::{Place, SuiteRoot, show},
};
use edict_codec::{
    bounded::{Budget, ByteLimit},
    cbor::{Value, encode},
    digest::{TypedDigest, derive_typed},
};
use edict_test_model::{failure::FailureKind, ids::Locator, ports::ReadError};
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, openat};
use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    sync::Arc,
};

/// Context of tree identities.
const TREE: &str = "edict.test/tree/v1";
/// Left out at the root of a tree.
const GIT: &str = ".git";
/// Directories below one another, each of which is held open.
const MAX_DEPTH: usize = 128;

/// How much a tree may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Greatest number of files.
    pub files: usize,
    /// Greatest number of bytes together.
    pub bytes: u64,
}

/// Limits of a provider package (L3).
pub const PROVIDER_PACKAGE: TreeLimits = TreeLimits {
    files: 4096,
    bytes: 64 * 1024 * 1024,
};

/// Limits of the pinned files of a work tree (S15).
pub const SOURCE_TREE: TreeLimits = TreeLimits {
    files: 16_384,
    bytes: 256 * 1024 * 1024,
};

/// A tree that was read, each file once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The files, ascending by the bytes of their paths.
    pub files: Vec<TreeFile>,
    /// The identity of path and content of all of them.
    pub identity: TypedDigest,
}

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Path relative to the root of the tree.
    pub path: String,
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// Their blob digest.
    pub blob: TypedDigest,
}

/// Why a tree has no identity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// More files or bytes than the limits admit.
    #[error("more than {} files or {} bytes, or nested too deep", .0.files, .0.bytes)]
    TooLarge(TreeLimits),
    /// A symbolic link or a special file.
    #[error("`{path}` is neither a regular file nor a directory")]
    Special {
        /// Which.
        path: String,
    },
    /// A name that is not UTF-8.
    #[error("`{path}` is not named in UTF-8")]
    Name {
        /// Which.
        path: String,
    },
    /// Something that cannot be read, or changed meanwhile.
    #[error("{0}")]
    Read(ReadError),
}

/// Reads all regular files at `place`, `.git` at its root left out.
///
/// # Errors
/// [`TreeError`].
pub fn read_tree(place: Place<'_>, limits: TreeLimits) -> Result<Tree, TreeError> {
    let root = place.open_directory().map_err(TreeError::Read)?;
    let mut walk = Walk::new(limits);
    walk.directory(&root, "", 0)?;
    Ok(walk.tree())
}

/// Reads the regular files at and below `paths` of the work tree at `place`, named relative to it.
///
/// # Errors
/// [`TreeError`].
pub fn read_paths(
    place: Place<'_>,
    paths: &[Locator],
    limits: TreeLimits,
) -> Result<Tree, TreeError> {
    let root = place.open_directory().map_err(TreeError::Read)?;
    let mut walk = Walk::new(limits);
    for path in paths {
        walk.entry(&root, OsStr::new(path.as_str()), path.as_str(), 0)?;
    }
    Ok(walk.tree())
}

/// The identity of files, given ascending by path.
pub fn identity<'a>(files: impl IntoIterator<Item = (&'a str, &'a TypedDigest)>) -> TypedDigest {
    let rows = files
        .into_iter()
        .map(|(path, blob)| Value::Array(vec![Value::text(path), blob.to_value()]))
        .collect();
    derive_typed(TREE, &encode(&Value::Array(rows)))
}

struct Walk {
    limits: TreeLimits,
    bytes: Budget,
    files: BTreeMap<String, TreeFile>,
    /// Entries seen, so that a tree of empty directories ends too.
    entries: usize,
}

impl Walk {
    fn new(limits: TreeLimits) -> Self {
        Self {
            limits,
            bytes: Budget::new(limits.bytes),
            files: BTreeMap::new(),
            entries: 0,
        }
    }

    fn tree(self) -> Tree {
        let files: Vec<TreeFile> = self.files.into_values().collect();
        let identity = identity(files.iter().map(|file| (file.path.as_str(), &file.blob)));
        Tree { files, identity }
    }

    fn directory(&mut self, root: &SuiteRoot, path: &str, depth: usize) -> Result<(), TreeError> {
        for name in self.names(root, path)? {
            if depth == 0 && path.is_empty() && name == GIT {
                continue;
            }
            let below = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}/{name}")
            };
            self.entry(root, OsStr::new(&name), &below, depth)?;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        root: &SuiteRoot,
        name: &OsStr,
        path: &str,
        depth: usize,
    ) -> Result<(), TreeError> {
        let opened = root.open_file(name).map_err(|error| match error.kind {
            Some(FailureKind::SymlinkRejected | FailureKind::NotARegularFile) => {
                TreeError::Special {
                    path: path.to_owned(),
                }
            }
            _ => TreeError::Read(error),
        })?;
        let stat = fstat(&opened.descriptor).map_err(|error| unreadable(path, error))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                if depth >= MAX_DEPTH {
                    return Err(TreeError::TooLarge(self.limits));
                }
                let below = root.open_directory(name).map_err(TreeError::Read)?;
                self.directory(&below, path, depth.saturating_add(1))
            }
            FileType::RegularFile => {
                if self.files.contains_key(path) {
                    return Ok(());
                }
                if self.files.len() >= self.limits.files {
                    return Err(TreeError::TooLarge(self.limits));
                }
                let limit = ByteLimit::new(self.bytes.left());
                let read = read_regular(&opened, limit).map_err(|error| match error.kind {
                    None => TreeError::TooLarge(self.limits),
                    Some(_) => TreeError::Read(error),
                })?;
                self.bytes.take(read.bytes.len() as u64);
                let file = TreeFile {
                    path: path.to_owned(),
                    bytes: read.bytes,
                    blob: read.blob,
                };
                self.files.insert(path.to_owned(), file);
                Ok(())
            }
            _ => Err(TreeError::Special {
                path: path.to_owned(),
            }),
        }
    }

    fn names(&mut self, root: &SuiteRoot, path: &str) -> Result<BTreeSet<String>, TreeError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listed = openat(root.descriptor(), ".", flags, Mode::empty())
            .and_then(Dir::new)
            .map_err(|error| unreadable(path, error))?;
        let mut names = BTreeSet::new();
        for entry in listed {
            let entry = entry.map_err(|error| unreadable(path, error))?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            self.entries = self.entries.saturating_add(1);
            // A directory costs as much as a file, and `.git` is one entry.
            if self.entries > self.limits.files.saturating_mul(2) {
                return Err(TreeError::TooLarge(self.limits));
            }
            let Ok(name) = str::from_utf8(name) else {
                let name = std::os::unix::ffi::OsStrExt::from_bytes(name);
                return Err(TreeError::Name {
                    path: format!("{path}/{}", show(name)),
                });
            };
            names.insert(name.to_owned());
        }
        Ok(names)
    }
}

fn unreadable(path: &str, error: rustix::io::Errno) -> TreeError {
    TreeError::Read(ReadError {
        kind: Some(FailureKind::InputUnreadable),
        message: format!("read `{path}`: {}", std::io::Error::from(error)),
    })
}
