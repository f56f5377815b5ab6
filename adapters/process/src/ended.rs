// SPDX-License-Identifier: Apache-2.0
//! What is known about a child that is gone.

use crate::{capture::Capture, sandbox::IsolationLevel, wait::GaveUp};
use edict_test_model::{
    Excerpt, Stage, WarningKind,
    diagnostic::{Child, Notice},
};
use rustix::process::{Signal, WaitIdStatus};

/// How a child came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The program was never executed; the text says why.
    NotLaunched(String),
    /// It exited with this code.
    Exited(i32),
    /// A signal that was not ours killed it.
    Signaled(i32),
    /// It was killed because the deadline passed.
    TimedOut,
    /// It was killed because a stop was asked for.
    Stopped,
    /// It was killed because it was no longer wanted, or outlived its teardown.
    Killed,
}

/// Everything known about a child that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// From its start to its reaping, in milliseconds.
    pub elapsed_ms: u64,
    /// Standard output; in a conversation only what was not received.
    pub stdout: Capture,
    /// Standard error.
    pub stderr: Capture,
    /// Descendants that it left behind; they were killed and reaped.
    pub strays: u32,
    /// Descendants, the child included, that are still alive: not zero is `CleanupIncomplete`.
    pub survivors: u32,
    /// The isolation reached; `None` when the launcher did not come so far.
    pub isolation: Option<IsolationLevel>,
}

impl Ended {
    /// What a diagnostic says about the child that was started for `role`.
    pub fn child(&self, role: &str) -> Child {
        let (exit_code, signal) = match self.outcome {
            Outcome::Exited(code) => (u8::try_from(code).ok(), None),
            Outcome::Signaled(signal) => (None, u8::try_from(signal).ok()),
            Outcome::TimedOut | Outcome::Stopped | Outcome::Killed => {
                (None, u8::try_from(Signal::KILL.as_raw()).ok())
            }
            Outcome::NotLaunched(_) => (None, None),
        };
        Child {
            role: role.to_owned(),
            exit_code,
            signal,
            elapsed_ms: self.elapsed_ms,
        }
    }

    /// What it did beside its work, when it did its work: words on standard error, or descendants that
    /// it left behind. It is data and a warning, never more (P13).
    pub fn stray(&self, stage: Stage, role: &str) -> Option<Notice> {
        let wrote = self.stderr.total();
        let what = match (wrote, self.strays) {
            (0, 0) => return None,
            (_, 0) => format!("wrote {wrote} bytes on standard error"),
            (0, strays) => format!("left {strays} processes behind, which were ended"),
            (_, strays) => format!(
                "wrote {wrote} bytes on standard error and left {strays} processes behind, which \
                 were ended"
            ),
        };
        let message = format!("the {role} did its work and {what}");
        let mut notice = Notice::warning(stage, WarningKind::StrayOutput, message);
        notice.excerpt = (wrote > 0).then(|| {
            let mut excerpt = Excerpt::of_bytes(self.stderr.head());
            excerpt.truncated |= self.stderr.is_truncated();
            excerpt.byte_length = wrote;
            excerpt
        });
        Some(notice)
    }

    /// Whether the file size limit ended it (P8).
    pub fn hit_file_limit(&self) -> bool {
        self.outcome == Outcome::Signaled(Signal::XFSZ.as_raw())
    }
}

impl From<GaveUp> for Outcome {
    fn from(gave_up: GaveUp) -> Self {
        match gave_up {
            GaveUp::Late => Self::TimedOut,
            GaveUp::Stopped => Self::Stopped,
        }
    }
}

/// The outcome of a child that was not killed here.
pub(crate) fn outcome_of(status: WaitIdStatus) -> Outcome {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, Some(signal)) => Outcome::Signaled(signal),
        (None, None) => Outcome::Killed,
    }
}
