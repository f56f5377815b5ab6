// SPDX-License-Identifier: Apache-2.0
//! `echo-host`: the command line around the host.

use echo_host::{
    process::{
        admission::admit,
        args::{self, Command, Options},
        greeting::{Greeting, VERSION},
        host::Host,
        output::{Output, RawStdout},
        serve::serve,
    },
    wal::directory::StateRoot,
};
use std::{
    io::{self, Write},
    process::ExitCode,
};

#[cfg(panic = "abort")]
compile_error!("a request that panics ends with a fault frame, which needs unwinding");

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(message) => return usage(&message),
    };
    match command {
        Command::Version => {
            let line = format!("echo-host {VERSION}\n");
            match io::stdout().write_all(line.as_bytes()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(_) => ExitCode::from(3),
            }
        }
        Command::Serve(options) => run(options),
    }
}

fn run(options: Options) -> ExitCode {
    let state_root = match &options.state_root {
        None => None,
        Some(path) => match StateRoot::open(path) {
            Some(root) => Some(root),
            None => return usage(&format!("{} is no directory", path.display())),
        },
    };
    let greeting = Greeting::new(options.workers.get(), state_root.is_some());
    let host = Host::new(greeting, state_root, options.fault_points, admit);
    let output = Output::new(Box::new(RawStdout));
    ExitCode::from(serve(host, io::stdin(), output, options.workers).code())
}

fn usage(message: &str) -> ExitCode {
    // A command line may be long; what is said about it is not.
    let message: String = message.escape_debug().take(256).collect();
    let line = format!("echo-host: {message}\n");
    // Diagnostics are no contract; the exit code says the same.
    let _ = io::stderr().write_all(line.as_bytes());
    ExitCode::from(2)
}
