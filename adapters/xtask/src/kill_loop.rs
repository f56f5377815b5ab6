// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask kill-loop`: kills a host in the middle of many settlements, again and again, and
//! holds every recovered history against a run that nobody interrupted.

mod chain;
mod ledger;

use crate::{
    command::{cargo, say},
    job::{Failure, target},
    programs::{Built, Workshop},
};
use chain::{Chain, LENGTH};
use edict_codec::cbor::Value;
use ledger::Ledger;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use xtask::host::{
    Host,
    lane::{Context, Lane},
};

/// Requests that are sent ahead of their replies.
const WINDOW: u64 = 32;

/// What a run of the loop is told.
#[derive(Debug)]
pub(crate) struct Options {
    count: u64,
    seed: u64,
    /// Where the programs are; nothing builds a release first.
    programs: Option<PathBuf>,
}

impl Options {
    /// Reads `--count N --seed S [--programs DIR]`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self {
            count: 1_000,
            seed: 1,
            programs: None,
        };
        for pair in words.chunks(2) {
            let number = |text: &str| {
                text.parse()
                    .map_err(|_| Failure::new(format!("`{text}` is no number")))
            };
            match pair {
                ["--count", value] => options.count = number(value)?,
                ["--seed", value] => options.seed = number(value)?,
                ["--programs", value] => options.programs = Some(PathBuf::from(value)),
                _ => {
                    return Err(Failure::new(
                        "kill-loop [--count N] [--seed S] [--programs DIR]",
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// Numbers from a seed, the same on every machine.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// A number below `limit`, which is not zero.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What the kills did, as far as a client can see it.
#[derive(Debug, Default)]
struct Tally {
    kills: u64,
    opening: u64,
    interrupted: u64,
    torn: u64,
    unacknowledged: u64,
    acknowledged: u64,
    chains: u64,
}

struct Loop<'a> {
    program: &'a Path,
    built: &'a [Built],
    chain: &'a Chain,
    random: Random,
    tally: Tally,
    /// Kills that are wanted.
    count: u64,
}

/// Runs the loop and prints what it saw.
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let programs = if let Some(directory) = &options.programs {
        directory.clone()
    } else {
        cargo(&[
            "build",
            "--quiet",
            "--release",
            "-p",
            "echo-host",
            "-p",
            "edict",
            "-p",
            "edict-verifier",
        ])?;
        target()?.join("release")
    };
    let workshop = Workshop::new(&programs)?;
    let built = [workshop.build("put")?, workshop.build("bump")?];
    let program = programs.join("echo-host");
    let mut random = Random(options.seed);
    let chain = Chain::run(&program, &built, &mut random)?;
    let mut work = Loop {
        program: &program,
        built: &built,
        chain: &chain,
        random,
        tally: Tally::default(),
        count: options.count,
    };
    while work.tally.kills < options.count {
        work.history()?;
    }
    say(&work.tally.text(options.seed));
    Ok(())
}

impl Loop<'_> {
    /// One context from its creation to the end of the chain, through many kills.
    fn history(&mut self) -> Result<(), Failure> {
        let space = tempfile::tempdir()?;
        let mut ledger = Ledger::default();
        while self.tally.kills < self.count {
            let Some((mut host, lane)) = self.opened(space.path(), &mut ledger)? else {
                continue;
            };
            if ledger.decided() == LENGTH {
                self.tally.chains += 1;
                return Ok(());
            }
            self.interrupt(&mut host, &lane, &mut ledger)?;
            self.killed(host, &mut ledger)?;
        }
        // The last kill is judged like every other.
        while self.opened(space.path(), &mut ledger)?.is_none() {}
        Ok(())
    }

    /// Opens the context in a new process and judges what is there. Nothing when the process was
    /// killed while it opened.
    fn opened(
        &mut self,
        space: &Path,
        ledger: &mut Ledger,
    ) -> Result<Option<(Host, Lane)>, Failure> {
        let mut host = Host::serve(self.program, space)?;
        let mut grants = Vec::new();
        for built in self.built {
            grants.push(host.install(&built.package, &built.report)?);
        }
        let mode = if space.join("a/wal.log").exists() {
            "recover"
        } else {
            "create"
        };
        ledger.may_begin_with(mode)?;
        let body = context().open(mode == "recover", &grants);
        if self.tally.kills < self.count && self.random.below(8) == 0 {
            host.send(4, &body)?;
            spin(self.random.below(1_500));
            let replies = host.kill()?;
            self.tally.kills += 1;
            self.tally.opening += 1;
            ledger.opening_interrupted(&replies);
            return Ok(None);
        }
        let lane = Lane::open(&mut host, &body)?;
        let found = ledger.recovered(&mut host, &lane, self.chain)?;
        self.tally.torn += u64::from(found.is_torn);
        self.tally.interrupted += u64::from(found.is_interrupted);
        self.tally.unacknowledged += found.unacknowledged;
        Ok(Some((host, lane)))
    }

    /// Sends invocations ahead and reads some of their outcomes.
    fn interrupt(
        &mut self,
        host: &mut Host,
        lane: &Lane,
        ledger: &mut Ledger,
    ) -> Result<(), Failure> {
        let first = ledger.decided();
        let sent = WINDOW.min(LENGTH - first);
        for id in first..first + sent {
            host.send(5, &self.chain.request(lane, id)?)?;
        }
        ledger.sent(sent);
        for _ in 0..self.random.below(sent + 1) {
            let frame = host.read()?;
            ledger.acknowledge(frame, self.chain)?;
        }
        spin(self.random.below(1_500));
        Ok(())
    }

    fn killed(&mut self, host: Host, ledger: &mut Ledger) -> Result<(), Failure> {
        for frame in host.kill()? {
            ledger.acknowledge(frame, self.chain)?;
        }
        self.tally.kills += 1;
        self.tally.acknowledged += ledger.acknowledged();
        Ok(())
    }
}

/// The one context: its nonce is fixed, so that its identities are those of the reference.
fn context() -> Context {
    Context {
        nonce: 1,
        name: Some("a".to_owned()),
    }
}

/// Lets so many microseconds pass while the host works.
fn spin(microseconds: u64) {
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_micros(microseconds) {
        std::hint::spin_loop();
    }
}

/// The opening of a context without a log.
pub(crate) fn create(host: &mut Host, grants: &[Value]) -> Result<Lane, Failure> {
    Ok(Lane::open(host, &context().open(false, grants))?)
}

impl Tally {
    fn text(&self, seed: u64) -> String {
        format!(
            "kill-loop: {} kills, seed {seed}: {} while opening, {} with work left, {} torn tails; \
             {} outcomes acknowledged and all recalled equal, {} commits kept that no reply told of; \
             {} chains of {LENGTH} finished equal to the uninterrupted run\n",
            self.kills,
            self.opening,
            self.interrupted,
            self.torn,
            self.acknowledged,
            self.unacknowledged,
            self.chains,
        )
    }
}
