// SPDX-License-Identifier: Apache-2.0
//! Bodies and the report: on the disk first, then under their names, overwriting nothing (M5, M7, M10).

use crate::disk::{Durability, directory, parent, read, suffixed, sync_directory, temporary};
use edict_codec::{
    bounded::{BoundedReadError, Budget, ByteLimit},
    digest::TypedDigest,
    json::{JsonLimits, Node, parse},
};
use edict_test_model::{
    built::blob,
    diagnostic::Detail,
    failure::{Failure, FailureKind, Stage},
};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};
use tempfile::NamedTempFile;

/// Greatest length of a report in bytes (section 3).
const MAX_REPORT: usize = 67_108_864;
/// Bodies that are written before they are synced: each holds a descriptor open until then.
const GROUP: usize = 64;
/// Schema of a report.
const REPORT: &str = "edict.test.run/v1";

/// What happens to a report that is there already (`--report-existing`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingReport {
    /// The run does not start.
    Refuse,
    /// A report of ours is replaced when the new one is complete.
    Replace,
}

/// The place of a report that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportPlace {
    path: PathBuf,
    existing: ExistingReport,
}

impl ReportPlace {
    /// Checks that a report can appear at `path`, without touching anything (M10).
    ///
    /// A device or a pipe is let through here, because nothing of it can be overwritten; publishing
    /// there fails.
    ///
    /// # Errors
    /// `ReportPathUnusable` without a parent directory or a name, `ReportExists` when something is
    /// there that may not be replaced; both of stage `arguments`.
    pub fn check(path: &Path, existing: ExistingReport) -> Result<Self, Failure> {
        if path.file_name().is_none() || !parent(path).is_dir() {
            let message = format!(
                "the directory of the report `{}` does not exist",
                path.display()
            );
            return Err(Failure::new(
                Stage::Arguments,
                FailureKind::ReportPathUnusable,
                message,
            ));
        }
        let place = Self {
            path: path.to_owned(),
            existing,
        };
        match fs::symlink_metadata(path) {
            Err(_) => Ok(place),
            Ok(found) if is_special(&found) => Ok(place),
            Ok(_) if existing == ExistingReport::Replace && is_report(path) => Ok(place),
            Ok(_) => Err(report_exists(Stage::Arguments, path)),
        }
    }

    /// The path of the report.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The artifact directory beside the report.
    pub fn artifacts(&self) -> PathBuf {
        suffixed(&self.path, ".artifacts")
    }

    /// Publishes `document` under the name of the report and syncs its directory (M7, step 6).
    ///
    /// # Errors
    /// `ReportExists` when something took the name meanwhile, `ReportWriteFailed`.
    pub fn publish(&self, document: &[u8]) -> Result<(), Failure> {
        let failed = |error: io::Error| {
            let message = format!("write the report `{}`: {error}", self.path.display());
            Failure::new(Stage::Report, FailureKind::ReportWriteFailed, message)
        };
        let found = fs::symlink_metadata(&self.path);
        if found.as_ref().is_ok_and(is_special) {
            return Err(failed(io::Error::other("it is a device or a pipe")));
        }
        let replaces = self.existing == ExistingReport::Replace && found.is_ok();
        if replaces && !is_report(&self.path) {
            return Err(report_exists(Stage::Report, &self.path));
        }
        let directory = parent(&self.path);
        let file = temporary(directory, document, Durability::Synced).map_err(failed)?;
        let published = if replaces {
            file.persist(&self.path)
        } else {
            file.persist_noclobber(&self.path)
        };
        published.map_err(|error| {
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                report_exists(Stage::Report, &self.path)
            } else {
                failed(error.error)
            }
        })?;
        sync_directory(directory).map_err(failed)
    }
}

/// A directory of bodies named by their blob digests: `blake3/ab/<62 hex>`.
#[derive(Debug)]
pub struct Bodies {
    root: PathBuf,
    limit: ByteLimit,
    budget: Budget,
    touched: BTreeSet<PathBuf>,
}

/// A body that has no name yet; without a file its name is taken.
#[derive(Debug)]
struct Written<'a> {
    blob: TypedDigest,
    path: PathBuf,
    bytes: &'a [u8],
    file: Option<NamedTempFile>,
}

impl Bodies {
    /// Bodies below `root`, which is made when the first one is kept; together at most `limit` bytes.
    pub fn new(root: &Path, limit: ByteLimit) -> Self {
        Self {
            root: root.to_owned(),
            limit,
            budget: Budget::new(limit.get()),
            touched: BTreeSet::new(),
        }
    }

    /// Keeps one body, synced; one that is there already is rehashed and left alone (M10).
    ///
    /// # Errors
    /// `ArtifactBytesExceeded` before anything is written, `ArtifactBodyMismatch`,
    /// `ArtifactWriteFailed`.
    pub fn keep(&mut self, bytes: &[u8]) -> Result<TypedDigest, Failure> {
        let written = self.write(bytes)?;
        let blob = written.blob.clone();
        self.name(vec![written])?;
        Ok(blob)
    }

    /// Keeps bodies, and syncs every directory in which one got its name (M7, step 4).
    ///
    /// Several are written before the first of them is synced, so that the disk takes them together.
    /// None gets its name before it is synced.
    ///
    /// # Errors
    /// As [`Self::keep`], for the first body that cannot be kept.
    pub fn keep_all<'a>(
        &mut self,
        bodies: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), Failure> {
        let mut group = Vec::new();
        for bytes in bodies {
            group.push(self.write(bytes)?);
            if group.len() == GROUP {
                self.name(std::mem::take(&mut group))?;
            }
        }
        self.name(group)?;
        self.sync()
    }

    /// Writes a body under a temporary name, unless it is there.
    fn write<'a>(&mut self, bytes: &'a [u8]) -> Result<Written<'a>, Failure> {
        let blob = blob(bytes);
        if !self.budget.take(bytes.len() as u64) {
            let message = format!("the bodies are larger than {} bytes", self.limit.get());
            let detail = Detail::Limit {
                limit: self.limit.get(),
                actual: None,
            };
            return Err(
                Failure::new(Stage::Report, FailureKind::ArtifactBytesExceeded, message)
                    .with_detail(detail),
            );
        }
        let path = self.root.join(body_path(&blob));
        let written = self.directories(&path).and_then(|()| {
            if fs::symlink_metadata(&path).is_ok() {
                return Ok(None);
            }
            temporary(parent(&path), bytes, Durability::Unsynced).map(Some)
        });
        let file = written.map_err(|error| self.failed(&error))?;
        Ok(Written {
            blob,
            path,
            bytes,
            file,
        })
    }

    /// Syncs what was written, then gives it its names.
    fn name(&self, group: Vec<Written<'_>>) -> Result<(), Failure> {
        for file in group.iter().filter_map(|it| it.file.as_ref()) {
            let synced = file.as_file().sync_all();
            synced.map_err(|error| self.failed(&error))?;
        }
        for written in group {
            let named = match written.file {
                None => false,
                Some(file) => match file.persist_noclobber(&written.path) {
                    Ok(_) => true,
                    Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => false,
                    Err(error) => return Err(self.failed(&error.error)),
                },
            };
            if !named {
                check_existing(&written.path, written.bytes, &written.blob)?;
            }
        }
        Ok(())
    }

    /// Syncs every directory in which a body got its name (M7, step 4).
    ///
    /// # Errors
    /// `ArtifactWriteFailed`.
    pub fn sync(&self) -> Result<(), Failure> {
        for directory in &self.touched {
            sync_directory(directory).map_err(|error| self.failed(&error))?;
        }
        Ok(())
    }

    fn directories(&mut self, path: &Path) -> io::Result<()> {
        let shelf = parent(path).to_owned();
        if self.touched.contains(&shelf) {
            return Ok(());
        }
        let algorithm = parent(&shelf).to_owned();
        for made in [&self.root, &algorithm, &shelf] {
            directory(made)?;
        }
        self.touched.extend([
            parent(&self.root).to_owned(),
            self.root.clone(),
            algorithm,
            shelf,
        ]);
        Ok(())
    }

    fn failed(&self, error: &io::Error) -> Failure {
        let message = format!("write below `{}`: {error}", self.root.display());
        Failure::new(Stage::Report, FailureKind::ArtifactWriteFailed, message)
    }
}

fn check_existing(path: &Path, bytes: &[u8], expected: &TypedDigest) -> Result<(), Failure> {
    match read(path, ByteLimit::new(bytes.len() as u64)) {
        Ok(found) if found == bytes => Ok(()),
        found => {
            let message = format!(
                "`{}` holds other bytes than its name says; remove it or choose another directory",
                path.display()
            );
            let failure = Failure::new(Stage::Report, FailureKind::ArtifactBodyMismatch, message);
            Err(match found {
                Ok(found) => failure.mismatch(expected, &blob(&found)),
                Err(_) => failure,
            })
        }
    }
}

/// The path of a body relative to its artifact directory (M5).
pub fn body_path(blob: &TypedDigest) -> String {
    let hex = blob.hex();
    let (shelf, name) = hex.split_at_checked(2).unwrap_or_default();
    format!("blake3/{shelf}/{name}")
}

/// Reads a body back and rehashes it.
///
/// # Errors
/// `TooLarge` beyond `limit`; `Io` when it cannot be read or is not what its name says.
pub fn read_body(
    root: &Path,
    expected: &TypedDigest,
    limit: ByteLimit,
) -> Result<Vec<u8>, BoundedReadError> {
    let bytes = read(&root.join(body_path(expected)), limit)?;
    if blob(&bytes) == *expected {
        Ok(bytes)
    } else {
        Err(io::Error::other("it holds other bytes than its name says").into())
    }
}

/// The failure of a report or journal that is in the way.
pub(crate) fn report_exists(stage: Stage, path: &Path) -> Failure {
    let message = format!(
        "`{}` exists and is not replaced; choose another path, or pass `--report-existing replace` for \
         a report of this program",
        path.display()
    );
    Failure::new(stage, FailureKind::ReportExists, message)
}

/// Whether a regular file at `path` is a report.
fn is_report(path: &Path) -> bool {
    read(path, ByteLimit::new(MAX_REPORT as u64))
        .ok()
        .and_then(|bytes| parse(&bytes, JsonLimits::document(MAX_REPORT)).ok())
        .is_some_and(|node| node.get("schema").and_then(Node::as_text) == Some(REPORT))
}

fn is_special(found: &fs::Metadata) -> bool {
    !found.is_file() && !found.is_dir() && !found.is_symlink()
}
