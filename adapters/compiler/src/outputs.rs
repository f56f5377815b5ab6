// SPDX-License-Identifier: Apache-2.0
//! The artifacts that a build left: exactly those, within the limit, identified anew (S18, D7).

use crate::TASK;
use edict_codec::bounded::{BoundedReadError, Budget, ByteLimit, read_all};
use edict_test_model::{
    binding::exports_domain,
    built::{Artifact, ArtifactRole, Built},
    diagnostic::Detail,
    failure::{Failure, FailureKind, Stage},
    ids::Locator,
    package::upstream::{OPERATION_PACKAGE_SCHEMA, OPERATION_REPORT_SCHEMA},
    ports::{BuildRequest, StagedLawpack},
    suite::Shape,
};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    io,
    path::Path,
    sync::Arc,
};

/// The files of a build in the bundled shape (S18).
const BUNDLED: &[ArtifactRole] = &[
    ArtifactRole::Core,
    ArtifactRole::TargetIr,
    ArtifactRole::ResultProjection,
    ArtifactRole::Package,
];
/// The files of a build in the upstream shape, whose compiler verifies too.
const UPSTREAM: &[ArtifactRole] = &[ArtifactRole::Package, ArtifactRole::VerificationReport];
/// Entries looked at in an output directory: more than a right one has.
const MAX_ENTRIES: usize = 64;

/// Reads the artifacts of `directory` and identifies them, the source and the exports.
pub(crate) fn read(directory: &Path, request: &BuildRequest) -> Result<Built, Failure> {
    let is_upstream = request.recipe.shape == Shape::Upstream;
    expect_exactly(directory, if is_upstream { UPSTREAM } else { BUNDLED })?;
    let mut budget = Budget::new(request.artifact_bytes.get());
    let mut artifact = |role: ArtifactRole| {
        let name = role.file_name().unwrap_or_default();
        let bytes = read_file(&directory.join(name), name, budget, request.artifact_bytes)?;
        budget.take(bytes.len() as u64);
        let domain = match role {
            ArtifactRole::Package if is_upstream => OPERATION_PACKAGE_SCHEMA,
            ArtifactRole::VerificationReport if is_upstream => OPERATION_REPORT_SCHEMA,
            role => role.domain().unwrap_or_default(),
        };
        identify(role, domain, name, bytes)
    };
    let mut of_shape =
        |role: ArtifactRole, wanted: bool| wanted.then(|| artifact(role)).transpose();
    let core = of_shape(ArtifactRole::Core, !is_upstream)?;
    let target_ir = of_shape(ArtifactRole::TargetIr, !is_upstream)?;
    let projection = of_shape(ArtifactRole::ResultProjection, !is_upstream)?;
    Ok(Built {
        core,
        target_ir,
        projection,
        package: artifact(ArtifactRole::Package)?,
        source: Artifact::source(staged(request, &request.source)?),
        lawpack_exports: request
            .lawpacks
            .iter()
            .map(|lawpack| exports(request, lawpack))
            .collect::<Result<_, _>>()?,
        report: is_upstream
            .then(|| artifact(ArtifactRole::VerificationReport))
            .transpose()?,
    })
}

/// The files of the shape must be there, and nothing else. Nothing changes them any more: the process tree of
/// the compiler is gone.
fn expect_exactly(directory: &Path, outputs: &[ArtifactRole]) -> Result<(), Failure> {
    let names = names(directory).unwrap_or_default();
    for role in outputs {
        let name = role.file_name().unwrap_or_default();
        if !names.contains(name) {
            let message = format!("the compiler succeeded without writing `{name}`");
            return Err(about(FailureKind::BuildOutputMissing, message, name));
        }
    }
    let expected = |name: &str| outputs.iter().any(|role| role.file_name() == Some(name));
    let stray = names.iter().find(|name| {
        let is_file = fs::symlink_metadata(directory.join(name)).is_ok_and(|it| it.is_file());
        !is_file || !expected(name)
    });
    match stray {
        None => Ok(()),
        Some(name) => {
            let message = format!("the compiler wrote `{name}`, which is no artifact file");
            Err(about(FailureKind::BuildOutputUnexpected, message, name))
        }
    }
}

/// The names in a directory; foreign bytes become U+FFFD, and no artifact has such a name.
fn names(directory: &Path) -> io::Result<BTreeSet<String>> {
    // A link would lead out of the directory that was made for this build.
    if !fs::symlink_metadata(directory)?.is_dir() {
        return Err(io::Error::from(io::ErrorKind::NotADirectory));
    }
    fs::read_dir(directory)?
        .take(MAX_ENTRIES)
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

fn read_file(
    path: &Path,
    name: &str,
    budget: Budget,
    limit: ByteLimit,
) -> Result<Vec<u8>, Failure> {
    let read = File::open(path)
        .map_err(BoundedReadError::from)
        .and_then(|mut file| read_all(&mut file, ByteLimit::new(budget.left())));
    read.map_err(|error| match error {
        BoundedReadError::TooLarge { .. } => TASK.too_many_bytes(limit),
        BoundedReadError::Io(error) => {
            let message = format!("read the artifact `{name}`: {error}");
            about(FailureKind::ArtifactInvalid, message, name)
        }
    })
}

fn exports(request: &BuildRequest, lawpack: &StagedLawpack) -> Result<Artifact, Failure> {
    let name = lawpack.exports.as_str();
    let manifest = staged(request, &lawpack.manifest)?;
    let domain = exports_domain(&manifest).ok_or_else(|| {
        let message = format!(
            "the lawpack manifest `{}` names no exports",
            lawpack.manifest
        );
        about(
            FailureKind::ArtifactInvalid,
            message,
            lawpack.manifest.as_str(),
        )
    })?;
    let bytes = staged(request, &lawpack.exports)?;
    identify(ArtifactRole::LawpackExports, &domain, name, bytes)
}

fn staged(request: &BuildRequest, path: &Locator) -> Result<Arc<[u8]>, Failure> {
    request
        .files
        .iter()
        .find(|file| file.path == *path)
        .map(|file| Arc::clone(&file.bytes))
        .ok_or_else(|| Failure::internal(format!("`{path}` was not staged")))
}

fn identify(
    role: ArtifactRole,
    domain: &str,
    name: &str,
    bytes: impl Into<Arc<[u8]>>,
) -> Result<Artifact, Failure> {
    Artifact::item(role, domain, bytes)
        .map_err(|error| about(FailureKind::ArtifactInvalid, error.to_string(), name))
}

fn about(kind: FailureKind, message: String, name: &str) -> Failure {
    Failure::new(Stage::Build, kind, message).with_detail(Detail::Name(name.to_owned()))
}
