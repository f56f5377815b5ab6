// SPDX-License-Identifier: Apache-2.0
//! Bytes by blob digest: rehashed whenever they are read.

use crate::{
    disk::{Durability, create, read},
    state::{BLOB, Store},
};
use edict_codec::{bounded::ByteLimit, digest::TypedDigest};
use edict_test_model::{
    built::blob,
    failure::{Failure, FailureKind, Stage},
    ports::BlobStore,
};
use std::{
    fs::{File, FileTimes},
    path::Path,
    sync::Arc,
    time::SystemTime,
};

impl BlobStore for Store {
    fn put(&self, bytes: &[u8]) -> Result<TypedDigest, Failure> {
        let digest = blob(bytes);
        let failed = |error: std::io::Error| {
            let message = format!("keep a blob in the state directory: {error}");
            Failure::new(Stage::Report, FailureKind::ArtifactWriteFailed, message)
        };
        let path = self.shelf(BLOB, &digest).map_err(failed)?;
        let limit = ByteLimit::new(bytes.len() as u64);
        if read(&path, limit).is_ok_and(|kept| kept == bytes) {
            touch(&path);
            return Ok(digest);
        }
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
        match read(&path, limit) {
            Ok(bytes) if blob(&bytes) == *digest => {
                touch(&path);
                Some(bytes.into())
            }
            Ok(_) => {
                self.quarantine(&path);
                None
            }
            Err(_) => None,
        }
    }
}

/// Notes the use of an entry, by which a collection orders it (A9). A use that is not noted only makes
/// it look older.
pub(crate) fn touch(path: &Path) {
    let now = FileTimes::new().set_modified(SystemTime::now());
    _ = File::open(path).and_then(|file| file.set_times(now));
}
