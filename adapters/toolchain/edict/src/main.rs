// SPDX-License-Identifier: Apache-2.0
//! The program `edict`: standard streams around the library.

use edict::jsonl::{Streams, internal_error, run};
use std::{env, io, panic, process::ExitCode};

/// The compiler recurses over trees whose depth is bounded; this holds the deepest of them.
const STACK_BYTES: usize = 256 * 1_048_576;

fn main() -> ExitCode {
    // A defect is reported as a record like everything else.
    panic::set_hook(Box::new(|_| {}));
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(answer);
    // A thread that cannot be had, and a defect that unwinds, end like every internal error.
    let exit_code = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(exit_code)) => exit_code,
        Ok(Err(_)) | Err(_) => internal_error(&mut io::stderr()),
    };
    ExitCode::from(exit_code)
}

/// The limit of the request is the one setting that the process takes from outside it.
fn answer() -> u8 {
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let limit = env::var_os("EDICT_CLI_MAX_STDIN_BYTES");
    let limit = limit.map(|limit| limit.to_string_lossy().into_owned());
    let mut streams = Streams {
        stdin: io::stdin().lock(),
        stdout: io::stdout().lock(),
        stderr: io::stderr().lock(),
    };
    run(&arguments, limit.as_deref(), &mut streams)
}
