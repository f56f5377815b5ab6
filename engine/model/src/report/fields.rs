// SPDX-License-Identifier: Apache-2.0
//! The value forms of a report: closed objects, `U`, `D64`, typed digests, names and nulls.

use crate::{
    failure::FailureKind,
    suite::decode::{At, DocumentError, Object, presence},
};
use edict_codec::{
    digest::{Algorithm, TypedDigest},
    hex,
};

/// Greatest `U`: 2^53-1.
pub(super) const MAX_U: u64 = (1 << 53) - 1;

/// An object of exactly these members.
pub(super) fn closed<'a>(at: &At<'a>, names: &[&str]) -> Result<Object<'a>, DocumentError> {
    let object = at.object()?;
    let table: Vec<_> = names.iter().map(|name| (*name, presence(true))).collect();
    object.closed(&table)?;
    Ok(object)
}

/// A boolean.
pub(super) fn boolean(at: &At<'_>) -> Result<bool, DocumentError> {
    match at.node().as_bool() {
        Some(value) => Ok(value),
        None => at.fail(FailureKind::WrongType, "a boolean is needed here"),
    }
}

/// A `U`.
pub(super) fn unsigned(at: &At<'_>) -> Result<u64, DocumentError> {
    at.within(0, MAX_U)
}

/// A position in a list of this machine.
pub(super) fn position(at: &At<'_>) -> Result<usize, DocumentError> {
    let value = unsigned(at)?;
    usize::try_from(value).or_else(|_| at.fail(FailureKind::ValueOutOfRange, "no position"))
}

/// A `D64`: an unsigned 64-bit number in decimal without leading zeros.
pub(super) fn decimal(at: &At<'_>) -> Result<u64, DocumentError> {
    let text = at.text()?;
    match text.parse::<u64>() {
        Ok(value) if value.to_string() == text => Ok(value),
        _ => at.fail(
            FailureKind::ValueOutOfRange,
            "an unsigned 64-bit number in decimal is needed here",
        ),
    }
}

/// 32 bytes in lower-case hexadecimal.
pub(super) fn bytes_32(at: &At<'_>) -> Result<[u8; 32], DocumentError> {
    match hex::decode_32(at.text()?) {
        Some(bytes) => Ok(bytes),
        None => at.fail(
            FailureKind::InvalidDigest,
            "64 lower-case hexadecimal digits are needed here",
        ),
    }
}

/// A BLAKE3 digest of `domain`.
pub(super) fn blake3(at: &At<'_>, domain: &str) -> Result<TypedDigest, DocumentError> {
    at.digest(domain, Algorithm::Blake3)
}

/// What `read` makes of the value, unless it is null.
pub(super) fn optional<'a, T>(
    at: At<'a>,
    read: impl FnOnce(&At<'a>) -> Result<T, DocumentError>,
) -> Result<Option<T>, DocumentError> {
    at.non_null().map(|at| read(&at)).transpose()
}

/// A BLAKE3 digest of `domain`, or null.
pub(super) fn optional_blake3(
    at: At<'_>,
    domain: &str,
) -> Result<Option<TypedDigest>, DocumentError> {
    optional(at, |at| blake3(at, domain))
}

/// A text, or null.
pub(super) fn optional_text(at: At<'_>) -> Result<Option<String>, DocumentError> {
    optional(at, |at| at.text().map(str::to_owned))
}

/// Every item of a list.
pub(super) fn list<'a, T>(
    at: &At<'a>,
    read: impl FnMut(&At<'a>) -> Result<T, DocumentError>,
) -> Result<Vec<T>, DocumentError> {
    at.items()?.iter().map(read).collect()
}
