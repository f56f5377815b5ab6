// SPDX-License-Identifier: Apache-2.0
//! What the log code costs alone: appended transactions a second, and bare synced writes of the
//! same bytes a second, as one line for the benchmarks. `log DIRECTORY`; an empty directory on the
//! disk that is meant. No part of the host.
#![expect(
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "an example that measures has to read a clock and to say what it saw"
)]

use echo_host::{
    context::identity::Identity,
    fault_point::FaultPoints,
    receipt::BUILD,
    state::accumulator::empty_root,
    wal::{
        decision::Decided,
        directory::StateRoot,
        log::{Appending, Log},
    },
    wire::request::Basis,
};
use edict_codec::digest::{Algorithm, TypedDigest};
use std::{error::Error, fs::File, io::Write as _, path::Path, time::Instant};

/// Transactions of one sample.
const APPENDED: u64 = 1_000;
const SAMPLES: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).ok_or("log DIRECTORY")?;
    let directory = Path::new(&directory);
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for sample in 0..SAMPLES {
        let (rate, bytes) = append(directory, &format!("log-{sample}"))?;
        ours.push(rate);
        bare.push(write(&directory.join(format!("bare-{sample}")), bytes)?);
    }
    println!("{} {}", median(ours), median(bare));
    Ok(())
}

/// Appended transactions a second, each of a decision and a patch, and the bytes of one.
fn append(directory: &Path, name: &str) -> Result<(f64, usize), Box<dyn Error>> {
    let root = StateRoot::open(directory).ok_or("not a directory")?;
    let context = root.make(name)?;
    let subject = TypedDigest::new("bench", Algorithm::Blake3, [7; 32]);
    let identity = Identity::new([1; 32], subject, "durable");
    let build = TypedDigest::new(BUILD, Algorithm::Blake3, [2; 32]);
    let points = FaultPoints::default();
    let lock = context.lock()?;
    let mut log = Log::create(&root, &context, lock, &identity, &build, &points)?;
    let basis = Basis {
        tick: 1,
        state_root: empty_root(),
    };
    // As long as those of a small program that puts one atom.
    let (record, body, footprint, patch) = ([3; 1_000], [4; 64], [5; 224], [6; 320]);
    let mut bytes = 0;
    let begin = Instant::now();
    for id in 0..APPENDED {
        let mut invocation = [0; 32];
        if let Some(end) = invocation.last_chunk_mut() {
            *end = id.to_be_bytes();
        }
        let decided = Decided {
            invocation,
            request: [8; 32],
            is_result: true,
            record: &record,
            body: &body,
            footprint: Some(&footprint),
        };
        let sealed = log.decision(decided, Some(&patch), &basis, id + 1);
        bytes = sealed.bytes.len();
        log.append(&sealed, Appending::Result, &points)?;
    }
    Ok((rate(begin), bytes))
}

/// Bare writes of so many bytes a second, synced one by one.
fn write(path: &Path, bytes: usize) -> Result<f64, Box<dyn Error>> {
    let (mut file, block) = (File::create(path)?, vec![0x2e; bytes]);
    let begin = Instant::now();
    for _ in 0..APPENDED {
        file.write_all(&block)?;
        file.sync_data()?;
    }
    Ok(rate(begin))
}

fn rate(begin: Instant) -> f64 {
    // Far below the numbers that a double cannot hold.
    let count = u32::try_from(APPENDED).unwrap_or(u32::MAX);
    f64::from(count) / begin.elapsed().as_secs_f64()
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}
