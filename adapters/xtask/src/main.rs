// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask`: the jobs around the product. Each prints what it does and fails with a reason.

mod bench;
mod command;
mod faults;
mod fuzz;
mod jim_jobs;
mod job;
mod kill_loop;
mod man;
mod page;
mod programs;
mod random_programs;
mod tests;
mod tour;

use std::process::ExitCode;

const HELP: &str = "cargo xtask JOB

  tour      build everything, pin a lock over it, run the tour suite and say what was proved
  test      install what the tests need and run them all
  faults [NAME ...]
            apply each deliberate fault to a copy of the tree; the test that it names must fail
  random-programs --count N --seed S [--profile debug|release]
            generate N programs; compiler, verifier, second evaluator and host must agree on each
  fuzz source|core|package|json|cbor|documents|artifacts SECONDS
            damage inputs of compiler, verifier or host (release builds), which must answer each
  man DIR   write completions and manual pages of edict-test into a directory
  page      look at the exported page of a run in a headless browser, light and dark
  bench [compiler|host|jim|run]
            measure what the product costs beside the least that the same work can cost
  kill-loop [--count N] [--seed S]
            kill a release build of the host N times while it settles, and judge every recovery
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tour"] => tour::run(),
        ["test"] => tests::run_tests(),
        ["faults", names @ ..] => faults::run(names),
        ["fuzz", kind, seconds] => fuzz::run(kind, seconds),
        ["man", directory] => man::write(directory),
        ["page"] => page::run(),
        ["bench"] => bench::run(None),
        ["bench", part @ ("compiler" | "host" | "jim" | "run")] => bench::run(Some(*part)),
        ["bench-echo", sent, received] => bench::host::echo(sent, received),
        ["kill-loop", options @ ..] => {
            kill_loop::Options::parse(options).and_then(|options| kill_loop::run(&options))
        }
        ["random-programs", options @ ..] => random_programs::run_with(options),
        ["jim-suite", table, out] => jim_jobs::write_suite(table, out),
        ["jim-vendor"] => jim_jobs::vendor(),
        ["jim-random", edits, seed] => jim_jobs::random_edits(edits, seed),
        ["jim-mutations", ids @ ..] => jim_jobs::mutations(ids),
        ["--help" | "-h"] => {
            command::say(HELP);
            Ok(())
        }
        _ => Err(job::Failure::new(format!("unknown job\n\n{HELP}"))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            command::complain(&format!("xtask: {failure}\n"));
            ExitCode::FAILURE
        }
    }
}
