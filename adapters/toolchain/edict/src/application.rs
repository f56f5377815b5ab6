// SPDX-License-Identifier: Apache-2.0
//! `edict.application/v1`: what one build reads and where it writes.

use crate::{
    document::Document,
    failure::Failure,
    paths::{self, PathError},
    shape::{At, ShapeError},
};

/// Kind of every refusal but of a path that leaves the directory.
const KIND: &str = "InvalidApplicationConfig";
/// Containers of an application document nest at most this deep.
const DEPTH: usize = 32;

/// An application document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Application {
    /// Package coordinate of the source.
    pub coordinate: String,
    /// Path of the source.
    pub source: String,
    /// Lawpacks in order.
    pub lawpacks: Vec<LawpackPaths>,
    /// Coordinate of the target profile.
    pub target_profile: String,
    /// Where the compiler writes.
    pub output_directory: String,
}

/// The files of one lawpack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawpackPaths {
    /// The manifest.
    pub manifest: String,
    /// The exports.
    pub exports: String,
    /// The adapter and the target configuration.
    pub target: Option<(String, String)>,
}

enum Refusal {
    Shape(ShapeError),
    Escape(ShapeError),
}

impl From<ShapeError> for Refusal {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

impl Application {
    /// Reads the document that is called `file` in messages.
    ///
    /// # Errors
    /// `InvalidApplicationConfig` or `ApplicationPathEscape`, at the offending member.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, Box<Failure>> {
        let document = Document::parse(file, KIND, bytes, DEPTH)?;
        read(&document.root()).map_err(|refusal| match refusal {
            Refusal::Shape(error) => document.refuse(&error),
            Refusal::Escape(error) => document.refuse_as("ApplicationPathEscape", &error),
        })
    }
}

fn read(at: &At<'_>) -> Result<Application, Refusal> {
    at.member("schema")?.exactly("edict.application/v1")?;
    let required = [
        "schema",
        "coordinate",
        "sources",
        "lawpacks",
        "target",
        "outputDirectory",
    ];
    at.object(&required, &["buildKind"])?;
    if let Some(kind) = at.optional("buildKind") {
        kind.exactly("executableOperation")?;
    }
    let sources = at.member("sources")?;
    let items = sources.items()?;
    let [source] = items.as_slice() else {
        return Err(sources.fail("expected exactly one source").into());
    };
    let source = path(source)?;
    let lawpacks = at.member("lawpacks")?.items()?;
    let target = at.member("target")?;
    target.object(&["profile"], &["providerPackage"])?;
    if let Some(package) = target.optional("providerPackage") {
        path(&package)?;
    }
    Ok(Application {
        coordinate: at.text_of("coordinate")?.to_owned(),
        source,
        lawpacks: lawpacks.iter().map(lawpack).collect::<Result<_, _>>()?,
        target_profile: target.text_of("profile")?.to_owned(),
        output_directory: path(&at.member("outputDirectory")?)?,
    })
}

fn lawpack(at: &At<'_>) -> Result<LawpackPaths, Refusal> {
    at.object(
        &["manifest", "exports"],
        &["adapter", "targetConfiguration"],
    )?;
    let target = match (at.optional("adapter"), at.optional("targetConfiguration")) {
        (Some(adapter), Some(configuration)) => Some((path(&adapter)?, path(&configuration)?)),
        (None, None) => None,
        (Some(_), None) => return Err(at.fail("member `targetConfiguration` is missing").into()),
        (None, Some(_)) => return Err(at.fail("member `adapter` is missing").into()),
    };
    Ok(LawpackPaths {
        manifest: path(&at.member("manifest")?)?,
        exports: path(&at.member("exports")?)?,
        target,
    })
}

fn path(at: &At<'_>) -> Result<String, Refusal> {
    let text = at.text()?;
    match paths::check(text) {
        Ok(()) => Ok(text.to_owned()),
        Err(error @ PathError::Invalid) => Err(Refusal::Shape(at.fail(error.to_string()))),
        Err(error @ PathError::Escape) => Err(Refusal::Escape(at.fail(error.to_string()))),
    }
}
