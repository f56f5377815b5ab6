// SPDX-License-Identifier: Apache-2.0
//! One output stream of a child: drained in chunks, captured in bounds (P13).

use crate::capture::Capture;
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// Bytes read at once.
pub(crate) const CHUNK: usize = 16 * 1024;
/// Bytes still taken from a pipe after everything that was swept is dead. A pipe holds far less; only
/// a survivor could go on writing.
const LAST_BYTES: u64 = 16 * 1024 * 1024;

/// One stream of a child until its end.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Our end, which does not block; `None` after the end of the stream.
    pub(crate) pipe: Option<OwnedFd>,
    pub(crate) capture: Capture,
}

impl Stream {
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self {
            pipe: Some(pipe),
            capture: Capture::default(),
        }
    }

    /// Takes at most one chunk; true when there was one.
    pub(crate) fn read_some(&mut self) -> bool {
        let Some(pipe) = &self.pipe else {
            return false;
        };
        let mut chunk = [0; CHUNK];
        match rustix::io::read(pipe, &mut chunk) {
            Ok(count) if count > 0 => {
                self.capture.push(chunk.get(..count).unwrap_or_default());
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Ok(_) | Err(_) => {
                self.pipe = None;
                false
            }
        }
    }

    /// Takes what is left in the pipe.
    pub(crate) fn read_rest(&mut self) {
        let end = self.capture.total().saturating_add(LAST_BYTES);
        while self.capture.total() < end && self.read_some() {}
    }
}
