// SPDX-License-Identifier: Apache-2.0
//! The few ways in which this crate touches files: bounded reads, writes that overwrite nothing.

use edict_codec::bounded::{BoundedReadError, ByteLimit};
use rustix::{
    fs::{CWD, Mode, OFlags},
    io::Errno,
};
use std::{
    ffi::OsStr,
    fs::{self, File, FileTimes, Permissions},
    io::{self, BufWriter, IntoInnerError, Read as _, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::SystemTime,
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

/// Bytes that are gathered before a text in pieces is written on.
const PIECES: usize = 1 << 16;
/// Memory that is set aside for a file before its first byte has come: a size can be a lie.
const FIRST: u64 = 1 << 20;

/// Reads a regular file that is no link, at most `limit` bytes of it.
pub(crate) fn read(path: &Path, limit: ByteLimit) -> Result<Vec<u8>, BoundedReadError> {
    let (file, size) = open(path)?;
    read_open(&file, size, limit)
}

/// As [`read`], and notes the use of an entry by which a collection orders it (A9) when `is_good`
/// accepts its bytes. A use that is not noted only makes it look older.
pub(crate) fn read_used(
    path: &Path,
    limit: ByteLimit,
    is_good: impl FnOnce(&[u8]) -> bool,
) -> Result<Vec<u8>, BoundedReadError> {
    let (file, size) = open(path)?;
    let bytes = read_open(&file, size, limit)?;
    if is_good(&bytes) {
        _ = file.set_times(FileTimes::new().set_modified(SystemTime::now()));
    }
    Ok(bytes)
}

fn read_open(file: &File, size: u64, limit: ByteLimit) -> Result<Vec<u8>, BoundedReadError> {
    let too_large = || BoundedReadError::TooLarge { limit: limit.get() };
    if size > limit.get() {
        return Err(too_large());
    }
    // One byte more than the file has, so that its end is seen without growing.
    let first = size.min(FIRST).saturating_add(1);
    let mut bytes = Vec::with_capacity(usize::try_from(first).unwrap_or(1));
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(file, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(bytes),
            Ok(_) if limit.admits(bytes.len()) => {}
            Ok(_) => return Err(too_large()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
}

/// The first bytes of a regular file that is no link, at most `limit`.
pub(crate) fn read_head(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.0.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens a regular file that is no link; its size is what it was then.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    let found = file.metadata()?;
    if found.is_file() {
        Ok((file, found.len()))
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
    let mut file = empty(directory)?;
    file.write_all(bytes)?;
    if durability == Durability::Synced {
        file.as_file().sync_all()?;
    }
    Ok(file)
}

fn empty(directory: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(directory)
}

/// Gives `bytes` the name `path`, unless something has it: then false.
pub(crate) fn create(path: &Path, bytes: &[u8], durability: Durability) -> io::Result<bool> {
    match temporary(parent(path), bytes, durability)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error.error),
    }
}

/// Gives a text, which is written piece by piece and not synced, the name `path`.
///
/// # Errors
/// Also when something has that name.
pub(crate) fn create_in_pieces(
    path: &Path,
    pieces: &mut dyn Iterator<Item = String>,
) -> io::Result<()> {
    let mut file = BufWriter::with_capacity(PIECES, empty(parent(path))?);
    for piece in pieces {
        file.write_all(piece.as_bytes())?;
    }
    let file = file.into_inner().map_err(IntoInnerError::into_error)?;
    file.persist_noclobber(path)?;
    Ok(())
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
