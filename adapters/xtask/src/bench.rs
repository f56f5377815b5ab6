// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask bench`: what the product costs beside the least that the same work can cost.
//!
//! Only ratios are judged: both sides of a row run on the same machine within the same minute.

pub(crate) mod compiler;
pub(crate) mod host;
mod jim;
pub(crate) mod run;

use crate::{
    command::{cargo, run as run_program, say},
    job::{Failure, root, target},
};
use std::{fmt, time::Duration};

/// One comparison.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What is measured, in which unit, and beside what.
    pub(crate) name: String,
    /// What it was here.
    pub(crate) ours: f64,
    /// What it was for the peer.
    pub(crate) peer: f64,
    /// `ours / peer`.
    pub(crate) ratio: f64,
    target: Target,
}

#[derive(Clone, Copy, Debug)]
enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// It is only shown.
    Open,
}

impl Row {
    /// A cost whose ratio may be at most `limit`.
    pub(crate) fn at_most(name: &str, ours: f64, peer: f64, limit: f64) -> Self {
        Self::new(name, ours, peer, Target::AtMost(limit))
    }

    /// A rate whose ratio must be at least `limit`.
    pub(crate) fn at_least(name: &str, ours: f64, peer: f64, limit: f64) -> Self {
        Self::new(name, ours, peer, Target::AtLeast(limit))
    }

    /// A comparison that nothing is asked of.
    pub(crate) fn shown(name: &str, ours: f64, peer: f64) -> Self {
        Self::new(name, ours, peer, Target::Open)
    }

    fn new(name: &str, ours: f64, peer: f64, target: Target) -> Self {
        Self {
            name: name.to_owned(),
            ours,
            peer,
            ratio: ours / peer,
            target,
        }
    }

    /// Whether the ratio is where it should be, with a fifth of tolerance.
    pub(crate) fn holds(&self) -> bool {
        match self.target {
            Target::AtMost(limit) => self.ratio <= limit * 1.2,
            Target::AtLeast(limit) => self.ratio >= limit / 1.2,
            Target::Open => true,
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let goal = match self.target {
            Target::AtMost(limit) => format!("<= {limit:6.3}"),
            Target::AtLeast(limit) => format!(">= {limit:6.3}"),
            Target::Open => " ".repeat(9),
        };
        let verdict = match (self.target, self.holds()) {
            (Target::Open, _) => "shown",
            (_, true) => "ok",
            (_, false) => "MISSED",
        };
        write!(
            formatter,
            "{verdict:6} {:7.3} {goal}  {:12.2} : {:12.2}  {}",
            self.ratio, self.ours, self.peer, self.name
        )
    }
}

/// Runs the benches, or one part of them, and fails if a ratio is out of bounds.
///
/// Clients and peers are part of this very program. A slow client hides a fast host and a slow
/// peer flatters it, so a debug build only hands over to the release build.
pub(crate) fn run(only: Option<&str>) -> Result<(), Failure> {
    cargo(&["build", "--quiet", "--release", "--workspace", "--bins"])?;
    let programs = target()?.join("release");
    if cfg!(debug_assertions) {
        let program = programs.join("xtask");
        let arguments: Vec<&str> = std::iter::once("bench").chain(only).collect();
        return run_program(&root(), &program.to_string_lossy(), &arguments);
    }
    let mut rows = Vec::new();
    let mut found = |row: Row| {
        say(&format!("{row}\n"));
        rows.push(row);
    };
    if only.is_none_or(|it| it == "host") {
        host::rows(&programs)?.into_iter().for_each(&mut found);
    }
    if only.is_none_or(|it| it == "compiler") {
        compiler::rows(&programs)?.into_iter().for_each(&mut found);
    }
    if only.is_none_or(|it| it == "run") {
        run::rows(&programs, &mut found)?;
    }
    if only.is_none_or(|it| it == "jim") {
        jim::rows()?.into_iter().for_each(&mut found);
    }
    match rows.iter().filter(|row| !row.holds()).count() {
        0 => Ok(()),
        missed => Err(Failure::new(format!(
            "{missed} of {} rows missed",
            rows.len()
        ))),
    }
}

/// The middle of some numbers, or not a number.
pub(crate) fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The time that so many of a hundred stay below.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    let index = times.len() * percent / 100;
    times.get(index).copied().unwrap_or_default()
}
