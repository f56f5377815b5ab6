// SPDX-License-Identifier: Apache-2.0
//! `edict-test`: wiring, signals and the exit status. No rule of the run lives here.

#[cfg(panic = "abort")]
compile_error!("a panic must reach the bail-out (T11): build with panic = \"unwind\"");

mod commands;
mod files;
mod output;
mod publish;
mod signals;
mod timing;
mod wire;

use edict_test_cli::args;
use std::{ffi::OsString, process::ExitCode};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = edict_test_process::launcher_main(arguments.iter().cloned()) {
        return code;
    }
    if args::is_run_form(&arguments) {
        return commands::run::main(arguments);
    }
    commands::main(arguments)
}
