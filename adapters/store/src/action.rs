// SPDX-License-Identifier: Apache-2.0
//! Outputs of builds and accepted verifications by key; a hit is checked in full (A4, A5, A8).

use crate::{
    disk::{Durability, create, read, read_used},
    record::{self, ActionKind, MAX_RECORD, Output},
    state::{ACTION, Store, make_shelf},
};
use edict_codec::{
    bounded::{BoundedReadError, ByteLimit},
    digest::TypedDigest,
};
use edict_test_model::{
    built::{Artifact, ArtifactRole, Built, VerificationOutcome, Verified},
    diagnostic::{Notice, WarningKind},
    failure::Stage,
    ports::{ActionStore, BlobStore as _, Lookup},
    recipe::{BuildRecipe, Recipe, VerifyRecipe, key, leaves},
    suite::Shape,
};
use std::io;

impl ActionStore for Store {
    fn built(&self, recipe: &BuildRecipe) -> Lookup<Built> {
        self.look_up(ActionKind::Build, recipe, |artifacts| {
            built(recipe, artifacts)
        })
    }

    fn keep_built(&self, recipe: &BuildRecipe, built: &Built) -> Vec<Notice> {
        let artifacts = built.artifacts().into_iter().chain(&built.report);
        self.keep(ActionKind::Build, recipe, artifacts)
    }

    fn verified(&self, recipe: &VerifyRecipe) -> Lookup<Verified> {
        self.look_up(ActionKind::Verify, recipe, |artifacts| {
            let mut artifacts = artifacts.into_iter();
            match (artifacts.next(), artifacts.next()) {
                (Some(report), None) if report.role == ArtifactRole::VerificationReport => {
                    // Only accepted verifications are kept.
                    Ok(Verified {
                        report,
                        outcome: VerificationOutcome::Accepted,
                        disagreement: None,
                    })
                }
                _ => Err("its outputs are not one report".to_owned()),
            }
        })
    }

    fn keep_verified(&self, recipe: &VerifyRecipe, verified: &Verified) -> Vec<Notice> {
        match verified.outcome {
            VerificationOutcome::Accepted => {
                self.keep(ActionKind::Verify, recipe, [&verified.report])
            }
            // A refusal is never cached (A8).
            VerificationOutcome::Rejected => Vec::new(),
        }
    }
}

impl Store {
    /// The outputs that the build or verification of `key` left, each rehashed; for explanations,
    /// which know a key and not what it was made of.
    pub fn outputs(&self, key: &TypedDigest) -> Option<Vec<Artifact>> {
        let bytes = read(&self.entry(ACTION, key), ByteLimit::new(MAX_RECORD)).ok()?;
        let outputs = record::outputs(&bytes, key).ok()?;
        outputs.iter().map(|it| self.artifact(it).ok()).collect()
    }

    fn look_up<T>(
        &self,
        kind: ActionKind,
        recipe: &dyn Recipe,
        assemble: impl FnOnce(Vec<Artifact>) -> Result<T, String>,
    ) -> Lookup<T> {
        let key = key(recipe);
        let path = self.entry(ACTION, &key);
        let read = read_used(&path, ByteLimit::new(MAX_RECORD), |_| true);
        let bytes = match read {
            Ok(bytes) => Ok(bytes),
            Err(BoundedReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                return Lookup::miss();
            }
            Err(error) => Err(error.to_string()),
        };
        let found = bytes
            .and_then(|bytes| record::read(&bytes, kind, &key, &leaves(recipe)))
            .and_then(|outputs| outputs.iter().map(|output| self.artifact(output)).collect())
            .and_then(assemble);
        match found {
            Ok(found) => Lookup {
                found: Some(found),
                notices: Vec::new(),
            },
            Err(reason) => {
                self.quarantine(&path);
                let message = format!("the entry {} is not used: {reason}", key.hex());
                Lookup {
                    found: None,
                    notices: vec![Notice::warning(
                        stage(kind),
                        WarningKind::CacheEntryQuarantined,
                        message,
                    )],
                }
            }
        }
    }

    /// One output: there, of its length and digest, and with its identity by the owning rule.
    fn artifact(&self, output: &Output) -> Result<Artifact, String> {
        let role = output.role.name();
        let bytes = self
            .get(&output.blob, ByteLimit::new(output.byte_length))
            .filter(|bytes| bytes.len() as u64 == output.byte_length)
            .ok_or_else(|| format!("the bytes of `{role}` are lost or changed"))?;
        let artifact = match output.role {
            ArtifactRole::Source => Artifact::source(bytes),
            ArtifactRole::LawpackExports => {
                Artifact::item(output.role, output.identity.domain(), bytes)
                    .map_err(|error| error.to_string())?
            }
            other => Artifact::item(other, other.domain().unwrap_or_default(), bytes)
                .map_err(|error| error.to_string())?,
        };
        if artifact.identity == output.identity {
            Ok(artifact)
        } else {
            Err(format!("the identity of `{role}` is another one"))
        }
    }

    /// Blobs before the record, content before its name (A6). What cannot be kept is a miss later.
    fn keep<'a>(
        &self,
        kind: ActionKind,
        recipe: &dyn Recipe,
        artifacts: impl IntoIterator<Item = &'a Artifact>,
    ) -> Vec<Notice> {
        let lost = |reason: &str| {
            let message = format!("an action is not kept: {reason}");
            vec![Notice::warning(
                stage(kind),
                WarningKind::StateUnavailable,
                message,
            )]
        };
        let mut outputs = Vec::new();
        for artifact in artifacts {
            if let Err(failure) = self.put(&artifact.body.bytes) {
                return lost(&failure.message);
            }
            outputs.push(Output::of(artifact));
        }
        let key = key(recipe);
        let text = record::write(kind, &key, &leaves(recipe), &outputs, &self.producer);
        if text.len() as u64 > MAX_RECORD {
            return lost("its record is larger than 1 MiB");
        }
        let path = self.entry(ACTION, &key);
        let kept =
            make_shelf(&path).and_then(|()| create(&path, text.as_bytes(), Durability::Unsynced));
        match kept {
            // Another run was first; it wrote the same (A7).
            Ok(_) => Vec::new(),
            Err(error) => lost(&error.to_string()),
        }
    }
}

/// The outputs of a build in the order in which they were kept, held against the recipe's own inputs.
fn built(recipe: &BuildRecipe, artifacts: Vec<Artifact>) -> Result<Built, String> {
    let mut rest = artifacts.into_iter().peekable();
    let mut next = |role: ArtifactRole| {
        rest.next_if(|artifact| artifact.role == role)
            .ok_or_else(|| format!("its outputs have no `{}` in place", role.name()))
    };
    let mut intermediate = |role| match recipe.shape {
        Shape::Bundled => next(role).map(Some),
        Shape::Upstream => Ok(None),
    };
    let core = intermediate(ArtifactRole::Core)?;
    let target_ir = intermediate(ArtifactRole::TargetIr)?;
    let projection = intermediate(ArtifactRole::ResultProjection)?;
    let package = next(ArtifactRole::Package)?;
    let source = next(ArtifactRole::Source)?;
    let lawpack_exports = recipe
        .application
        .lawpacks
        .iter()
        .map(|_| next(ArtifactRole::LawpackExports))
        .collect::<Result<Vec<_>, _>>()?;
    let report = next(ArtifactRole::VerificationReport).ok();
    if rest.next().is_some() {
        return Err("it has more outputs than a build".to_owned());
    }
    let sources = recipe.application.sources.iter().map(|file| &file.blob);
    let exports = recipe
        .application
        .lawpacks
        .iter()
        .map(|it| &it.exports.blob);
    let kept = lawpack_exports.iter().map(|artifact| &artifact.body.blob);
    if !sources.eq([&source.body.blob]) || !exports.eq(kept) {
        return Err("its source or exports are not those of its key".to_owned());
    }
    Ok(Built {
        core,
        target_ir,
        projection,
        package,
        source,
        lawpack_exports,
        report,
    })
}

fn stage(kind: ActionKind) -> Stage {
    match kind {
        ActionKind::Build => Stage::Build,
        ActionKind::Verify => Stage::Verify,
    }
}
