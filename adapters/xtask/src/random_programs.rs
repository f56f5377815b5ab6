// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask random-programs`: a campaign of generated programs.

use crate::{
    command::say,
    job::{Failure, target},
};
use std::path::Path;
use xtask::{
    chain::{ChainError, Programs},
    random::{Judge, Program, Tally, Tape, program},
};

/// Inputs a program is run on.
const INPUTS: usize = 2;
/// Programs tried while a failing one is made smaller.
const ATTEMPTS: usize = 1_500;
/// Programs between two lines of progress.
const PROGRESS: u64 = 5_000;

/// Reads `--count N --seed S [--profile P]` and runs.
pub(crate) fn run_with(options: &[&str]) -> Result<(), Failure> {
    let (mut count, mut seed, mut profile) = (300, 0, "release");
    let mut rest = options.iter();
    while let (Some(option), Some(value)) = (rest.next(), rest.next()) {
        let number = || {
            let parsed = value.replace(',', "").parse();
            parsed.map_err(|_| Failure::new(format!("`{option} {value}`: not a number")))
        };
        match *option {
            "--count" => count = number()?,
            "--seed" => seed = number()?,
            "--profile" => profile = value,
            _ => return Err(Failure::new(format!("unknown option `{option}`"))),
        }
    }
    run(count, seed, profile)
}

/// Runs `count` programs of the seeds from `seed` on, with the programs built in `profile`.
fn run(count: u64, seed: u64, profile: &str) -> Result<(), Failure> {
    let target = target()?;
    let programs = Programs::at(target.join(profile)).map_err(|error| failure(&error))?;
    let mut judge = Judge::new(&programs).map_err(|error| failure(&error))?;
    let mut tally = Tally::default();
    for number in seed..seed.saturating_add(count) {
        let mut tape = Tape::random(number);
        let drawn = program(&mut tape, INPUTS);
        if let Err(found) = judge.judge(&drawn, &mut tally) {
            say(&format!("seed {number}: {found}\n"));
            // A host that stopped in the middle of a program may hold it: begin anew.
            let mut judge = Judge::new(&programs).map_err(|error| failure(&error))?;
            let (small, last) = judge.shrink(tape.read(), INPUTS, (&found, ATTEMPTS));
            let place = target.join("random-programs").join(number.to_string());
            keep(&place, &drawn, &small)?;
            return Err(Failure::new(format!(
                "seed {number}, {tally} before it; shrunk: {last}; see {}",
                place.display()
            )));
        }
        if tally.programs.is_multiple_of(PROGRESS) {
            say(&format!("{tally}\n"));
        }
    }
    say(&format!("no disagreement: {tally}\n"));
    Ok(())
}

fn keep(place: &Path, drawn: &Program, small: &Program) -> Result<(), Failure> {
    std::fs::create_dir_all(place)?;
    std::fs::write(place.join("drawn.edict"), &drawn.source)?;
    std::fs::write(place.join("shrunk.edict"), &small.source)?;
    for (number, input) in small.inputs.iter().enumerate() {
        std::fs::write(place.join(format!("input{number}.cbor")), input)?;
    }
    Ok(())
}

fn failure(error: &ChainError) -> Failure {
    Failure::new(error.to_string())
}
