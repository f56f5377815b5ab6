// SPDX-License-Identifier: Apache-2.0
//! Bytes of the log: the file header, and records chained by digest (section 7.1).

use edict_codec::digest::{Algorithm, TypedDigest, derive};

/// Bytes of the file header.
pub const FILE_HEADER_BYTES: usize = 64;
/// Bytes of a record before its payload.
pub const HEAD_BYTES: usize = 64;
/// Bytes of a record after its payload.
pub const DIGEST_BYTES: usize = 32;
/// Most payload bytes.
pub const MAX_PAYLOAD_BYTES: u64 = 16_777_164;

const FILE_MAGIC: &[u8; 8] = b"ECHOWAL1";
const RECORD_MAGIC: &[u8; 4] = b"WALR";
const VERSION: u32 = 1;
/// Where the check of a head stands in it.
const CHECK: std::ops::Range<usize> = 28..32;
const HEAD_DOMAIN: &str = "echo/wal-head/v1";
/// Domain of record digests.
pub const RECORD_DOMAIN: &str = "echo/wal-record/v1";

/// Kinds of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RecordKind {
    /// Identity of the context.
    Genesis = 1,
    /// An opening.
    Epoch = 2,
    /// A decided invocation.
    Decision = 3,
    /// Its net effect.
    Patch = 4,
    /// End of a transaction, which exists only with it.
    Commit = 5,
}

impl RecordKind {
    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::Genesis,
            2 => Self::Epoch,
            3 => Self::Decision,
            4 => Self::Patch,
            5 => Self::Commit,
            _ => return None,
        })
    }
}

/// Why a file header is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderError {
    /// Another version, whatever else is wrong.
    Version,
    /// Anything else.
    Damaged,
}

/// The 64 bytes at the beginning of a log of that worldline.
pub fn file_header(worldline: &[u8; 32]) -> Vec<u8> {
    let mut header = Vec::with_capacity(FILE_HEADER_BYTES);
    header.extend_from_slice(FILE_MAGIC);
    header.extend_from_slice(&VERSION.to_be_bytes());
    header.extend_from_slice(&[0; 4]);
    header.extend_from_slice(worldline);
    let check = derive(HEAD_DOMAIN, &header);
    header.extend_from_slice(check.get(..16).unwrap_or_default());
    header
}

/// The worldline a file header names.
///
/// # Errors
/// `Version` for another version, even of a file that is cut or damaged elsewhere.
pub fn parse_file_header(bytes: &[u8]) -> Result<[u8; 32], HeaderError> {
    match bytes.get(8..12) {
        Some(version) if version != VERSION.to_be_bytes() => return Err(HeaderError::Version),
        Some(_) => {}
        None => return Err(HeaderError::Damaged),
    }
    let worldline: [u8; 32] = bytes
        .get(16..48)
        .and_then(|worldline| worldline.try_into().ok())
        .ok_or(HeaderError::Damaged)?;
    if bytes == file_header(&worldline) {
        Ok(worldline)
    } else {
        Err(HeaderError::Damaged)
    }
}

/// What the first record names as the one before.
pub fn genesis_previous(worldline: &[u8; 32]) -> [u8; 32] {
    derive(RECORD_DOMAIN, &file_header(worldline))
}

/// The 64 bytes before a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Kind of the record.
    pub kind: RecordKind,
    /// Its number: 1, 2, 3, ...
    pub lsn: u64,
    /// Epoch it was written in.
    pub epoch: u64,
    /// Payload bytes.
    pub length: u32,
    /// Digest of the record before.
    pub previous: [u8; 32],
}

impl Head {
    /// The bytes.
    pub fn to_bytes(self) -> [u8; HEAD_BYTES] {
        let fields: [&[u8]; 7] = [
            RECORD_MAGIC,
            &[self.kind as u8, 0, 0, 0],
            &self.lsn.to_be_bytes(),
            &self.epoch.to_be_bytes(),
            &self.length.to_be_bytes(),
            &[0; 4],
            &self.previous,
        ];
        let mut bytes = [0; HEAD_BYTES];
        for (target, byte) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *target = *byte;
        }
        let [c0, c1, c2, c3, ..] = derive(HEAD_DOMAIN, &bytes);
        if let Some(check) = bytes.get_mut(CHECK) {
            check.copy_from_slice(&[c0, c1, c2, c3]);
        }
        bytes
    }

    /// The head these bytes are, its check and its form judged.
    pub fn from_bytes(bytes: &[u8; HEAD_BYTES]) -> Option<Self> {
        let head = Self {
            kind: RecordKind::from_number(*bytes.get(4)?)?,
            lsn: u64::from_be_bytes(bytes.get(8..16)?.try_into().ok()?),
            epoch: u64::from_be_bytes(bytes.get(16..24)?.try_into().ok()?),
            length: u32::from_be_bytes(bytes.get(24..28)?.try_into().ok()?),
            previous: bytes.get(32..64)?.try_into().ok()?,
        };
        (u64::from(head.length) <= MAX_PAYLOAD_BYTES && head.to_bytes() == *bytes).then_some(head)
    }
}

/// The digest of a record: over its head and payload.
pub fn record_digest(record: &[u8]) -> [u8; 32] {
    derive(RECORD_DOMAIN, record)
}

/// A record digest with its domain.
pub fn typed(digest: [u8; 32]) -> TypedDigest {
    TypedDigest::new(RECORD_DOMAIN, Algorithm::Blake3, digest)
}
