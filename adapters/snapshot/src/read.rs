// SPDX-License-Identifier: Apache-2.0
//! Reading an open descriptor once: a regular file, within its limit, unchanged meanwhile (P2).

use edict_codec::{
    bounded::ByteLimit,
    digest::{Algorithm, DeriveHasher, TypedDigest},
};
use edict_test_model::{
    built::BLOB,
    failure::FailureKind,
    ports::{FileBytes, ReadError},
};
use rustix::{
    fs::{FileType, Stat, fstat},
    io::Errno,
};
use std::os::fd::OwnedFd;

/// Bytes read at once.
const CHUNK: usize = 16 * 1024;

/// An open file and its name for messages.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) descriptor: OwnedFd,
    pub(crate) name: String,
}

/// Reads a regular file, at most `limit` bytes and one more, and digests it while reading.
pub(crate) fn read_regular(opened: &Opened, limit: ByteLimit) -> Result<FileBytes, ReadError> {
    let mut bytes = Vec::new();
    let mut hasher = DeriveHasher::new(BLOB);
    let after = stream(opened, limit, &mut [0; CHUNK], &mut |part| {
        hasher.update(part);
        bytes.extend_from_slice(part);
        Ok(())
    })?;
    Ok(FileBytes {
        bytes: bytes.into(),
        blob: TypedDigest::new(BLOB, Algorithm::Blake3, hasher.finish()),
        hard_linked: after.st_nlink > 1,
    })
}

/// Gives every part of a regular file to `each` as it is read through `chunk`, at most `limit` bytes
/// together, and what the file was at the end.
pub(crate) fn stream<E: From<ReadError>>(
    opened: &Opened,
    limit: ByteLimit,
    chunk: &mut [u8],
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<Stat, E> {
    let before = stat(opened)?;
    if FileType::from_raw_mode(before.st_mode) != FileType::RegularFile {
        let reason = "it is not a regular file";
        return Err(refuse(opened, FailureKind::NotARegularFile, reason).into());
    }
    let too_large = || ReadError {
        kind: None,
        message: format!("read `{}`: larger than {} bytes", opened.name, limit.get()),
    };
    if u64::try_from(before.st_size).is_ok_and(|size| size > limit.get()) {
        return Err(too_large().into());
    }
    let mut length = 0_usize;
    loop {
        match rustix::io::read(&opened.descriptor, &mut *chunk) {
            Ok(0) => break,
            Ok(count) => {
                length = length.saturating_add(count);
                if !limit.admits(length) {
                    return Err(too_large().into());
                }
                each(chunk.get(..count).unwrap_or_default())?;
            }
            Err(Errno::INTR) => {}
            Err(error) => {
                let reason = std::io::Error::from(error).to_string();
                return Err(refuse(opened, FailureKind::InputUnreadable, &reason).into());
            }
        }
    }
    let after = stat(opened)?;
    if signature(&before) != signature(&after) || i64::try_from(length) != Ok(after.st_size) {
        let reason = "it changed while it was read";
        return Err(refuse(opened, FailureKind::InputChanged, reason).into());
    }
    Ok(after)
}

/// What may not differ between two looks at the same open file: place, size and times.
fn signature(stat: &Stat) -> (u64, u64, i64, (i64, i64), (i64, i64)) {
    (
        stat.st_dev,
        stat.st_ino,
        stat.st_size,
        (
            stat.st_mtime,
            i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
        ),
        (
            stat.st_ctime,
            i64::try_from(stat.st_ctime_nsec).unwrap_or(0),
        ),
    )
}

fn stat(opened: &Opened) -> Result<Stat, ReadError> {
    fstat(&opened.descriptor).map_err(|error| {
        let reason = std::io::Error::from(error).to_string();
        refuse(opened, FailureKind::InputUnreadable, &reason)
    })
}

fn refuse(opened: &Opened, kind: FailureKind, reason: &str) -> ReadError {
    ReadError {
        kind: Some(kind),
        message: format!("read `{}`: {reason}", opened.name),
    }
}
