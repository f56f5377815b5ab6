// SPDX-License-Identifier: Apache-2.0
//! Files of a request: bounded reading, and one output that must not exist before.

use super::Failure;
use super::request::{Build, Lawpack, Program};
use crate::closure::LawpackFiles;
use crate::{evaluate, verify};
use edict_codec::bounded::{ByteLimit, read_all};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

const MAX_FILE_BYTES: u64 = 16_777_216;

/// Reads the files of a build.
pub(super) fn build(paths: &Build) -> Result<verify::Inputs, Failure> {
    Ok(verify::Inputs {
        source: read(&paths.source)?,
        core: read(&paths.core)?,
        target_ir: read(&paths.target_ir)?,
        projection: read(&paths.projection)?,
        package: read(&paths.package)?,
        lawpacks: lawpacks(&paths.lawpacks)?,
    })
}

/// Reads the files of a program and its input.
pub(super) fn program(paths: &Program) -> Result<evaluate::Inputs, Failure> {
    Ok(evaluate::Inputs {
        core: read(&paths.core)?,
        lawpacks: lawpacks(&paths.lawpacks)?,
        input: read(&paths.input)?,
        intent: paths.intent.clone(),
        atoms: paths
            .atoms
            .as_ref()
            .map(|it| read(&it.before))
            .transpose()?,
    })
}

fn lawpacks(paths: &[Lawpack]) -> Result<Vec<LawpackFiles>, Failure> {
    paths
        .iter()
        .map(|paths| {
            Ok(LawpackFiles {
                manifest: read(&paths.manifest)?,
                exports: read(&paths.exports)?,
                adapter: paths.adapter.as_deref().map(read).transpose()?,
                configuration: paths.configuration.as_deref().map(read).transpose()?,
            })
        })
        .collect()
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(
            "InputReadFailed",
            format!("cannot read `{}`: {error}", path.display()),
        )
    };
    let mut file = File::open(path).map_err(|error| failed(&error))?;
    read_all(&mut file, ByteLimit::new(MAX_FILE_BYTES)).map_err(|error| failed(&error))
}

/// Refuses an output that exists, before anything is judged.
pub(super) fn absent(path: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(path).is_ok() {
        let message = format!("`{}` exists", path.display());
        return Err(
            Failure::new("OutputExists", message).with_help("name a file that does not exist")
        );
    }
    Ok(())
}

/// Writes the output as a new file; a part of it never stays.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(
            "OutputWriteFailed",
            format!("cannot write `{}`: {error}", path.display()),
        )
    };
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .map_err(failed)?;
    file.write_all(bytes).map_err(|error| {
        // The file is ours and incomplete; that it may stay is said by the failure itself.
        _ = fs::remove_file(path);
        failed(error)
    })
}
