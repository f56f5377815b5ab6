// SPDX-License-Identifier: Apache-2.0
//! The manifest: what a lawpack is called, what it needs and what belongs to it.

use super::target::CORE_ABI;
use crate::shape::{At, ShapeError};
use edict_codec::cbor::Value;

/// Digest domain of manifests.
pub const DOMAIN: &str = "edict.lawpack/v1";

/// A reference to an artifact: coordinate, which is also its digest domain, and framed SHA-256.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Coordinate.
    pub id: String,
    /// Digest.
    pub digest: [u8; 32],
}

/// A lawpack that another one needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// `id@version`.
    pub coordinate: String,
    /// Digest of its manifest.
    pub manifest: [u8; 32],
}

/// One adapter and what it accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetAdapter {
    /// Target profile.
    pub profile: Reference,
    /// Target IR.
    pub target_ir: Reference,
    /// The adapter.
    pub adapter: Reference,
}

/// A manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Name of the lawpack.
    pub id: String,
    /// Version.
    pub version: String,
    /// Lawpacks it needs.
    pub dependencies: Vec<Dependency>,
    /// Its exports.
    pub exports: Reference,
    /// Its adapters.
    pub adapters: Vec<TargetAdapter>,
}

impl Manifest {
    /// `id@version`.
    pub fn coordinate(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// The first member that is not of its form.
    pub fn read(at: &At<'_>) -> Result<Self, ShapeError> {
        let members = [
            "apiVersion",
            "id",
            "version",
            "acceptedCoreAbi",
            "dependencies",
            "exports",
            "targetAdapters",
            "verifier",
            "compatibility",
            "conformanceFixtureCorpus",
        ];
        at.object(&members, &[])?;
        at.member("apiVersion")?.exactly(DOMAIN)?;
        let abis = at.member("acceptedCoreAbi")?;
        if !abis.texts()?.iter().any(|abi| abi == CORE_ABI) {
            return Err(abis.fail(format!("`{CORE_ABI}` is not accepted")));
        }
        let verifier = at.member("verifier")?;
        verifier.object(&["class", "ruleset"], &[])?;
        verifier.member("class")?.exactly("declarative")?;
        reference(&verifier.member("ruleset")?)?;
        reference(&at.member("compatibility")?)?;
        reference(&at.member("conformanceFixtureCorpus")?)?;
        let dependencies = at.member("dependencies")?.items()?;
        let adapters = at.member("targetAdapters")?.items()?;
        Ok(Self {
            id: package(&at.member("id")?)?,
            version: version(&at.member("version")?)?,
            dependencies: dependencies
                .iter()
                .map(dependency)
                .collect::<Result<_, _>>()?,
            exports: reference(&at.member("exports")?)?,
            adapters: adapters.iter().map(adapter).collect::<Result<_, _>>()?,
        })
    }
}

/// Reads `{id, digest}`.
///
/// # Errors
/// A value of another form.
pub fn reference(at: &At<'_>) -> Result<Reference, ShapeError> {
    at.object(&["id", "digest"], &[])?;
    Ok(Reference {
        id: at.text_of("id")?.to_owned(),
        digest: digest(&at.member("digest")?)?,
    })
}

/// Reads `["sha256", bytes 32]`.
fn digest(at: &At<'_>) -> Result<[u8; 32], ShapeError> {
    match at.value().as_array() {
        Some([algorithm, Value::Bytes(bytes)]) if algorithm.as_text() == Some("sha256") => bytes
            .as_slice()
            .try_into()
            .map_err(|_| at.fail("a digest has 32 bytes")),
        _ => Err(at.fail("expected a digest `[\"sha256\", bytes]`")),
    }
}

pub(super) fn dependency(at: &At<'_>) -> Result<Dependency, ShapeError> {
    at.object(&["id", "version", "digest"], &[])?;
    let id = package(&at.member("id")?)?;
    let version = version(&at.member("version")?)?;
    Ok(Dependency {
        coordinate: format!("{id}@{version}"),
        manifest: digest(&at.member("digest")?)?,
    })
}

fn adapter(at: &At<'_>) -> Result<TargetAdapter, ShapeError> {
    at.object(
        &["acceptedTargetProfile", "acceptedTargetIr", "adapter"],
        &[],
    )?;
    Ok(TargetAdapter {
        profile: reference(&at.member("acceptedTargetProfile")?)?,
        target_ir: reference(&at.member("acceptedTargetIr")?)?,
        adapter: reference(&at.member("adapter")?)?,
    })
}

/// A package path: names of letters, digits and underscores, joined by dots.
pub(super) fn package(at: &At<'_>) -> Result<String, ShapeError> {
    let text = at.text()?;
    let name = |part: &str| {
        !part.is_empty()
            && !part.starts_with(|sign: char| sign.is_ascii_digit())
            && part
                .chars()
                .all(|sign| sign.is_ascii_alphanumeric() || sign == '_')
    };
    if text.split('.').all(name) {
        Ok(text.to_owned())
    } else {
        Err(at.fail(format!("`{text}` is no package path")))
    }
}

/// A version: digits, letters, dots and hyphens after a first digit.
pub(super) fn version(at: &At<'_>) -> Result<String, ShapeError> {
    let text = at.text()?;
    let signs = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '.' | '-' | '_');
    if text.starts_with(|sign: char| sign.is_ascii_digit()) && text.chars().all(signs) {
        Ok(text.to_owned())
    } else {
        Err(at.fail(format!("`{text}` is no version")))
    }
}
