// SPDX-License-Identifier: Apache-2.0
//! H63, H67: a host that is killed at random while it settles loses no acknowledged commit, keeps
//! a prefix of the uninterrupted run and shows nothing half done. `cargo xtask kill-loop` does the
//! same with a release build and any number of kills.

use std::{path::Path, process::Command};

#[test]
fn twenty_five_kills_lose_nothing() {
    let xtask = Path::new(env!("CARGO_BIN_EXE_xtask"));
    let programs = xtask.parent().unwrap();
    let output = Command::new(xtask)
        .args(["kill-loop", "--count", "25", "--seed", "23", "--programs"])
        .arg(programs)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaint}");
    assert!(said.starts_with("kill-loop: 25 kills, seed 23: "), "{said}");
}

#[test]
fn unknown_options_of_the_loop_are_refused() {
    for options in [["--count", "many"], ["--kills", "3"]] {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("kill-loop")
            .args(options)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{options:?}");
        assert!(output.stdout.is_empty());
    }
}
