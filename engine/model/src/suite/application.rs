// SPDX-License-Identifier: Apache-2.0
//! The application document `edict.application/v1` (section 1.6).

use super::{
    decode::{
        At, DocumentError,
        Presence::{Optional, Required},
        presence, tree,
    },
    role::Shape,
};
use crate::{failure::FailureKind, ids::Locator};

/// The schema of an application document.
pub const SCHEMA: &str = "edict.application/v1";
/// The only build kind of this product.
pub const BUILD_KIND: &str = "executableOperation";

/// An application document that was decoded in full. Its paths are relative to its own directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationDocument {
    /// `path@version` of the source's package.
    pub coordinate: String,
    /// The one source.
    pub source: Locator,
    /// The lawpacks in order.
    pub lawpacks: Vec<LawpackPaths>,
    /// Coordinate of the target profile.
    pub target_profile: String,
    /// Where shape `upstream` expects the provider package. A locator; binds nothing (S19).
    pub provider_package: Option<Locator>,
}

/// The files of one lawpack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawpackPaths {
    /// The manifest.
    pub manifest: Locator,
    /// The exports.
    pub exports: Locator,
    /// Adapter and target configuration, present together or absent together.
    pub target: Option<TargetPaths>,
}

/// The files of a lawpack that bind it to a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetPaths {
    /// The adapter.
    pub adapter: Locator,
    /// The target configuration.
    pub configuration: Locator,
}

impl ApplicationDocument {
    /// Decodes an application document for a lock of `shape`.
    ///
    /// # Errors
    /// The first rejection in the order of S3; its kind is always `ApplicationInvalid`.
    pub fn decode(bytes: &[u8], shape: Shape) -> Result<Self, DocumentError> {
        decode(bytes, shape).map_err(|mut error| {
            error.message = format!("{} ({})", error.message, error.kind.name());
            error.kind = FailureKind::ApplicationInvalid;
            error
        })
    }

    /// Every file the document names, in the order of its members.
    pub fn files(&self) -> Vec<&Locator> {
        let mut files = vec![&self.source];
        for lawpack in &self.lawpacks {
            files.extend([&lawpack.manifest, &lawpack.exports]);
            if let Some(target) = &lawpack.target {
                files.extend([&target.adapter, &target.configuration]);
            }
        }
        files
    }
}

fn decode(bytes: &[u8], shape: Shape) -> Result<ApplicationDocument, DocumentError> {
    let node = tree(bytes, FailureKind::ApplicationInvalid)?;
    let object = At::root(&node).object()?;
    object
        .required("schema")?
        .exactly(SCHEMA, FailureKind::UnsupportedSchema)?;
    object.closed(&[
        ("schema", Required),
        ("buildKind", Optional),
        ("coordinate", Required),
        ("sources", Required),
        ("lawpacks", Required),
        ("target", Required),
        ("outputDirectory", Required),
    ])?;
    if let Some(at) = object.optional("buildKind") {
        at.exactly(BUILD_KIND, FailureKind::UnsupportedValue)?;
    }
    let coordinate = package_coordinate(&object.required("coordinate")?)?;
    let source = one_source(&object.required("sources")?)?;
    let lawpacks = object.required("lawpacks")?.items()?;
    let lawpacks = lawpacks.iter().map(lawpack).collect::<Result<_, _>>()?;
    let (target_profile, provider_package) = target(&object.required("target")?, shape)?;
    object.required("outputDirectory")?.path()?;
    Ok(ApplicationDocument {
        coordinate,
        source,
        lawpacks,
        target_profile,
        provider_package,
    })
}

/// `path@version`; what the source says it is, is the compiler's judgement.
fn package_coordinate(at: &At<'_>) -> Result<String, DocumentError> {
    let text = at.text_within(1024)?;
    let plain = !text
        .chars()
        .any(|sign| sign.is_whitespace() || sign.is_control());
    match text.split_once('@') {
        Some((path, version)) if plain && !path.is_empty() && !version.is_empty() => {
            Ok(text.to_owned())
        }
        _ => at.fail(
            FailureKind::InvalidCoordinate,
            "a package coordinate is a path, `@` and a version",
        ),
    }
}

fn one_source(at: &At<'_>) -> Result<Locator, DocumentError> {
    match at.items()?.as_slice() {
        [source] => source.path(),
        items => at.fail(
            FailureKind::ValueOutOfRange,
            format!("exactly one source is needed, not {}", items.len()),
        ),
    }
}

fn lawpack(at: &At<'_>) -> Result<LawpackPaths, DocumentError> {
    let object = at.object()?;
    let with_target =
        object.optional("adapter").is_some() || object.optional("targetConfiguration").is_some();
    object.closed(&[
        ("manifest", Required),
        ("exports", Required),
        ("adapter", presence(with_target)),
        ("targetConfiguration", presence(with_target)),
    ])?;
    Ok(LawpackPaths {
        manifest: object.required("manifest")?.path()?,
        exports: object.required("exports")?.path()?,
        target: if with_target {
            Some(TargetPaths {
                adapter: object.required("adapter")?.path()?,
                configuration: object.required("targetConfiguration")?.path()?,
            })
        } else {
            None
        },
    })
}

fn target(at: &At<'_>, shape: Shape) -> Result<(String, Option<Locator>), DocumentError> {
    let object = at.object()?;
    object.closed(&[
        ("profile", Required),
        ("providerPackage", presence(shape == Shape::Upstream)),
    ])?;
    let profile = object
        .required("profile")?
        .coordinate()?
        .as_str()
        .to_owned();
    let package = object
        .optional("providerPackage")
        .map(|at| at.path())
        .transpose()?;
    Ok((profile, package))
}
