// SPDX-License-Identifier: Apache-2.0
//! The verifier port against small programs that answer rightly, wrongly and not at all. No libtest
//! harness, because this executable is also the launcher of its children.

#[cfg(test)]
mod support;
#[cfg(test)]
mod verify;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = edict_test_process::launcher_main(std::env::args_os()) {
        return code;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    libtest_mimic::run(&arguments, verify::tests()).exit_code()
}
