// SPDX-License-Identifier: Apache-2.0
//! What an invocation on one buffer must leave behind: footprint, patch and posture.

use super::{
    JimError,
    identity::{SPACE, atom, basis, state_value},
    lane::{Ended, hold},
    model::State,
};
use edict_codec::cbor::{Value, encode};

/// Holds the evidence of an invocation on one buffer: what it read and wrote, and whether it
/// settled. `before` and `after` are states of the buffer where one stands.
///
/// # Errors
/// The link that does not hold.
pub fn settlement(
    ended: &Ended,
    buffer: &[u8; 32],
    before: Option<[u8; 32]>,
    after: Option<&State>,
    intrinsic: &str,
) -> Result<(), JimError> {
    let name = atom(buffer);
    let version = |it: Option<[u8; 32]>| it.map_or(Value::Null, Value::bytes);
    let read = Value::text_map([
        ("atom", Value::bytes(name)),
        ("space", Value::text(SPACE)),
        ("key", Value::bytes(*buffer)),
        ("seen", version(before)),
    ]);
    let writes = after.map(|_| {
        let intrinsics = Value::Array(vec![Value::text(format!("echo.dpo@1.atom.{intrinsic}"))]);
        Value::text_map([("atom", Value::bytes(name)), ("intrinsics", intrinsics)])
    });
    let footprint = Value::text_map([
        ("reads", Value::Array(vec![read])),
        ("writes", Value::Array(writes.into_iter().collect())),
    ]);
    hold("footprint", ended.footprint == footprint)?;
    let patch = after.map_or(Value::Null, |state| {
        Value::Array(vec![Value::text_map([
            ("atom", Value::bytes(name)),
            ("space", Value::text(SPACE)),
            ("key", Value::bytes(*buffer)),
            ("before", version(before)),
            ("after", Value::bytes(basis(buffer, state))),
            ("value", Value::bytes(encode(&state_value(state)))),
        ])])
    });
    hold("patch", ended.patch == patch)?;
    let posture = if after.is_some() {
        "settled"
    } else {
        "unchanged"
    };
    hold(
        "posture",
        ended.record.get("posture") == Some(&Value::text(posture)),
    )
}

/// Holds the evidence of an invocation that ended before it read any state.
///
/// # Errors
/// The link that does not hold.
pub fn untouched(ended: &Ended) -> Result<(), JimError> {
    let nothing = Value::Array(Vec::new());
    let footprint = Value::text_map([("reads", nothing.clone()), ("writes", nothing)]);
    hold("footprint", ended.footprint == footprint)?;
    hold("patch", ended.patch.is_null())?;
    hold(
        "posture",
        ended.record.get("posture") == Some(&Value::text("unchanged")),
    )
}
