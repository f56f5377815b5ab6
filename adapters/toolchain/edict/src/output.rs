// SPDX-License-Identifier: Apache-2.0
//! Written artifacts: their identities, and directories that appear whole or not at all.

use edict_codec::{
    digest::{frame, sha256},
    hex,
    json::Json,
};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// One canonical artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// File name.
    pub name: String,
    /// Digest domain.
    pub domain: String,
    /// Canonical bytes.
    pub bytes: Vec<u8>,
}

impl Artifact {
    /// An artifact of canonical bytes.
    pub fn new(name: impl Into<String>, domain: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            domain: domain.into(),
            bytes,
        }
    }

    /// Framed digest in its domain.
    pub fn digest(&self) -> [u8; 32] {
        frame(&self.domain, &self.bytes)
    }

    /// The row of result records and of the index of lawpacks.
    pub fn row(&self) -> Json {
        let length = u64::try_from(self.bytes.len()).unwrap_or(u64::MAX);
        Json::object([
            ("bytes", Json::unsigned(length)),
            ("digest", Json::text(digest_text(&self.digest()))),
            ("domain", Json::text(self.domain.as_str())),
            ("name", Json::text(self.name.as_str())),
            ("rawSha256", Json::text(digest_text(&sha256(&self.bytes)))),
        ])
    }
}

/// Rows of `artifacts`, ascending by name.
pub fn rows(artifacts: &[Artifact]) -> Json {
    let mut sorted: Vec<&Artifact> = artifacts.iter().collect();
    sorted.sort_by(|left, right| left.name.cmp(&right.name));
    Json::Array(sorted.into_iter().map(Artifact::row).collect())
}

/// `sha256:` and 64 hexadecimal digits.
pub fn digest_text(digest: &[u8; 32]) -> String {
    format!("sha256:{}", hex::encode(digest))
}

/// Whether nothing stands at `directory`, or an empty directory.
///
/// # Errors
/// When that cannot be found out, also because something else than a directory stands there.
pub fn is_free(directory: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error),
        Ok(metadata) if !metadata.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        Ok(_) => Ok(fs::read_dir(directory)?.next().is_none()),
    }
}

/// Writes `files` beside `directory` and lets them appear there by one rename. `directory` must be
/// absent or empty.
///
/// # Errors
/// Any failure of the file system; nothing is left behind then.
pub fn publish(directory: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let staging = stage(directory, files)?;
    fs::rename(&staging, directory).inspect_err(|_| discard(&staging))
}

/// As [`publish`], with a directory that is there already: it is moved aside, and back if the new
/// one cannot take its place.
///
/// # Errors
/// As [`publish`].
pub fn replace(directory: &Path, files: &[(String, Vec<u8>)]) -> io::Result<()> {
    let staging = stage(directory, files)?;
    let old = unused(directory, "old").inspect_err(|_| discard(&staging))?;
    fs::rename(directory, &old).inspect_err(|_| discard(&staging))?;
    if let Err(error) = fs::rename(&staging, directory) {
        discard(&staging);
        fs::rename(&old, directory)?;
        return Err(error);
    }
    discard(&old);
    Ok(())
}

fn stage(directory: &Path, files: &[(String, Vec<u8>)]) -> io::Result<PathBuf> {
    if let Some(parent) = directory.parent() {
        fs::create_dir_all(parent)?;
    }
    let staging = unused(directory, "new")?;
    fs::create_dir(&staging)?;
    for (name, bytes) in files {
        fs::write(staging.join(name), bytes).inspect_err(|_| discard(&staging))?;
    }
    Ok(staging)
}

/// Removes what this process made; what cannot be removed has no effect on the result.
fn discard(directory: &Path) {
    _ = fs::remove_dir_all(directory);
}

/// A name beside `directory` under which nothing stands.
fn unused(directory: &Path, word: &str) -> io::Result<PathBuf> {
    let name = directory
        .file_name()
        .ok_or(io::ErrorKind::InvalidFilename)?
        .to_string_lossy();
    for number in 0..1_000u32 {
        let candidate = directory.with_file_name(format!(".{name}.{word}-{number}"));
        match fs::symlink_metadata(&candidate) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(candidate),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
