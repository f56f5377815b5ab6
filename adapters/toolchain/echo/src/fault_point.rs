// SPDX-License-Identifier: Apache-2.0
//! Named points at which a build with the feature `fault-points` kills or fails on demand
//! (section 7.5). In any other build nothing here acts, and `--fault` is no option.

/// A place in a piece of writing at which to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Write so many bytes, then die.
    Die(usize),
    /// Write so many bytes, then report that no space is left.
    Full(usize),
}

#[cfg(feature = "fault-points")]
pub use armed::FaultPoints;
#[cfg(not(feature = "fault-points"))]
pub use unarmed::FaultPoints;

#[cfg(not(feature = "fault-points"))]
mod unarmed {
    use super::Cut;

    /// No points.
    #[derive(Debug, Default)]
    pub struct FaultPoints(());

    impl FaultPoints {
        /// Whether this build has points.
        pub const AVAILABLE: bool = false;

        /// No fault can be asked for.
        pub fn parse(_text: &str) -> Option<Self> {
            None
        }

        /// Does nothing.
        pub fn reach(&self, _name: &str) {}

        /// Never cuts.
        pub fn cut(&self, _die: &str, _full: &str, _bytes: usize) -> Option<Cut> {
            None
        }

        /// Never fails.
        pub fn fails(&self, _name: &str) -> bool {
            false
        }

        /// Never acts.
        pub fn die(&self) {}
    }
}

#[cfg(feature = "fault-points")]
mod armed {
    use super::Cut;
    use std::sync::atomic::{AtomicU64, Ordering};

    const WITHOUT_BYTES: &[&str] = &[
        "create-synced",
        "create-renamed",
        "create-replied",
        "invoke-read",
        "invoke-admitted",
        "atom-written",
        "evaluated",
        "append-written",
        "append-synced",
        "published",
        "replied",
        "obstruction-evaluated",
        "obstruction-synced",
        "recover-cut",
        "recover-synced",
        "sync-error",
        "close-begun",
        "shutdown-begun",
    ];
    const WITH_BYTES: &[&str] = &[
        "create-partial",
        "append-partial",
        "append-full",
        "reply-partial",
    ];

    /// At most one point that acts the n-th time it is reached.
    #[derive(Debug, Default)]
    pub struct FaultPoints(Option<Armed>);

    #[derive(Debug)]
    struct Armed {
        name: String,
        bytes: usize,
        /// Times it still has to be reached; 0 afterwards.
        left: AtomicU64,
    }

    impl FaultPoints {
        /// Whether this build has points.
        pub const AVAILABLE: bool = true;

        /// Reads `NAME[:k][@n]`; `None` for anything else.
        pub fn parse(text: &str) -> Option<Self> {
            let (rest, count) = match text.split_once('@') {
                Some((rest, count)) => (rest, decimal(count).filter(|count| *count > 0)?),
                None => (text, 1),
            };
            let (name, bytes) = match rest.split_once(':') {
                Some((name, bytes)) => (name, Some(decimal(bytes)?)),
                None => (rest, None),
            };
            let known = if bytes.is_some() {
                WITH_BYTES
            } else {
                WITHOUT_BYTES
            };
            known.contains(&name).then(|| {
                Self(Some(Armed {
                    name: name.to_owned(),
                    bytes: usize::try_from(bytes.unwrap_or(0)).unwrap_or(usize::MAX),
                    left: AtomicU64::new(count),
                }))
            })
        }

        /// Dies here, if this is the point and the time.
        pub fn reach(&self, name: &str) {
            if self.fails(name) {
                self.die();
            }
        }

        /// Where to cut a piece of writing of `bytes` bytes; a point with fewer bytes to write
        /// than it asks for is not reached.
        pub fn cut(&self, die: &str, full: &str, bytes: usize) -> Option<Cut> {
            let armed = self.0.as_ref().filter(|armed| armed.bytes <= bytes)?;
            let kept = armed.bytes;
            if self.fails(die) {
                Some(Cut::Die(kept))
            } else if self.fails(full) {
                Some(Cut::Full(kept))
            } else {
                None
            }
        }

        /// Whether this is the point and the time.
        pub fn fails(&self, name: &str) -> bool {
            let Some(armed) = self.0.as_ref().filter(|armed| armed.name == name) else {
                return false;
            };
            let before = armed
                .left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                });
            before == Ok(1)
        }

        /// Ends the process as `SIGKILL` does.
        pub fn die(&self) {
            let process = rustix::process::getpid();
            let _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
    }

    fn decimal(text: &str) -> Option<u64> {
        let digits = !text.is_empty() && text.bytes().all(|sign| sign.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    }
}
