// SPDX-License-Identifier: Apache-2.0
//! Owned children against small hostile programs. No libtest harness, because this executable is also
//! the launcher of its children.

#[cfg(test)]
mod child;
#[cfg(test)]
mod conversation;
#[cfg(test)]
mod staging;
#[cfg(test)]
mod support;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = edict_test_process::launcher_main(std::env::args_os()) {
        return code;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = [child::tests(), conversation::tests(), staging::tests()];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit_code()
}
