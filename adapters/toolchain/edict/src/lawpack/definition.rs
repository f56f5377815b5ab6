// SPDX-License-Identifier: Apache-2.0
//! The authoring document `edict.lawpack-build/v1`: what the author writes, turned into the form
//! of the artifacts.

mod convert;

use super::manifest::{Dependency, dependency, package, version};
use crate::{
    paths::{self, PathError},
    shape::{At, ShapeError, Step, Strictness},
};
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::frame;

/// Greatest number of dependency bundles.
const MAX_BUNDLES: usize = 192;

/// A refused definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// A value that is not of its form.
    Shape(ShapeError),
    /// A path that leaves the directory of the document.
    Escape(ShapeError),
}

impl From<ShapeError> for Refusal {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

/// The files of a dependency.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) manifest: String,
    pub(super) exports: String,
    pub(super) target: Option<(String, String)>,
}

/// A source of helpers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HelperSource {
    pub(super) path: String,
    pub(super) cost_template: String,
}

/// An artifact besides manifest and exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extra {
    pub(super) coordinate: String,
    pub(super) output: String,
    pub(super) value: Value,
}

/// A local resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Resource {
    pub(super) name: String,
    pub(super) extra: Extra,
}

/// A definition.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) output_directory: String,
    pub(super) id: String,
    pub(super) version: String,
    pub(super) exports_coordinate: String,
    dependencies: Vec<Dependency>,
    pub(super) bundles: Vec<Bundle>,
    pub(super) helper_sources: Vec<HelperSource>,
    /// Exports in the form of the artifact, lists in written order, without generated entries.
    pub(super) exports: Value,
    pub(super) adapter: Option<Extra>,
    pub(super) resources: Vec<Resource>,
    /// Index in `resources` of what the adapter names as its configuration.
    pub(super) configuration: Option<usize>,
    /// The manifest without `exports`.
    pub(super) manifest: Vec<(&'static str, Value)>,
}

impl Definition {
    /// `id@version`.
    pub(super) fn coordinate(&self) -> String {
        format!("{}@{}", self.id, self.version)
    }

    /// Lawpacks that the author depends on.
    pub(super) fn dependencies(&self) -> &[Dependency] {
        &self.dependencies
    }

    /// Reads the document.
    pub(super) fn read(at: &At<'_>) -> Result<Self, Refusal> {
        at.member("schema")?.exactly("edict.lawpack-build/v1")?;
        let members = ["schema", "outputDirectory", "dependencyBundles", "lawpack"];
        at.object(&members, &[])?;
        let bundles_at = at.member("dependencyBundles")?;
        let bundles = bundles_at.items()?;
        if bundles.len() > MAX_BUNDLES {
            return Err(bundles_at
                .fail(format!("more than {MAX_BUNDLES} bundles"))
                .into());
        }
        let output_directory = path(&at.member("outputDirectory")?)?;
        let bundles = bundles.iter().map(bundle).collect::<Result<_, _>>()?;
        lawpack(&at.member("lawpack")?, output_directory, bundles)
    }
}

fn lawpack(
    at: &At<'_>,
    output_directory: String,
    bundles: Vec<Bundle>,
) -> Result<Definition, Refusal> {
    at.member("schema")?.exactly("edict.lawpack-authoring/v1")?;
    let required = [
        "schema",
        "id",
        "version",
        "acceptedCoreAbi",
        "dependencies",
        "exportsCoordinate",
        "exports",
        "targetAdapters",
        "verifier",
        "compatibility",
        "conformanceFixtureCorpus",
        "localResources",
    ];
    at.object(&required, &["helperSources"])?;
    let resources_at = at.member("localResources")?;
    let resources = resources(&resources_at)?;
    let adapters_at = at.member("targetAdapters")?;
    let items = adapters_at.items()?;
    let drafted = match items.as_slice() {
        [] => None,
        [only] => Some(convert::adapter(only, &resources)?),
        _ => return Err(adapters_at.fail("more than one adapter").into()),
    };
    let targets = drafted.iter().map(|it| it.manifest_row.clone()).collect();
    let helper_sources = match at.optional("helperSources") {
        Some(sources) => {
            let items = sources.items()?;
            items.iter().map(helper_source).collect::<Result<_, _>>()?
        }
        None => Vec::new(),
    };
    let dependencies_at = at.member("dependencies")?;
    let dependency_rows = convert::dependencies(&dependencies_at)?;
    let dependencies = dependencies(&dependency_rows).map_err(|error| {
        let message = error.message;
        ShapeError {
            message,
            ..dependencies_at.fail("")
        }
    })?;
    let verifier = at.member("verifier")?;
    verifier.object(&["class", "ruleset"], &[])?;
    let reference = |name: &str| convert::reference(&at.member(name)?, &resources);
    let manifest = vec![
        ("apiVersion", Value::text("edict.lawpack/v1")),
        ("id", at.member("id")?.value().clone()),
        ("version", at.member("version")?.value().clone()),
        (
            "acceptedCoreAbi",
            at.member("acceptedCoreAbi")?.value().clone(),
        ),
        ("dependencies", dependency_rows),
        ("targetAdapters", Value::Array(targets)),
        (
            "verifier",
            Value::text_map([
                ("class", verifier.member("class")?.value().clone()),
                (
                    "ruleset",
                    convert::reference(&verifier.member("ruleset")?, &resources)?,
                ),
            ]),
        ),
        ("compatibility", reference("compatibility")?),
        (
            "conformanceFixtureCorpus",
            reference("conformanceFixtureCorpus")?,
        ),
    ];
    let definition = Definition {
        output_directory,
        id: package(&at.member("id")?)?,
        version: version(&at.member("version")?)?,
        exports_coordinate: at.text_of("exportsCoordinate")?.to_owned(),
        dependencies,
        bundles,
        helper_sources,
        exports: convert::exports(&at.member("exports")?)?,
        configuration: drafted.as_ref().and_then(|it| it.configuration),
        adapter: drafted.map(|it| it.extra),
        resources,
        manifest,
    };
    check_outputs(&definition, at)?;
    Ok(definition)
}

fn dependencies(rows: &Value) -> Result<Vec<Dependency>, ShapeError> {
    let items = At::root(rows, Strictness::Closed).items()?;
    items.iter().map(dependency).collect()
}

fn resources(at: &At<'_>) -> Result<Vec<Resource>, Refusal> {
    let mut resources: Vec<Resource> = Vec::new();
    for item in at.items()? {
        item.object(&["name", "coordinate", "output", "value"], &[])?;
        let name = item.member("name")?;
        if resources
            .iter()
            .any(|other| Ok(other.name.as_str()) == name.text())
        {
            return Err(name.fail("this name stands twice").into());
        }
        resources.push(Resource {
            name: name.text()?.to_owned(),
            extra: Extra {
                coordinate: item.text_of("coordinate")?.to_owned(),
                output: file_name(&item.member("output")?)?,
                value: item.member("value")?.value().clone(),
            },
        });
    }
    Ok(resources)
}

/// Output names, sidecars included, must differ.
fn check_outputs(definition: &Definition, at: &At<'_>) -> Result<(), ShapeError> {
    let mut taken = vec![
        "manifest".to_owned(),
        "exports".to_owned(),
        "adapter".to_owned(),
    ];
    for (index, resource) in definition.resources.iter().enumerate() {
        let stem = stem(&resource.extra.output);
        if taken.contains(&stem) {
            let outputs = at.member("localResources")?.items()?;
            let output = outputs.get(index).and_then(|it| it.optional("output"));
            let output = output.unwrap_or_else(|| at.clone());
            return Err(output.fail("another file has this name"));
        }
        taken.push(stem);
    }
    Ok(())
}

/// The name of an output without `.cbor`; its sidecar is the stem with `.sha256`.
pub(super) fn stem(output: &str) -> String {
    output.strip_suffix(".cbor").unwrap_or(output).to_owned()
}

fn bundle(at: &At<'_>) -> Result<Bundle, Refusal> {
    at.object(
        &["manifest", "exports"],
        &["adapter", "targetConfiguration"],
    )?;
    let target = match (at.optional("adapter"), at.optional("targetConfiguration")) {
        (Some(adapter), Some(configuration)) => Some((path(&adapter)?, path(&configuration)?)),
        (None, None) => None,
        _ => {
            let message = "`adapter` and `targetConfiguration` stand together";
            return Err(at.fail(message).into());
        }
    };
    Ok(Bundle {
        manifest: path(&at.member("manifest")?)?,
        exports: path(&at.member("exports")?)?,
        target,
    })
}

fn helper_source(at: &At<'_>) -> Result<HelperSource, Refusal> {
    at.object(&["path", "costTemplate"], &[])?;
    Ok(HelperSource {
        path: path(&at.member("path")?)?,
        cost_template: at.text_of("costTemplate")?.to_owned(),
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

/// The name of a file in the output directory, ending in `.cbor`.
fn file_name(at: &At<'_>) -> Result<String, Refusal> {
    let name = path(at)?;
    let stem = name.strip_suffix(".cbor").unwrap_or_default();
    if name.contains('/') || stem.is_empty() {
        return Err(at.fail("expected a file name that ends in `.cbor`").into());
    }
    Ok(name)
}

/// Framed digest of a value in its own domain.
fn digest_of(coordinate: &str, value: &Value) -> [u8; 32] {
    frame(coordinate, &encode(value))
}

/// The path of a member below the lawpack of the document.
pub(super) fn document_path(steps: &[Step]) -> Vec<Step> {
    let mut path = vec![Step::Member("lawpack".to_owned())];
    path.extend_from_slice(steps);
    path
}
