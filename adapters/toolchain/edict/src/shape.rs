// SPDX-License-Identifier: Apache-2.0
//! Reading a value of a fixed shape: closed objects, typed members, and the path of a breach.

use edict_codec::cbor::Value;
use std::fmt;

/// One step from a container to a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of a member.
    Member(String),
    /// An item, counted from 0.
    Index(usize),
}

/// A value that is not of its shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeError {
    /// From the root to the offending value.
    pub path: Vec<Step>,
    /// Whether the name of the last member is wrong, not its value.
    pub on_name: bool,
    /// What is wrong, prose.
    pub message: String,
}

impl fmt::Display for ShapeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in &self.path {
            match step {
                Step::Member(name) => write!(formatter, "/{name}")?,
                Step::Index(index) => write!(formatter, "/{index}")?,
            }
        }
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(formatter, "{separator}{}", self.message)
    }
}

/// Whether unknown members are refused. Documents of authors are closed; members of artifacts that
/// this compiler does not know are bound by a digest and carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// Unknown members are refused.
    Closed,
    /// Unknown members are passed over.
    Open,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct At<'a> {
    value: &'a Value,
    path: Vec<Step>,
    strictness: Strictness,
}

impl<'a> At<'a> {
    /// The root of a document or artifact.
    pub fn root(value: &'a Value, strictness: Strictness) -> Self {
        Self {
            value,
            path: Vec::new(),
            strictness,
        }
    }

    /// As [`Self::root`], for a part whose path from the root is known.
    pub fn part(value: &'a Value, strictness: Strictness, path: Vec<Step>) -> Self {
        Self {
            value,
            path,
            strictness,
        }
    }

    /// The same value, with unknown members refused below it.
    #[must_use]
    pub fn closed(&self) -> Self {
        Self {
            strictness: Strictness::Closed,
            ..self.clone()
        }
    }

    /// The value itself.
    pub fn value(&self) -> &'a Value {
        self.value
    }

    /// A breach at this value.
    pub fn fail(&self, message: impl Into<String>) -> ShapeError {
        ShapeError {
            path: self.path.clone(),
            on_name: false,
            message: message.into(),
        }
    }

    /// A breach at the name under which this value stands.
    pub fn fail_name(&self, message: impl Into<String>) -> ShapeError {
        ShapeError {
            on_name: true,
            ..self.fail(message)
        }
    }

    /// Checks the members of an object: required ones, then optional ones, no others.
    pub fn object(&self, required: &[&str], optional: &[&str]) -> Result<(), ShapeError> {
        let entries = self.entries()?;
        if self.strictness == Strictness::Closed {
            for (name, at) in &entries {
                if !required.contains(name) && !optional.contains(name) {
                    return Err(at.fail_name(format!("unknown member `{name}`")));
                }
            }
        }
        for name in required {
            if !entries.iter().any(|(candidate, _)| candidate == name) {
                return Err(self.fail(format!("member `{name}` is missing")));
            }
        }
        Ok(())
    }

    /// A member that must be there.
    pub fn member(&self, name: &str) -> Result<Self, ShapeError> {
        self.optional(name)
            .ok_or_else(|| self.fail(format!("member `{name}` is missing")))
    }

    /// A member that may be absent.
    pub fn optional(&self, name: &str) -> Option<Self> {
        self.value
            .get(name)
            .map(|value| self.below(value, Step::Member(name.to_owned())))
    }

    /// The members of an object with free names.
    pub fn entries(&self) -> Result<Vec<(&'a str, Self)>, ShapeError> {
        let Some(entries) = self.value.as_map() else {
            return Err(self.fail("expected an object"));
        };
        entries
            .iter()
            .map(|(name, value)| match name.as_text() {
                Some(name) => Ok((name, self.below(value, Step::Member(name.to_owned())))),
                None => Err(self.fail("member names are texts")),
            })
            .collect()
    }

    /// The items of a list.
    pub fn items(&self) -> Result<Vec<Self>, ShapeError> {
        let Some(items) = self.value.as_array() else {
            return Err(self.fail("expected a list"));
        };
        Ok(items
            .iter()
            .enumerate()
            .map(|(index, value)| self.below(value, Step::Index(index)))
            .collect())
    }

    /// A text.
    pub fn text(&self) -> Result<&'a str, ShapeError> {
        self.value
            .as_text()
            .ok_or_else(|| self.fail("expected a text"))
    }

    /// The text of a member.
    pub fn text_of(&self, name: &str) -> Result<&'a str, ShapeError> {
        self.member(name)?.text()
    }

    /// Texts of a list.
    pub fn texts(&self) -> Result<Vec<String>, ShapeError> {
        self.items()?
            .iter()
            .map(|item| item.text().map(str::to_owned))
            .collect()
    }

    /// An unsigned integer of 64 bits.
    pub fn unsigned(&self) -> Result<u64, ShapeError> {
        self.value
            .as_u64()
            .ok_or_else(|| self.fail("expected an unsigned integer of 64 bits"))
    }

    /// A text equal to `expected`.
    pub fn exactly(&self, expected: &str) -> Result<(), ShapeError> {
        if self.text()? == expected {
            Ok(())
        } else {
            Err(self.fail(format!("expected `{expected}`")))
        }
    }

    fn below(&self, value: &'a Value, step: Step) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self {
            value,
            path,
            strictness: self.strictness,
        }
    }
}
