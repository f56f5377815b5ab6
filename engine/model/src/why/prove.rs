// SPDX-License-Identifier: Apache-2.0
//! The search for a smallest set of changes that changes the verdict (A15). Every trial is an
//! execution in a context of its own, diagnostic and never a verdict.

use std::collections::BTreeMap;

/// Greatest number of executions a caller may allow.
pub const MAX_EXECUTIONS: u32 = 64;

/// What a trial ended in, seen from the two runs that are explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// The verdict of the earlier run.
    Old,
    /// The verdict of the later run.
    New,
    /// Neither, for example because the mixture does not build.
    Other,
}

/// What the search found. Positions are those of the differing leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// These changes alone give the new verdict, and no fewer of them do.
    Found {
        /// Positions, ascending.
        changes: Vec<usize>,
        /// Whether there is no new verdict without each of them, whatever else changes; `None` when
        /// no execution was left to see that. Other changes may be sufficient too.
        necessary: Option<bool>,
        /// Executions made.
        executions: u32,
    },
    /// All changes together do not give the new verdict, or none at all does not give the old one.
    Nondeterministic {
        /// Executions made.
        executions: u32,
    },
    /// What could not be swapped gives the new verdict by itself: the old inputs have it too.
    Held {
        /// Executions made.
        executions: u32,
    },
    /// The allowed executions were used up; these changes are enough, maybe not all are needed.
    LimitReached {
        /// Positions, ascending; none when not even all changes together were executed.
        changes: Vec<usize>,
        /// Executions made.
        executions: u32,
    },
}

/// Searches among `count` changes with at most `limit` executions of `trial`, which is given the
/// positions that are swapped in. A set is tried once.
pub fn prove(count: usize, limit: u32, trial: &mut dyn FnMut(&[usize]) -> TrialOutcome) -> Proof {
    let mut search = Search {
        trial,
        tried: BTreeMap::new(),
        left: limit.clamp(1, MAX_EXECUTIONS),
        limit: limit.clamp(1, MAX_EXECUTIONS),
    };
    let all: Vec<usize> = (0..count).collect();
    let ends = [
        (search.outcome(&[]), TrialOutcome::Old),
        (search.outcome(&all), TrialOutcome::New),
    ];
    if ends
        .iter()
        .any(|(got, wanted)| got.is_some_and(|got| got != *wanted))
    {
        return Proof::Nondeterministic {
            executions: search.executions(),
        };
    }
    if ends.iter().any(|(got, _)| got.is_none()) {
        return Proof::LimitReached {
            changes: Vec::new(),
            executions: search.executions(),
        };
    }
    let (changes, finished) = search.reduce(all);
    if finished {
        Proof::Found {
            necessary: search.necessary(count, &changes),
            changes,
            executions: search.executions(),
        }
    } else {
        Proof::LimitReached {
            changes,
            executions: search.executions(),
        }
    }
}

struct Search<'a> {
    trial: &'a mut dyn FnMut(&[usize]) -> TrialOutcome,
    tried: BTreeMap<Vec<usize>, TrialOutcome>,
    left: u32,
    limit: u32,
}

impl Search<'_> {
    fn executions(&self) -> u32 {
        self.limit - self.left
    }

    /// The outcome of a set; `None` when no execution is left to try it.
    fn outcome(&mut self, changes: &[usize]) -> Option<TrialOutcome> {
        if let Some(outcome) = self.tried.get(changes) {
            return Some(*outcome);
        }
        self.left = self.left.checked_sub(1)?;
        let outcome = (self.trial)(changes);
        self.tried.insert(changes.to_vec(), outcome);
        Some(outcome)
    }

    /// Shrinks a set that gives the new verdict: halves first, then ever smaller pieces, each tried
    /// alone and then left out. The answer says whether the search came to its end.
    fn reduce(&mut self, mut changes: Vec<usize>) -> (Vec<usize>, bool) {
        let mut pieces = 2;
        while changes.len() > 1 {
            match self.smaller(&changes, pieces) {
                Err(OutOfExecutions) => return (changes, false),
                Ok(Some((smaller, next))) => {
                    changes = smaller;
                    pieces = next.clamp(2, changes.len().max(2));
                }
                Ok(None) if pieces < changes.len() => pieces = (pieces * 2).min(changes.len()),
                Ok(None) => return (changes, true),
            }
        }
        (changes, true)
    }

    /// Whether everything but one of `changes` never gives the new verdict, whichever is left out;
    /// `None` when no execution is left to try one.
    fn necessary(&mut self, count: usize, changes: &[usize]) -> Option<bool> {
        for change in changes {
            let rest: Vec<usize> = (0..count).filter(|it| it != change).collect();
            if self.outcome(&rest)? == TrialOutcome::New {
                return Some(false);
            }
        }
        Some(true)
    }

    /// A smaller set with the new verdict, and the number of pieces to go on with.
    fn smaller(
        &mut self,
        changes: &[usize],
        pieces: usize,
    ) -> Result<Option<(Vec<usize>, usize)>, OutOfExecutions> {
        let size = changes.len().div_ceil(pieces).max(1);
        let subsets: Vec<Vec<usize>> = changes.chunks(size).map(<[usize]>::to_vec).collect();
        for subset in &subsets {
            if self.outcome(subset).ok_or(OutOfExecutions)? == TrialOutcome::New {
                return Ok(Some((subset.clone(), 2)));
            }
        }
        for subset in &subsets {
            let rest = changes.iter().filter(|it| !subset.contains(it)).copied();
            let rest: Vec<usize> = rest.collect();
            if self.outcome(&rest).ok_or(OutOfExecutions)? == TrialOutcome::New {
                return Ok(Some((rest, pieces.saturating_sub(1))));
            }
        }
        Ok(None)
    }
}

struct OutOfExecutions;
