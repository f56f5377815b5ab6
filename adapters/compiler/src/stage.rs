// SPDX-License-Identifier: Apache-2.0
//! The runner-owned copy of an application: exactly the snapshot bytes, but for the output directory.

use crate::TASK;
use edict_codec::json::{Json, JsonLimits, parse, write_record};
use edict_test_model::{
    failure::{Failure, FailureKind, Stage},
    ids::Locator,
    ports::BuildRequest,
    suite::Shape,
};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

/// Directory of the application below the private one.
const APPLICATION: &str = "application";
/// Greatest length of an application document in bytes (L3).
const MAX_DOCUMENT: usize = 1_048_576;

/// A staged application.
#[derive(Debug)]
pub(crate) struct Staged {
    /// The document, relative to the working directory of the compiler.
    pub(crate) document: String,
    /// Where the artifacts must appear; absent until the compiler makes it.
    pub(crate) output: PathBuf,
}

/// Writes the files of `request` below `private`.
pub(crate) fn stage(
    private: &Path,
    request: &BuildRequest,
    provider: &[(String, Arc<[u8]>)],
) -> Result<Staged, Failure> {
    let output = free_name(request);
    let root = private.join(APPLICATION);
    for file in &request.files {
        let written = if file.path == request.document {
            let document = redirect(&file.bytes, &output).ok_or_else(|| {
                Failure::internal(
                    "an application document that was decoded has no output directory",
                )
            })?;
            write(&root, &file.path, &document)
        } else {
            write(&root, &file.path, &file.bytes)
        };
        written.map_err(|error| {
            let message = format!("stage `{}` for the compiler: {error}", file.path);
            TASK.unstarted(message)
        })?;
    }
    if request.recipe.shape == Shape::Upstream {
        stage_provider(&root, request, provider)?;
    }
    Ok(Staged {
        document: format!("{APPLICATION}/{}", request.document),
        output: root.join(output),
    })
}

/// Stages the pinned provider package where the document expects it. A file that is there already
/// must be the same bytes (S17).
fn stage_provider(
    root: &Path,
    request: &BuildRequest,
    provider: &[(String, Arc<[u8]>)],
) -> Result<(), Failure> {
    let Some(place) = &request.provider_package else {
        return Err(Failure::new(
            Stage::Lock,
            FailureKind::LockDisagreesWithApplication,
            format!("`{}` names no target.providerPackage", request.document),
        ));
    };
    for (name, bytes) in provider {
        let path = Locator::parse(&format!("{place}/{name}")).map_err(|_| {
            Failure::internal(format!("`{name}` of the provider package is no path"))
        })?;
        match request.files.iter().find(|file| file.path == path) {
            Some(staged) if staged.bytes == *bytes => {}
            Some(_) => {
                return Err(Failure::new(
                    Stage::Toolchain,
                    FailureKind::ProviderPackageMismatch,
                    format!("`{path}` is not the file of the pinned provider package"),
                ));
            }
            None => write(root, &path, bytes).map_err(|error| {
                let message = format!("stage `{path}` for the compiler: {error}");
                TASK.unstarted(message)
            })?,
        }
    }
    Ok(())
}

/// A name that no staged path begins with.
fn free_name(request: &BuildRequest) -> String {
    let taken = |name: &str| {
        request
            .files
            .iter()
            .any(|file| file.path.as_str().split('/').next() == Some(name))
    };
    let mut name = "output".to_owned();
    while taken(&name) {
        name.push('-');
    }
    name
}

/// The document with `output` as its `outputDirectory`: that member is a locator that the runner
/// ignores (1.6), and every other byte stays.
fn redirect(document: &[u8], output: &str) -> Option<Vec<u8>> {
    let node = parse(document, JsonLimits::document(MAX_DOCUMENT)).ok()?;
    let span = node.get("outputDirectory")?.span;
    let mut redirected = document.get(..span.start)?.to_vec();
    redirected.extend_from_slice(write_record(&Json::text(output)).as_bytes());
    redirected.extend_from_slice(document.get(span.end..)?);
    Some(redirected)
}

fn write(root: &Path, path: &Locator, bytes: &[u8]) -> io::Result<()> {
    let path = root.join(path.as_str());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)
}
