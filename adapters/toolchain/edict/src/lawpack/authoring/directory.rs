// SPDX-License-Identifier: Apache-2.0
//! The output directory of a lawpack: replaced as a whole, or compared.

use crate::{
    failure::Failure,
    output::{is_free, publish, replace},
    paths,
};
use edict_codec::json::{self, JsonLimits};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// File name of the index.
pub(super) const INDEX: &str = "edict.lawpack-output.json";
/// Schema of the index.
pub(super) const INDEX_SCHEMA: &str = "edict.lawpack-output/v1";
/// Greatest size of a file that is compared.
const MAX_FILE: u64 = 16_777_216;

type Files = [(String, Vec<u8>)];

fn failed(directory: &str, reason: impl std::fmt::Display) -> Box<Failure> {
    let message = format!("write `{directory}`: {reason}");
    Failure::cli("LawpackOutputWriteFailed", message)
}

/// Writes `files` to `directory` below `root`, which must be absent, empty, or a former build of
/// the same id and version.
pub(super) fn write(
    root: &Path,
    directory: &str,
    lawpack: (&str, &str),
    files: &Files,
) -> Result<(), Box<Failure>> {
    let full = locate(root, directory)?;
    if is_free(&full).map_err(|error| failed(directory, error))? {
        return publish(&full, files).map_err(|error| failed(directory, error));
    }
    let (id, version) = lawpack;
    match former(&full) {
        Some((found_id, found_version)) if found_id == id && found_version == version => {
            replace(&full, files).map_err(|error| failed(directory, error))
        }
        Some((found_id, found_version)) => Err(failed(
            directory,
            format!("it holds `{found_id}@{found_version}`; choose another output directory"),
        )),
        None => Err(failed(
            directory,
            "it holds files that no lawpack build wrote",
        )),
    }
}

fn locate(root: &Path, directory: &str) -> Result<PathBuf, Box<Failure>> {
    paths::below(root, directory).map_err(|error| failed(directory, error))
}

/// Id and version of the lawpack whose index stands in a directory.
fn former(directory: &Path) -> Option<(String, String)> {
    let bytes = paths::read(&directory.join(INDEX), 1_048_576).ok()?;
    let index = json::parse(&bytes, JsonLimits::document(1_048_576)).ok()?;
    if index.get("schema")?.as_text()? != INDEX_SCHEMA {
        return None;
    }
    let text = |name| index.get(name)?.as_text().map(str::to_owned);
    Some((text("id")?, text("version")?))
}

/// Compares `directory` below `root` with `files`.
pub(super) fn compare(root: &Path, directory: &str, files: &Files) -> Result<(), Box<Failure>> {
    let differs = |reason: String| {
        let message = format!("`{directory}` differs from its definition: {reason}");
        Err(Failure::cli("LawpackOutputMismatch", message))
    };
    let full = locate(root, directory)?;
    let found = match names(&full) {
        Ok(found) => found,
        Err(error) => return differs(error.to_string()),
    };
    if let Some(name) = found
        .iter()
        .find(|name| !files.iter().any(|(it, _)| it == *name))
    {
        return differs(format!("`{name}` does not belong to it"));
    }
    for (name, bytes) in files {
        match paths::read(&full.join(name), MAX_FILE) {
            Ok(found) if found == *bytes => {}
            Ok(_) => return differs(format!("`{name}` has other bytes")),
            Err(error) => return differs(format!("`{name}`: {error}")),
        }
    }
    Ok(())
}

fn names(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
