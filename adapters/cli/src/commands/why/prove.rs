// SPDX-License-Identifier: Apache-2.0
//! `--prove`: fresh diagnostic executions with single changes swapped back (A15).
//!
//! A trial takes the same way as a run: build and verify through the store, then one execution in a
//! fresh context, whose evidence is judged. It is in no TAP and no report, and counts for nothing.

use super::{Place, refused, sides::Sides, swap::Mixture};
use crate::{
    signals,
    wire::{OpenedSuite, Surroundings, Wired, nonce},
};
use edict_codec::digest::TypedDigest;
use edict_test_model::{
    Failure, Verdict,
    built::blob,
    ports::{ActionStore, StopFlag},
    recipe::LeafValue,
    run::NullSink,
    suite::{LockDocument, SuiteDocument},
    why::{Explanation, Proof, TrialOutcome, prove as search},
};
use edict_test_queries::{ReusePolicy, Runner, SuiteBytes};
use edict_test_reporters::diagnostics::Documents;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

/// Searches a smallest set of changes that gives the new verdict.
pub(super) fn prove(
    place: Place<'_>,
    sides: &Sides,
    explanation: &Explanation,
    limit: u32,
) -> Result<Proof, Failure> {
    let (Some(old), Some(new)) = (explanation.from.ending, explanation.to.ending) else {
        return Err(refused(
            "a proof needs a case that ended in both runs; this one did not",
        ));
    };
    if (old.verdict, old.kind) == (new.verdict, new.kind) {
        return Err(refused(
            "there is nothing to prove: the case ended alike in both runs",
        ));
    }
    let bench = Bench::open(place, sides, explanation)?;
    let (units, held) = units(explanation);
    let mut tried: BTreeMap<Vec<usize>, TrialOutcome> = BTreeMap::new();
    let mut trial = |chosen: &[usize]| {
        let known = tried.get(chosen).copied();
        known.unwrap_or_else(|| {
            let leaves = chosen.iter().filter_map(|it| units.get(*it)).flatten();
            let outcome = match bench.trial(&leaves.copied().collect()) {
                Some(end) if end == (old.verdict, old.kind) => TrialOutcome::Old,
                Some(end) if end == (new.verdict, new.kind) => TrialOutcome::New,
                _ => TrialOutcome::Other,
            };
            tried.insert(chosen.to_vec(), outcome);
            outcome
        })
    };
    if held && trial(&[]) == TrialOutcome::New {
        return Ok(Proof::Held { executions: 1 });
    }
    let proof = search(units.len(), limit, &mut trial);
    bench.interrupted()?;
    Ok(leaf_positions(proof, &units))
}

/// The changes that are swapped: positions of leaves that only make sense together are one. The
/// second part says whether something differs that cannot be swapped, which is the toolchain:
/// earlier programs are not kept.
fn units(explanation: &Explanation) -> (Vec<Vec<usize>>, bool) {
    let leaves = explanation.differing();
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut held = false;
    for (position, leaf) in leaves.iter().enumerate() {
        let difference = &leaf.difference;
        if difference.label.starts_with("toolchain.") || difference.label == "shape" {
            held = true;
            continue;
        }
        let one_sided = leaves.iter().any(|it| {
            let (from, to) = (&it.difference.from, &it.difference.to);
            group(&it.difference.label) == group(&difference.label)
                && (from.is_none() || to.is_none())
        });
        let whole = ["expectation.", "skip"];
        let together = one_sided || whole.iter().any(|it| difference.label.starts_with(it));
        let name = if together {
            group(&difference.label)
        } else {
            &difference.label
        };
        groups.entry(name.to_owned()).or_default().push(position);
    }
    let mut units: Vec<Vec<usize>> = groups.into_values().collect();
    units.sort();
    (units, held)
}

/// The entry that a leaf belongs to: a lawpack, a setup entry, the expectation, the skip.
fn group(label: &str) -> &str {
    let end = match label.find(']') {
        Some(end) => end + 1,
        None => label.find('.').unwrap_or(label.len()),
    };
    label.get(..end).unwrap_or(label)
}

fn leaf_positions(proof: Proof, units: &[Vec<usize>]) -> Proof {
    let leaves = |changes: Vec<usize>| {
        let leaves = changes.iter().filter_map(|it| units.get(*it)).flatten();
        let mut leaves: Vec<usize> = leaves.copied().collect();
        leaves.sort_unstable();
        leaves
    };
    match proof {
        Proof::Found {
            changes,
            necessary,
            executions,
        } => Proof::Found {
            changes: leaves(changes),
            necessary,
            executions,
        },
        Proof::LimitReached {
            changes,
            executions,
        } => Proof::LimitReached {
            changes: leaves(changes),
            executions,
        },
        other @ (Proof::Nondeterministic { .. } | Proof::Held { .. }) => other,
    }
}

/// What every trial of one proof shares.
struct Bench<'a> {
    sides: &'a Sides,
    explanation: &'a Explanation,
    opened: OpenedSuite,
    lock: Arc<LockDocument>,
    lock_file: TypedDigest,
    around: Surroundings,
    stop: StopFlag,
}

impl<'a> Bench<'a> {
    /// The toolchain of the later run, which must still be the pinned one.
    fn open(
        place: Place<'_>,
        sides: &'a Sides,
        explanation: &'a Explanation,
    ) -> Result<Self, Failure> {
        let (Some(suite), Some(store)) = (place.suite, &sides.store) else {
            return Err(refused(
                "--prove executes: it needs --suite PATH and runs of its state directory",
            ));
        };
        let opened = OpenedSuite::open(suite, &mut Documents::default())?;
        let bytes = opened.lock()?;
        let pinned = LeafValue::Digest(bytes.lock.identity());
        if sides.to.record.leaf("suite.lock") != Some(&pinned) {
            return Err(refused(&format!(
                "the lock is not the one of {}: run the suite again before --prove",
                sides.to.name
            )));
        }
        let stop = StopFlag::new();
        signals::listen(stop.clone())
            .map_err(|error| Failure::internal(format!("listen for signals: {error}")))?;
        Ok(Self {
            sides,
            explanation,
            opened,
            lock: bytes.lock,
            lock_file: bytes.lock_file,
            around: Surroundings {
                temporary: None::<PathBuf>,
                isolation_required: false,
                process_per_case: false,
                policy: ReusePolicy::default(),
                actions: Some(Arc::clone(store) as Arc<dyn ActionStore>),
            },
            stop,
        })
    }

    fn interrupted(&self) -> Result<(), Failure> {
        match self.stop.signal() {
            None => Ok(()),
            Some(signal) => Err(refused(&format!("stopped by signal {signal}"))),
        }
    }

    /// How the mixture with `swapped` ends; `None` when it is no case or does not come to an end.
    fn trial(&self, swapped: &BTreeSet<usize>) -> Option<(Verdict, edict_test_model::FailureKind)> {
        if self.stop.is_set() {
            return None;
        }
        let mixture = Mixture::of(self.sides, self.explanation, swapped);
        let name = &self.opened.document.toolchain_lock;
        let (manifest, files) = mixture.suite(self.lock.shape, name)?;
        let suite = SuiteBytes {
            document: Arc::new(SuiteDocument::decode(&manifest).ok()?),
            manifest: blob(&manifest),
            lock: Arc::clone(&self.lock),
            lock_file: self.lock_file.clone(),
        };
        let wired = Wired::of(&self.opened.root, &suite, &self.around, &self.stop).ok()?;
        let mut runner = Runner::new(wired.ports.clone());
        let outcome = (|| {
            runner.load(&files, suite)?;
            let prepared = runner.prepare()?;
            runner.run(&prepared, &mut nonce, &self.stop, &mut NullSink)
        })();
        drop(runner);
        // What a trial leaves behind is swept here; its verdict is known already.
        _ = wired.end();
        let case = outcome.ok()?.cases.into_iter().next()?;
        case.ending.map(|ending| (ending.verdict, ending.kind))
    }
}
