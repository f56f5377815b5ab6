// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask fuzz TARGET SECONDS`: damaged sources for the compiler, damaged Core for the
//! verifier, damaged packages for the host. Each must be answered; none may end a program. The
//! decoders have coverage-guided targets of their own.

use crate::{
    command::say,
    job::{Failure, root, target},
};
use edict_codec::{cbor::Value, digest::frame_typed};
use serde_json::json;
use std::{
    process::Command,
    time::{Duration, Instant},
};
use xtask::{
    chain::{ChainError, Host, Programs, Workshop},
    random::{Program, Tape, lawpack, program},
};

/// Sources of one process of the compiler.
const BATCH: usize = 256;

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
    let executions = match kind {
        "source" => sources(&programs, end)?,
        "core" => cores(&programs, end)?,
        "package" => packages(&programs, end)?,
        _ => {
            return Err(Failure::new(
                "TARGET is source, core, package, json, cbor, documents or artifacts",
            ));
        }
    };
    say(&format!(
        "{kind}: {executions} executions, none ended a program\n"
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

fn drawn(seed: u64) -> (Tape, Program) {
    let mut tape = Tape::random(seed);
    let drawn = program(&mut tape, 1);
    (Tape::random(!seed), drawn)
}

/// The bytes with one to four changes.
fn damaged(tape: &mut Tape, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=tape.below(4) {
        let at = tape.below(bytes.len());
        let Some(byte) = bytes.get_mut(at) else {
            return bytes;
        };
        let drawn = u8::try_from(tape.below(256)).unwrap_or(0);
        match tape.below(5) {
            0 => *byte = drawn,
            1 => *byte ^= 1 << tape.below(8),
            2 => _ = bytes.remove(at),
            3 => bytes.insert(at, drawn),
            _ => {
                let end = (at + tape.below(64)).min(bytes.len());
                let part = bytes.get(at..end).unwrap_or_default().to_vec();
                let to = tape.below(bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
    bytes
}

/// Many damaged sources in one request; the compiler answers about all of them.
fn sources(programs: &Programs, end: Instant) -> Result<u64, Failure> {
    let workshop = Workshop::new(programs).map_err(failed)?;
    let (mut seed, mut executions) = (0, 0);
    while Instant::now() < end {
        let (mut tape, drawn) = drawn(seed);
        seed += 1;
        for number in 0..BATCH {
            let bytes = damaged(&mut tape, drawn.source.as_bytes());
            workshop
                .write(&format!("src/{number}.edict"), &bytes)
                .map_err(failed)?;
        }
        let request = json!({"schema": "edict.compiler.settings/v1", "operation": "check"});
        let input =
            json!({"schema": "edict.compiler.input/v1", "kind": "directory", "path": "src"});
        let lines = format!("{request}\n{input}");
        let answer = programs.ask_lines("edict", workshop.path(), &lines);
        let answer = answer.map_err(failed)?;
        let internal = answer
            .errors
            .iter()
            .any(|it| it.get("kind").and_then(serde_json::Value::as_str) == Some("InternalError"));
        if internal || !matches!(answer.code, Some(0..=2)) {
            return Err(Failure::new(format!("seed {}: {answer:?}", seed - 1)));
        }
        executions += u64::try_from(BATCH).unwrap_or(0);
    }
    Ok(executions)
}

/// Damaged Core for the second evaluator, one process each.
fn cores(programs: &Programs, end: Instant) -> Result<u64, Failure> {
    let mut workshop = Workshop::new(programs).map_err(failed)?;
    lawpack(&workshop).map_err(failed)?;
    let (mut seed, mut executions) = (0, 0);
    while Instant::now() < end {
        let (mut tape, drawn) = drawn(seed);
        seed += 1;
        let compiled = workshop.compile(&drawn.source).map_err(failed)?;
        let built = compiled.map_err(|found| Failure::new(format!("{found:?}")))?;
        let core = workshop.core(&built).map_err(failed)?;
        workshop
            .write("input.bin", drawn.inputs.first().map_or(&[], Vec::as_slice))
            .map_err(failed)?;
        for _ in 0..32 {
            workshop
                .write("core.bin", &damaged(&mut tape, &core))
                .map_err(failed)?;
            let request = json!({
                "schema": "edict.verifier.request/v1", "type": "verifierRequest",
                "operation": "evaluate", "output": format!("body{executions}.bin"),
                "inputs": {"core": "core.bin", "lawpacks": built.lawpacks(), "input": "input.bin", "intent": "run"},
            });
            let answer = programs.ask("edict-verifier", workshop.path(), &request);
            let answer = answer.map_err(failed)?;
            let internal = answer.errors.iter().any(|it| {
                it.get("kind").and_then(serde_json::Value::as_str) == Some("InternalError")
            });
            if internal || !matches!(answer.code, Some(0 | 2)) {
                return Err(Failure::new(format!("seed {}: {answer:?}", seed - 1)));
            }
            executions += 1;
        }
        workshop.discard(&built).map_err(failed)?;
    }
    Ok(executions)
}

/// Damaged packages under right pins, all in one process of the host.
fn packages(programs: &Programs, end: Instant) -> Result<u64, Failure> {
    let mut workshop = Workshop::new(programs).map_err(failed)?;
    lawpack(&workshop).map_err(failed)?;
    let mut host = Host::serve(programs, None).map_err(failed)?;
    let (mut seed, mut executions) = (0, 0);
    while Instant::now() < end {
        let (mut tape, drawn) = drawn(seed);
        seed += 1;
        let compiled = workshop.compile(&drawn.source).map_err(failed)?;
        let mut built = compiled.map_err(|found| Failure::new(format!("{found:?}")))?;
        workshop.verify(&mut built).map_err(failed)?;
        workshop.discard(&built).map_err(failed)?;
        for _ in 0..256 {
            let package = damaged(&mut tape, &built.package);
            let pin = |domain, bytes: &[u8]| frame_typed(domain, bytes).to_value();
            let budget = Value::text_map([
                ("maxSteps", Value::unsigned(1)),
                ("maxAllocatedBytes", Value::unsigned(1)),
                ("maxOutputBytes", Value::unsigned(1)),
            ]);
            let policy = Value::text_map([
                ("operation", Value::text("rand.m@1.run")),
                ("authority", Value::text("pure")),
                ("maxBudget", budget),
            ]);
            let request = Value::text_map([
                ("packageDigest", pin("echo.program-package/v1", &package)),
                ("package", Value::bytes(package)),
                (
                    "reportDigest",
                    pin("edict.verification-report/v1", &built.report),
                ),
                ("report", Value::bytes(built.report.clone())),
                ("policy", policy),
            ]);
            host.refused_install(&request)
                .map_err(|error| Failure::new(format!("seed {}: {error}", seed - 1)))?;
            executions += 1;
        }
    }
    Ok(executions)
}
