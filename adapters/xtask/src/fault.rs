// SPDX-License-Identifier: Apache-2.0
//! Deliberate faults: a patch, and the test that must notice it.

/// A patch of `testdata/faults` and what its head says about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong with a tree that has it.
    pub title: String,
    /// The package of the test.
    pub package: String,
    /// Path of the test below its integration tests, modules included.
    pub test: String,
}

impl Fault {
    /// Reads the head of a patch: the lines `Fault:`, `Package:` and `Test:` before the first file.
    pub fn parse(patch: &str) -> Option<Self> {
        let head = patch.split("\ndiff --git ").next()?;
        let line = |name: &str| {
            let mut lines = head.lines();
            lines.find_map(|line| Some(line.strip_prefix(name)?.trim().to_owned()))
        };
        Some(Self {
            title: line("Fault:")?,
            package: line("Package:")?,
            test: line("Test:")?,
        })
    }
}
