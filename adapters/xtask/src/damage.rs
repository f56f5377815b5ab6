// SPDX-License-Identifier: Apache-2.0
//! Damaged sources for the compiler, damaged Core for the verifier, damaged packages for the host:
//! each is answered, and none ends a program.

mod text;
mod tree;

use crate::{
    chain::{Answer, Attempt, Built, ChainError, Host, Programs, Workshop},
    random::{Program, Tape, lawpack, program},
};
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::frame_typed,
};
use serde_json::{Value as Json, json};

/// Sources that one process of the compiler checks.
const BATCH: usize = 64;
/// Damages of one program.
const DAMAGES: usize = 16;

/// What a target did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    /// Damaged inputs that were answered.
    pub answered: u64,
    /// Among them those that came through the first reading: sources that parsed, Core that was
    /// canonical and well-formed, packages that were accepted.
    pub deeper: u64,
}

/// Whether a target goes on, asked between programs.
pub type GoesOn<'a> = &'a mut dyn FnMut(Executions) -> bool;

/// Sources with damaged bytes are checked, sources with damaged tokens are built; what is built
/// must verify.
///
/// # Errors
/// The seed and the answer of a program that failed.
pub fn sources(programs: &Programs, goes_on: GoesOn<'_>) -> Result<Executions, ChainError> {
    let mut workshop = Workshop::new(programs)?;
    lawpack(&workshop)?;
    let mut done = Executions::default();
    let mut seed = 0;
    while goes_on(done) {
        let (mut tape, drawn) = drawn(seed);
        checked(programs, &mut tape, &drawn).map_err(|error| at(seed, &error))?;
        done.answered += u64::try_from(BATCH).unwrap_or(0);
        for _ in 0..DAMAGES {
            let source = text::damaged(&mut tape, &drawn.source);
            let deeper = built(&mut workshop, &source)
                .map_err(|error| ChainError::new(format!("seed {seed}: {error}\n{source}")))?;
            done.answered += 1;
            done.deeper += u64::from(deeper);
        }
        seed += 1;
    }
    Ok(done)
}

/// Damaged Core for verification and for the second evaluation.
///
/// # Errors
/// The seed and the answer of a program that failed.
pub fn cores(programs: &Programs, goes_on: GoesOn<'_>) -> Result<Executions, ChainError> {
    let mut workshop = Workshop::new(programs)?;
    lawpack(&workshop)?;
    let mut done = Executions::default();
    let mut seed = 0;
    while goes_on(done) {
        let (mut tape, drawn) = drawn(seed);
        let built = workshop.compile(&drawn.source)?;
        let built = built.map_err(|found| at(seed, &ChainError::new(format!("{found:?}"))))?;
        let core = workshop.core(&built)?;
        workshop.write("input.bin", drawn.inputs.first().map_or(&[], Vec::as_slice))?;
        for number in 0..DAMAGES {
            let damaged = tree::damaged(&mut tape, &core);
            if damaged == core {
                continue;
            }
            let outcome = judged(&workshop, &built, &damaged, number);
            let deeper = outcome.map_err(|error| at(seed, &error))?;
            done.answered += 1;
            done.deeper += u64::from(deeper);
        }
        workshop.discard(&built)?;
        seed += 1;
    }
    Ok(done)
}

/// Damaged packages under right pins, all in one process of the host.
///
/// # Errors
/// The seed of a package that the host did not answer.
pub fn packages(programs: &Programs, goes_on: GoesOn<'_>) -> Result<Executions, ChainError> {
    let mut workshop = Workshop::new(programs)?;
    lawpack(&workshop)?;
    let mut host = Host::serve(programs, None)?;
    let mut done = Executions::default();
    let mut seed = 0;
    while goes_on(done) {
        let (mut tape, drawn) = drawn(seed);
        let compiled = workshop.compile(&drawn.source)?;
        let mut built = compiled.map_err(|found| ChainError::new(format!("{found:?}")))?;
        workshop.verify(&mut built)?;
        workshop.discard(&built)?;
        for _ in 0..DAMAGES {
            let package = tree::damaged(&mut tape, &built.package);
            let accepted = host.offer(&offer(&package, &built.report));
            done.deeper += u64::from(accepted.map_err(|error| at(seed, &error))?);
            done.answered += 1;
        }
        seed += 1;
    }
    Ok(done)
}

fn at(seed: u64, error: &ChainError) -> ChainError {
    ChainError::new(format!("seed {seed}: {error}"))
}

fn drawn(seed: u64) -> (Tape, Program) {
    let mut tape = Tape::random(seed);
    let drawn = program(&mut tape, 1);
    (Tape::random(!seed), drawn)
}

/// An answer that admits a defect, or none at all.
fn is_broken(answer: &Answer, codes: &[i32]) -> bool {
    let kind = |it: &Json| it.get("kind").and_then(Json::as_str) == Some("InternalError");
    answer.errors.iter().any(kind) || !answer.code.is_some_and(|it| codes.contains(&it))
}

/// Many sources with damaged bytes in one request; the compiler answers about all of them.
fn checked(programs: &Programs, tape: &mut Tape, drawn: &Program) -> Result<(), ChainError> {
    let workshop = Workshop::new(programs)?;
    for number in 0..BATCH {
        let bytes = tree::damaged_bytes(tape, drawn.source.as_bytes());
        workshop.write(&format!("src/{number}.edict"), &bytes)?;
    }
    let request = json!({"schema": "edict.compiler.settings/v1", "operation": "check"});
    let input = json!({"schema": "edict.compiler.input/v1", "kind": "directory", "path": "src"});
    let lines = format!("{request}\n{input}");
    let answer = programs.ask_lines("edict", workshop.path(), &lines)?;
    if is_broken(&answer, &[0, 1, 2]) {
        return Err(ChainError::new(format!("edict: {answer:?}")));
    }
    Ok(())
}

/// Builds a source, and verifies it if that goes well; whether the source parsed.
fn built(workshop: &mut Workshop, source: &str) -> Result<bool, ChainError> {
    match workshop.attempt(source)? {
        Attempt::Built(mut built) => {
            workshop.verify(&mut built)?;
            workshop.discard(&built)?;
            Ok(true)
        }
        Attempt::Refused(found) => Ok(found.iter().all(|(stage, ..)| stage != "parse")),
        Attempt::Failed(answer) if is_broken(&answer, &[2]) => {
            Err(ChainError::new(format!("edict: {answer:?}")))
        }
        Attempt::Failed(_) => Ok(false),
    }
}

/// Verifies and evaluates a damaged Core; whether it could be read.
fn judged(
    workshop: &Workshop,
    built: &Built,
    core: &[u8],
    number: usize,
) -> Result<bool, ChainError> {
    workshop.write("core.bin", core)?;
    workshop.write("package.bin", &naming(&built.package, core))?;
    let at = |name: &str| built.artifact(name);
    let verify = json!({
        "schema": "edict.verifier.request/v1", "type": "verifierRequest",
        "operation": "verify", "output": at(&format!("report{number}")),
        "inputs": {
            "source": "src/m.edict", "core": "core.bin", "targetIr": at("target-ir"),
            "resultProjection": at("result-projection"), "package": "package.bin",
            "lawpacks": built.lawpacks(),
        },
    });
    let answer = workshop.ask("edict-verifier", &verify)?;
    if is_broken(&answer, &[1]) {
        return Err(ChainError::new(format!(
            "edict-verifier verify: {answer:?}"
        )));
    }
    let evaluate = json!({
        "schema": "edict.verifier.request/v1", "type": "verifierRequest",
        "operation": "evaluate", "output": at(&format!("body{number}")),
        "inputs": {
            "core": "core.bin", "lawpacks": built.lawpacks(), "input": "input.bin",
            "intent": "run",
        },
    });
    let answer = workshop.ask("edict-verifier", &evaluate)?;
    if is_broken(&answer, &[0, 2]) {
        return Err(ChainError::new(format!(
            "edict-verifier evaluate: {answer:?}"
        )));
    }
    let unread = |it: &Json| it.get("kind").and_then(Json::as_str) == Some("InvalidArtifact");
    Ok(!answer.errors.iter().any(unread))
}

/// The package with the digest of another Core, so that Core is judged before the package is.
fn naming(package: &[u8], core: &[u8]) -> Vec<u8> {
    let digest = frame_typed("edict.core.module/v1", core).to_value();
    let Ok(Value::Map(mut members)) = decode(package) else {
        return package.to_vec();
    };
    for (name, member) in &mut members {
        if let (Some("core"), Value::Map(parts)) = (name.as_text(), member) {
            for (part, value) in parts {
                if part.as_text() == Some("digest") {
                    value.clone_from(&digest);
                }
            }
        }
    }
    encode(&Value::Map(members))
}

/// A request that installs a package, right in everything but the package.
fn offer(package: &[u8], report: &[u8]) -> Value {
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
    Value::text_map([
        ("packageDigest", pin("echo.program-package/v1", package)),
        ("package", Value::bytes(package)),
        ("reportDigest", pin("edict.verification-report/v1", report)),
        ("report", Value::bytes(report)),
        ("policy", policy),
    ])
}
