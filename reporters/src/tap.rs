// SPDX-License-Identifier: Apache-2.0
//! `TapWriter`: the four line shapes of the run form, in the only order that they may have (R6).

use crate::label::render;
use std::io::{self, Write};

/// Why a line was not written.
#[derive(Debug, thiserror::Error)]
pub enum TapError {
    /// The stream failed; the document is unfinished.
    #[error("write the result stream: {0}")]
    Io(#[from] io::Error),
    /// A line out of order: a point without a plan, above it, or after the end. It is a defect of
    /// the caller, and nothing was written.
    #[error("the result stream cannot take a {0} now")]
    OutOfOrder(&'static str),
}

/// How one case ended on the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point<'a> {
    /// `ok`.
    Ok,
    /// `not ok`.
    NotOk,
    /// `ok … # SKIP`, only for a declared skip.
    Skip {
        /// Why the suite skips it.
        reason: &'a str,
        /// Where that is tracked.
        tracking_reference: &'a str,
    },
}

/// Writes one TAP 14 document: version, plan, points, at most one bail-out.
///
/// Every line is flushed and checked. The writer refuses a point beyond the plan (T5), and
/// [`Self::finish`] refuses to end with fewer.
#[derive(Debug)]
pub struct TapWriter<W> {
    output: W,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Empty,
    Versioned,
    Planned { total: usize, points: usize },
    Ended,
}

impl<W: Write> TapWriter<W> {
    /// A writer that has written nothing.
    pub fn new(output: W) -> Self {
        Self {
            output,
            state: State::Empty,
        }
    }

    /// The version line and the plan `1..total`; `total` is at least 1 (T2: never `1..0`).
    pub fn plan(&mut self, total: usize) -> Result<(), TapError> {
        self.version()?;
        if self.state != State::Versioned || total == 0 {
            return Err(TapError::OutOfOrder("plan"));
        }
        self.line(&format!("1..{total}"))?;
        self.state = State::Planned { total, points: 0 };
        Ok(())
    }

    /// The next point.
    pub fn point(&mut self, point: Point<'_>, label: &str, id: &str) -> Result<(), TapError> {
        let State::Planned { total, points } = self.state else {
            return Err(TapError::OutOfOrder("point"));
        };
        if points >= total {
            return Err(TapError::OutOfOrder("point above the plan"));
        }
        let number = points + 1;
        let label = render(label, id);
        let line = match point {
            Point::Ok => format!("ok {number} - {label}"),
            Point::NotOk => format!("not ok {number} - {label}"),
            Point::Skip {
                reason,
                tracking_reference,
            } => format!(
                "ok {number} - {label} # SKIP {} (tracking: {})",
                render(reason, "skipped"),
                render(tracking_reference, "none"),
            ),
        };
        self.line(&line)?;
        self.state = State::Planned {
            total,
            points: number,
        };
        Ok(())
    }

    /// The bail-out, which ends the document; a version line is written first if there is none.
    pub fn bail_out(&mut self, kind: &str, text: &str) -> Result<(), TapError> {
        self.version()?;
        if self.state == State::Ended {
            return Err(TapError::OutOfOrder("bail-out"));
        }
        let line = format!("Bail out! {}", render(&format!("{kind}: {text}"), kind));
        self.line(&line)?;
        self.state = State::Ended;
        Ok(())
    }

    /// Ends a complete document.
    pub fn finish(&mut self) -> Result<(), TapError> {
        match self.state {
            State::Planned { total, points } if total == points => {
                self.state = State::Ended;
                Ok(self.output.flush()?)
            }
            State::Ended => Ok(self.output.flush()?),
            State::Empty | State::Versioned | State::Planned { .. } => {
                Err(TapError::OutOfOrder("normal end"))
            }
        }
    }

    fn version(&mut self) -> Result<(), TapError> {
        if self.state == State::Empty {
            self.line("TAP version 14")?;
            self.state = State::Versioned;
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), TapError> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.output.write_all(&bytes)?;
        Ok(self.output.flush()?)
    }
}
