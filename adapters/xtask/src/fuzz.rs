// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask fuzz TARGET SECONDS`: damaged sources for the compiler, damaged Core for the
//! verifier, damaged packages for the host. Each must be answered; none may end a program. The
//! decoders have coverage-guided targets of their own.

use crate::{
    command::say,
    job::{Failure, root, target},
};
use std::{
    process::Command,
    time::{Duration, Instant},
};
use xtask::{
    chain::{ChainError, Programs},
    damage::{self, Executions},
};

/// Coverage-guided targets and the crates that hold them.
const DECODERS: [(&str, &str); 4] = [
    ("json", "engine/codec/fuzz"),
    ("cbor", "engine/codec/fuzz"),
    ("documents", "engine/model/fuzz"),
    ("artifacts", "engine/model/fuzz"),
];

/// What makes the compiler count the branches that an input reaches.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares";

/// Builds one coverage-guided target and runs it on a corpus below the target directory.
fn decoder(home: &str, name: &str, seconds: u64) -> Result<(), Failure> {
    let manifest = root().join(home).join("Cargo.toml");
    let built = target()?.join("fuzz");
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--bin", name, "--target", &platform])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&built)
        .env("RUSTFLAGS", COVERAGE)
        .env("RUSTC_BOOTSTRAP", "1")
        .status()?;
    if !status.success() {
        return Err(Failure::new(format!("the target `{name}` cannot be built")));
    }
    let corpus = built.join("corpus").join(name);
    std::fs::create_dir_all(&corpus)?;
    let program = built.join(&platform).join("release").join(name);
    let status = Command::new(program)
        .arg(format!("-max_total_time={seconds}"))
        .arg("-print_final_stats=1")
        .arg(&corpus)
        .current_dir(&built)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!(
            "`{name}` found an input; it lies in {}",
            built.display()
        )))
    }
}

/// Damages one kind of input for so many seconds, seeds ascending from 0.
pub(crate) fn run(kind: &str, seconds: &str) -> Result<(), Failure> {
    let seconds: u64 = seconds
        .parse()
        .map_err(|_| Failure::new("SECONDS is no number"))?;
    if let Some((_, home)) = DECODERS.iter().find(|(name, _)| *name == kind) {
        return decoder(home, kind, seconds);
    }
    let end = Instant::now() + Duration::from_secs(seconds);
    let programs = Programs::at(target()?.join("release")).map_err(failed)?;
    let mut goes_on = |_: Executions| Instant::now() < end;
    let done = match kind {
        "source" => damage::sources(&programs, &mut goes_on),
        "core" => damage::cores(&programs, &mut goes_on),
        "package" => damage::packages(&programs, &mut goes_on),
        _ => {
            return Err(Failure::new(
                "TARGET is source, core, package, json, cbor, documents or artifacts",
            ));
        }
    };
    let Executions { answered, deeper } = done.map_err(failed)?;
    say(&format!(
        "{kind}: {answered} executions, {deeper} beyond the first reading, none ended a program\n"
    ));
    Ok(())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` passes on"
)]
fn failed(error: ChainError) -> Failure {
    Failure::new(error.to_string())
}
