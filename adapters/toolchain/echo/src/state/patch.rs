// SPDX-License-Identifier: Apache-2.0
//! Patches: the net effect of one Tick, ascending by atom (section 5.4).

use super::{address, view::Atom};
use crate::limits;
use edict_codec::{
    cbor::{Value, decode, encode},
    digest::{TypedDigest, derive_typed},
};
use std::sync::Arc;

/// One changed atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchEntry {
    /// Identity of the atom.
    pub atom: [u8; 32],
    /// Its space.
    pub space: String,
    /// Its key.
    pub key: Vec<u8>,
    /// Its version before; `None` if it did not exist.
    pub before: Option<[u8; 32]>,
    /// What it is afterwards; `None` if it is gone.
    pub after: Option<Atom>,
}

/// dig(echo/patch/v1) of a patch body.
pub fn digest(body: &[u8]) -> TypedDigest {
    derive_typed("echo/patch/v1", body)
}

/// The patch body of `entries`, which ascend by atom.
pub fn to_body(entries: &[PatchEntry]) -> Vec<u8> {
    let rows = entries
        .iter()
        .map(|entry| {
            let after = entry.after.as_ref();
            Value::text_map([
                ("atom", Value::bytes(entry.atom)),
                ("space", Value::text(entry.space.as_str())),
                ("key", Value::bytes(entry.key.as_slice())),
                ("before", entry.before.map_or(Value::Null, Value::bytes)),
                (
                    "after",
                    after.map_or(Value::Null, |it| Value::bytes(it.version)),
                ),
                (
                    "value",
                    after.map_or(Value::Null, |it| Value::bytes(&*it.value)),
                ),
            ])
        })
        .collect();
    encode(&Value::Array(rows))
}

/// Entries of a patch body, each identity and version recomputed.
///
/// # Errors
/// What is wrong with the body, for people.
pub fn from_body(body: &[u8]) -> Result<Vec<PatchEntry>, &'static str> {
    let value = decode(body).map_err(|_| "the patch is not canonical")?;
    let rows = value.as_array().ok_or("the patch is no array")?;
    let mut entries: Vec<PatchEntry> = Vec::with_capacity(rows.len());
    for row in rows {
        let entry = entry(row).ok_or("a patch entry is malformed")?;
        if entries.last().is_some_and(|last| last.atom >= entry.atom) {
            return Err("the patch does not ascend");
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn entry(row: &Value) -> Option<PatchEntry> {
    if row.as_map()?.len() != 6 {
        return None;
    }
    let space = row.get("space")?.as_text()?.to_owned();
    let key = row.get("key")?.as_bytes()?.to_vec();
    let atom = address::atom(&space, &key);
    let before = optional_version(row.get("before")?)?;
    let version = optional_version(row.get("after")?)?;
    let after = match (version, row.get("value")?) {
        (None, Value::Null) => None,
        (Some(version), Value::Bytes(value)) => Some(Atom {
            value: Arc::from(value.as_slice()),
            version,
        }),
        _ => return None,
    };
    let sound = row.get("atom")?.as_bytes()? == atom
        && before != version
        && !space.is_empty()
        && limits::admits(limits::MAX_SPACE_BYTES, space.len())
        && limits::admits(limits::MAX_KEY_BYTES, key.len())
        && after.as_ref().is_none_or(|it| {
            limits::admits(limits::MAX_ATOM_VALUE_BYTES, it.value.len())
                && address::version(&atom, &it.value) == it.version
        });
    sound.then_some(PatchEntry {
        atom,
        space,
        key,
        before,
        after,
    })
}

/// The outer `None` is a wrong type, the inner one null.
#[expect(
    clippy::option_option,
    reason = "null is a value here, a wrong type is none"
)]
fn optional_version(value: &Value) -> Option<Option<[u8; 32]>> {
    if value.is_null() {
        return Some(None);
    }
    value.as_bytes()?.try_into().ok().map(Some)
}
