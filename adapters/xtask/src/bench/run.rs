// SPDX-License-Identifier: Apache-2.0
//! The rows of the runner: what a case, a build phase and an explanation cost beside programs of the
//! same trade that do as many things.
//!
//! Runs find everything built: the store of the suite is filled before. What is timed is the whole
//! process, from its start to its end, over the number of cases.

mod memory;
mod peers;
mod suite;

use super::{Row, median};
use crate::{
    command::say,
    job::{Failure, target},
};
use peers::Peer;
use std::{fs, path::Path, process::Command, time::Instant};
use suite::Suite;

/// Samples of a median.
const SAMPLES: u32 = 5;
/// Sizes of the suites whose runs are timed.
const RUNS: [u32; 3] = [64, 200, 1_024];
/// The size at which bats, the slowest peer, is run too.
const BATS: u32 = 200;
/// The size of the suite whose cases share one program.
const SHARED: u32 = 1_024;
/// Size of the suite whose build phase is timed.
const BUILDS: u32 = 1_000;
/// Greatest peak of the runner in MiB.
const MEMORY: f64 = 64.0;

/// Measures everything with the programs in `programs`; each row is `found` as soon as it is known.
///
/// # Errors
/// When something cannot be written or run.
pub(crate) fn rows(programs: &Path, found: &mut dyn FnMut(Row)) -> Result<(), Failure> {
    let space = tempfile::tempdir_in(target()?)?;
    let space = space.path();
    let mut costs = Vec::new();
    for cases in RUNS {
        say(&format!("# runs of {cases} cases\n"));
        let suite = Suite::write(programs, space, cases)?;
        suite.run(&[])?;
        costs.push(per_case(&suite, space, found)?);
        if Some(&cases) == RUNS.last() {
            found(published(&suite, space)?);
            peaks(&suite)?.into_iter().for_each(&mut *found);
        }
    }
    if let [few, .., many] = costs[..] {
        let name = "run: ms a case of 1,024 cases in contexts : of 64";
        found(Row::at_most(name, many, few, 1.1));
    }
    say(&format!("# runs of {SHARED} cases of one program\n"));
    let apart = space.join("shared");
    fs::create_dir(&apart)?;
    let suite = Suite::of_one_program(programs, &apart, SHARED)?;
    suite.run(&[])?;
    per_case(&suite, &apart, found)?;
    say(&format!("# builds of {BUILDS} cases\n"));
    let suite = Suite::write(programs, space, BUILDS)?;
    warm(&suite, space)?.into_iter().for_each(&mut *found);
    cold(&suite)?.into_iter().for_each(&mut *found);
    Ok(())
}

/// Milliseconds that some work takes.
fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64() * 1_000.0)
}

/// Times one piece of work and one of the peer in turn; the medians.
fn in_turn(
    mut ours: impl FnMut(u32) -> Result<f64, Failure>,
    mut peer: impl FnMut(u32) -> Result<f64, Failure>,
) -> Result<(f64, f64), Failure> {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for round in 0..SAMPLES {
        left.push(ours(round)?);
        right.push(peer(round)?);
    }
    Ok((median(&mut left), median(&mut right)))
}

/// Rows of executed runs beside runners of tests; gives the cost of a case in contexts.
fn per_case(suite: &Suite, space: &Path, found: &mut dyn FnMut(Row)) -> Result<f64, Failure> {
    let cases = suite.cases;
    let mut peers: Vec<(Peer, Option<f64>)> = vec![
        (peers::prove(space, cases)?, Some(0.15)),
        (peers::nextest(space, cases)?, Some(0.08)),
    ];
    if cases == BATS && peers::available("bats", "bats") {
        peers.push((peers::bats(space, cases)?, None));
    }
    let isolations = ["context", "process"];
    let mut ours = vec![Vec::new(); isolations.len()];
    let mut theirs = vec![Vec::new(); peers.len()];
    for _ in 0..SAMPLES {
        for (isolation, samples) in isolations.iter().zip(&mut ours) {
            samples.push(timed(|| suite.run(&["--isolation", isolation]))? / f64::from(cases));
        }
        for ((peer, _), samples) in peers.iter().zip(&mut theirs) {
            samples.push(timed(|| peer.run())? / f64::from(cases));
        }
    }
    let mut first = f64::NAN;
    for (isolation, samples) in isolations.iter().zip(&mut ours).rev() {
        first = median(samples);
        for ((peer, limit), samples) in peers.iter().zip(&mut theirs) {
            let name = format!(
                "run: ms a case of {}, one {isolation} each, store warm : {}",
                suite.title(),
                peer.name
            );
            let peer = median(samples);
            found(match limit {
                Some(limit) => Row::at_most(&name, first, peer, *limit),
                None => Row::shown(&name, first, peer),
            });
        }
    }
    Ok(first)
}

/// A run that publishes its report beside one that publishes none.
fn published(suite: &Suite, space: &Path) -> Result<Row, Failure> {
    let cases = f64::from(suite.cases);
    let (with, without) = in_turn(
        |round| {
            let report = space.join(format!("report-{round}.json"));
            let report = report.display().to_string();
            Ok(timed(|| suite.run(&["--report-json", &report]))? / cases)
        },
        |_| Ok(timed(|| suite.run(&[]))? / cases),
    )?;
    let name = "run: ms a case of 1,024 with a durable report and its bodies : without";
    Ok(Row::shown(name, with, without))
}

/// Greatest resident sizes.
fn peaks(suite: &Suite) -> Result<Vec<Row>, Failure> {
    let peaks = memory::peaks(suite, &[])?;
    // Before it is the host, a child is the launcher, and the image of whoever starts it.
    let peak = |name: &str| peaks.get(name).copied().unwrap_or(f64::NAN);
    let runner = "run: MiB at the peak of the runner of 1,024 cases : 64 MiB";
    let host = "run: MiB at the peak of the host of 1,024 cases : 64 MiB";
    Ok(vec![
        Row::at_most(runner, peak("edict-test"), MEMORY, 1.0),
        Row::shown(host, peak("host"), MEMORY),
    ])
}

/// The build phase without a store, on one core and on all.
fn cold(suite: &Suite) -> Result<Vec<Row>, Failure> {
    let (mut one, mut all, mut spawns) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        one.push(timed(|| suite.build_on_one_core())?);
        all.push(timed(|| suite.build(false))?);
        spawns.push(timed(|| {
            for _ in 0..2 * suite.cases {
                Command::new("true").status()?;
            }
            Ok(())
        })?);
    }
    let (one, all, spawns) = (median(&mut one), median(&mut all), median(&mut spawns));
    Ok(vec![
        Row::at_most(
            "run: ms of a cold build of 1,000 on one core : 2,000 processes that do nothing",
            one,
            spawns,
            8.0,
        ),
        Row::at_most(
            "run: ms of a cold build of 1,000 on all cores : on one",
            all,
            one,
            0.7,
        ),
    ])
}

/// The build phase with a full store, after no edit and after one; and what `why` says of that edit.
fn warm(suite: &Suite, space: &Path) -> Result<Vec<Row>, Failure> {
    suite.run(&[])?;
    if !peers::available("ninja", "ninja-build") {
        return Ok(Vec::new());
    }
    let ninja = peers::ninja(space, suite)?;
    let build = || timed(|| suite.build(true));
    let (ours, peer) = in_turn(|_| build(), |_| timed(|| ninja.run()))?;
    let name = "run: ms of the build phase of 1,000, nothing to do, every byte hashed : ninja, which looks at times";
    let mut rows = vec![Row::at_most(name, ours, peer, 2.0)];
    let (ours, peer) = in_turn(
        |round| {
            suite.edit(round, 1)?;
            build()
        },
        |round| {
            peers::edit_of_ninja(&ninja, round, 1)?;
            timed(|| ninja.run())
        },
    )?;
    let name = "run: ms of the build phase of 1,000 after one edit : ninja, two copies";
    rows.push(Row::shown(name, ours, peer));
    suite.run(&[])?;
    let (ours, peer) = in_turn(|_| timed(|| suite.ask("why", &["case-0"])), |_| build())?;
    let name = "run: ms of `why` on two runs of 1,000 : the build phase";
    rows.push(Row::shown(name, ours, peer));
    Ok(rows)
}
