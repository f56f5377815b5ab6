// SPDX-License-Identifier: Apache-2.0
//! Every command that a page shows is run, and what the page shows below it is what it prints.

use crate::support::{Space, program, root};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Something that a page asks its reader to do, in the order of the page.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A file of that path with that content.
    File(String, String),
    /// A command and what is shown below it; nothing shown is nothing compared.
    Run(String, String),
}

/// Steps of a page: blocks fenced as `console`, and blocks whose fence names a file.
fn steps(page: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(fence) = line.strip_prefix("```") else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|it| *it != "```").collect();
        let mut words = fence.split_whitespace();
        match (words.next(), words.next()) {
            (Some("console"), None) => steps.extend(commands(&block)),
            (Some(_), Some(path)) => {
                steps.push(Step::File(path.to_owned(), block.join("\n") + "\n"));
            }
            _ => {}
        }
    }
    steps
}

fn commands(block: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(command), _) => steps.push(Step::Run(command.to_owned(), String::new())),
            (None, Some(Step::Run(command, shown))) => {
                if shown.is_empty() && command.ends_with('\\') {
                    command.pop();
                    command.push_str(line.trim_start());
                } else {
                    shown.push_str(line);
                    shown.push('\n');
                }
            }
            (None, _) => panic!("a console block begins with a command: {line}"),
        }
    }
    steps
}

/// Whether `text` is `shown`, in which `…` stands for any text.
fn is_shown(shown: &str, text: &str) -> bool {
    let parts: Vec<&str> = shown.trim_end().split('…').collect();
    let (first, rest) = parts.split_first().unwrap();
    let Some(mut left) = text.trim_end().strip_prefix(first) else {
        return false;
    };
    for (index, part) in rest.iter().enumerate() {
        if index + 1 == rest.len() {
            return left.ends_with(part);
        }
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.is_empty()
}

/// A directory that looks like the root of a checkout to a reader, with the programs on the path.
struct Desk {
    directory: tempfile::TempDir,
    programs: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let desk = Self {
            directory: tempfile::tempdir().unwrap(),
            programs: tempfile::tempdir().unwrap(),
        };
        for name in ["edict-test", "edict", "edict-verifier", "echo-host"] {
            symlink(program(name), desk.programs.path().join(name)).unwrap();
        }
        symlink(
            root().join("testdata"),
            desk.directory.path().join("testdata"),
        )
        .unwrap();
        desk
    }

    fn follow(&self, page: &Path, step: &Step) {
        match step {
            Step::File(path, content) => {
                let path = self.directory.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            Step::Run(command, shown) => {
                let output = Command::new("sh")
                    .args(["-c", command])
                    .current_dir(self.directory.path())
                    .env_clear()
                    .env(
                        "PATH",
                        format!("{}:/usr/bin:/bin", self.programs.path().display()),
                    )
                    .stdin(Stdio::null())
                    .output()
                    .unwrap();
                let text = String::from_utf8_lossy(&output.stdout);
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(
                    output.status.success(),
                    "{}: $ {command}\n{text}{said}",
                    page.display()
                );
                assert!(
                    shown.is_empty() || is_shown(shown, &text),
                    "{}: $ {command}\nshows:\n{shown}\nprints:\n{text}{said}",
                    page.display()
                );
            }
        }
    }
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut pending = vec![root().join("docs")];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|it| it == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    pages
}

#[test]
fn every_command_of_every_page_does_what_the_page_shows() {
    for page in pages() {
        let steps = steps(&fs::read_to_string(&page).unwrap());
        if steps.iter().any(|step| matches!(step, Step::Run(..))) {
            let desk = Desk::new();
            for step in &steps {
                desk.follow(&page, step);
            }
        }
    }
}

#[test]
fn the_tutorial_ends_with_a_failing_and_then_a_passing_test() {
    let page = fs::read_to_string(root().join("docs/tutorial.md")).unwrap();
    let ends: Vec<String> = steps(&page)
        .into_iter()
        .filter_map(|step| match step {
            Step::Run(_, shown) => shown.lines().last().map(str::to_owned),
            Step::File(..) => None,
        })
        .filter(|line| line.starts_with("exit "))
        .collect();
    assert_eq!(
        ends.iter().rev().take(2).rev().collect::<Vec<_>>(),
        ["exit 1", "exit 0"]
    );
}

#[test]
fn every_link_of_every_page_leads_to_a_file() {
    let mut missing = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1) {
            let target = target.split([')', '#']).next().unwrap();
            let is_file = !target.is_empty() && !target.contains("://");
            if is_file && !page.parent().unwrap().join(target).exists() {
                missing.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// What `--help` of a form says.
fn help(form: &[String]) -> String {
    let output = Command::new(program("edict-test"))
        .args(form)
        .arg("--help")
        .output()
        .unwrap();
    assert!(output.status.success(), "{form:?} --help");
    String::from_utf8(output.stdout).unwrap()
}

/// Every word of a help that is an option.
fn options(help: &str) -> Vec<&str> {
    help.split(|sign: char| !(sign.is_ascii_lowercase() || sign == '-'))
        .filter(|word| word.len() > 3 && word.starts_with("--"))
        .collect()
}

/// The forms below a form: the run form has a sentence about them, the others a list.
fn forms_below(form: &[String], help: &str) -> Vec<Vec<String>> {
    let names: Vec<&str> = if form.is_empty() {
        let (_, sentence) = help.split_once("Subcommands: ").unwrap();
        sentence.split(';').next().unwrap().split(", ").collect()
    } else {
        let list = help.split_once("Commands:\n").map_or("", |(_, list)| list);
        list.lines()
            .take_while(|line| line.starts_with("  "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help")
            .collect()
    };
    let below = |name: &str| [form, &[name.to_owned()]].concat();
    names.into_iter().map(below).collect()
}

#[test]
fn the_page_of_the_command_line_has_every_option_of_every_form() {
    let page = fs::read_to_string(root().join("docs/command-line.md")).unwrap();
    let mut pending = vec![Vec::new()];
    let mut seen = 0;
    while let Some(form) = pending.pop() {
        let help = help(&form);
        pending.extend(forms_below(&form, &help));
        seen += 1;
        let called = form.join(" ");
        assert!(
            page.contains(&called),
            "docs/command-line.md lacks `{called}`"
        );
        for option in options(&help) {
            assert!(
                page.contains(&format!("{option}`")) || page.contains(&format!("{option} ")),
                "docs/command-line.md lacks {option} of `{called}`"
            );
        }
    }
    assert!(seen > 12, "only {seen} forms were found");
}

/// Names of all members below `value`, each once.
fn members(value: &serde_json::Value, names: &mut BTreeSet<String>) {
    if let Some(object) = value.as_object() {
        for (name, value) in object {
            names.insert(name.clone());
            members(value, names);
        }
    }
    for item in value.as_array().into_iter().flatten() {
        members(item, names);
    }
}

#[test]
fn the_page_of_the_report_has_every_member_of_a_real_one() {
    let page = fs::read_to_string(root().join("docs/report.md")).unwrap();
    let limits = fs::read_to_string(root().join("docs/limits.md")).unwrap();
    let (run, mut report) = Space::of("tour").run(&["--no-state"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    // Telemetry is open, and a typed digest has a page of its own.
    report.as_object_mut().unwrap().remove("telemetry");
    let mut names = BTreeSet::new();
    members(&report, &mut names);
    for name in names {
        let is_known = ["domain", "algorithm", "bytes"].contains(&name.as_str());
        assert!(
            is_known || page.contains(&name) || limits.contains(&name),
            "docs/report.md lacks `{name}`"
        );
    }
}

#[test]
fn steps_and_wildcards_are_read_as_the_index_says() {
    let page = "# A\n```console\n$ one \\\n  two\nshown\n$ three\n```\n```json a/b.json\n{}\n```\n```\n$ no\n```\n";
    assert_eq!(
        steps(page),
        [
            Step::Run("one two".to_owned(), "shown\n".to_owned()),
            Step::Run("three".to_owned(), String::new()),
            Step::File("a/b.json".to_owned(), "{}\n".to_owned()),
        ]
    );
    assert!(is_shown("a … c\n", "a b c\n"));
    assert!(is_shown("a\n…\nd\n", "a\nb\nc\nd\n"));
    assert!(is_shown("a…", "a\n"));
    assert!(!is_shown("a\n", "a\nb\n"));
    assert!(!is_shown("a … c\n", "a b\n"));
    assert!(!is_shown("…a…b", "b a"));
}
