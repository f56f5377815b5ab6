// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask tour`: the main job on a real suite, from source text to a checked result.

use crate::{
    command::{capture, cargo, say},
    job::{Failure, copy_tree, root, target},
};
use std::path::Path;

pub(crate) fn run() -> Result<(), Failure> {
    say("# building edict, edict-verifier, echo-host and edict-test\n");
    cargo(&["build", "--quiet", "--workspace", "--bins"])?;
    let programs = target()?.join("debug");
    let space = target()?.join("tour");
    copy_tree(&root().join("testdata/suites/tour"), &space.join("suite"))?;
    for old in ["run.json", "run.json.journal"] {
        _ = std::fs::remove_file(space.join(old));
    }
    _ = std::fs::remove_dir_all(space.join("run.json.artifacts"));
    say("# pinning a toolchain lock over what was built\n");
    let suite = "suite/edict.test-suite.json";
    show(
        &programs,
        &space,
        &["lock", "--suite", suite, "--existing", "replace"],
    )?;
    say("# running the suite: build, verify, execute, check the evidence, report\n");
    show(
        &programs,
        &space,
        &["--suite", suite, "--report-json", "run.json"],
    )?;
    say("# recomputing the report from its own artifacts\n");
    show(
        &programs,
        &space,
        &["report", "verify", "run.json", "--require-green"],
    )?;
    say(LEGEND);
    Ok(())
}

/// Lines of one answer that a reader gets to see.
const SHOWN: usize = 20;

/// Runs `edict-test` and prints the head of its answer; anything but success ends the tour.
fn show(programs: &Path, space: &Path, arguments: &[&str]) -> Result<(), Failure> {
    say(&format!("$ edict-test {}\n", arguments.join(" ")));
    let output = capture(space, &programs.join("edict-test"), arguments)?;
    let answer = String::from_utf8_lossy(&output.stdout);
    for line in answer.lines().take(SHOWN) {
        say(&format!("{line}\n"));
    }
    let more = answer.lines().skip(SHOWN).count();
    if more > 0 {
        say(&format!("… and {more} further lines\n"));
    }
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "edict-test ended with {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    )))
}

const LEGEND: &str = "
What was proved, for every point that is not a skip:
  - its program was built from the sources by `edict` and accepted by `edict-verifier`;
  - `echo-host` executed exactly that package, in a context of its own and on a fresh nonce;
  - every link between source, package, report, invocation, record, receipt and value was
    recomputed by the runner before the point was printed.
What was not: that the compiler, the verifier and the host are right. They are pinned, they
check one another, and changed behavior changes results; nothing here proves more than that.
";
