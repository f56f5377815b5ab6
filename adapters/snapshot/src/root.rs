// SPDX-License-Identifier: Apache-2.0
//! `SuiteRoot`: a directory that is opened once, and files below it (P1).

use crate::read::{Opened, read_regular};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    failure::FailureKind,
    ids::Locator,
    ports::{FileBytes, ReadError, SnapshotPort},
    suite::ToolLocator,
};
use rustix::{
    fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2},
    io::Errno,
};
use std::{
    ffi::OsStr,
    fmt::Write as _,
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

/// Tries when the kernel could not prove that a path stays inside (P1).
const RACE_TRIES: u32 = 8;

/// Everything that opens a file here also opens it so.
pub(crate) const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// An open directory below which files are read by name, each name once.
#[derive(Debug)]
pub struct SuiteRoot {
    directory: OwnedFd,
    path: PathBuf,
}

/// Where a tool of the lock is: below the suite directory, or anywhere on this machine (S11, S12).
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The suite directory.
    pub root: &'a SuiteRoot,
    /// The locator of the lock.
    pub locator: &'a ToolLocator,
}

impl SuiteRoot {
    /// Opens `directory`. Links on the way to it are followed: the caller named it.
    ///
    /// # Errors
    /// `InputMissing`, `InputUnreadable`.
    pub fn open(directory: &Path) -> Result<Self, ReadError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(CWD, directory, flags, Mode::empty())
            .map_err(|error| open_error(&show(directory.as_os_str()), error))?;
        Ok(Self {
            directory: opened,
            path: directory.to_owned(),
        })
    }

    /// Opens the directory of a manifest and gives the file name of the manifest below it.
    ///
    /// # Errors
    /// `NotARegularFile` for a path that ends in no name; `InputMissing`, `InputUnreadable`.
    pub fn of_manifest(manifest: &Path) -> Result<(Self, &OsStr), ReadError> {
        let bytes = manifest.as_os_str().as_bytes();
        let (directory, name) = match bytes.iter().rposition(|byte| *byte == b'/') {
            Some(at) => bytes.split_at(at.saturating_add(1)),
            None => (b"./".as_slice(), bytes),
        };
        if matches!(name, b"" | b"." | b"..") {
            return Err(ReadError {
                kind: Some(FailureKind::NotARegularFile),
                message: format!("read `{}`: it names no file", show(manifest.as_os_str())),
            });
        }
        let root = Self::open(Path::new(OsStr::from_bytes(directory)))?;
        Ok((root, OsStr::from_bytes(name)))
    }

    /// The path by which the directory was opened, for messages and telemetry.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As [`SnapshotPort::read`], for a name of the command line that need not be UTF-8.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn read_name(&self, name: &OsStr, limit: ByteLimit) -> Result<FileBytes, ReadError> {
        self.open_file(name)
            .and_then(|opened| read_regular(&opened, limit))
    }

    /// Opens one file below the directory, whatever it is.
    pub(crate) fn open_file(&self, name: &OsStr) -> Result<Opened, ReadError> {
        self.open_with(name, OPEN | OFlags::NOFOLLOW)
    }

    /// Opens one directory below this one.
    pub(crate) fn open_directory(&self, name: &OsStr) -> Result<Self, ReadError> {
        let flags = OPEN | OFlags::NOFOLLOW | OFlags::DIRECTORY;
        Ok(Self {
            directory: self.open_with(name, flags)?.descriptor,
            path: self.path.join(name),
        })
    }

    /// The descriptor of the directory.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.directory
    }

    fn open_with(&self, name: &OsStr, flags: OFlags) -> Result<Opened, ReadError> {
        let shown = show(name);
        let mut tries = 0;
        loop {
            match openat2(&self.directory, name, flags, Mode::empty(), RESOLVE) {
                Ok(descriptor) => {
                    return Ok(Opened {
                        descriptor,
                        name: shown,
                    });
                }
                Err(Errno::AGAIN) if tries < RACE_TRIES => tries += 1,
                Err(error) => return Err(open_error(&shown, error)),
            }
        }
    }
}

impl Place<'_> {
    /// Opens the file, whatever it is.
    pub(crate) fn open_file(self) -> Result<Opened, ReadError> {
        match self.locator {
            ToolLocator::Suite(locator) => self.root.open_file(OsStr::new(locator.as_str())),
            ToolLocator::Outside(path) => {
                let descriptor = openat(&self.root.directory, path.as_str(), OPEN, Mode::empty())
                    .map_err(|error| open_error(&show(OsStr::new(path)), error))?;
                Ok(Opened {
                    descriptor,
                    name: show(OsStr::new(path)),
                })
            }
        }
    }

    /// Opens the directory.
    pub(crate) fn open_directory(self) -> Result<SuiteRoot, ReadError> {
        match self.locator {
            ToolLocator::Suite(locator) => self.root.open_directory(OsStr::new(locator.as_str())),
            ToolLocator::Outside(path) => {
                let flags = OPEN | OFlags::DIRECTORY;
                let directory = openat(&self.root.directory, path.as_str(), flags, Mode::empty())
                    .map_err(|error| open_error(&show(OsStr::new(path)), error))?;
                Ok(SuiteRoot {
                    directory,
                    path: self.root.path.join(path),
                })
            }
        }
    }
}

impl SnapshotPort for SuiteRoot {
    fn read(&self, locator: &Locator, limit: ByteLimit) -> Result<FileBytes, ReadError> {
        self.read_name(OsStr::new(locator.as_str()), limit)
    }
}

/// A path of the operating system as text: each foreign byte as `<XX>`, `<` itself as `<3C>` (C1).
pub(crate) fn show(path: &OsStr) -> String {
    let mut text = String::new();
    for chunk in path.as_bytes().utf8_chunks() {
        for scalar in chunk.valid().chars() {
            if scalar == '<' {
                text.push_str("<3C>");
            } else {
                text.push(scalar);
            }
        }
        for byte in chunk.invalid() {
            // Writing into a string cannot fail.
            _ = write!(text, "<{byte:02X}>");
        }
    }
    text
}

fn open_error(name: &str, error: Errno) -> ReadError {
    let (kind, reason) = match error {
        Errno::NOENT | Errno::NOTDIR => (FailureKind::InputMissing, "there is no such file".into()),
        Errno::XDEV => (
            FailureKind::PathEscape,
            "it leaves the directory or its file system".into(),
        ),
        Errno::LOOP => (
            FailureKind::SymlinkRejected,
            "a symbolic link is on the way; name the file itself".into(),
        ),
        // A socket, or a device without a driver.
        Errno::NXIO | Errno::NODEV => (
            FailureKind::NotARegularFile,
            "it is not a regular file".into(),
        ),
        Errno::NOSYS => (
            FailureKind::PlatformUnsupported,
            "this kernel has no `openat2`; Linux 5.6 or later is needed".into(),
        ),
        error => (
            FailureKind::InputUnreadable,
            std::io::Error::from(error).to_string(),
        ),
    };
    ReadError {
        kind: Some(kind),
        message: format!("read `{name}`: {reason}"),
    }
}
