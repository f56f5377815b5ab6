// SPDX-License-Identifier: Apache-2.0
//! Generated programs: the chain agrees on every one, and what is generated is worth running.

use crate::support::programs;
use std::os::unix::fs::PermissionsExt as _;
use xtask::{
    chain::Programs,
    random::{Judge, Tally, Tape, program},
};

#[test]
fn three_hundred_random_programs_are_judged_alike_by_all_four() {
    let mut judge = Judge::new(&programs()).unwrap();
    let mut tally = Tally::default();
    for seed in 0..300 {
        let drawn = program(&mut Tape::random(seed), 2);
        if let Err(found) = judge.judge(&drawn, &mut tally) {
            panic!("seed {seed}: {found}\n{}", drawn.source);
        }
    }
    assert_eq!(tally.programs, 300);
    let endings = [
        tally.results,
        tally.authored,
        tally.constraints,
        tally.exhausted,
    ];
    assert!(endings.iter().sum::<u64>() >= 600, "{tally}");
    assert!(endings.iter().all(|it| *it > 10), "{tally}");
    assert!(tally.effectful > 150 && tally.settled > 30, "{tally}");
}

#[test]
fn a_seed_always_gives_the_same_program_and_a_tape_plays_it_again() {
    for seed in 0..50 {
        let mut tape = Tape::random(seed);
        let drawn = program(&mut tape, 3);
        assert_eq!(program(&mut Tape::random(seed), 3), drawn);
        assert_eq!(program(&mut Tape::replay(tape.read()), 3), drawn);
    }
}

#[test]
fn an_evaluator_that_counts_wrongly_is_found_and_the_program_made_small() {
    let directory = tempfile::tempdir().unwrap();
    let real = programs();
    for name in ["edict", "echo-host"] {
        std::os::unix::fs::symlink(real.path(name), directory.path().join(name)).unwrap();
    }
    let liar = directory.path().join("edict-verifier");
    let verifier = real.path("edict-verifier");
    // One digit before every count of steps; the report of a verification says none.
    let script = format!(
        "#!/bin/sh\n\"{}\" | sed 's/\"steps\":/\"steps\":1/'\n",
        verifier.display()
    );
    std::fs::write(&liar, script).unwrap();
    std::fs::set_permissions(&liar, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut judge = Judge::new(&Programs::at(directory.path()).unwrap()).unwrap();
    let mut tape = Tape::random(8);
    let drawn = program(&mut tape, 1);
    let found = judge.judge(&drawn, &mut Tally::default()).unwrap_err();
    assert_eq!(found.link, "outcome", "{found}");
    let (small, last) = judge.shrink(tape.read(), 1, (&found, 60));
    assert_eq!(last.link, "outcome");
    assert!(
        small.source.len() * 2 < drawn.source.len(),
        "{}",
        small.source
    );
}
