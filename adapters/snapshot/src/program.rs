// SPDX-License-Identifier: Apache-2.0
//! Pinned programs: read once, copied while they are read, and compared with their pin (S14).

use crate::{
    read::{Opened, stream},
    root::{OPEN, Place},
};
use edict_codec::{
    bounded::ByteLimit,
    digest::{Algorithm, DeriveHasher, TypedDigest},
};
use edict_test_model::{
    failure::{Failure, FailureKind, Stage},
    ports::ReadError,
    suite::Role,
};
use rustix::fs::{CWD, Mode};

/// Context of program identities (D4).
const EXECUTABLE: &str = "edict.test/executable/v1";
/// Greatest length of a program in bytes (section 1.5).
pub const MAX_PROGRAM: u64 = 268_435_456;
/// Bytes read at once: programs are larger than the other files of a suite.
const CHUNK: usize = 256 * 1024;
/// Any of the three permissions to execute.
const EXECUTE_BITS: u32 = 0o111;

/// What to do about a program that changed.
const PIN_ANEW: &str = "run `edict-test lock` with `--existing replace` to pin it anew";

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
    /// Its identity.
    pub identity: TypedDigest,
    /// Its length in bytes.
    pub byte_length: u64,
}

/// Takes the bytes of a program part by part while they are read. They are not known to be those of
/// the pin before the read has ended well.
pub type Staging<'a> = dyn FnMut(Role, &[u8]) -> Result<(), Failure> + 'a;

/// Reads the program of `pin` at `place`, gives its bytes to `staging` and compares it.
///
/// # Errors
/// `ToolMissing` when it cannot be read as a regular file, `ToolMismatch` for another length or
/// identity, `ToolNotExecutable` without any permission to execute; what `staging` says.
pub fn read_pinned(
    place: Place<'_>,
    pin: &ProgramPin<'_>,
    staging: &mut Staging<'_>,
) -> Result<Program, Failure> {
    compare(place.open_file(), pin, staging)
}

/// Reads the image of the running process and compares it with the pin of the runner.
///
/// # Errors
/// As [`read_pinned`].
pub fn read_own_image(pin: &ProgramPin<'_>) -> Result<Program, Failure> {
    compare(own_image(), pin, &mut |_, _| Ok(()))
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
    let limit = ByteLimit::new(MAX_PROGRAM);
    let (program, _) = identified(opened, limit, &mut |_| Ok::<(), ReadError>(()))?;
    if program.byte_length == 0 {
        return Err(ReadError {
            kind: Some(FailureKind::InputUnreadable),
            message: format!("read `{}`: it is empty", opened.name),
        });
    }
    Ok(program)
}

/// Reads a program without keeping it: its identity, and its permission bits.
fn identified<E: From<ReadError>>(
    opened: &Opened,
    limit: ByteLimit,
    each: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<(Program, u32), E> {
    let mut hasher = DeriveHasher::new(EXECUTABLE);
    let mut byte_length = 0_u64;
    let found = stream(opened, limit, &mut vec![0; CHUNK], &mut |part| {
        hasher.update(part);
        byte_length = byte_length.saturating_add(part.len() as u64);
        each(part)
    })?;
    let program = Program {
        identity: TypedDigest::new(EXECUTABLE, Algorithm::Blake3, hasher.finish()),
        byte_length,
    };
    Ok((program, found.st_mode))
}

/// Why a program could not be read to its end.
enum Cut {
    Read(ReadError),
    Staging(Failure),
}

impl From<ReadError> for Cut {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

fn compare(
    opened: Result<Opened, ReadError>,
    pin: &ProgramPin<'_>,
    staging: &mut Staging<'_>,
) -> Result<Program, Failure> {
    let failed =
        |kind, message: String| Failure::new(Stage::Toolchain, kind, message).of_role(pin.role);
    let of_read = |error: ReadError| match error.kind {
        Some(FailureKind::InputChanged) => failed(FailureKind::ToolMismatch, error.message),
        // One that is longer than its pin; nothing else has no kind.
        None => {
            let message = format!("{}, which the lock pins; {PIN_ANEW}", error.message);
            failed(FailureKind::ToolMismatch, message)
        }
        Some(_) => failed(FailureKind::ToolMissing, error.message),
    };
    let opened = opened.map_err(of_read)?;
    let limit = ByteLimit::new(pin.byte_length);
    let mut each = |part: &[u8]| staging(pin.role, part).map_err(Cut::Staging);
    let (program, mode) = identified(&opened, limit, &mut each).map_err(|cut| match cut {
        Cut::Staging(failure) => failure,
        Cut::Read(error) => of_read(error),
    })?;
    let name = &opened.name;
    if program.byte_length != pin.byte_length || program.identity != *pin.identity {
        let message = format!("`{name}` is not the program that the lock pins; {PIN_ANEW}");
        return Err(
            failed(FailureKind::ToolMismatch, message).mismatch(pin.identity, &program.identity)
        );
    }
    if mode & EXECUTE_BITS == 0 {
        let message = format!("`{name}` has no permission to execute; run `chmod +x` on it");
        return Err(failed(FailureKind::ToolNotExecutable, message));
    }
    Ok(program)
}
