// SPDX-License-Identifier: Apache-2.0
//! `--help` of every form, and the completions and manual pages made from the same tree.

use crate::support::{Run, program};
use clap::ValueEnum as _;
use edict_test_cli::args::tree;
use std::{fs, process::Command};

const COMMANDS: [&str; 8] = [
    "check", "lock", "init", "fixture", "why", "why-not", "report", "cache",
];

fn help(arguments: &[&str]) -> String {
    let output = Command::new(program("edict-test"))
        .args(arguments)
        .arg("--help")
        .output()
        .unwrap();
    let run = Run::of(output);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
    run.stdout
}

#[test]
fn every_form_tells_streams_exit_status_limits_and_one_full_example() {
    let forms = COMMANDS.iter().map(|name| vec![*name]).chain([vec![]]);
    for form in forms {
        let text = help(&form);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in ["Streams: ", "Exit status: ", "Example: "] {
            assert!(line.contains(part), "{form:?} lacks {part}: {text}");
        }
        let bounds = ["Limits: ", "limits are", "Ceilings, "];
        assert!(
            bounds.iter().any(|it| line.contains(it)),
            "{form:?}: {text}"
        );
        let example = text
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("edict-test "))
            .unwrap_or_else(|| panic!("{form:?} has no example"));
        let mut words = vec!["edict-test"];
        words.extend(&form);
        assert!(example.starts_with(&words.join(" ")), "{form:?}: {example}");
    }
}

#[test]
fn the_actions_of_fixture_and_cache_tell_the_same() {
    for form in [
        ["fixture", "encode"],
        ["fixture", "decode"],
        ["cache", "stats"],
        ["cache", "gc"],
    ] {
        let text = help(&form);
        for part in ["Streams: ", "Exit status: ", "Limits: ", "Example:"] {
            assert!(text.contains(part), "{form:?} lacks {part}: {text}");
        }
    }
}

#[test]
fn every_example_of_the_help_is_a_command_line_of_this_program() {
    for form in COMMANDS {
        let text = help(&[form]);
        let example = text
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("edict-test "))
            .unwrap();
        let words: Vec<&str> = example.split(' ').collect();
        tree()
            .try_get_matches_from(words)
            .unwrap_or_else(|error| panic!("{example}: {error}"));
    }
}

#[test]
fn progress_is_for_terminals_and_changes_no_byte() {
    let space = crate::project::project();
    let (plain, _) = space.run(&[]);
    let (asked, _) = space.run(&["--progress"]);
    assert_eq!((plain.code, asked.code), (0, 0), "{}", asked.stderr);
    assert_eq!(plain.stdout, asked.stdout);
    assert_eq!(
        asked.stderr, plain.stderr,
        "standard error is no terminal here"
    );
}

#[test]
fn completions_and_pages_name_every_command() {
    let directory = tempfile::tempdir().unwrap();
    clap_mangen::generate_to(tree(), directory.path()).unwrap();
    for name in COMMANDS {
        let page = directory.path().join(format!("edict-test-{name}.1"));
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains("Example"), "{name}");
    }
    for shell in clap_complete::Shell::value_variants() {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut tree(), "edict-test", &mut script);
        let script = String::from_utf8(script).unwrap();
        for name in COMMANDS {
            assert!(script.contains(name), "{shell} lacks {name}");
        }
    }
}
