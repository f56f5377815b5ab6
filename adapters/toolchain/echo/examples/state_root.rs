// SPDX-License-Identifier: Apache-2.0
//! What the new state root of one replaced atom costs beside 10, 1,000 and 60,000 atoms, in
//! nanoseconds, and what two BLAKE3 outputs of 2,048 bytes cost: one line of numbers for the
//! benchmarks. It measures the real store and is no part of the host.
#![expect(
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "an example that measures has to read a clock and to say what it saw"
)]

use echo_host::{
    refusal::Refusal,
    state::{address, patch::PatchEntry, store::Store, view::Atom},
};
use edict_codec::digest::derive_extended;
use std::{hint::black_box, sync::Arc, time::Instant};

const SPACE: &str = "bench.note/v1";
const ROUNDS: u64 = 2_000;

fn main() -> Result<(), Refusal> {
    let mut line = format!("{}", two_outputs());
    for atoms in [10, 1_000, 60_000] {
        line = format!("{line} {}", update(atoms)?);
    }
    println!("{line}");
    Ok(())
}

fn content(atom: &[u8; 32], value: u64) -> Atom {
    let value = value.to_be_bytes();
    Atom {
        version: address::version(atom, &value),
        value: Arc::from(value.as_slice()),
    }
}

fn entry(store: &Store, key: u64, value: u64) -> PatchEntry {
    let key = key.to_be_bytes();
    let atom = address::atom(SPACE, &key);
    PatchEntry {
        atom,
        space: SPACE.to_owned(),
        key: key.to_vec(),
        before: store.get(SPACE, &key).map(|it| it.version),
        after: Some(content(&atom, value)),
    }
}

/// Nanoseconds of one replacement in a store of so many atoms.
fn update(atoms: u64) -> Result<u128, Refusal> {
    let mut store = Store::default();
    for key in 0..atoms {
        let patch = vec![entry(&store, key, 0)];
        let staged = store.stage(&patch)?;
        store.publish(patch, staged);
    }
    let mut spent = Vec::new();
    for round in 0..ROUNDS {
        let patch = vec![entry(&store, round % atoms, round + 1)];
        let begin = Instant::now();
        let staged = store.stage(&patch)?;
        spent.push(begin.elapsed().as_nanos());
        store.publish(patch, staged);
    }
    Ok(median(spent))
}

fn two_outputs() -> u128 {
    let mut output = [0; 2_048];
    let mut spent = Vec::new();
    for round in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..2 {
            derive_extended("bench", &round.to_be_bytes(), &mut output);
            black_box(&output);
        }
        spent.push(begin.elapsed().as_nanos());
    }
    median(spent)
}

/// The middle; a round in which the machine did something else does not move it.
fn median(mut rounds: Vec<u128>) -> u128 {
    rounds.sort_unstable();
    rounds.get(rounds.len() / 2).copied().unwrap_or(0)
}
