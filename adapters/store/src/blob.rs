// SPDX-License-Identifier: Apache-2.0
//! Bytes by blob digest: rehashed whenever they are read.

use crate::{
    disk::{Durability, create, read, read_used},
    state::{BLOB, Store, make_shelf},
};
use edict_codec::{bounded::ByteLimit, digest::TypedDigest};
use edict_test_model::{
    built::blob,
    failure::{Failure, FailureKind, Stage},
    ports::BlobStore,
};
use std::sync::Arc;

impl BlobStore for Store {
    fn put(&self, bytes: &[u8]) -> Result<TypedDigest, Failure> {
        let digest = blob(bytes);
        let failed = |error: std::io::Error| {
            let message = format!("keep a blob in the state directory: {error}");
            Failure::new(Stage::Report, FailureKind::ArtifactWriteFailed, message)
        };
        let path = self.entry(BLOB, &digest);
        let limit = ByteLimit::new(bytes.len() as u64);
        let mut good = false;
        let found = read_used(&path, limit, |kept| {
            good = kept == bytes;
            good
        });
        if found.is_ok() && good {
            return Ok(digest);
        }
        make_shelf(&path).map_err(failed)?;
        if !create(&path, bytes, Durability::Unsynced).map_err(failed)? {
            let same = read(&path, limit).is_ok_and(|kept| kept == bytes);
            if !same {
                // A corrupt blob is quarantined before it is written again (A4).
                self.quarantine(&path);
                create(&path, bytes, Durability::Unsynced).map_err(failed)?;
            }
        }
        Ok(digest)
    }

    fn get(&self, digest: &TypedDigest, limit: ByteLimit) -> Option<Arc<[u8]>> {
        let path = self.entry(BLOB, digest);
        let mut good = false;
        let read = read_used(&path, limit, |bytes| {
            good = blob(bytes) == *digest;
            good
        });
        match read {
            Ok(bytes) if good => Some(bytes.into()),
            Ok(_) => {
                self.quarantine(&path);
                None
            }
            Err(_) => None,
        }
    }
}
