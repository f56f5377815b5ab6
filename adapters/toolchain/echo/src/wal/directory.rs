// SPDX-License-Identifier: Apache-2.0
//! The directory of a durable context below the state root. Nothing is followed out of it.

use crate::{
    fault_point::{Cut, FaultPoints},
    refusal::Refusal,
};
use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags},
    io::Errno,
};
use std::{
    fs::{File, TryLockError},
    os::fd::OwnedFd,
    path::Path,
};

const LOCK: &str = "lock";
const LOG: &str = "wal.log";
const UNFINISHED: &str = "wal.tmp";

/// The directory given with `--state-root`.
#[derive(Debug)]
pub struct StateRoot(OwnedFd);

/// The directory of one context.
#[derive(Debug)]
pub struct ContextDirectory {
    directory: OwnedFd,
    has_log: bool,
}

impl StateRoot {
    /// Opens `path`; `None` if it is no directory.
    pub fn open(path: &Path) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        fs::open(path, flags, Mode::empty()).ok().map(Self)
    }

    /// The directory `name`, or `None` if there is none.
    ///
    /// # Errors
    /// `storage-failed` if it or a file of a context in it is of another kind.
    pub fn find(&self, name: &str) -> Result<Option<ContextDirectory>, Refusal> {
        match kind_of(&self.0, name)? {
            None => return Ok(None),
            Some(FileType::Directory) => {}
            Some(_) => return Err(failed(format!("`{name}` is no directory"))),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = fs::openat(&self.0, name, flags, Mode::empty())
            .map_err(|error| system("open the directory", error))?;
        let mut has_log = false;
        for file in [LOCK, LOG, UNFINISHED] {
            match kind_of(&directory, file)? {
                None => {}
                Some(FileType::RegularFile) => has_log |= file == LOG,
                Some(_) => return Err(failed(format!("`{file}` is no regular file"))),
            }
        }
        Ok(Some(ContextDirectory { directory, has_log }))
    }

    /// The directory `name`, made if there is none.
    ///
    /// # Errors
    /// `storage-failed`.
    pub fn make(&self, name: &str) -> Result<ContextDirectory, Refusal> {
        match fs::mkdirat(&self.0, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(system("make the directory", error)),
        }
        self.find(name)?
            .ok_or_else(|| failed(format!("`{name}` vanished")))
    }
}

impl ContextDirectory {
    /// Whether there was a log when the directory was opened.
    pub fn has_log(&self) -> bool {
        self.has_log
    }

    /// Takes the exclusive lock, which lasts as long as the file is open.
    ///
    /// # Errors
    /// `writer-active`, `storage-failed`.
    pub fn lock(&self) -> Result<File, Refusal> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        let lock = self.open(LOCK, flags)?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(Refusal::new(
                "writer-active",
                "another writer has this context open",
            )),
            Err(TryLockError::Error(error)) => Err(failed(format!("cannot lock: {error}"))),
        }
    }

    /// Opens the log; `None` if there is none.
    ///
    /// # Errors
    /// `storage-failed`.
    pub fn open_log(&self) -> Result<Option<File>, Refusal> {
        if kind_of(&self.directory, LOG)?.is_none() {
            return Ok(None);
        }
        self.open(LOG, OFlags::RDWR).map(Some)
    }

    /// Writes a complete new log, so that no crash leaves a part of one under its name.
    ///
    /// # Errors
    /// `storage-failed`.
    pub fn create_log(
        &self,
        root: &StateRoot,
        bytes: &[u8],
        fault_points: &FaultPoints,
    ) -> Result<File, Refusal> {
        self.discard_unfinished()?;
        let file = self.open(UNFINISHED, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        let written = write_new(&file, bytes, fault_points);
        if let Err(error) = written {
            self.discard_unfinished()?;
            return Err(system("write the log", error));
        }
        fault_points.reach("create-synced");
        fs::renameat(&self.directory, UNFINISHED, &self.directory, LOG)
            .map_err(|error| system("publish the log", error))?;
        fault_points.reach("create-renamed");
        fs::fsync(&self.directory).map_err(|error| system("sync the directory", error))?;
        fs::fsync(&root.0).map_err(|error| system("sync the state root", error))?;
        Ok(file)
    }

    fn discard_unfinished(&self) -> Result<(), Refusal> {
        match fs::unlinkat(&self.directory, UNFINISHED, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(system("remove an unfinished log", error)),
        }
    }

    /// Opens a regular file without following links or waiting for a peer.
    fn open(&self, name: &str, flags: OFlags) -> Result<File, Refusal> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = fs::openat(&self.directory, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| system("open a file of the context", error))?;
        let stat = fs::fstat(&file).map_err(|error| system("look at a file", error))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            Ok(File::from(file))
        } else {
            Err(failed(format!("`{name}` is no regular file")))
        }
    }
}

/// An error of the system while `action`.
pub(super) fn system(action: &str, error: Errno) -> Refusal {
    failed(format!("cannot {action}: {error}"))
}

fn failed(message: String) -> Refusal {
    Refusal::new("storage-failed", message)
}

fn kind_of(directory: &OwnedFd, name: &str) -> Result<Option<FileType>, Refusal> {
    match fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(system("look at a file", error)),
    }
}

fn write_new(file: &File, bytes: &[u8], fault_points: &FaultPoints) -> Result<(), Errno> {
    if let Some(Cut::Die(kept)) = fault_points.cut("create-partial", "", bytes.len()) {
        rustix::io::pwrite(file, bytes.get(..kept).unwrap_or_default(), 0)?;
        fault_points.die();
    }
    // A short write is never continued: it means that no space is left.
    if rustix::io::pwrite(file, bytes, 0)? < bytes.len() {
        return Err(Errno::NOSPC);
    }
    fs::fdatasync(file)
}
