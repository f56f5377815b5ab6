// SPDX-License-Identifier: Apache-2.0
//! `Refusal`: why a request had no effect, and whether its context is still usable.

/// What a refusal leaves unusable (section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only this request; everything else goes on.
    Request,
    /// The context is poisoned: only closing it works from now on.
    Context,
}

impl Scope {
    /// The text in the message.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Context => "context",
        }
    }
}

/// A request that was judged and refused. `kind` is stable, `message` is for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct Refusal {
    /// Stable kind, at most 64 bytes.
    pub kind: &'static str,
    /// One fragment for people; the wire escapes control characters and cuts it at 512 bytes.
    pub message: String,
    /// Steps `.name` and `[n]` from the root of what was judged, `.` for the root alone; `None`
    /// where no item is at fault. The wire cuts it at 256 bytes.
    pub path: Option<String>,
    /// What is left unusable.
    pub scope: Scope,
}

impl Refusal {
    /// A refusal of the request alone, without a place.
    pub fn new(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            path: None,
            scope: Scope::Request,
        }
    }

    /// A refusal of the request alone that leads to an item.
    pub fn at(kind: &'static str, path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: Some(path.into()),
            ..Self::new(kind, message)
        }
    }

    /// A refusal that poisons the context.
    pub fn poisoning(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            scope: Scope::Context,
            ..Self::new(kind, message)
        }
    }
}
