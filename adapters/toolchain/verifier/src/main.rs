// SPDX-License-Identifier: Apache-2.0
//! The program `edict-verifier`: standard streams around the library.

use edict_verifier::process::{MAX_STDIN_BYTES, Streams, run};
use std::io::{stderr, stdin, stdout};
use std::process::ExitCode;

/// Lowers or raises the bound on the request, as for the compiler.
const LIMIT_VARIABLE: &str = "EDICT_CLI_MAX_STDIN_BYTES";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    let limit = std::env::var_os(LIMIT_VARIABLE)
        .and_then(|text| text.to_str()?.parse().ok())
        .unwrap_or(MAX_STDIN_BYTES);
    let mut streams = Streams {
        stdin: &mut stdin(),
        stdout: &mut stdout(),
        stderr: &mut stderr(),
    };
    ExitCode::from(run(&arguments, &mut streams, limit))
}
