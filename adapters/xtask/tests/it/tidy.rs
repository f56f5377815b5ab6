// SPDX-License-Identifier: Apache-2.0
//! Rules about the text of the tree.

use crate::support::{files, root, sources};

/// Files above 400 lines, each with the reason why it is one concept.
const LONG: &[(&str, &str)] = &[
    (
        "adapters/compiler/tests/it/build.rs",
        "one test a way in which a build can end",
    ),
    (
        "adapters/cli/tests/it/lawpack.rs",
        "one truth table a helper of the shipped lawpack",
    ),
    (
        "adapters/echo/tests/it/standin.rs",
        "one stand-in host that every hostile behavior varies",
    ),
    (
        "adapters/toolchain/echo/src/package/anchored/envelope.rs",
        "one decoder of one foreign envelope, field after field",
    ),
    (
        "adapters/toolchain/echo/tests/it/effects.rs",
        "the rows of the four intrinsics",
    ),
    (
        "adapters/toolchain/echo/tests/it/evaluation.rs",
        "the rows of evaluation and its meter",
    ),
    (
        "adapters/toolchain/echo/tests/it/support/program.rs",
        "one builder of hand-made packages with all their embedded artifacts",
    ),
    (
        "adapters/toolchain/edict/tests/it/application.rs",
        "whole artifacts as expected texts",
    ),
    (
        "adapters/xtask/src/random/expression.rs",
        "one generator by the type that is wanted",
    ),
    (
        "engine/model/src/suite/decode.rs",
        "the one reader that every typed document shares",
    ),
    (
        "engine/model/tests/it/report_verify.rs",
        "every leaf of a report, spoiled in turn",
    ),
    (
        "reporters/tests/it/why_text.rs",
        "whole explanations as expected texts",
    ),
];

/// Lines that a `.clippy.toml` below the root may leave out of the strictest form.
#[test]
fn a_local_clippy_file_only_removes_lines_of_the_strictest_form() {
    let strict = std::fs::read_to_string(root().join(".clippy.toml")).unwrap();
    for path in files() {
        if path.file_name().is_some_and(|it| it == ".clippy.toml") {
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                assert!(
                    strict.lines().any(|it| it == line),
                    "{}: `{line}` is not in the root file",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn the_top_level_holds_what_the_plan_says() {
    let planned = [
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE",
        "README.md",
        "adapters",
        "docs",
        "engine",
        "queries",
        "reporters",
        "testdata",
    ];
    let mut found: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.') && name != "target")
        .collect();
    found.sort();
    assert_eq!(found, planned);
}

#[test]
fn every_source_names_its_license_and_says_what_it_decides() {
    for (path, source) in sources() {
        let mut lines = source.lines();
        assert_eq!(
            lines.next(),
            Some("// SPDX-License-Identifier: Apache-2.0"),
            "{path}"
        );
        assert!(
            lines.next().is_some_and(|it| it.starts_with("//! ")),
            "{path}: no first sentence"
        );
    }
}

#[test]
fn long_files_have_a_reason() {
    let long: Vec<String> = sources()
        .into_iter()
        .filter(|(path, source)| {
            source.lines().count() > 400 && !LONG.iter().any(|(it, _)| it == path)
        })
        .map(|(path, source)| format!("{path}: {}", source.lines().count()))
        .collect();
    assert!(
        long.is_empty(),
        "split these, or list a reason in LONG: {long:#?}"
    );
}

#[test]
fn no_test_is_switched_off() {
    let marks = [
        concat!("#[", "ignore"),
        concat!("should_", "panic"),
        concat!("todo", "!("),
    ];
    for (path, source) in sources() {
        for mark in marks {
            assert!(!source.contains(mark), "{path} contains {mark}");
        }
    }
}

/// Words that name what a caller does with the host; the host knows no caller.
const APPLICATION_WORDS: [&str; 7] = ["test", "tests", "assert", "tap", "rope", "editor", "suite"];

#[test]
fn the_host_is_neutral() {
    for (path, source) in sources() {
        if !path.starts_with("adapters/toolchain/echo/src/") {
            continue;
        }
        for (number, line) in source.lines().enumerate() {
            let found = line
                .split(|sign: char| !sign.is_ascii_alphanumeric())
                .map(str::to_ascii_lowercase)
                .find(|word| APPLICATION_WORDS.contains(&word.as_str()));
            assert!(
                found.is_none(),
                "{path}:{}: the host says {found:?}",
                number + 1
            );
        }
    }
}

#[test]
fn execution_queries_carry_no_option_that_could_run_them_twice() {
    for file in ["queries/src/execute.rs", "queries/src/verdict.rs"] {
        let source = std::fs::read_to_string(root().join(file)).unwrap();
        for option in ["lru", "persist", "cycle_"] {
            assert!(!source.contains(&format!("{option}=")), "{file}");
            assert!(!source.contains(&format!("{option} =")), "{file}");
        }
    }
    let main = std::fs::read_to_string(root().join("adapters/cli/src/main.rs")).unwrap();
    assert!(main.contains("cfg(panic = \"abort\")") && main.contains("compile_error!"));
}

#[test]
fn the_tree_names_no_place_outside_itself() {
    let roots = [
        concat!("/", "work", "/"),
        concat!("/", "root", "/"),
        concat!("../", "shared"),
    ];
    for path in files() {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if path
            .file_name()
            .is_some_and(|it| it == "Cargo.lock" || it == "package-lock.json")
        {
            continue;
        }
        for place in roots {
            assert!(!text.contains(place), "{} names {place}", path.display());
        }
    }
}

#[test]
fn golden_streams_hold_no_carriage_return() {
    for path in files() {
        if path.ends_with("stdout.tap") {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.contains(&b'\r'),
                "{}: line ends were converted; keep `* -text` in testdata/.gitattributes",
                path.display()
            );
        }
    }
}
