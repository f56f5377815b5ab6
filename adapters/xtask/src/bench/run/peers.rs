// SPDX-License-Identifier: Apache-2.0
//! What runs as many trivial tests, or looks after as many build steps: `prove`, `cargo nextest`,
//! `bats` and `ninja`.

use super::suite::Suite;
use crate::{
    command::{capture, say},
    job::Failure,
};
use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

/// A program of the same trade that does as many things.
#[derive(Debug)]
pub(super) struct Peer {
    /// What people call it.
    pub(super) name: &'static str,
    directory: PathBuf,
    program: &'static str,
    arguments: Vec<String>,
}

impl Peer {
    /// Does the work once.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let output = capture(&self.directory, Path::new(self.program), &self.arguments)?;
        if output.status.success() {
            return Ok(());
        }
        Err(Failure::new(format!(
            "{} ended with {}: {}",
            self.name,
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )))
    }
}

/// Whether `program` is there; what is missing is installed from Debian's `package`, and what cannot
/// be is told, and its rows are left out.
pub(super) fn available(program: &str, package: &str) -> bool {
    let here = Path::new(".");
    let answers = || capture(here, Path::new(program), &["--version"]).is_ok();
    if answers() {
        return true;
    }
    say(&format!(
        "# {program} is missing: apt-get install -y {package}\n"
    ));
    let apt = Path::new("apt-get");
    let installed = capture(here, apt, &["install", "-y", package]).is_ok() && answers();
    if !installed {
        say(&format!(
            "# {program} cannot be installed; its rows are left out\n"
        ));
    }
    installed
}

/// One shell script that prints one point, for each case.
pub(super) fn prove(space: &Path, cases: u32) -> Result<Peer, Failure> {
    let directory = space.join(format!("prove-{cases}"));
    fs::create_dir_all(&directory)?;
    for number in 0..cases {
        let text = format!("#!/bin/sh\necho 1..1\necho ok 1 - case {number}\n");
        fs::write(directory.join(format!("{number}.t")), text)?;
    }
    Ok(Peer {
        name: "prove",
        directory,
        program: "prove",
        arguments: ["-Q", "--exec", "sh", "."].map(str::to_owned).to_vec(),
    })
}

/// One file of so many tests that do nothing.
pub(super) fn bats(space: &Path, cases: u32) -> Result<Peer, Failure> {
    let directory = space.join(format!("bats-{cases}"));
    fs::create_dir_all(&directory)?;
    let mut text = String::new();
    for number in 0..cases {
        // Writing into a string cannot fail.
        _ = writeln!(text, "@test \"case {number}\" {{\n  true\n}}");
    }
    fs::write(directory.join("cases.bats"), text)?;
    Ok(Peer {
        name: "bats",
        directory,
        program: "bats",
        arguments: vec!["cases.bats".to_owned()],
    })
}

/// A crate of so many tests that do nothing, built beforehand; nextest is given the lists that cargo
/// would otherwise make each time.
pub(super) fn nextest(space: &Path, cases: u32) -> Result<Peer, Failure> {
    let directory = space.join(format!("nextest-{cases}"));
    fs::create_dir_all(directory.join("src"))?;
    let manifest =
        "[package]\nname = \"peer\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n";
    fs::write(directory.join("Cargo.toml"), manifest)?;
    let mut text = String::new();
    for number in 0..cases {
        _ = writeln!(text, "#[test]\nfn case_{number}() {{}}");
    }
    fs::write(directory.join("src/lib.rs"), text)?;
    let listed = |name: &str, arguments: &[&str]| -> Result<(), Failure> {
        let output = capture(&directory, Path::new(env!("CARGO")), arguments)?;
        if output.status.success() {
            return Ok(fs::write(directory.join(name), output.stdout)?);
        }
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Failure::new(format!("list the tests of nextest: {told}")))
    };
    let target = "--target-dir=target";
    listed(
        "cargo.json",
        &["metadata", "--format-version", "1", "--offline"],
    )?;
    let binaries = [
        "nextest",
        "list",
        target,
        "--offline",
        "--list-type",
        "binaries-only",
        "--message-format",
        "json",
    ];
    listed("binaries.json", &binaries)?;
    let arguments = [
        "nextest",
        "run",
        "-j1",
        "--cargo-metadata",
        "cargo.json",
        "--binaries-metadata",
        "binaries.json",
    ];
    Ok(Peer {
        name: "nextest -j1",
        directory,
        program: env!("CARGO"),
        arguments: arguments.map(str::to_owned).to_vec(),
    })
}

/// As many build steps as the suite has: one that builds and one that verifies for each case, from the
/// same files. They are run once.
pub(super) fn ninja(space: &Path, suite: &Suite) -> Result<Peer, Failure> {
    let directory = space.join(format!("ninja-{}", suite.cases));
    suite.copy_to(&directory)?;
    let packs = "cases/vendor/starter/manifest.cbor cases/vendor/starter/exports.cbor \
                 cases/vendor/edict-test/manifest.cbor cases/vendor/edict-test/exports.cbor";
    let mut text = "rule copy\n  command = cp $in_first $out\n".to_owned();
    for number in 0..suite.cases {
        let source = format!("cases/src/{number}.edict");
        let application = format!("cases/{number}.application.json");
        _ = writeln!(
            text,
            "build out/{number}.package: copy {source} {application} | {packs}\n  in_first = {source}\n\
             build out/{number}.report: copy out/{number}.package\n  in_first = out/{number}.package"
        );
    }
    fs::write(directory.join("build.ninja"), text)?;
    let peer = Peer {
        name: "ninja",
        directory,
        program: "ninja",
        arguments: Vec::new(),
    };
    peer.run()?;
    Ok(peer)
}

/// Changes one source of the peer, as the suite changes one of its own.
pub(super) fn edit_of_ninja(peer: &Peer, number: u32, revision: u32) -> Result<(), Failure> {
    let source = peer.directory.join(format!("cases/src/{number}.edict"));
    Ok(fs::write(source, format!("revision {revision}\n"))?)
}
