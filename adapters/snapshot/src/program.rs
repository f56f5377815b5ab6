// SPDX-License-Identifier: Apache-2.0
//! Pinned programs: read once, compared with their pin, and their verified bytes given out (S14).

use crate::{
    read::{Opened, Read, read_regular},
    root::{OPEN, Place},
};
use edict_codec::{
    bounded::ByteLimit,
    digest::{TypedDigest, derive_typed},
};
use edict_test_model::{
    failure::{Failure, FailureKind, Stage},
    ports::ReadError,
    suite::Role,
};
use rustix::fs::{CWD, Mode};
use std::sync::Arc;

/// Context of program identities (D4).
const EXECUTABLE: &str = "edict.test/executable/v1";
/// Greatest length of a program in bytes (section 1.5).
pub const MAX_PROGRAM: u64 = 268_435_456;
/// Any of the three permissions to execute.
const EXECUTE_BITS: u32 = 0o111;

/// What a lock says about a program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramPin<'a> {
    /// Its role.
    pub role: Role,
    /// Its identity.
    pub identity: &'a TypedDigest,
    /// Its exact length in bytes.
    pub byte_length: u64,
}

/// A program as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its bytes; a copy of exactly these is what may run.
    pub bytes: Arc<[u8]>,
    /// Its identity.
    pub identity: TypedDigest,
}

/// Reads the program of `pin` at `place` and compares it.
///
/// # Errors
/// `ToolMissing` when it cannot be read as a regular file, `ToolMismatch` for another length or
/// identity, `ToolNotExecutable` without any permission to execute.
pub fn read_pinned(place: Place<'_>, pin: &ProgramPin<'_>) -> Result<Program, Failure> {
    compare(place.open_file(), pin)
}

/// Reads the image of the running process and compares it with the pin of the runner.
///
/// # Errors
/// As [`read_pinned`].
pub fn read_own_image(pin: &ProgramPin<'_>) -> Result<Program, Failure> {
    compare(own_image(), pin)
}

/// Reads a program that is to be pinned.
///
/// # Errors
/// Why it cannot be read, or that it is larger than 256 MiB or empty.
pub fn measure(place: Place<'_>) -> Result<Program, ReadError> {
    measured(&place.open_file()?)
}

/// Reads the image of the running process, to pin it.
///
/// # Errors
/// As [`measure`].
pub fn measure_own_image() -> Result<Program, ReadError> {
    measured(&own_image()?)
}

fn own_image() -> Result<Opened, ReadError> {
    let name = "/proc/self/exe";
    let descriptor =
        rustix::fs::openat(CWD, name, OPEN, Mode::empty()).map_err(|error| ReadError {
            kind: Some(FailureKind::InputUnreadable),
            message: format!("read the running program: {}", std::io::Error::from(error)),
        })?;
    Ok(Opened {
        descriptor,
        name: name.to_owned(),
    })
}

fn measured(opened: &Opened) -> Result<Program, ReadError> {
    let read = read_regular(opened, ByteLimit::new(MAX_PROGRAM))?;
    if read.file.bytes.is_empty() {
        return Err(ReadError {
            kind: Some(FailureKind::InputUnreadable),
            message: format!("read `{}`: it is empty", opened.name),
        });
    }
    Ok(program(&read))
}

fn program(read: &Read) -> Program {
    Program {
        bytes: Arc::clone(&read.file.bytes),
        identity: derive_typed(EXECUTABLE, &read.file.bytes),
    }
}

fn compare(opened: Result<Opened, ReadError>, pin: &ProgramPin<'_>) -> Result<Program, Failure> {
    let failed =
        |kind, message: String| Failure::new(Stage::Toolchain, kind, message).of_role(pin.role);
    let read = opened.and_then(|opened| {
        let read = read_regular(&opened, ByteLimit::new(pin.byte_length))?;
        Ok((read, opened.name))
    });
    let (read, name) = read.map_err(|error| match error.kind {
        None | Some(FailureKind::InputChanged) => failed(FailureKind::ToolMismatch, error.message),
        Some(_) => failed(FailureKind::ToolMissing, error.message),
    })?;
    let program = program(&read);
    if program.bytes.len() as u64 != pin.byte_length || program.identity != *pin.identity {
        let message = format!(
            "`{name}` is not the program that the lock pins; run `edict-test lock` to pin it anew"
        );
        return Err(
            failed(FailureKind::ToolMismatch, message).mismatch(pin.identity, &program.identity)
        );
    }
    if read.mode & EXECUTE_BITS == 0 {
        let message = format!("`{name}` has no permission to execute; run `chmod +x` on it");
        return Err(failed(FailureKind::ToolNotExecutable, message));
    }
    Ok(program)
}
