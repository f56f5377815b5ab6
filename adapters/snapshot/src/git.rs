// SPDX-License-Identifier: Apache-2.0
//! What `HEAD` of a Git work tree resolves to, read from its files; no Git program is started (S15).

mod index;

use crate::{
    read::{Opened, read_regular},
    root::{Place, SuiteRoot},
    tree::TreeFile,
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{Locator, ports::ReadError};
use index::Index;
use rustix::fs::{FileType, fstat};
use std::{ffi::OsStr, path::Path};

/// Greatest length of `HEAD`, a loose ref or a `.git` file in bytes.
const MAX_REF: u64 = 8192;
/// Greatest length of `packed-refs` in bytes.
const MAX_PACKED: u64 = 64 * 1024 * 1024;
/// Symbolic refs that may follow one another, as in Git itself.
const MAX_HOPS: u32 = 5;

/// Why `HEAD` has no revision.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// A file of the repository cannot be read.
    #[error("{0}")]
    Read(ReadError),
    /// There is no repository, or it says something unknown.
    #[error("{0}")]
    Unknown(String),
}

/// The commit to which `HEAD` of the work tree at `place` resolves: 40 or 64 lower-case hexadecimal
/// digits.
///
/// # Errors
/// [`HeadError`]; also for a branch without a commit.
pub fn head(place: Place<'_>) -> Result<String, HeadError> {
    let worktree = place.open_directory().map_err(HeadError::Read)?;
    let repository = Repository::open(&worktree)?;
    let mut name = "HEAD".to_owned();
    for _ in 0..=MAX_HOPS {
        let content = repository.reference(&name)?;
        match content.strip_prefix("ref:") {
            Some(target) => target.trim().clone_into(&mut name),
            None if is_revision(&content) => return Ok(content),
            None => return Err(unknown(&format!("`{name}` holds no revision"))),
        }
        if !is_plain(&name) {
            return Err(unknown("a symbolic ref leaves the repository"));
        }
    }
    Err(unknown("symbolic refs follow one another without end"))
}

/// The first path below `paths` at which the work tree at `place`, of which `files` were read, is
/// not what its index has: a file that was added, changed or removed since it was last staged. What
/// is staged and not committed is not seen: objects are not read.
///
/// # Errors
/// [`HeadError`], also for an index that is not understood: then nothing is known about the files.
pub fn dirt(
    place: Place<'_>,
    revision: &str,
    files: &[TreeFile],
    paths: &[Locator],
) -> Result<Option<String>, HeadError> {
    let worktree = place.open_directory().map_err(HeadError::Read)?;
    let repository = Repository::open(&worktree)?;
    let opened = repository
        .own
        .open_file(OsStr::new("index"))
        .map_err(HeadError::Read)?;
    let read = read_regular(&opened, ByteLimit::new(MAX_PACKED)).map_err(HeadError::Read)?;
    let index = Index::read(&read.bytes, revision.len() / 2)
        .ok_or_else(|| unknown("the index of the work tree has a form that is not known here"))?;
    Ok(index.dirt(files, paths))
}

/// The directories of a repository: that of this work tree and the one all work trees share.
struct Repository {
    own: SuiteRoot,
    common: Option<SuiteRoot>,
}

impl Repository {
    fn open(worktree: &SuiteRoot) -> Result<Self, HeadError> {
        let opened = worktree
            .open_file(OsStr::new(".git"))
            .map_err(HeadError::Read)?;
        let stat = fstat(&opened.descriptor)
            .map_err(|error| unknown(&std::io::Error::from(error).to_string()))?;
        let own = if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            worktree
                .open_directory(OsStr::new(".git"))
                .map_err(HeadError::Read)?
        } else {
            let text = text(&opened, MAX_REF)?;
            let path = text
                .strip_prefix("gitdir:")
                .ok_or_else(|| unknown("`.git` is neither a directory nor a link file"))?;
            open_anywhere(worktree, path.trim())?
        };
        let common = match own.open_file(OsStr::new("commondir")) {
            Ok(opened) => Some(open_anywhere(&own, text(&opened, MAX_REF)?.trim())?),
            Err(_) => None,
        };
        Ok(Self { own, common })
    }

    /// The content of a loose ref, or the value of a packed one.
    fn reference(&self, name: &str) -> Result<String, HeadError> {
        for root in [Some(&self.own), self.common.as_ref()]
            .into_iter()
            .flatten()
        {
            if let Ok(opened) = root.open_file(OsStr::new(name)) {
                return Ok(text(&opened, MAX_REF)?.trim_end().to_owned());
            }
        }
        let shared = self.common.as_ref().unwrap_or(&self.own);
        let packed = match shared.open_file(OsStr::new("packed-refs")) {
            Ok(opened) => text(&opened, MAX_PACKED)?,
            Err(_) => String::new(),
        };
        packed
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(_, packed)| *packed == name)
            .map(|(revision, _)| revision.to_owned())
            .ok_or_else(|| unknown(&format!("the repository has no ref `{name}`")))
    }
}

fn open_anywhere(base: &SuiteRoot, path: &str) -> Result<SuiteRoot, HeadError> {
    SuiteRoot::open(&base.path().join(Path::new(path))).map_err(HeadError::Read)
}

fn text(opened: &Opened, limit: u64) -> Result<String, HeadError> {
    let read = read_regular(opened, ByteLimit::new(limit)).map_err(HeadError::Read)?;
    String::from_utf8(read.bytes.to_vec())
        .map_err(|_| unknown(&format!("`{}` is not UTF-8", opened.name)))
}

fn is_revision(text: &str) -> bool {
    matches!(text.len(), 40 | 64)
        && text
            .bytes()
            .all(|sign| matches!(sign, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn unknown(message: &str) -> HeadError {
    HeadError::Unknown(message.to_owned())
}
