// SPDX-License-Identifier: Apache-2.0
//! Monotonic deadlines and the stop flag that every wait looks at.

use rustix::{
    event::{PollFd, Timespec, poll},
    io::Errno,
};
use std::{
    fmt,
    time::{Duration, Instant},
};

/// How long one poll waits at most, so that a stop is seen soon.
const SLICE: Duration = Duration::from_millis(20);

/// A point of the monotonic clock (P11).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

impl Deadline {
    /// `milliseconds` from now.
    pub fn after_ms(milliseconds: u64) -> Self {
        let now = Instant::now();
        // A limit of the suite is far below what the clock can hold.
        Self(
            now.checked_add(Duration::from_millis(milliseconds))
                .unwrap_or(now),
        )
    }

    /// Time left; zero when it has passed.
    pub(crate) fn left(self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Whether it has passed.
    pub fn passed(self) -> bool {
        self.left().is_zero()
    }
}

/// What ends a wait: a deadline, or a stop asked for from outside.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// When the operation must be over.
    pub deadline: Deadline,
    /// Whether the run is being stopped; asked at least every 20 milliseconds.
    pub stop: &'a (dyn Fn() -> bool + 'a),
}

impl fmt::Debug for Watch<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Watch")
            .field("deadline", &self.deadline)
            .finish_non_exhaustive()
    }
}

/// Why a wait gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GaveUp {
    /// The deadline passed.
    Late,
    /// A stop was asked for.
    Stopped,
}

impl Watch<'_> {
    /// Whether to go on.
    pub(crate) fn check(&self) -> Result<(), GaveUp> {
        if (self.stop)() {
            return Err(GaveUp::Stopped);
        }
        if self.deadline.passed() {
            return Err(GaveUp::Late);
        }
        Ok(())
    }
}

/// Polls once, for at most one slice and at most until `deadline`.
pub(crate) fn poll_slice(descriptors: &mut [PollFd<'_>], deadline: Deadline) -> Result<(), Errno> {
    let slice = deadline.left().min(SLICE);
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: slice.subsec_nanos().into(),
    };
    match poll(descriptors, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error),
    }
}
