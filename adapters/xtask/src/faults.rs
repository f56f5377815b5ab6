// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask faults`: calibrates the tests. Each patch of `testdata/faults` makes the product lie
//! in one way in a copy of the tree, and the test that it names must fail there, and only there.

use crate::{
    command::say,
    job::{Failure, copy_tree, root, target},
    tests::install_consumers,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use xtask::fault::Fault;

/// Calibrates with every fault, or with those whose file names are given.
pub(crate) fn run(names: &[&str]) -> Result<(), Failure> {
    let home = target()?.join("faults");
    let copy = Copy {
        tree: home.join("tree"),
        target: home.join("target"),
    };
    copy.refresh()?;
    install_consumers()?;
    copy_tree(
        &target()?.join("tap-consumers"),
        &copy.target.join("tap-consumers"),
    )?;
    let faults = faults(names)?;
    for (path, fault) in &faults {
        // A test that fails anyway notices nothing.
        say(&format!("without a fault: {} ... ", fault.test));
        copy.expect(fault, true, path)?;
    }
    for (path, fault) in &faults {
        say(&format!("{}: {} ... ", fault.title, fault.test));
        copy.apply(path, &[])?;
        let noticed = copy.expect(fault, false, path);
        copy.apply(path, &["--reverse"])?;
        noticed?;
    }
    say(&format!("all {} faults were noticed\n", faults.len()));
    Ok(())
}

/// The patches in the order of their names.
fn faults(names: &[&str]) -> Result<Vec<(PathBuf, Fault)>, Failure> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root().join("testdata/faults"))? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|it| it.to_str());
        let wanted = names.is_empty() || stem.is_some_and(|stem| names.contains(&stem));
        if path.extension().is_some_and(|it| it == "patch") && wanted {
            let head = Fault::parse(&fs::read_to_string(&path)?);
            let head = head.ok_or_else(|| {
                Failure::new(format!("`{}` names no fault and test", path.display()))
            })?;
            found.push((path, head));
        }
    }
    found.sort_by(|one, two| one.0.cmp(&two.0));
    if found.is_empty() {
        return Err(Failure::new("no fault has such a name"));
    }
    Ok(found)
}

/// A copy of the tree with a target directory of its own, kept between runs.
struct Copy {
    tree: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Brings the copy to the state of the tree. Equal files stay as they are, so that only what a
    /// fault touches is compiled again.
    fn refresh(&self) -> Result<(), Failure> {
        let listed = git(
            &root(),
            &[
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ],
        )?;
        let names = String::from_utf8(listed.stdout)
            .map_err(|_| Failure::new("a file of the tree has a name that is no text"))?;
        for name in names.split_terminator('\0') {
            let (from, to) = (root().join(name), self.tree.join(name));
            let Ok(bytes) = fs::read(&from) else { continue };
            if fs::read(&to).is_ok_and(|old| old == bytes) {
                continue;
            }
            if let Some(parent) = to.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::copy(from, to)?;
        }
        Ok(())
    }

    fn apply(&self, patch: &Path, how: &[&str]) -> Result<(), Failure> {
        let path = patch.display().to_string();
        let arguments = [&["apply"], how, &[path.as_str()]].concat();
        let output = git(&self.tree, &arguments)?;
        if output.status.success() {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Failure::new(format!(
            "`{path}` applies no longer; make it again: {reason}"
        )))
    }

    /// Builds the programs and runs the test of a fault, which must pass or fail as `passes` says.
    fn expect(&self, fault: &Fault, passes: bool, patch: &Path) -> Result<(), Failure> {
        let built = self.cargo(&["build", "--workspace", "--bins"])?;
        if !built.status.success() {
            let reason = String::from_utf8_lossy(&built.stderr).into_owned();
            return Err(Failure::new(format!(
                "the copy does not compile with `{}`: {reason}",
                patch.display()
            )));
        }
        let package = fault.package.as_str();
        let test = fault.test.as_str();
        let ran = self.cargo(&["test", "-p", package, "--test", "it", "--", "--exact", test])?;
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        let outcome = if passes {
            "ok. 1 passed"
        } else {
            "FAILED. 0 passed; 1 failed"
        };
        if said.contains(&format!("test result: {outcome}")) {
            say(if passes { "passes\n" } else { "noticed\n" });
            return Ok(());
        }
        let wanted = if passes {
            "pass without a fault"
        } else {
            "notice it"
        };
        Err(Failure::new(format!(
            "{}: `{test}` does not {wanted}\n{said}{}",
            fault.title,
            String::from_utf8_lossy(&ran.stderr)
        )))
    }

    fn cargo(&self, arguments: &[&str]) -> Result<Output, Failure> {
        Command::new(env!("CARGO"))
            .args(arguments)
            .current_dir(&self.tree)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUST_BACKTRACE", "0")
            .output()
            .map_err(|error| Failure::new(format!("start cargo: {error}")))
    }
}

/// Runs Git. The copy stands inside of the checkout and must not be taken for a part of it.
fn git(directory: &Path, arguments: &[&str]) -> Result<Output, Failure> {
    Command::new("git")
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CEILING_DIRECTORIES", root().join("target"))
        .output()
        .map_err(|error| Failure::new(format!("start git: {error}")))
}
