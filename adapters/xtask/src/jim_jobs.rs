// SPDX-License-Identifier: Apache-2.0
//! The jobs around Jim: write its suite, repin its lawpacks, run random edits and mutations.

use crate::{command::say, job::Failure};
use std::{path::Path, time::Instant};
use xtask::{
    host::Host,
    jim::{
        JimError, evidence, home,
        lane::PROGRAMS,
        mutation::{Mutation, flips},
        public_table, random, suite,
        table::Table,
        toolchain::{Tools, repin},
    },
};

impl From<JimError> for Failure {
    fn from(error: JimError) -> Self {
        Self::new(error.to_string())
    }
}

/// `jim-suite TABLE OUT`: turns a table into a suite.
pub(crate) fn write_suite(table: &str, out: &str) -> Result<(), Failure> {
    let table = Table::read(Path::new(table))?;
    suite::write(&table, Path::new(out))?;
    let uncovered = table.uncovered();
    for id in &uncovered {
        say(&format!("uncovered {id}\n"));
    }
    say(&format!(
        "wrote {} cases, {} uncovered\npin it: edict-test lock --suite {out}/{}\n",
        table.cases.len() - uncovered.len(),
        uncovered.len(),
        suite::MANIFEST
    ));
    Ok(())
}

/// `jim-vendor`: rebuilds the lawpacks, repins the sources and rewrites the committed suite.
pub(crate) fn vendor() -> Result<(), Failure> {
    repin(&Tools::beside_this()?, &home().join("programs"))?;
    let table = Table::read(&public_table())?;
    xtask::jim::check::check(&table)?;
    suite::write_cases(&table.only(&suite::SMALL), &home())?;
    Ok(())
}

/// `jim-random N SEED`: compares random edits with the oracle, step by step.
pub(crate) fn random_edits(edits: &str, seed: &str) -> Result<(), Failure> {
    let number = |text: &str| {
        text.parse::<u64>()
            .map_err(|_| Failure::new(format!("`{text}` is no number")))
    };
    let (edits, seed) = (number(edits)?, number(seed)?);
    let tools = Tools::beside_this()?;
    let space = tempfile::tempdir()?;
    let programs = space.path().join("programs");
    suite::copy(&home().join("programs"), &programs)?;
    let mut built = std::collections::BTreeMap::new();
    for name in PROGRAMS {
        built.insert(name.to_owned(), tools.build(&programs, name)?);
    }
    let begun = Instant::now();
    // One process serves so many contexts and no more.
    let (mut done, mut part) = (0, 0);
    let mut tally = random::Tally::default();
    while done < edits {
        let state = space.path().join(format!("state-{part}"));
        std::fs::create_dir_all(&state)?;
        let mut host = Host::start(&tools.path("echo-host"), Some(&state), None)?;
        let now = (edits - done).min(10_000);
        let found = random::run(&mut host, &built, now, seed.wrapping_add(part))?;
        tally.settled += found.settled;
        tally.obstructed += found.obstructed;
        host.end()?;
        std::fs::remove_dir_all(&state)?;
        (done, part) = (done + now, part + 1);
        say(&format!("{done} edits\n"));
    }
    say(&format!(
        "{} settled, {} obstructed, every one as the oracle says, {:.1} s\n",
        tally.settled,
        tally.obstructed,
        begun.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// `jim-mutations [ID]...`: runs the mutations with every case of the public table.
pub(crate) fn mutations(ids: &[&str]) -> Result<(), Failure> {
    let tools = Tools::beside_this()?;
    let table = Table::read(&public_table())?;
    let mut wrong = Vec::new();
    for mutation in Mutation::all()? {
        if !ids.is_empty() && !ids.contains(&mutation.id.as_str()) {
            continue;
        }
        let space = tempfile::tempdir()?;
        let run = mutation.run(&tools, &table, space.path())?;
        let found = flips(&run);
        let evidence = evidence::differences(&run, &table);
        say(&format!(
            "{}: {}: {} verdicts, {} setups, {} differ in evidence\n",
            mutation.id,
            mutation.change,
            found.verdict.len(),
            found.setup.len(),
            evidence.len()
        ));
        let reasons = [
            mutation
                .verdict
                .differs(&found.verdict)
                .map(|it| format!("verdict: {it}")),
            mutation
                .setup
                .differs(&found.setup)
                .map(|it| format!("setup: {it}")),
            (!found.other.is_empty()).then(|| format!("other: {:?}", found.other)),
        ];
        wrong.extend(
            reasons
                .into_iter()
                .flatten()
                .map(|it| format!("{}: {it}", mutation.id)),
        );
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(wrong.join("\n")))
    }
}
