// SPDX-License-Identifier: Apache-2.0
//! `edict.test.case-result/v1`: the closed record a test program returns (R2, 1.3).

use crate::declared_type::{DeclaredType, Width};
use edict_codec::cbor::{self, CborErrorKind, Value};

/// Schema that a case names in its expectation.
pub const CASE_RESULT_SCHEMA: &str = "edict.test.case-result/v1";

/// Greatest length of the message in bytes.
const MAX_MESSAGE_BYTES: usize = 1024;

/// A decoded case result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseResult {
    /// Status 0; otherwise an assertion failed.
    pub passed: bool,
    /// Assertions made, 1..=65,535.
    pub assertions: u32,
    /// At most 1,024 bytes.
    pub message: String,
}

/// Why bytes are no case result: the closed list of `detail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.name())]
pub enum InvalidCaseResult {
    /// Bytes follow the item.
    TrailingBytes,
    /// Not canonical CBOR.
    NotCanonical,
    /// Not a map.
    NotRecord,
    /// A field that a case result does not have.
    UnknownField,
    /// A field is missing.
    MissingField,
    /// A field of another type.
    WrongType,
    /// A text is not UTF-8.
    InvalidUtf8,
    /// The declared output type is not that of a case result.
    OutputTypeMismatch,
    /// `status` is neither 0 nor 1.
    StatusRange,
    /// `assertions` is not 1..=65,535.
    AssertionsRange,
    /// `message` is longer than 1,024 bytes.
    MessageTooLong,
}

impl InvalidCaseResult {
    /// The stable `detail`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TrailingBytes => "trailingBytes",
            Self::NotCanonical => "notCanonical",
            Self::NotRecord => "notRecord",
            Self::UnknownField => "unknownField",
            Self::MissingField => "missingField",
            Self::WrongType => "wrongType",
            Self::InvalidUtf8 => "invalidUtf8",
            Self::OutputTypeMismatch => "outputTypeMismatch",
            Self::StatusRange => "statusRange",
            Self::AssertionsRange => "assertionsRange",
            Self::MessageTooLong => "messageTooLong",
        }
    }
}

/// Decodes a case result: a function of its bytes and of the declared output type.
///
/// # Errors
/// The first that applies, in the order of [`InvalidCaseResult`].
pub fn decode(bytes: &[u8], declared: &DeclaredType) -> Result<CaseResult, InvalidCaseResult> {
    let value = cbor::decode(bytes).map_err(|error| match error.kind {
        CborErrorKind::TrailingData => InvalidCaseResult::TrailingBytes,
        CborErrorKind::InvalidUtf8 => InvalidCaseResult::InvalidUtf8,
        _ => InvalidCaseResult::NotCanonical,
    })?;
    let entries = value.as_map().ok_or(InvalidCaseResult::NotRecord)?;
    let known = |key: &Value| matches!(key.as_text(), Some("status" | "assertions" | "message"));
    if !entries.iter().all(|(key, _)| known(key)) {
        return Err(InvalidCaseResult::UnknownField);
    }
    let field = |name| value.get(name).ok_or(InvalidCaseResult::MissingField);
    let (status, assertions, message) = (field("status")?, field("assertions")?, field("message")?);
    let number = |value: &Value| {
        let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or(InvalidCaseResult::WrongType)
    };
    let (status, assertions) = (number(status)?, number(assertions)?);
    let message = message.as_text().ok_or(InvalidCaseResult::WrongType)?;
    if !is_case_result_type(declared) {
        Err(InvalidCaseResult::OutputTypeMismatch)
    } else if status > 1 {
        Err(InvalidCaseResult::StatusRange)
    } else if !(1..=65_535).contains(&assertions) {
        Err(InvalidCaseResult::AssertionsRange)
    } else if message.len() > MAX_MESSAGE_BYTES {
        Err(InvalidCaseResult::MessageTooLong)
    } else {
        Ok(CaseResult {
            passed: status == 0,
            assertions,
            message: message.to_owned(),
        })
    }
}

/// Whether a declared output type is the record of a case result, with any bound of the message.
pub fn is_case_result_type(declared: &DeclaredType) -> bool {
    let DeclaredType::Record(fields) = declared else {
        return false;
    };
    let number = |name| {
        fields
            .get(name)
            .is_some_and(|field| **field == DeclaredType::Integer(Width::U32))
    };
    let message = fields
        .get("message")
        .is_some_and(|field| matches!(**field, DeclaredType::String { .. }));
    fields.len() == 3 && number("status") && number("assertions") && message
}

/// Judges bytes that are already bound as a value of `declared` (V9): the type is asked first, since
/// a value of another type is no case result whatever its bytes look like (1.3).
///
/// # Errors
/// `OutputTypeMismatch`, `StatusRange`, `AssertionsRange` or `MessageTooLong`.
pub fn decode_bound(
    bytes: &[u8],
    declared: &DeclaredType,
) -> Result<CaseResult, InvalidCaseResult> {
    if is_case_result_type(declared) {
        decode(bytes, declared)
    } else {
        Err(InvalidCaseResult::OutputTypeMismatch)
    }
}
