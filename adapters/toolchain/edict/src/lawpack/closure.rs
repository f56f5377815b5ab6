// SPDX-License-Identifier: Apache-2.0
//! The lawpacks of an application: read, compared with the imports and with one another, and put
//! together (section 5.2 of the language).

mod agree;

use super::{
    assemble::{Lawpack, Parts, assemble},
    error::{LawpackError, Part},
    manifest::{DOMAIN, Manifest},
};
use crate::{
    failure::{Failure, Report},
    paths,
    shape::{At, Strictness},
    syntax::ast::Ast,
};
use edict_codec::{
    cbor::{self, Value},
    digest::frame,
};
use std::{collections::BTreeMap, path::Path};

/// Greatest size of one artifact in bytes.
pub const MAX_ARTIFACT: u64 = 1_048_576;

/// The paths of one lawpack, relative to a document.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// The manifest.
    pub manifest: &'a str,
    /// The exports.
    pub exports: &'a str,
    /// The adapter and the target configuration.
    pub target: Option<(&'a str, &'a str)>,
}

/// A lawpack that was read but not yet judged.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) files: Files<'a>,
    pub(super) parts: Parts,
    pub(super) manifest: Manifest,
    pub(super) digest: [u8; 32],
}

impl Entry<'_> {
    pub(super) fn coordinate(&self) -> String {
        self.manifest.coordinate()
    }
}

/// The closure of an application: its lawpacks in the order of the document.
///
/// # Errors
/// `InvalidApplicationClosure`, `InvalidLawpackAdapter`, `ApplicationPathEscape` or
/// `ApplicationReadFailed`.
pub fn close(
    root: &Path,
    files: &[Files<'_>],
    source: &str,
    ast: &Ast,
) -> Result<Vec<Lawpack>, Box<Failure>> {
    let kinds = Kinds {
        escape: "ApplicationPathEscape",
        unreadable: "ApplicationReadFailed",
        disagreement: "InvalidApplicationClosure",
    };
    let entries = read(root, files, kinds)?;
    let imports = agree::Imports {
        file: source,
        ast,
        entries: &entries,
    };
    imports.check_entries()?;
    let lawpacks = join(&entries, kinds)?;
    imports.check_target(&lawpacks)?;
    imports.check_profile(&lawpacks)?;
    Ok(lawpacks)
}

/// The kinds of what can be wrong with a list of lawpacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kinds {
    /// A symbolic link.
    pub(super) escape: &'static str,
    /// A file cannot be read.
    pub(super) unreadable: &'static str,
    /// Artifacts are not of their form, or do not belong to one another.
    pub(super) disagreement: &'static str,
}

/// Reads every lawpack of a list.
pub(super) fn read<'a>(
    root: &Path,
    files: &[Files<'a>],
    kinds: Kinds,
) -> Result<Vec<Entry<'a>>, Box<Failure>> {
    files
        .iter()
        .map(|files| {
            let artifact = |path| artifact(root, path, kinds);
            let target = match files.target {
                Some((adapter, configuration)) => {
                    Some((artifact(adapter)?, artifact(configuration)?))
                }
                None => None,
            };
            let parts = Parts {
                manifest: artifact(files.manifest)?,
                exports: artifact(files.exports)?,
                target,
            };
            let manifest =
                Manifest::read(&At::root(&parts.manifest, Strictness::Open)).map_err(|shape| {
                    refuse(files, kinds, &LawpackError::form(Part::Manifest, shape))
                })?;
            let digest = frame(DOMAIN, &cbor::encode(&parts.manifest));
            Ok(Entry {
                files: *files,
                parts,
                manifest,
                digest,
            })
        })
        .collect()
}

fn artifact(root: &Path, path: &str, kinds: Kinds) -> Result<Value, Box<Failure>> {
    let bytes = paths::read_below(root, path, MAX_ARTIFACT).map_err(|error| {
        let kind = error.kind(kinds.escape, kinds.unreadable);
        Failure::cli(kind, format!("read `{path}`: {error}"))
    })?;
    cbor::decode(&bytes).map_err(|error| {
        let message = format!("read `{path}`: not canonical CBOR: {error}");
        Failure::cli(kinds.disagreement, message)
    })
}

/// Puts lawpacks together, dependencies first; the result is in the order of the entries.
///
/// # Errors
/// A disagreement, and every broken rule of an adapter.
pub(super) fn join(entries: &[Entry<'_>], kinds: Kinds) -> Result<Vec<Lawpack>, Box<Failure>> {
    let kind = kinds.disagreement;
    agree::one_version(entries, kind)?;
    agree::dependencies(entries, kind)?;
    let mut done: BTreeMap<String, Lawpack> = BTreeMap::new();
    while done.len() < entries.len() {
        let before = done.len();
        for entry in entries {
            let coordinate = entry.coordinate();
            let dependencies = &entry.manifest.dependencies;
            let known: Vec<&Lawpack> = dependencies
                .iter()
                .filter_map(|dependency| done.get(&dependency.coordinate))
                .collect();
            if done.contains_key(&coordinate) || known.len() < dependencies.len() {
                continue;
            }
            let lawpack = assemble(&entry.parts, &known, Strictness::Open)
                .map_err(|error| refuse(&entry.files, kinds, &error))?;
            done.insert(coordinate, lawpack);
        }
        if done.len() == before {
            return Err(Failure::cli(kind, "dependencies of lawpacks form a cycle"));
        }
    }
    Ok(entries
        .iter()
        .filter_map(|entry| done.remove(&entry.coordinate()))
        .collect())
}

/// What a refused lawpack is for the caller of the process.
fn refuse(files: &Files<'_>, kinds: Kinds, error: &LawpackError) -> Box<Failure> {
    let path = match error.part {
        Part::Manifest => files.manifest,
        Part::Exports => files.exports,
        Part::Adapter => files.target.map_or(files.manifest, |it| it.0),
        Part::Configuration => files.target.map_or(files.manifest, |it| it.1),
    };
    let shape = &error.shape;
    let report = match error.rule {
        Some(rule) => {
            let message = format!("{}: `{path}`: {shape}", rule.name());
            Report::cli("InvalidLawpackAdapter", message)
        }
        None => Report::cli(kinds.disagreement, format!("read `{path}`: {shape}")),
    };
    Box::new(Failure::from(report))
}
