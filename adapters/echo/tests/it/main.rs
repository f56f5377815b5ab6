// SPDX-License-Identifier: Apache-2.0
//! The tests of the host client, one binary. Every host here is a stand-in: nothing it answers is
//! evidence of an execution. No libtest harness, because this executable is also the launcher of the
//! stand-ins that are processes.

#[cfg(test)]
mod frames;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod order;
#[cfg(test)]
mod plan;
#[cfg(test)]
mod process;
#[cfg(test)]
mod standin;

use std::process::ExitCode;

/// Makes a named test of each function.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(
            concat!(module_path!(), "::", stringify!($name)),
            || {
                $name();
                Ok(())
            },
        )),*]
    };
}
pub(crate) use trials;

fn main() -> ExitCode {
    if let Some(code) = edict_test_process::launcher_main(std::env::args_os()) {
        return code;
    }
    let arguments = libtest_mimic::Arguments::from_args();
    let tests = [
        frames::tests(),
        hostile::tests(),
        order::tests(),
        process::tests(),
    ];
    libtest_mimic::run(&arguments, tests.into_iter().flatten().collect()).exit_code()
}
