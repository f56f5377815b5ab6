// SPDX-License-Identifier: Apache-2.0
//! The few ways in which this crate touches files: bounded reads, writes that overwrite nothing.

use edict_codec::bounded::{BoundedReadError, ByteLimit, read_all};
use rustix::fs::{CWD, Mode, OFlags};
use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    io::{self, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};
use tempfile::NamedTempFile;

/// Start of every temporary name.
pub(crate) const TEMPORARY: &str = ".edict-test-";

/// How sure a file must be on the disk before its name appears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Its bytes are synced first.
    Synced,
    /// They are not: whoever reads them rehashes them (A6).
    Unsynced,
}

/// Reads a regular file that is no link, at most `limit` bytes of it.
pub(crate) fn read(path: &Path, limit: ByteLimit) -> Result<Vec<u8>, BoundedReadError> {
    read_all(&mut open(path)?, limit)
}

/// The first bytes of a regular file that is no link, at most `limit`.
pub(crate) fn read_head(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// A temporary file in `directory` that holds `bytes`; dropping it removes it.
pub(crate) fn temporary(
    directory: &Path,
    bytes: &[u8],
    durability: Durability,
) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(directory)?;
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.as_file().sync_all()?;
    }
    Ok(file)
}

/// Gives `bytes` the name `path`, unless something has it: then false.
pub(crate) fn create(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<bool> {
    let directory = path.parent().unwrap_or(Path::new("."));
    match temporary(directory, bytes, durability)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Makes a directory, which may be there already.
pub(crate) fn directory(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Syncs the entries of a directory.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// The directory in which `path` is to stand: that of a bare name is the working directory.
pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// `path` with `suffix` after its last component.
pub(crate) fn suffixed(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(OsStr::new(suffix));
    name.into()
}

/// The names in a directory that are UTF-8, ascending; none when it cannot be listed.
pub(crate) fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}
