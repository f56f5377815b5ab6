// SPDX-License-Identifier: Apache-2.0
//! Writes completions and manual pages of the command line into a directory.

use clap::ValueEnum as _;
use clap_complete::Shell;
use edict_test_cli::args::tree;
use std::{io, path::Path};

fn main() -> io::Result<()> {
    let directory = std::env::args_os().nth(1);
    let directory = directory.ok_or_else(|| io::Error::other("name the directory to write to"))?;
    write(Path::new(&directory))
}

/// One file a shell, one page a command.
fn write(directory: &Path) -> io::Result<()> {
    for shell in Shell::value_variants() {
        clap_complete::generate_to(*shell, &mut tree(), "edict-test", directory)?;
    }
    clap_mangen::generate_to(tree(), directory)
}
