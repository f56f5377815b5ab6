// SPDX-License-Identifier: Apache-2.0
//! Patches: the net effect of one Tick, ascending by atom (section 5.4).

use super::{address, view::Atom};
use crate::limits;
use edict_codec::{
    cbor::{Encoder, ItemReader},
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
    let mut body = Encoder::new();
    body.array(entries.len());
    for entry in entries {
        let after = entry.after.as_ref();
        body.map(6);
        body.text("key");
        body.bytes(&entry.key);
        body.text("atom");
        body.bytes(&entry.atom);
        body.text("after");
        optional_bytes(&mut body, after.map(|it| it.version.as_slice()));
        body.text("space");
        body.text(&entry.space);
        body.text("value");
        optional_bytes(&mut body, after.map(|it| &*it.value));
        body.text("before");
        optional_bytes(&mut body, entry.before.as_ref().map(<[u8; 32]>::as_slice));
    }
    body.into_bytes()
}

fn optional_bytes(body: &mut Encoder, bytes: Option<&[u8]>) {
    match bytes {
        None => body.null(),
        Some(bytes) => body.bytes(bytes),
    }
}

/// Entries of a patch body, each identity and version recomputed.
///
/// # Errors
/// What is wrong with the body, for people.
pub fn from_body(body: &[u8]) -> Result<Vec<PatchEntry>, &'static str> {
    let mut items = ItemReader::new(body);
    let rows = items.array().ok_or("the patch is no array")?;
    // A count is only announced; the rows have to come.
    let mut entries: Vec<PatchEntry> = Vec::new();
    for _ in 0..rows {
        let entry = entry(&mut items).ok_or("a patch entry is malformed")?;
        if entries.last().is_some_and(|last| last.atom >= entry.atom) {
            return Err("the patch does not ascend");
        }
        entries.push(entry);
    }
    if items.is_at_end() {
        Ok(entries)
    } else {
        Err("something follows the patch")
    }
}

fn entry(items: &mut ItemReader<'_>) -> Option<PatchEntry> {
    items.map().filter(|count| *count == 6)?;
    items.literal("key")?;
    let key = items.bytes()?;
    items.literal("atom")?;
    let stated: [u8; 32] = items.bytes()?.try_into().ok()?;
    items.literal("after")?;
    let version = optional(items)?;
    items.literal("space")?;
    let space = items.text()?;
    items.literal("value")?;
    let value = optional(items)?;
    items.literal("before")?;
    let before = version_of(optional(items)?)?;
    let atom = address::atom(space, key);
    let after = match (version_of(version)?, value) {
        (None, None) => None,
        (Some(version), Some(value)) => Some(Atom {
            value: Arc::from(value),
            version,
        }),
        (None, Some(_)) | (Some(_), None) => return None,
    };
    let sound = stated == atom
        && before != after.as_ref().map(|it| it.version)
        && !space.is_empty()
        && limits::admits(limits::MAX_SPACE_BYTES, space.len())
        && limits::admits(limits::MAX_KEY_BYTES, key.len())
        && after.as_ref().is_none_or(|it| {
            limits::admits(limits::MAX_ATOM_VALUE_BYTES, it.value.len())
                && address::version(&atom, &it.value) == it.version
        });
    sound.then(|| PatchEntry {
        atom,
        space: space.to_owned(),
        key: key.to_vec(),
        before,
        after,
    })
}

/// A byte string or null; the outer `None` is anything else.
#[expect(
    clippy::option_option,
    reason = "null is a value here, a wrong type is none"
)]
fn optional<'a>(items: &mut ItemReader<'a>) -> Option<Option<&'a [u8]>> {
    match items.null() {
        Some(()) => Some(None),
        None => items.bytes().map(Some),
    }
}

/// The outer `None` is a version of another length, the inner one no version.
#[expect(
    clippy::option_option,
    reason = "null is a value here, a wrong length is none"
)]
fn version_of(bytes: Option<&[u8]>) -> Option<Option<[u8; 32]>> {
    match bytes {
        None => Some(None),
        Some(bytes) => bytes.try_into().ok().map(Some),
    }
}
