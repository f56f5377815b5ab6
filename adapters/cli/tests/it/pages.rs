// SPDX-License-Identifier: Apache-2.0
//! The commands of the page on `why` give the answers that it shows.

use crate::{
    project::masked,
    support::{programs, root},
};
use std::{fs, path::Path, process::Command};

/// Runs one line of a page as a shell would.
fn shell(directory: &Path, line: &str) -> String {
    let path = std::env::var("PATH").unwrap();
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", format!("{}:{path}", programs().display()))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The page with what its commands answer now.
fn answered(page: &str, directory: &Path) -> String {
    let mut text = String::new();
    let mut console = false;
    for line in page.lines() {
        if line == "```console" || (console && line == "```") {
            console = !console;
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| console) {
            text.push_str(&format!("{line}\n{}", shell(directory, command)));
            continue;
        } else if console {
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

#[test]
fn the_page_on_why_shows_what_its_commands_answer() {
    crate::support::program("edict-test");
    let path = root().join("docs/why.md");
    let page = fs::read_to_string(&path).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let now = answered(&page, directory.path());
    if std::env::var("UPDATE_EXPECT").is_ok_and(|it| it == "1") {
        fs::write(path, &now).unwrap();
    } else {
        assert_eq!(
            masked(&page),
            masked(&now),
            "UPDATE_EXPECT=1 writes the page anew"
        );
    }
}
