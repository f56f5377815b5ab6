// SPDX-License-Identifier: Apache-2.0
//! The invocations of the loop and what an uninterrupted run makes of them.

use super::{Random, create};
use crate::{job::Failure, programs::Built};
use edict_codec::cbor::{Value, decode, encode};
use std::path::Path;
use xtask::host::{
    Host,
    lane::Lane,
    requests::{bytes, member},
};

/// Invocations of one history.
pub(crate) const LENGTH: u64 = 200;

/// One invocation.
#[derive(Debug)]
struct Step {
    /// Which of the built programs.
    program: usize,
    input: Vec<u8>,
}

/// Members of an outcome that a history determines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decided {
    record: Vec<u8>,
    body: Vec<u8>,
    footprint: Value,
    patch: Value,
}

/// All invocations, their outcomes and the basis before and after each.
#[derive(Debug)]
pub(crate) struct Chain {
    steps: Vec<Step>,
    installations: Vec<Value>,
    decided: Vec<Decided>,
    bases: Vec<Value>,
}

impl Decided {
    /// What an outcome frame says.
    pub(crate) fn of(outcome: &Value) -> Result<Self, Failure> {
        Ok(Self {
            record: bytes(outcome, "record")?,
            body: bytes(outcome, "body")?,
            footprint: member(outcome, "footprint")?,
            patch: member(outcome, "patch")?,
        })
    }
}

impl Chain {
    /// Draws the invocations and runs them in one process: `built` are `put` and `bump`.
    pub(crate) fn run(
        program: &Path,
        built: &[Built],
        random: &mut Random,
    ) -> Result<Self, Failure> {
        let space = tempfile::tempdir()?;
        let mut host = Host::serve(program, space.path())?;
        let mut installations = Vec::new();
        for built in built {
            installations.push(host.install(&built.package, &built.report)?);
        }
        let mut lane = create(&mut host, &installations)?;
        let mut chain = Self {
            steps: steps(random),
            installations,
            decided: Vec::new(),
            bases: vec![lane.basis.clone()],
        };
        for id in 0..LENGTH {
            let request = chain.request(&lane, id)?;
            let outcome = host.ask(5, &request)?.ok(0x8005)?;
            let decided = Decided::of(&outcome)?;
            let record = decode(&decided.record)
                .map_err(|error| Failure::new(format!("a record: {error}")))?;
            lane.basis = member(&record, "after")?;
            chain.bases.push(lane.basis.clone());
            chain.decided.push(decided);
        }
        Ok(chain)
    }

    /// The request of one invocation, on the basis that its predecessors leave.
    pub(crate) fn request(&self, lane: &Lane, id: u64) -> Result<Value, Failure> {
        let index = index(id);
        let known = self.steps.get(index).zip(self.bases.get(index));
        let (step, basis) = known.ok_or_else(|| Failure::new("the chain is over"))?;
        let installation = self.installations.get(step.program);
        let installation = installation.ok_or_else(|| Failure::new("no such program"))?;
        Ok(lane.request(installation, id, basis, &step.input))
    }

    /// The basis after so many invocations.
    pub(crate) fn basis(&self, decided: u64) -> Option<&Value> {
        self.bases.get(index(decided))
    }

    /// What invocation `id` must come to.
    pub(crate) fn decided(&self, id: u64) -> Option<&Decided> {
        self.decided.get(index(id))
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// New notes, notes that exist already (obstructions that settle nothing), and replacements.
fn steps(random: &mut Random) -> Vec<Step> {
    let mut notes = 0;
    let draw = |_| {
        let choice = if notes == 0 { 0 } else { random.below(4) };
        let key = if choice < 2 {
            notes
        } else {
            random.below(notes)
        };
        notes += u64::from(choice < 2);
        let text = vec![0x2e; usize::try_from(random.below(65)).unwrap_or(0)];
        let input = Value::text_map([
            ("key", Value::bytes(key.to_be_bytes())),
            ("count", Value::unsigned(random.below(1_000))),
            ("text", Value::bytes(text)),
        ]);
        Step {
            program: usize::from(choice == 3),
            input: encode(&input),
        }
    };
    (0..LENGTH).map(draw).collect()
}
