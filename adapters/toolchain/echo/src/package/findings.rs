// SPDX-License-Identifier: Apache-2.0
//! What reading a program finds, kept by check, so that the order of checks decides and not the
//! order of reading.

use crate::refusal::Refusal;
use std::fmt::Write as _;

/// The first finding of each kind.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    types: Option<Refusal>,
    unsupported: Option<Refusal>,
    malformed: Option<Refusal>,
    too_large: Option<Refusal>,
}

impl Findings {
    /// A type that is none (A11).
    pub(crate) fn bad_type(&mut self, path: &str, message: &str) {
        keep(&mut self.types, "type-malformed", path, message);
    }

    /// An expression, node or callee that this host does not know (A12).
    pub(crate) fn unsupported(&mut self, path: &str, message: &str) {
        keep(
            &mut self.unsupported,
            "operation-unsupported",
            path,
            message,
        );
    }

    /// A shape or reference that is wrong (A12).
    pub(crate) fn malformed(&mut self, path: &str, message: &str) {
        keep(&mut self.malformed, "program-malformed", path, message);
    }

    /// A bound of A13.
    pub(crate) fn too_large(&mut self, path: &str, message: &str) {
        keep(&mut self.too_large, "program-too-large", path, message);
    }

    /// Whether nothing was found by A11 and A12.
    pub(crate) fn is_clean(&self) -> bool {
        self.types.is_none() && self.unsupported.is_none() && self.malformed.is_none()
    }

    /// The finding of the earliest check.
    pub(crate) fn judge(self) -> Result<(), Refusal> {
        match self
            .types
            .or(self.unsupported)
            .or(self.malformed)
            .or(self.too_large)
        {
            Some(refusal) => Err(refusal),
            None => Ok(()),
        }
    }
}

fn keep(slot: &mut Option<Refusal>, kind: &'static str, path: &str, message: &str) {
    if slot.is_none() {
        *slot = Some(Refusal::at(kind, path, message));
    }
}

/// Steps to the item that is being read; written out only when something is found.
#[derive(Debug)]
pub(crate) struct Path<'a> {
    root: String,
    steps: Vec<Step<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Path<'a> {
    /// The path of `root` itself.
    pub(crate) fn new(root: String) -> Self {
        Self {
            root,
            steps: Vec::new(),
        }
    }

    /// Goes to the value under `key`.
    pub(crate) fn key(&mut self, key: &'a str) {
        self.steps.push(Step::Key(key));
    }

    /// Goes to item `index`.
    pub(crate) fn index(&mut self, index: usize) {
        self.steps.push(Step::Index(index));
    }

    /// Goes back.
    pub(crate) fn up(&mut self) {
        self.steps.pop();
    }

    /// The text, `.` for a root without a name.
    pub(crate) fn text(&self) -> String {
        let mut text = self.root.clone();
        for step in &self.steps {
            match step {
                Step::Key(key) => {
                    text.push('.');
                    text.push_str(key);
                }
                Step::Index(index) => {
                    let _ = write!(text, "[{index}]");
                }
            }
        }
        if text.is_empty() {
            text.push('.');
        }
        text
    }
}
