// SPDX-License-Identifier: Apache-2.0
//! The nine verdicts of a case (R5, F1).

mod compare;
mod cross_check;
mod evidence;
mod judge;

pub use cross_check::cross_checked;
pub use evidence::evidence_report;
pub use judge::{Judged, admit, ending_of, judge, skipped, stale_attempt, unsubmitted};

/// How a case ended. A case that was not reached has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Verified execution and the declared outcome.
    Passed,
    /// A valid case result of status 1, or a value where an obstruction was expected.
    AssertionFailed,
    /// An obstruction that was not the expected one.
    UnexpectedObstruction,
    /// The program of the case could not be built or verified.
    BuildFailed,
    /// A setup operation failed.
    SetupFailed,
    /// Admission, host or time limit.
    RuntimeFailed,
    /// The evidence does not bind.
    InvalidEvidence,
    /// Bound evidence of a value that is no case result.
    InvalidResult,
    /// Declared `skip`.
    Skipped,
}

impl Verdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::AssertionFailed => "assertion_failed",
            Self::UnexpectedObstruction => "unexpected_obstruction",
            Self::BuildFailed => "build_failed",
            Self::SetupFailed => "setup_failed",
            Self::RuntimeFailed => "runtime_failed",
            Self::InvalidEvidence => "invalid_evidence",
            Self::InvalidResult => "invalid_result",
            Self::Skipped => "skipped",
        }
    }

    /// The verdict of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// All verdicts.
    pub const ALL: [Self; 9] = [
        Self::Passed,
        Self::AssertionFailed,
        Self::UnexpectedObstruction,
        Self::BuildFailed,
        Self::SetupFailed,
        Self::RuntimeFailed,
        Self::InvalidEvidence,
        Self::InvalidResult,
        Self::Skipped,
    ];
}
