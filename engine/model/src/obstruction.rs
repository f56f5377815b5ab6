// SPDX-License-Identifier: Apache-2.0
//! Comparing an expected obstruction with a terminal one: exact coordinate, payload equal as typed
//! canonical value (F8, F12).

use crate::package::ProgramPackage;
use edict_codec::cbor::{self, Value};

/// Coordinate of a false `where`.
pub const INPUT_CONSTRAINT: &str = "echo.obstruction.input-constraint/v1";

/// Coordinate of an exhausted budget.
pub const BUDGET_EXHAUSTED: &str = "echo.obstruction.budget-exhausted/v1";

/// How a terminal obstruction compares with the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObstructionMatch {
    /// Coordinate and payload are equal.
    Equal,
    /// Another coordinate.
    OtherCoordinate,
    /// The coordinate, with another payload.
    OtherPayload,
}

/// Compares the expected coordinate and payload fixture with a verified terminal obstruction.
///
/// A fixture that is not canonical equals no payload: canonical bytes are one spelling per value.
pub fn compare(
    expected_coordinate: &str,
    expected_payload: &[u8],
    coordinate: &str,
    payload: &Value,
) -> ObstructionMatch {
    if expected_coordinate != coordinate {
        ObstructionMatch::OtherCoordinate
    } else if cbor::decode(expected_payload).as_ref() == Ok(payload) {
        ObstructionMatch::Equal
    } else {
        ObstructionMatch::OtherPayload
    }
}

/// Whether an expected payload can be one of `coordinate` (F12): it is a value of a payload type of
/// the rows of that coordinate, or the empty record. Without a row, and for the two standard
/// coordinates, every payload can be: the comparison decides.
pub fn payload_possible(package: &ProgramPackage, coordinate: &str, payload: &[u8]) -> bool {
    if coordinate == INPUT_CONSTRAINT || coordinate == BUDGET_EXHAUSTED {
        return true;
    }
    let mut rows = package.obstruction_rows(coordinate).peekable();
    rows.peek().is_none()
        || cbor::decode(payload) == Ok(Value::Map(Vec::new()))
        || rows.any(|row| row.payload.decode(payload).is_ok())
}
