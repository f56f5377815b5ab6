// SPDX-License-Identifier: Apache-2.0
//! Building a lawpack: from the authoring document and its helper sources to artifacts.

mod directory;
mod generate;

use super::{
    assemble::{Lawpack, Parts, assemble},
    closure::{self, Files, Kinds},
    definition::{Bundle, Definition, Refusal, document_path, stem},
    error::{LawpackError, Part},
    exports::{Exports, Surroundings},
    manifest::DOMAIN,
};
use crate::{
    core_artifact::raw_digest,
    document::{Document, MAX_BYTES},
    failure::Failure,
    output::{Artifact, digest_text},
    paths,
    shape::{At, Step, Strictness},
};
use edict_codec::{
    cbor::{self, Value, encode},
    digest::frame,
    json::{Json, write_document},
};
use std::path::{Path, PathBuf};

/// Kind of refusals of the definition.
const KIND: &str = "InvalidLawpackDefinition";
/// Containers of a definition nest at most this deep.
const DEPTH: usize = 48;

/// A lawpack that was built in memory.
#[derive(Debug)]
pub struct Authored {
    definition: Definition,
    root: PathBuf,
    artifacts: Vec<Artifact>,
    /// What programs see of it.
    pub lawpack: Lawpack,
}

/// Reads a definition and builds its lawpack; nothing is written.
///
/// # Errors
/// The kinds of `docs/contracts/compiler-process.md` that belong to lawpacks.
pub fn author(path: &Path) -> Result<Authored, Box<Failure>> {
    let file = path.to_string_lossy();
    let limit = u64::try_from(MAX_BYTES)
        .unwrap_or(u64::MAX)
        .saturating_add(1);
    let bytes = paths::read(path, limit).map_err(|error| unreadable(&file, &error))?;
    let root = paths::directory_of(path);
    let mut sources = |name: &str| {
        paths::read_below(&root, name, closure::MAX_ARTIFACT).map_err(|error| {
            let kind = error.kind("LawpackPathEscape", "LawpackReadFailed");
            Failure::cli(kind, format!("read `{name}`: {error}"))
        })
    };
    build(&file, &bytes, &root, &mut sources)
}

/// As [`author`], from the bytes of a definition without dependency bundles; `sources` gives the
/// bytes of its helper sources by path.
///
/// # Errors
/// As [`author`].
pub fn author_from(
    definition: &[u8],
    sources: &mut dyn FnMut(&str) -> Option<Vec<u8>>,
) -> Result<Authored, Box<Failure>> {
    let mut given = |name: &str| {
        sources(name).ok_or_else(|| Failure::cli("LawpackReadFailed", format!("no `{name}`")))
    };
    build("lawpack.json", definition, Path::new("."), &mut given)
}

fn unreadable(name: &str, error: &dyn std::error::Error) -> Box<Failure> {
    Failure::cli("LawpackReadFailed", format!("read `{name}`: {error}"))
}

type Sources<'a> = &'a mut dyn FnMut(&str) -> Result<Vec<u8>, Box<Failure>>;

fn build(
    file: &str,
    bytes: &[u8],
    root: &Path,
    sources: Sources<'_>,
) -> Result<Authored, Box<Failure>> {
    let document = Document::parse(file, KIND, bytes, DEPTH)?;
    let definition = Definition::read(&document.root()).map_err(|refusal| match refusal {
        Refusal::Shape(error) => document.refuse(&error),
        Refusal::Escape(error) => document.refuse_as("LawpackPathEscape", &error),
    })?;
    let dependencies = dependencies(root, &definition)?;
    let direct = direct(&definition, &dependencies)?;
    let generated = generate::helpers(&definition, sources)?;
    let exports = exports(&document, &definition, &generated, &direct)?;
    let parts = parts(&definition, exports);
    let lawpack = assemble(&parts, &direct, Strictness::Closed)
        .map_err(|error| refuse(&document, &definition, &error))?;
    let artifacts = artifacts(&definition, &parts);
    if let Some(deep) = artifacts.iter().find(|it| cbor::decode(&it.bytes).is_err()) {
        let message = format!("`{}` nests deeper than the encoding allows", deep.name);
        return Err(Failure::cli(KIND, message));
    }
    Ok(Authored {
        definition,
        root: root.to_path_buf(),
        artifacts,
        lawpack,
    })
}

/// Every bundle, put together.
fn dependencies(root: &Path, definition: &Definition) -> Result<Vec<Lawpack>, Box<Failure>> {
    let files = |bundle: &'_ Bundle| -> (String, String, Option<(String, String)>) {
        let Bundle {
            manifest,
            exports,
            target,
        } = bundle.clone();
        (manifest, exports, target)
    };
    let owned: Vec<_> = definition.bundles.iter().map(files).collect();
    let files: Vec<Files<'_>> = owned
        .iter()
        .map(|(manifest, exports, target)| Files {
            manifest,
            exports,
            target: target
                .as_ref()
                .map(|(left, right)| (left.as_str(), right.as_str())),
        })
        .collect();
    let kinds = Kinds {
        escape: "LawpackPathEscape",
        unreadable: "LawpackReadFailed",
        disagreement: "InvalidLawpackDependency",
    };
    closure::join(&closure::read(root, &files, kinds)?, kinds)
}

/// The bundles that the definition names as its own dependencies; every other one must be needed
/// by one of them.
fn direct<'a>(
    definition: &Definition,
    bundles: &'a [Lawpack],
) -> Result<Vec<&'a Lawpack>, Box<Failure>> {
    let fail = |message: String| Err(Failure::cli("InvalidLawpackDependency", message));
    let mut direct = Vec::new();
    for wanted in definition.dependencies() {
        let coordinate = &wanted.coordinate;
        let bundle = bundles
            .iter()
            .find(|it| it.context.coordinate == *coordinate);
        let Some(bundle) = bundle else {
            return fail(format!("there is no bundle of `{coordinate}`"));
        };
        if bundle.context.manifest != wanted.manifest {
            let found = digest_text(&bundle.context.manifest);
            return fail(format!(
                "the bundle of `{coordinate}` has the manifest {found}"
            ));
        }
        direct.push(bundle);
    }
    let mut needed: Vec<&str> = direct
        .iter()
        .map(|it| it.context.coordinate.as_str())
        .collect();
    let mut next = 0;
    while let Some(coordinate) = needed.get(next).copied() {
        next = next.saturating_add(1);
        let bundle = bundles
            .iter()
            .find(|it| it.context.coordinate == coordinate);
        for below in bundle.into_iter().flat_map(|it| &it.manifest.dependencies) {
            if !needed.contains(&below.coordinate.as_str()) {
                needed.push(&below.coordinate);
            }
        }
    }
    for bundle in bundles {
        let coordinate = &bundle.context.coordinate;
        if !needed.contains(&coordinate.as_str()) {
            return fail(format!("nothing depends on the bundle of `{coordinate}`"));
        }
    }
    Ok(direct)
}

/// Exports with generated entries, checked where the author wrote them, then sorted.
fn exports(
    document: &Document,
    definition: &Definition,
    generated: &generate::Generated,
    dependencies: &[&Lawpack],
) -> Result<Value, Box<Failure>> {
    let mut members: Vec<(String, Value)> = Vec::new();
    for (name, value) in definition.exports.as_map().unwrap_or_default() {
        let name = name.as_text().unwrap_or_default();
        let mut value = value.clone();
        if let Value::Array(items) = &mut value {
            match name {
                "types" => items.extend_from_slice(&generated.types),
                "pureFunctions" => items.extend_from_slice(&generated.helpers),
                _ => {}
            }
        }
        members.push((name.to_owned(), value));
    }
    let written = Value::text_map(members.clone());
    let (types, helpers) = super::assemble::visible(dependencies);
    let around = Surroundings {
        coordinate: &definition.coordinate(),
        types: &types,
        helpers: &helpers,
        foreign: false,
    };
    let path = document_path(&[Step::Member("exports".to_owned())]);
    Exports::read(&At::part(&written, Strictness::Closed, path), &around)
        .map_err(|error| document.refuse(&error))?;
    for (_, value) in &mut members {
        if let Value::Array(items) = value {
            items.sort_by(|left, right| coordinate(left).cmp(coordinate(right)));
        }
    }
    Ok(Value::text_map(members))
}

fn coordinate(item: &Value) -> &str {
    item.get("coordinate")
        .and_then(Value::as_text)
        .unwrap_or_default()
}

fn parts(definition: &Definition, exports: Value) -> Parts {
    let domain = &definition.exports_coordinate;
    let reference = Value::text_map([
        ("id", Value::text(domain.as_str())),
        ("digest", raw_digest(&frame(domain, &encode(&exports)))),
    ]);
    let manifest = definition.manifest.iter().cloned();
    let configuration = definition
        .configuration
        .and_then(|it| definition.resources.get(it));
    // An adapter that names no local resource is refused when it is put together.
    let target = definition.adapter.as_ref().map(|adapter| {
        let configuration = configuration.map_or(Value::Null, |it| it.extra.value.clone());
        (adapter.value.clone(), configuration)
    });
    Parts {
        manifest: Value::text_map(manifest.chain([("exports", reference)])),
        exports,
        target,
    }
}

fn artifacts(definition: &Definition, parts: &Parts) -> Vec<Artifact> {
    let exports = &definition.exports_coordinate;
    let mut artifacts = vec![
        Artifact::new("manifest.cbor", DOMAIN, encode(&parts.manifest)),
        Artifact::new("exports.cbor", exports.as_str(), encode(&parts.exports)),
    ];
    let resources = definition.resources.iter().map(|it| &it.extra);
    let extras = definition.adapter.iter().chain(resources);
    artifacts.extend(extras.map(|extra| {
        Artifact::new(
            extra.output.as_str(),
            extra.coordinate.as_str(),
            encode(&extra.value),
        )
    }));
    artifacts
}

/// A broken rule at the place where the author wrote it.
fn refuse(document: &Document, definition: &Definition, error: &LawpackError) -> Box<Failure> {
    let member = |name: &str| Step::Member(name.to_owned());
    let prefix = match error.part {
        Part::Manifest => Vec::new(),
        Part::Exports => vec![member("exports")],
        Part::Adapter => vec![member("targetAdapters"), Step::Index(0)],
        Part::Configuration => {
            let index = definition.configuration.unwrap_or_default();
            vec![
                member("localResources"),
                Step::Index(index),
                member("value"),
            ]
        }
    };
    let mut shape = error.shape.clone();
    let mut path = document_path(&prefix);
    path.append(&mut shape.path);
    shape.path = path;
    match error.rule {
        Some(rule) => {
            shape.message = format!("{}: {}", rule.name(), shape.message);
            let mut failure = document.refuse_as("InvalidLawpackAdapter", &shape);
            // The rule begins the message; the place is in the record.
            failure.summary.message = shape.message;
            failure
        }
        None => document.refuse(&shape),
    }
}

impl Authored {
    /// `id@version`.
    pub fn coordinate(&self) -> String {
        self.definition.coordinate()
    }

    /// The output directory as written in the definition.
    pub fn output_directory(&self) -> &str {
        &self.definition.output_directory
    }

    /// Manifest, exports, adapter and local resources.
    pub fn artifacts(&self) -> &[Artifact] {
        &self.artifacts
    }

    /// Every file of the output directory.
    fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        for artifact in &self.artifacts {
            let sidecar = format!("{}.sha256", stem(&artifact.name));
            let digest = format!("{}\n", digest_text(&artifact.digest()));
            files.push((artifact.name.clone(), artifact.bytes.clone()));
            files.push((sidecar, digest.into_bytes()));
        }
        let index = Json::object([
            ("schema", Json::text(directory::INDEX_SCHEMA)),
            ("id", Json::text(self.definition.id.as_str())),
            ("version", Json::text(self.definition.version.as_str())),
            ("artifacts", crate::output::rows(&self.artifacts)),
        ]);
        files.push((
            directory::INDEX.to_owned(),
            write_document(&index).into_bytes(),
        ));
        files
    }

    /// Writes the output directory, replacing a former build of the same lawpack.
    ///
    /// # Errors
    /// `LawpackOutputWriteFailed`.
    pub fn write(&self) -> Result<(), Box<Failure>> {
        let Definition {
            id,
            version,
            output_directory,
            ..
        } = &self.definition;
        directory::write(&self.root, output_directory, (id, version), &self.files())
    }

    /// Compares the output directory with what would be written.
    ///
    /// # Errors
    /// `LawpackOutputMismatch`.
    pub fn compare(&self) -> Result<(), Box<Failure>> {
        directory::compare(&self.root, &self.definition.output_directory, &self.files())
    }
}
