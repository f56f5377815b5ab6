// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask test`: installs the independent TAP consumers and runs every test.

use crate::{
    command::{cargo, run},
    job::{Failure, copy_tree, root, target},
};

pub(crate) fn run_tests() -> Result<(), Failure> {
    install_consumers()?;
    // Tests start the programs, so these are built first and in the same profile.
    cargo(&["build", "--workspace", "--bins"])?;
    cargo(&["test", "--workspace", "--no-fail-fast"])
}

/// Installs the pinned `tap-parser` under the target directory and asks Perl for its own modules.
pub(crate) fn install_consumers() -> Result<(), Failure> {
    let home = target()?.join("tap-consumers");
    let pinned = home.join("package-lock.json");
    let source = root().join("testdata/tap-consumers");
    let installed = home.join("node_modules/tap-parser/package.json").is_file()
        && std::fs::read(&pinned).ok() == std::fs::read(source.join("package-lock.json")).ok();
    if !installed {
        copy_tree(&source, &home)?;
        run(
            &home,
            "npm",
            &["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        )?;
    }
    run(
        &home,
        "perl",
        &["-MTAP::Parser", "-MJSON::PP", "-MEncode", "-e", "1"],
    )
    .map_err(|error| Failure::new(format!("core Perl with TAP::Parser is needed: {error}")))
}
