// SPDX-License-Identifier: Apache-2.0
//! Patch and footprint bodies (`docs/host.md` 5.4).

use crate::package::fields::{Field, Malformed};
use edict_codec::cbor::{self, Value};

/// Greatest key and space in bytes.
const MAX_ADDRESS_BYTES: usize = 256;
/// Greatest atom value in bytes.
const MAX_VALUE_BYTES: usize = 1_048_576;

/// The net change of one atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchRow {
    /// The atom.
    pub atom: [u8; 32],
    /// Its space.
    pub space: String,
    /// Its key.
    pub key: Vec<u8>,
    /// Version before; none if it was absent.
    pub before: Option<[u8; 32]>,
    /// Version after; none if it is absent.
    pub after: Option<[u8; 32]>,
    /// Value after.
    pub value: Option<Vec<u8>>,
}

/// What an invocation touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// Every atom touched, ascending.
    pub reads: Vec<FootprintRead>,
    /// Every atom with a successful write, ascending.
    pub writes: Vec<FootprintWrite>,
}

/// An atom that an intrinsic touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FootprintRead {
    /// The atom.
    pub atom: [u8; 32],
    /// Its space.
    pub space: String,
    /// Its key.
    pub key: Vec<u8>,
    /// Its version in the basis.
    pub seen: Option<[u8; 32]>,
}

/// An atom that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FootprintWrite {
    /// The atom.
    pub atom: [u8; 32],
    /// Intrinsics that wrote it, ascending.
    pub intrinsics: Vec<String>,
}

/// Decodes a patch body: at least one row, ascending by atom, each with a net effect.
///
/// # Errors
/// The first breach.
pub fn decode_patch(bytes: &[u8]) -> Result<Vec<PatchRow>, Malformed> {
    let value = canonical(bytes)?;
    let root = Field::root(&value);
    let mut rows = Vec::new();
    for row in root.items()? {
        row.closed(&["atom", "space", "key", "before", "after", "value"])?;
        let value = row.get("value")?;
        let patch_row = PatchRow {
            atom: row.get("atom")?.bytes_32()?,
            space: space(&row.get("space")?)?,
            key: key(&row.get("key")?)?,
            before: version(row.get("before")?)?,
            after: version(row.get("after")?)?,
            value: match value.clone().non_null() {
                Some(bytes) => Some(bytes.bytes()?.to_vec()),
                None => None,
            },
        };
        if patch_row.before == patch_row.after {
            return Err(row.fail("no net effect"));
        }
        if patch_row.after.is_some() != patch_row.value.is_some() {
            return Err(value.fail("a value stands exactly where a version after stands"));
        }
        let length = patch_row.value.as_ref().map_or(1, Vec::len);
        if length == 0 || length > MAX_VALUE_BYTES {
            return Err(value.fail("an atom value has 1 to 1048576 bytes"));
        }
        rows.push(patch_row);
    }
    if rows.is_empty() {
        return Err(root.fail("an empty patch is null"));
    }
    root.ascending(&rows, |row| row.atom)?;
    Ok(rows)
}

/// Decodes a footprint body: both lists ascending by atom.
///
/// # Errors
/// The first breach.
pub fn decode_footprint(bytes: &[u8]) -> Result<Footprint, Malformed> {
    let value = canonical(bytes)?;
    let root = Field::root(&value);
    root.closed(&["reads", "writes"])?;
    let (read_rows, write_rows) = (root.get("reads")?, root.get("writes")?);
    let mut reads = Vec::new();
    for row in read_rows.items()? {
        row.closed(&["atom", "space", "key", "seen"])?;
        reads.push(FootprintRead {
            atom: row.get("atom")?.bytes_32()?,
            space: space(&row.get("space")?)?,
            key: key(&row.get("key")?)?,
            seen: version(row.get("seen")?)?,
        });
    }
    read_rows.ascending(&reads, |row| row.atom)?;
    let mut writes = Vec::new();
    for row in write_rows.items()? {
        row.closed(&["atom", "intrinsics"])?;
        let names = row.get("intrinsics")?;
        let intrinsics = names
            .items()?
            .iter()
            .map(Field::coordinate)
            .collect::<Result<Vec<_>, _>>()?;
        names.ascending(&intrinsics, Clone::clone)?;
        if intrinsics.is_empty() {
            return Err(names.fail("a write names its intrinsics"));
        }
        writes.push(FootprintWrite {
            atom: row.get("atom")?.bytes_32()?,
            intrinsics,
        });
    }
    write_rows.ascending(&writes, |row| row.atom)?;
    Ok(Footprint { reads, writes })
}

fn canonical(bytes: &[u8]) -> Result<Value, Malformed> {
    cbor::decode(bytes).map_err(|error| Malformed::new("", format!("not canonical: {error}")))
}

fn space(field: &Field<'_>) -> Result<String, Malformed> {
    let text = field.text()?;
    if text.is_empty() || text.len() > MAX_ADDRESS_BYTES {
        return Err(field.fail("a space has 1 to 256 bytes"));
    }
    Ok(text.to_owned())
}

fn key(field: &Field<'_>) -> Result<Vec<u8>, Malformed> {
    let bytes = field.bytes()?;
    if bytes.len() > MAX_ADDRESS_BYTES {
        return Err(field.fail("a key has at most 256 bytes"));
    }
    Ok(bytes.to_vec())
}

fn version(field: Field<'_>) -> Result<Option<[u8; 32]>, Malformed> {
    field
        .non_null()
        .map(|version| version.bytes_32())
        .transpose()
}
