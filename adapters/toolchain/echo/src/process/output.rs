// SPDX-License-Identifier: Apache-2.0
//! `Output`: whole frames, one after the other, until the reader is gone.

use crate::{
    fault_point::{Cut, FaultPoints},
    wire::{
        frame::{self, ReplyType},
        reply::Reply,
    },
};
use std::{
    io::{self, Write},
    sync::{Mutex, PoisonError},
};

/// The stream of replies, shared by workers.
pub struct Output {
    stream: Mutex<Box<dyn Write + Send>>,
}

impl std::fmt::Debug for Output {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Output")
    }
}

impl Output {
    /// An output on `stream`.
    pub fn new(stream: Box<dyn Write + Send>) -> Self {
        Self {
            stream: Mutex::new(stream),
        }
    }

    /// Writes the frame of `reply`; only outcomes of `invoke` reach fault points.
    ///
    /// # Errors
    /// The stream is closed.
    pub fn write(
        &self,
        sequence: u64,
        reply: &Reply,
        is_invoked: bool,
        fault_points: &FaultPoints,
    ) -> io::Result<()> {
        let bytes = frame::encode(reply.reply_type.number(), sequence, &reply.body);
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        if is_invoked
            && reply.reply_type == ReplyType::Outcome
            && let Some(Cut::Die(kept)) = fault_points.cut("reply-partial", "", bytes.len())
        {
            stream.write_all(bytes.get(..kept).unwrap_or_default())?;
            stream.flush()?;
            fault_points.die();
        }
        stream.write_all(&bytes)?;
        stream.flush()
    }
}

/// Standard output without a buffer: a frame is one write, and its failure is seen at once.
#[derive(Debug)]
pub struct RawStdout;

impl Write for RawStdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
