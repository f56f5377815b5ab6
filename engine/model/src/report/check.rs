// SPDX-License-Identifier: Apache-2.0
//! What a verification came to: one result per check, and the exit status they make (C7).

use crate::run::{CheckResult, Class};

/// How one check ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Recomputed, and it holds.
    Passed,
    /// Recomputed, and it does not hold; the sentence says what differs.
    Failed(String),
    /// It could not be made; the sentence says why.
    NotMade(String),
    /// It can only be made live; this is what the report says of it.
    Recorded(CheckResult),
}

impl CheckOutcome {
    /// The word that is printed.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed(_) => "failed",
            Self::NotMade(_) => "notMade",
            Self::Recorded(_) => "recorded",
        }
    }

    /// The sentence, if there is one.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Failed(message) | Self::NotMade(message) => Some(message),
            Self::Passed | Self::Recorded(_) => None,
        }
    }

    /// `Passed` when `holds`, otherwise `Failed` with the sentence.
    pub(crate) fn of(holds: bool, message: impl FnOnce() -> String) -> Self {
        if holds {
            Self::Passed
        } else {
            Self::Failed(message())
        }
    }

    /// `Passed`, or `Failed` with the error.
    pub(crate) fn from_result(result: Result<(), String>) -> Self {
        result.map_or_else(Self::Failed, |()| Self::Passed)
    }
}

/// One check of one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportCheck {
    /// What it is about: `report`, `suite`, `program 0`, `case x`, `case x operation 0`.
    pub subject: String,
    /// Its name, stable within its kind of subject.
    pub name: String,
    /// How it ended.
    pub outcome: CheckOutcome,
    /// Whether a failure is one that the report itself states: a run that rejected its evidence has
    /// a sound report of evidence that does not hold.
    pub stated: bool,
}

/// Every check of one report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The checks in the order of the report.
    pub checks: Vec<ReportCheck>,
    /// What the report says of its completeness.
    pub complete: bool,
    /// Its class.
    pub class: Class,
}

impl Verification {
    /// Whether some check failed that the report does not itself state as failed.
    pub fn unsound(&self) -> bool {
        let failed = |check: &ReportCheck| matches!(check.outcome, CheckOutcome::Failed(_));
        self.checks
            .iter()
            .any(|check| failed(check) && !check.stated)
    }

    /// Whether some check was not made.
    pub fn unmade(&self) -> bool {
        self.checks
            .iter()
            .any(|check| matches!(check.outcome, CheckOutcome::NotMade(_)))
    }

    /// Whether the report is complete, its class `passed`, and every check that can be made again
    /// holds.
    pub fn green(&self) -> bool {
        let whole = |check: &ReportCheck| {
            matches!(
                check.outcome,
                CheckOutcome::Passed | CheckOutcome::Recorded(_)
            )
        };
        self.complete && self.class == Class::Passed && self.checks.iter().all(whole)
    }

    /// The exit status: 0 all passed, 1 a check failed or, where green is required, the class is
    /// another, 2 incomplete or a check was not made.
    pub fn exit_status(&self, require_green: bool) -> u8 {
        if self.unsound() {
            1
        } else if !self.complete || self.unmade() {
            2
        } else {
            u8::from(require_green && !self.green())
        }
    }

    /// Adds a check.
    pub(crate) fn add(&mut self, subject: &str, name: &str, outcome: CheckOutcome) {
        self.checks.push(ReportCheck {
            subject: subject.to_owned(),
            name: name.to_owned(),
            outcome,
            stated: false,
        });
    }
}
