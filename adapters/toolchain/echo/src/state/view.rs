// SPDX-License-Identifier: Apache-2.0
//! `AtomView`: all an evaluator can see and change of a state (sections 5.2 and 5.4).

use crate::refusal::Refusal;
use std::sync::Arc;

/// The intrinsics of the bundled profile, in ascending order of their coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Intrinsic {
    /// `echo.dpo@1.atom.create`.
    Create,
    /// `echo.dpo@1.atom.delete`.
    Delete,
    /// `echo.dpo@1.atom.read`.
    Read,
    /// `echo.dpo@1.atom.replace`.
    Replace,
}

impl Intrinsic {
    /// All of them, ascending by coordinate.
    pub const ALL: [Self; 4] = [Self::Create, Self::Delete, Self::Read, Self::Replace];

    /// The coordinate.
    pub const fn coordinate(self) -> &'static str {
        match self {
            Self::Create => "echo.dpo@1.atom.create",
            Self::Delete => "echo.dpo@1.atom.delete",
            Self::Read => "echo.dpo@1.atom.read",
            Self::Replace => "echo.dpo@1.atom.replace",
        }
    }

    /// The intrinsic of that coordinate.
    pub fn from_coordinate(coordinate: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|it| it.coordinate() == coordinate)
    }
}

/// One row of a declared footprint: at most `max_calls` calls of the pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FootprintRow {
    /// The space, 1..256 bytes.
    pub space: String,
    /// The intrinsic.
    pub intrinsic: Intrinsic,
    /// Static maximum of calls.
    pub max_calls: u64,
}

/// What an intrinsic asks of one atom. Values are canonical bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomRequest<'a> {
    /// The stored value and its version.
    Read,
    /// A value where none is.
    Create {
        /// The new value.
        value: &'a [u8],
    },
    /// Another value for the one of that version.
    Replace {
        /// The new value.
        value: &'a [u8],
        /// The version it must have.
        expected: &'a [u8; 32],
    },
    /// No value any more.
    Delete {
        /// The version it must have.
        expected: &'a [u8; 32],
    },
}

impl AtomRequest<'_> {
    /// Whose request this is.
    pub const fn intrinsic(&self) -> Intrinsic {
        match self {
            Self::Read => Intrinsic::Read,
            Self::Create { .. } => Intrinsic::Create,
            Self::Replace { .. } => Intrinsic::Replace,
            Self::Delete { .. } => Intrinsic::Delete,
        }
    }
}

/// A value and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Atom {
    /// Canonical bytes, 1..1,048,576.
    pub value: Arc<[u8]>,
    /// `H("echo/atom-version/v1", atom || value)`.
    pub version: [u8; 32],
}

/// How a request ends. A stored value that is none of the declared type (`malformed`) is for the
/// evaluator to judge: it knows the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AtomAnswer {
    /// Read: what is stored. Create and replace: what was written. Delete: what was removed.
    Done(Atom),
    /// No such atom: `echo.atom-missing/v1`.
    Missing,
    /// There is an atom already, of this version: `echo.atom-exists/v1`.
    Exists([u8; 32]),
    /// The atom has this other version: `echo.atom-version-mismatch/v1`.
    Conflict([u8; 32]),
}

/// The private view of one invocation: it sees its own earlier writes, and nobody else does.
///
/// An intrinsic is two calls, because the cost law charges before the work and the charge depends
/// on the answer: `judge`, then the charge, then `perform` with the same arguments. A charge that
/// does not fit ends the invocation between the two, and the atom was not touched.
pub trait AtomView {
    /// What `perform` would answer. Changes and records nothing.
    ///
    /// # Errors
    /// `evaluation-fault` for an access outside the declared footprint or one call too many,
    /// `state-limit` for a key or value above its limit. Both end the invocation undecided.
    fn judge(
        &self,
        space: &str,
        key: &[u8],
        request: &AtomRequest<'_>,
    ) -> Result<AtomAnswer, Refusal>;

    /// Performs the request: records the touched atom, also when the request fails, counts the
    /// call against the declared footprint, and writes on success.
    ///
    /// # Errors
    /// As `judge`, and `state-limit` when the footprint body would grow above its limit.
    fn perform(
        &mut self,
        space: &str,
        key: &[u8],
        request: &AtomRequest<'_>,
    ) -> Result<AtomAnswer, Refusal>;
}
