// SPDX-License-Identifier: Apache-2.0
//! The index of a work tree: which content the files have that Git knows.

use crate::tree::TreeFile;
use edict_codec::digest::sha256;
use edict_test_model::Locator;
use sha1::{Digest as _, Sha1};
use std::collections::BTreeMap;

/// Length of the fixed part of an entry up to its object name.
const STAT: usize = 40;
/// Type of a mode that is a regular file.
const REGULAR: u32 = 0o10;

/// The entries of an index by path.
#[derive(Debug)]
pub(super) struct Index {
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Length of an object name in bytes: that of SHA-1 or of SHA-256.
    name: usize,
}

#[derive(Debug)]
struct Entry {
    mode: u32,
    object: Vec<u8>,
    /// Whether the entry is one side of a conflict that is not resolved.
    unmerged: bool,
}

/// Bytes that are read from front to back.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    fn number(&mut self, length: usize) -> Option<u32> {
        let bytes = self.take(length)?;
        Some(
            bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
        )
    }

    /// The bytes before the next NUL, which is taken too.
    fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1).map(|_| text)
    }

    /// A length as version 4 writes it: groups of seven bits, one added for each that follows.
    fn length(&mut self) -> Option<usize> {
        let mut value = 0usize;
        loop {
            let byte = self.number(1)?;
            value = value.checked_add(usize::try_from(byte & 0x7f).ok()?)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            value = value.checked_add(1)?.checked_mul(128)?;
        }
    }
}

impl Index {
    /// Reads an index of a repository whose object names have that many bytes; `None` if it is none
    /// of version 2 to 4 or keeps its entries elsewhere.
    pub(super) fn read(bytes: &[u8], name: usize) -> Option<Self> {
        let body = bytes.len().checked_sub(name)?;
        let mut reader = Reader(bytes.get(..body)?);
        if reader.take(4)? != b"DIRC" {
            return None;
        }
        let version = reader.number(4)?;
        let count = reader.number(4)?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut entries = BTreeMap::new();
        let mut path = Vec::new();
        for _ in 0..count {
            let before = reader.0.len();
            let stat = reader.take(STAT)?;
            let mode = Reader(stat.get(24..28)?).number(4)?;
            let object = reader.take(name)?.to_vec();
            let flags = reader.number(2)?;
            if version > 2 && flags & 0x4000 != 0 {
                reader.take(2)?;
            }
            if version == 4 {
                let kept = path.len().checked_sub(reader.length()?)?;
                path.truncate(kept);
                path.extend(reader.text()?);
            } else {
                path = reader.text()?.to_vec();
                let used = before - reader.0.len();
                reader.take(used.next_multiple_of(8) - used)?;
            }
            let entry = Entry {
                mode,
                object,
                unmerged: flags & 0x3000 != 0,
            };
            entries.insert(path.clone(), entry);
        }
        while !reader.0.is_empty() {
            let kind = reader.take(4)?;
            let length = usize::try_from(reader.number(4)?).ok()?;
            reader.take(length)?;
            // Entries in another file, or directories that stand for their entries.
            if matches!(kind, b"link" | b"sdir") {
                return None;
            }
        }
        Some(Self { entries, name })
    }

    /// The first path at which `files`, which are all below `paths`, are not what the index has.
    pub(super) fn dirt(&self, files: &[TreeFile], paths: &[Locator]) -> Option<String> {
        let is_other = |file: &&TreeFile| {
            self.entries.get(file.path.as_bytes()).is_none_or(|entry| {
                entry.unmerged
                    || entry.mode >> 12 != REGULAR
                    || entry.object != self.object(&file.bytes)
            })
        };
        if let Some(file) = files.iter().find(is_other) {
            return Some(file.path.clone());
        }
        let is_missing = |path: &&Vec<u8>| {
            let below = paths.iter().any(|it| {
                let rest = path.strip_prefix(it.as_str().as_bytes());
                rest.is_some_and(|rest| rest.first().is_none_or(|sign| *sign == b'/'))
            });
            below
                && files
                    .binary_search_by(|file| file.path.as_bytes().cmp(path))
                    .is_err()
        };
        let missing = self.entries.keys().find(is_missing)?;
        Some(String::from_utf8_lossy(missing).into_owned())
    }

    fn object(&self, bytes: &[u8]) -> Vec<u8> {
        let head = format!("blob {}\0", bytes.len());
        if self.name == 20 {
            Sha1::new()
                .chain_update(head)
                .chain_update(bytes)
                .finalize()
                .to_vec()
        } else {
            sha256(&[head.as_bytes(), bytes].concat()).to_vec()
        }
    }
}
