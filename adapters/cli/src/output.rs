// SPDX-License-Identifier: Apache-2.0
//! The one owner of file descriptor 1, and stderr.

use edict_test_model::{Failure, FailureKind, Stage};
use rustix::{
    fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor},
    io::retry_on_intr,
    stdio::{stderr, stdout},
};
use std::io::{self, IsTerminal, Write};

/// Standard output without a buffer: what was written has left the process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stdout;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::write(stdout(), bytes))?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Standard error without a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(retry_on_intr(|| rustix::io::write(stderr(), bytes))?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Refuses a standard output that the caller of the run form had closed: the language runtime
/// reopens it as the null device, read and write (T9). Some callers open the null device in the
/// same way to discard output; the answer of a subcommand may go there, a TAP stream may not.
pub(crate) fn check_stdout() -> Result<(), Failure> {
    let closed = match fstat(stdout()) {
        Err(_) => true,
        Ok(stat) => {
            FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
                && (major(stat.st_rdev), minor(stat.st_rdev)) == (1, 3)
                && fcntl_getfl(stdout()).is_ok_and(|flags| flags.contains(OFlags::RDWR))
        }
    };
    if closed {
        let message = "standard output is closed; give it a pipe, a file or a terminal";
        return Err(Failure::new(
            Stage::Output,
            FailureKind::StdoutClosed,
            message,
        ));
    }
    Ok(())
}

/// Whether human diagnostics may use colors when nothing else was said.
pub(crate) fn stderr_takes_color() -> bool {
    let plain = std::env::var("NO_COLOR").is_ok_and(|value| !value.is_empty())
        || std::env::var("TERM").is_ok_and(|value| value == "dumb");
    !plain && io::stderr().is_terminal()
}
