// SPDX-License-Identifier: Apache-2.0
//! The deliberate faults still fit the tree and name tests that exist.

use crate::support::{root, sources};
use std::process::Command;
use xtask::fault::Fault;

/// Patches with their names.
fn patches() -> Vec<(String, String)> {
    let directory = root().join("testdata/faults");
    let entries = std::fs::read_dir(directory).unwrap();
    let mut found: Vec<(String, String)> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            (path.to_str().unwrap().to_owned(), text)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn bt_024_every_fault_applies_and_names_the_test_that_notices_it() {
    let patches = patches();
    assert!(patches.len() >= 5, "the five faults of the calibration");
    let sources = sources();
    for (path, text) in patches {
        let checked = Command::new("git")
            .args(["apply", "--check", &path])
            .current_dir(root())
            .output()
            .unwrap();
        assert!(
            checked.status.success(),
            "{path} applies no longer; make it again: {}",
            String::from_utf8_lossy(&checked.stderr)
        );
        let fault = Fault::parse(&text).unwrap_or_else(|| panic!("{path} has no head"));
        let (module, test) = fault.test.rsplit_once("::").unwrap();
        assert_eq!(fault.package, "edict-test", "{path}");
        let file = format!("adapters/cli/tests/it/{}.rs", module.replace("::", "/"));
        let source = sources.iter().find(|(name, _)| *name == file);
        let (_, source) = source.unwrap_or_else(|| panic!("{path}: no file {file}"));
        assert!(
            source.contains(&format!("#[test]\nfn {test}() {{")),
            "{path}: no test {test}"
        );
    }
}

#[test]
fn the_head_of_a_fault_is_read_before_its_first_file_only() {
    let text = "Fault: a\nPackage: b\nTest: c::d\n\ndiff --git a/x b/x\n Fault: no\n";
    let fault = Fault::parse(text).unwrap();
    assert_eq!(
        (
            fault.title.as_str(),
            fault.package.as_str(),
            fault.test.as_str()
        ),
        ("a", "b", "c::d")
    );
    assert_eq!(
        Fault::parse("Fault: a\n\ndiff --git a/x b/x\nTest: c\nPackage: b\n"),
        None
    );
}
