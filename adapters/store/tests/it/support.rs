// SPDX-License-Identifier: Apache-2.0
//! A build, its recipe, and a state directory to keep them in.

use edict_test_model::{
    built::{Artifact, ArtifactRole, Built, VerificationOutcome, Verified, blob},
    ids::Locator,
    recipe::{ApplicationSubject, BuildRecipe, ContentFile, LawpackFiles, VerifyRecipe},
    suite::Shape,
};
use edict_test_store::Store;
use std::path::{Path, PathBuf};

/// A directory and the store in it.
pub(crate) struct Space {
    root: tempfile::TempDir,
    pub(crate) store: Store,
}

impl Space {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let store = open(root.path());
        Self { root, store }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// All files below `kind`, ascending.
    pub(crate) fn files(&self, kind: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut open = vec![self.path().join(kind)];
        while let Some(path) = open.pop() {
            if path.is_dir() {
                open.extend(
                    std::fs::read_dir(path)
                        .unwrap()
                        .map(|it| it.unwrap().path()),
                );
            } else {
                found.push(path);
            }
        }
        found.sort();
        found
    }

    /// Drops the store, so that nobody holds its lock.
    pub(crate) fn close(self) -> tempfile::TempDir {
        self.root
    }
}

pub(crate) fn open(path: &Path) -> Store {
    Store::open(path, blob(b"runner")).unwrap()
}

fn content(bytes: &[u8], path: &str) -> ContentFile {
    ContentFile {
        blob: blob(bytes),
        locator: Locator::parse(path).unwrap(),
    }
}

pub(crate) fn recipe() -> BuildRecipe {
    let pin = blob(b"pin");
    BuildRecipe {
        shape: Shape::Bundled,
        application: ApplicationSubject {
            build_kind: "executableOperation".to_owned(),
            coordinate: "example.a@1".to_owned(),
            sources: vec![content(b"source", "src/m.edict")],
            lawpacks: vec![LawpackFiles {
                manifest: content(b"manifest", "pack/manifest.cbor"),
                exports: content(b"\xa0", "pack/exports.cbor"),
                adapter: None,
                target_configuration: None,
            }],
            resources: Vec::new(),
            target_profile: "echo.dpo@1".to_owned(),
        },
        compiler: pin.clone(),
        lowerer: pin.clone(),
        provider_package: None,
        target_profile: pin.clone(),
        interpreter_profile: pin.clone(),
        codec_abi: pin,
    }
}

fn artifact(role: ArtifactRole, bytes: &[u8]) -> Artifact {
    Artifact::item(role, role.domain().unwrap_or("pack.exports/v1"), bytes).unwrap()
}

pub(crate) fn built() -> Built {
    Built {
        core: Some(artifact(ArtifactRole::Core, b"\x01")),
        target_ir: Some(artifact(ArtifactRole::TargetIr, b"\x02")),
        projection: Some(artifact(ArtifactRole::ResultProjection, b"\x03")),
        package: artifact(ArtifactRole::Package, b"\x04"),
        source: Artifact::source(*b"source"),
        lawpack_exports: vec![artifact(ArtifactRole::LawpackExports, b"\xa0")],
        report: None,
    }
}

pub(crate) fn verify_recipe() -> VerifyRecipe {
    let pin = blob(b"pin");
    VerifyRecipe::of(&built(), &pin, &pin, &pin)
}

pub(crate) fn verified(outcome: VerificationOutcome) -> Verified {
    Verified {
        report: artifact(ArtifactRole::VerificationReport, b"\x05"),
        outcome,
        disagreement: None,
    }
}
