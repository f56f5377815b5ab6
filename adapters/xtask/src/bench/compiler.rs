// SPDX-License-Identifier: Apache-2.0
//! The rows of compiler, verifier and interpreter.

use super::{Row, median};
use crate::job::Failure;
use edict_codec::cbor::{Value, encode};
use std::{
    fmt::Write as _,
    hint::black_box,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};
use xtask::{
    chain::{ChainError, Host, Programs, Workshop},
    random::lawpack,
};

/// Samples of a median.
const SAMPLES: usize = 21;
/// Cases of the rows about many of them.
const CASES: usize = 1_000;
/// Bytes that the loops visit, once for each of them.
const LOOP: usize = 1_000;
/// Greatest source of the compiler in bytes.
const SOURCE: usize = 1_048_576;

/// Measures everything with the programs in `directory`.
///
/// # Errors
/// When a program cannot be built or run.
pub(crate) fn rows(directory: &Path) -> Result<Vec<Row>, Failure> {
    let programs = Programs::at(directory).map_err(failed)?;
    let mut rows = vec![one_case(&programs)?];
    rows.extend(many_cases(&programs)?);
    rows.push(large_source(&programs)?);
    rows.push(steps(&programs)?);
    Ok(rows)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what `map_err` passes on"
)]
fn failed(error: ChainError) -> Failure {
    Failure::new(error.to_string())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// A workshop with the lawpack of the programs.
fn workshop(programs: &Programs) -> Result<Workshop, Failure> {
    let workshop = Workshop::new(programs).map_err(failed)?;
    lawpack(&workshop).map_err(failed)?;
    Ok(workshop)
}

/// A module around the body of an intent.
fn module(types: &str, body: &str) -> String {
    format!(
        "package rand.bench@1;
use lawpack rand.kit@1 digest \"sha256:…\" as kit;
{types}
intent run(input: Input) returns Output profile kit.pure basis none budget <= kit.roomy
{{
{body}
}}
"
    )
}

/// A comparison of two numbers, as small as the first case of the tour; `number` makes it distinct.
fn small(number: usize) -> String {
    module(
        "type Input = { left: U64, right: U64 };
type Output = { status: U32, assertions: U32, message: String<max=256> };",
        &format!(
            "  let same = input.left == input.right;
  return {{
    status: if same then 0 else 1, assertions: 1,
    message: if same then \"{number}\" else \"left differs from right\",
  }};"
        ),
    )
}

fn build(workshop: &mut Workshop, source: &str) -> Result<(), Failure> {
    let built = workshop.compile(source).map_err(failed)?;
    let mut built = built.map_err(|found| Failure::new(format!("refused: {found:?}")))?;
    workshop.verify(&mut built).map_err(failed)?;
    workshop.discard(&built).map_err(failed)
}

/// Two processes that do nothing.
fn spawn_two() -> Result<f64, Failure> {
    let start = Instant::now();
    for _ in 0..2 {
        Command::new("true").status()?;
    }
    Ok(milliseconds(start.elapsed()))
}

fn one_case(programs: &Programs) -> Result<Row, Failure> {
    let mut workshop = workshop(programs)?;
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for _ in 0..SAMPLES {
        let start = Instant::now();
        build(&mut workshop, &small(0))?;
        ours.push(milliseconds(start.elapsed()));
        peer.push(spawn_two()?);
    }
    let name = "a case built and verified in ms, beside two processes that do nothing";
    Ok(Row::at_most(
        name,
        median(&mut ours),
        median(&mut peer),
        8.0,
    ))
}

/// Distinct cases by so many workers, in milliseconds.
fn batch(programs: &Programs, workers: usize) -> Result<f64, Failure> {
    let mut workshops = Vec::new();
    for _ in 0..workers {
        workshops.push(workshop(programs)?);
    }
    let start = Instant::now();
    let done: Vec<Result<(), Failure>> = thread::scope(|scope| {
        let threads: Vec<_> = workshops
            .iter_mut()
            .enumerate()
            .map(|(first, workshop)| {
                scope.spawn(move || {
                    (first..CASES)
                        .step_by(workers)
                        .try_for_each(|number| build(workshop, &small(number)))
                })
            })
            .collect();
        let lost = || Err(Failure::new("a worker was lost"));
        threads
            .into_iter()
            .map(|it| it.join().unwrap_or_else(|_| lost()))
            .collect()
    });
    done.into_iter().collect::<Result<(), Failure>>()?;
    Ok(milliseconds(start.elapsed()))
}

fn many_cases(programs: &Programs) -> Result<Vec<Row>, Failure> {
    let (one, two) = (batch(programs, 1)?, batch(programs, 2)?);
    let mut spawned = 0.0;
    for _ in 0..CASES {
        spawned += spawn_two()?;
    }
    let name = "1,000 distinct cases on one core in ms, beside 2,000 processes that do nothing";
    let scale = "1,000 distinct cases in ms, two workers beside one";
    Ok(vec![
        Row::at_most(name, one, spawned, 8.0),
        Row::at_most(scale, two, one, 0.7),
    ])
}

/// A module of so many bytes, functions one after the other.
fn functions(bytes: usize) -> String {
    let mut source = module(
        "type Input = { a: U64 };\ntype Output = { a: U64 };",
        "  return { a: input.a };",
    );
    let mut number = 0;
    while source.len() + 80 < bytes {
        // Writing into a string cannot fail.
        _ = writeln!(
            source,
            "fn function{number}(value: U64) -> U64 {{ return value / 2; }}"
        );
        number += 1;
    }
    source
}

fn large_source(programs: &Programs) -> Result<Row, Failure> {
    let mut workshop = workshop(programs)?;
    let mut time = |bytes: usize| -> Result<f64, Failure> {
        let source = functions(bytes);
        let mut samples = Vec::new();
        for _ in 0..3 {
            let start = Instant::now();
            let built = workshop.compile(&source).map_err(failed)?;
            samples.push(milliseconds(start.elapsed()));
            let built = built.map_err(|found| Failure::new(format!("refused: {found:?}")))?;
            workshop.discard(&built).map_err(failed)?;
        }
        Ok(median(&mut samples))
    };
    let (whole, part) = (time(SOURCE)?, time(SOURCE / 8)?);
    let name = "a source of 1 MiB in ms, beside eight times one of 128 KiB";
    Ok(Row::at_most(name, whole, part * 8.0, 1.5))
}

/// Every byte with every byte, added up.
fn steps(programs: &Programs) -> Result<Row, Failure> {
    let mut workshop = workshop(programs)?;
    let source = module(
        &format!("type Input = {{ text: Bytes<max={LOOP}> }};\ntype Output = {{ sum: U64 }};"),
        &format!(
            "  let sum = for left in input.text bounded {LOOP} with outer: U64 = 0 {{
    let inner = for right in input.text bounded {LOOP} with total: U64 = outer {{
      yield default(checkedAdd(total, toU64(right)), 0);
    }};
    yield inner;
  }};
  return {{ sum }};"
        ),
    );
    let compiled = workshop.compile(&source).map_err(failed)?;
    let mut built = compiled.map_err(|found| Failure::new(format!("refused: {found:?}")))?;
    workshop.verify(&mut built).map_err(failed)?;
    let mut host = Host::serve(programs, None).map_err(failed)?;
    let installation = host
        .install(&built.package, &built.report)
        .map_err(failed)?;
    let grants = std::slice::from_ref(&installation);
    let mut context = host.open(grants, None).map_err(failed)?;
    let input = encode(&Value::text_map([("text", Value::bytes(vec![3; LOOP]))]));
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    let script = Script::new()?;
    for _ in 0..5 {
        let start = Instant::now();
        let outcome = host.invoke(&mut context, (&installation, false), &input);
        let time = start.elapsed();
        let outcome = outcome.map_err(failed)?;
        let outcome = outcome.map_err(|refusal| Failure::new(format!("{refusal:?}")))?;
        let [steps, ..] = outcome.consumed;
        let rounds = f64::from(u32::try_from(LOOP * LOOP).unwrap_or(u32::MAX));
        let of_a_round = f64::from(u32::try_from(steps).unwrap_or(u32::MAX)) / rounds;
        let rate = |time: Duration| rounds * of_a_round / time.as_secs_f64() / 1e6;
        ours.push(rate(time));
        peer.push(rate(script.run()?));
    }
    let name =
        "a loop over 1,000,000 pairs, in million steps of the cost law a second, beside Rhai";
    Ok(Row::at_least(
        name,
        median(&mut ours),
        median(&mut peer),
        1.0,
    ))
}

/// The same loops in Rhai, compiled once like ours.
struct Script {
    engine: rhai::Engine,
    tree: rhai::AST,
}

impl Script {
    fn new() -> Result<Self, Failure> {
        let engine = rhai::Engine::new();
        let tree = engine
            .compile(
                "let sum = 0; for left in text { for right in text { sum = sum + right; } } sum",
            )
            .map_err(|error| Failure::new(error.to_string()))?;
        Ok(Self { engine, tree })
    }

    fn run(&self) -> Result<Duration, Failure> {
        let mut scope = rhai::Scope::new();
        let items: rhai::Array = vec![rhai::Dynamic::from(3_i64); LOOP];
        scope.push("text", items);
        let start = Instant::now();
        let sum = self
            .engine
            .eval_ast_with_scope::<i64>(&mut scope, &self.tree)
            .map_err(|error| Failure::new(error.to_string()))?;
        let time = start.elapsed();
        if black_box(sum) == 3_000_000 {
            Ok(time)
        } else {
            Err(Failure::new(format!("Rhai sums up to {sum}")))
        }
    }
}
