// SPDX-License-Identifier: Apache-2.0
//! Names that are valid once they exist: identifiers, paths, coordinates, nonces and positions.

use edict_codec::hex;
use std::{fmt, sync::Arc};

/// Greatest length of an identifier in bytes.
const MAX_IDENTIFIER: usize = 128;
/// Greatest length of a path in bytes (S8).
const MAX_PATH: usize = 4096;
/// Greatest length of a path component in bytes (S8).
const MAX_COMPONENT: usize = 255;
/// Greatest length of a coordinate in bytes.
const MAX_COORDINATE: usize = 1024;

/// Why a text is no name. The variants are the kinds of section 1 of the runner contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    #[error(
        "an identifier is 1 to 128 letters, digits, `.`, `_` or `-`, the first a letter or digit"
    )]
    InvalidIdentifier,
    /// Empty, too long, or with a sign that a path may not have.
    #[error(
        "a path is relative, `/`-separated, without empty components, `.`, backslash or control characters"
    )]
    InvalidPath,
    /// Absolute, or with a `..` component.
    #[error("a path may not leave its directory")]
    PathEscape,
    /// Nothing where something is needed.
    #[error("a text may not be empty")]
    EmptyString,
    /// More bytes than allowed.
    #[error("a text is longer than its limit")]
    StringTooLong,
    /// White space, control characters, or no version.
    #[error("a coordinate has no white space or control characters and names its version")]
    InvalidCoordinate,
}

fn identifier(text: &str) -> Result<Arc<str>, NameError> {
    let mut signs = text.bytes();
    let first = signs
        .next()
        .is_some_and(|sign| sign.is_ascii_alphanumeric());
    let rest = signs.all(|sign| sign.is_ascii_alphanumeric() || matches!(sign, b'.' | b'_' | b'-'));
    if first && rest && text.len() <= MAX_IDENTIFIER {
        Ok(Arc::from(text))
    } else {
        Err(NameError::InvalidIdentifier)
    }
}

/// The id of a case, unique in its suite by exact code points (R1).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseId(Arc<str>);

impl CaseId {
    /// Reads `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    ///
    /// # Errors
    /// `InvalidIdentifier`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        identifier(text).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id of a suite; its grammar is that of [`CaseId`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SuiteId(Arc<str>);

impl SuiteId {
    /// Reads `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`.
    ///
    /// # Errors
    /// `InvalidIdentifier`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        identifier(text).map(Self)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A place below the suite directory: where bytes are now, never what they are (S8, S11).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Locator(Arc<str>);

impl Locator {
    /// Reads a relative path of 1 to 4,096 bytes (S8).
    ///
    /// # Errors
    /// `InvalidPath` or `PathEscape`, in the order: emptiness, length and characters, then escape,
    /// then components.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        check_characters(text)?;
        if text.starts_with('/') || text.split('/').any(|component| component == "..") {
            return Err(NameError::PathEscape);
        }
        check_components(text)?;
        Ok(Self(Arc::from(text)))
    }

    /// The path `relative`, which a document at this place names, seen from the suite directory.
    ///
    /// # Errors
    /// `InvalidPath` when the joined path is longer than 4,096 bytes.
    pub fn sibling(&self, relative: &Self) -> Result<Self, NameError> {
        let joined = match self.0.rsplit_once('/') {
            Some((directory, _)) => Arc::from(format!("{directory}/{}", relative.0)),
            None => Arc::clone(&relative.0),
        };
        if joined.len() > MAX_PATH {
            return Err(NameError::InvalidPath);
        }
        Ok(Self(joined))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Emptiness, length and characters of a path.
pub(crate) fn check_characters(text: &str) -> Result<(), NameError> {
    let plain = !text.chars().any(|sign| sign == '\\' || sign.is_control());
    if !text.is_empty() && text.len() <= MAX_PATH && plain {
        Ok(())
    } else {
        Err(NameError::InvalidPath)
    }
}

/// Components of a path after its leading slash, if it has one. `..` is judged elsewhere.
pub(crate) fn check_components(text: &str) -> Result<(), NameError> {
    let valid = |component: &str| {
        !component.is_empty() && component != "." && component.len() <= MAX_COMPONENT
    };
    if text.split('/').all(valid) {
        Ok(())
    } else {
        Err(NameError::InvalidPath)
    }
}

/// The versioned coordinate of an obstruction, 1 to 1,024 bytes (section 1.2).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinate(Arc<str>);

impl Coordinate {
    /// Reads a coordinate that contains `@` followed by a digit, or ends in `/v` and a positive
    /// number.
    ///
    /// # Errors
    /// `EmptyString`, `StringTooLong`, `InvalidCoordinate`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::EmptyString);
        }
        if text.len() > MAX_COORDINATE {
            return Err(NameError::StringTooLong);
        }
        if text
            .chars()
            .any(|sign| sign.is_whitespace() || sign.is_control())
            || !versioned(text)
        {
            return Err(NameError::InvalidCoordinate);
        }
        Ok(Self(Arc::from(text)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn versioned(text: &str) -> bool {
    let at = text
        .split('@')
        .skip(1)
        .any(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()));
    let slash = text.rsplit_once("/v").is_some_and(|(_, number)| {
        number.starts_with(|sign: char| matches!(sign, '1'..='9'))
            && number.bytes().all(|sign| sign.is_ascii_digit())
    });
    at || slash
}

/// Fresh randomness of one execution context: 32 bytes that are used once (A8).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextNonce([u8; 32]);

impl ContextNonce {
    /// A nonce from the operating system's randomness; the caller vouches that it is fresh.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hexadecimal digits.
    pub fn hex(&self) -> String {
        hex::encode(&self.0)
    }
}

/// The name of one run in telemetry. It binds nothing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(Arc<str>);

impl RunId {
    /// A run id of any text.
    pub fn new(text: &str) -> Self {
        Self(Arc::from(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Position of a case in its suite, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CaseIndex(pub usize);

impl CaseIndex {
    /// The number of the case in TAP and in reports, from 1.
    pub const fn number(self) -> u64 {
        self.0 as u64 + 1
    }
}

/// Position of a program in the report's list, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramIndex(pub usize);

macro_rules! shown {
    ($($name:ident),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, formatter)
            }
        }
    )*};
}

shown!(CaseId, SuiteId, Locator, Coordinate, RunId);

impl fmt::Debug for ContextNonce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.hex())
    }
}
