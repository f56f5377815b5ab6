// SPDX-License-Identifier: Apache-2.0
//! One build of one application.

use crate::{
    db::Db,
    inputs::{Suite, Toolchain},
    reuse::build_or_reuse,
    snapshot::{Application, subject},
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    Failure, Locator,
    built::Built,
    ports::{BuildRequest, StagedFile, StagedLawpack},
    recipe::BuildRecipe,
};
use std::sync::Arc;

/// The outputs, or why there are none.
#[salsa::tracked(returns(clone))]
pub(crate) fn build<'db>(
    db: &'db dyn Db,
    application: Application<'db>,
) -> Result<Arc<Built>, Arc<Failure>> {
    let request = request(db, application);
    let mut built = build_or_reuse(db.ports(), &request).map_err(Arc::new)?;
    // Files that many programs share are kept once: the bytes of the snapshot.
    for artifact in built.lawpack_exports.iter_mut().chain([&mut built.source]) {
        let files = application.files(db);
        if let Some(file) = files.iter().find(|it| *it.digest(db) == artifact.body.blob) {
            artifact.body.bytes = Arc::clone(file.bytes(db));
        }
    }
    Ok(Arc::new(built))
}

/// What decides the build.
pub(crate) fn recipe(db: &dyn Db, application: Application<'_>) -> BuildRecipe {
    let roles = Toolchain::get(db).build_roles(db).clone();
    BuildRecipe {
        shape: roles.shape,
        application: subject(db, application),
        compiler: roles.compiler,
        lowerer: roles.lowerer,
        provider_package: roles.provider_package,
        target_profile: roles.target_profile,
        interpreter_profile: roles.interpreter_profile,
        codec_abi: roles.codec_abi,
    }
}

fn request(db: &dyn Db, application: Application<'_>) -> BuildRequest {
    let document = application.document(db);
    let limits = Suite::get(db).limits(db);
    BuildRequest {
        recipe: recipe(db, application),
        document: file_name(application.locator(db)),
        source: document.source.clone(),
        lawpacks: lawpacks(db, application),
        provider_package: document.provider_package.clone(),
        files: files(db, application),
        wall_timeout_ms: limits.wall_timeout_ms(),
        artifact_bytes: ByteLimit::new(limits.max_artifact_bytes()),
    }
}

/// The paths of the lawpacks, relative to the document.
pub(crate) fn lawpacks(db: &dyn Db, application: Application<'_>) -> Vec<StagedLawpack> {
    application
        .document(db)
        .lawpacks
        .iter()
        .map(|paths| StagedLawpack {
            manifest: paths.manifest.clone(),
            exports: paths.exports.clone(),
            adapter: paths.target.as_ref().map(|target| target.adapter.clone()),
            target_configuration: paths.target.as_ref().map(|it| it.configuration.clone()),
        })
        .collect()
}

/// The document and every file that it names, each path once.
pub(crate) fn files(db: &dyn Db, application: Application<'_>) -> Vec<StagedFile> {
    let document = StagedFile {
        path: file_name(application.locator(db)),
        bytes: Arc::clone(application.file(db).bytes(db)),
    };
    let named = application.document(db);
    let mut staged = vec![document];
    for (path, file) in named.files().into_iter().zip(application.files(db)) {
        if staged.iter().all(|it| it.path != *path) {
            staged.push(StagedFile {
                path: path.clone(),
                bytes: Arc::clone(file.bytes(db)),
            });
        }
    }
    staged
}

/// The last component of a locator, which is a locator again.
fn file_name(locator: &Locator) -> Locator {
    let name = locator.as_str().rsplit('/').next().unwrap_or_default();
    Locator::parse(name).unwrap_or_else(|_| locator.clone())
}
