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
use edict_test_process::{Inputs, Staging};
use std::{path::PathBuf, sync::Arc};

/// Directory in the private one where the artifacts must appear.
const OUTPUT: &str = "output";
/// Greatest length of an application document in bytes (L3).
const MAX_DOCUMENT: usize = 1_048_576;

/// A staged application.
#[derive(Debug)]
pub(crate) struct Staged<'a> {
    /// The files, and the private directory of the compiler among them.
    pub(crate) inputs: Inputs<'a>,
    /// The document, relative to the private directory.
    pub(crate) document: String,
    /// Where the artifacts must appear; absent until the compiler makes it.
    pub(crate) output: PathBuf,
}

/// Stages the files of `request`. Paths of the document stay below the document, so the private
/// directory is beside it: the one place that the compiler may write.
pub(crate) fn stage<'a>(
    staging: &'a Staging,
    request: &BuildRequest,
    provider: &[(String, Arc<[u8]>)],
) -> Result<Staged<'a>, Failure> {
    let private = free_name(request);
    let document = request
        .files
        .iter()
        .find(|file| file.path == request.document)
        .and_then(|file| redirect(&file.bytes, &format!("{private}/{OUTPUT}")))
        .ok_or_else(|| {
            Failure::internal("an application document that was decoded has no output directory")
        })?
        .into();
    let mut files: Vec<(String, &Arc<[u8]>)> = request
        .files
        .iter()
        .map(|file| {
            let is_document = file.path == request.document;
            let bytes = if is_document { &document } else { &file.bytes };
            (file.path.as_str().to_owned(), bytes)
        })
        .collect();
    if request.recipe.shape == Shape::Upstream {
        add_provider(&mut files, request, provider)?;
    }
    let inputs = staging.open(&files, &private).map_err(|error| {
        let message = format!("stage the application for the compiler: {error}");
        TASK.unstarted(message)
    })?;
    Ok(Staged {
        document: format!("../{}", request.document),
        output: inputs.private().join(OUTPUT),
        inputs,
    })
}

/// Adds the pinned provider package where the document expects it. A file that is there already must be
/// the same bytes (S17).
fn add_provider<'a>(
    files: &mut Vec<(String, &'a Arc<[u8]>)>,
    request: &BuildRequest,
    provider: &'a [(String, Arc<[u8]>)],
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
            None => files.push((path.as_str().to_owned(), bytes)),
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
    let mut name = "private".to_owned();
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
