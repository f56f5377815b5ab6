// SPDX-License-Identifier: Apache-2.0
//! Everything a lock pins outside the suite's own inputs, read once and compared (S14, S15).

use crate::{
    git,
    program::{ProgramPin, Staging, read_own_image, read_pinned},
    root::{Place, SuiteRoot},
    tree::{PROVIDER_PACKAGE, SOURCE_TREE, Tree, TreeError, read_paths, read_tree},
};
use edict_codec::{
    digest::{Algorithm, TypedDigest, sha256},
    json::{JsonLimits, Node, Tree as Json, parse},
};
use edict_test_model::{
    diagnostic::Detail,
    failure::{Failure, FailureKind, Stage},
    suite::{
        GitSource, LockDocument, ProviderPackage, Role, RoleEntry, RoleLocator, RolePin,
        ToolLocator,
    },
};

/// Bytes of all programs that are staged for one run (L3).
const MAX_STAGED: u64 = 512 * 1024 * 1024;
/// Domain of component identities.
const COMPONENT: &str = "edict.provider-component/v1";

/// Reads every program, component and checkout that `lock` pins, in the order of its roles. The bytes
/// of the programs go to `staging`, that of the runner left out: it is running. A lowerer that is the
/// compiler is read once. Gives the verified provider package, in shape `upstream`.
///
/// # Errors
/// The first failure of stage `toolchain`, with its role; what `staging` says.
pub fn read_tools(
    root: &SuiteRoot,
    lock: &LockDocument,
    staging: &mut Staging<'_>,
) -> Result<Option<Tree>, Failure> {
    staged_bytes(lock)?;
    let provider_package = lock
        .provider_package
        .as_ref()
        .map(|package| read_provider_package(root, package))
        .transpose()?;
    let mut seen: Vec<(&ToolLocator, u64, &TypedDigest)> = Vec::new();
    for entry in &lock.roles {
        match (&entry.pin, &entry.locator) {
            (
                RolePin::Executable {
                    byte_length,
                    source,
                },
                RoleLocator::Tool(locator),
            ) => {
                let pin = ProgramPin {
                    role: entry.role,
                    identity: &entry.identity,
                    byte_length: *byte_length,
                };
                if entry.role == Role::Runner {
                    read_own_image(&pin)?;
                } else {
                    let place = Place { root, locator };
                    let pinned = (locator, *byte_length, &entry.identity);
                    // Only the compiler starts it, and out of itself.
                    let known = entry.role == Role::Lowerer && seen.contains(&pinned);
                    if !known {
                        read_pinned(place, &pin, staging)?;
                        seen.push(pinned);
                    }
                }
                if let Some(source) = source {
                    check_source(root, source, entry.role)?;
                }
            }
            (RolePin::Component { .. }, RoleLocator::Package(path)) => {
                let files = provider_package.as_ref();
                check_component(entry, path.as_str(), files)?;
            }
            // Profiles and ABIs are inside pinned programs, which state them later.
            _ => {}
        }
    }
    Ok(provider_package)
}

fn staged_bytes(lock: &LockDocument) -> Result<(), Failure> {
    let mut identities: Vec<&TypedDigest> = Vec::new();
    let mut total = 0_u64;
    for entry in lock.roles.iter().filter(|entry| entry.role != Role::Runner) {
        if let RolePin::Executable { byte_length, .. } = entry.pin
            && !identities.contains(&&entry.identity)
        {
            identities.push(&entry.identity);
            total = total.saturating_add(byte_length);
        }
    }
    if total > MAX_STAGED {
        let message = format!("the pinned programs are larger than {MAX_STAGED} bytes together");
        let detail = Detail::Limit {
            limit: MAX_STAGED,
            actual: Some(total),
        };
        return Err(
            Failure::new(Stage::Toolchain, FailureKind::ToolBytesExceeded, message)
                .with_detail(detail),
        );
    }
    Ok(())
}

/// Reads the provider package and compares its tree identity.
fn read_provider_package(root: &SuiteRoot, package: &ProviderPackage) -> Result<Tree, Failure> {
    let failed = |kind, message| Failure::new(Stage::Toolchain, kind, message);
    let place = Place {
        root,
        locator: &package.locator,
    };
    let tree = read_tree(place, PROVIDER_PACKAGE).map_err(|error| {
        let message = format!("provider package `{}`: {error}", package.coordinate);
        match error {
            TreeError::Read(ref read) if read.kind == Some(FailureKind::InputMissing) => {
                failed(FailureKind::ToolMissing, message)
            }
            TreeError::TooLarge(_) => failed(FailureKind::ToolBytesExceeded, message),
            TreeError::Read(_) | TreeError::Special { .. } | TreeError::Name { .. } => {
                failed(FailureKind::ProviderPackageMismatch, message)
            }
        }
    })?;
    if tree.identity != package.identity {
        let message = format!(
            "provider package `{}` is not the one that the lock pins",
            package.coordinate
        );
        return Err(failed(FailureKind::ProviderPackageMismatch, message)
            .mismatch(&package.identity, &tree.identity));
    }
    Ok(tree)
}

/// Compares a component with its pin and with the provider's own manifest.
fn check_component(entry: &RoleEntry, path: &str, package: Option<&Tree>) -> Result<(), Failure> {
    let RolePin::Component {
        byte_length,
        manifest_role,
        ..
    } = &entry.pin
    else {
        return Ok(());
    };
    let failed = |kind, message| Failure::new(Stage::Toolchain, kind, message).of_role(entry.role);
    let files = package.map_or(&[][..], |tree| &tree.files);
    let Some((identity, length)) = package.and_then(|tree| measure_component(tree, path)) else {
        let message = format!("the provider package has no file `{path}`");
        return Err(failed(FailureKind::ToolMissing, message));
    };
    if length != *byte_length || identity != entry.identity {
        let message = format!("component `{path}` is not the one that the lock pins");
        return Err(failed(FailureKind::ToolMismatch, message).mismatch(&entry.identity, &identity));
    }
    let hex = identity.hex();
    let stated = files
        .iter()
        .filter(|file| is_manifest(&file.path))
        .filter_map(|file| parse(&file.bytes, JsonLimits::document(file.bytes.len())).ok())
        .any(|manifest| states(&manifest, manifest_role, &hex));
    if stated {
        Ok(())
    } else {
        let message = format!("the provider manifest does not state `{path}` as `{manifest_role}`");
        Err(failed(FailureKind::ProviderManifestMismatch, message))
    }
}

/// `provider-manifest.json`, or with a part between: `provider-manifest.echo.json`.
fn is_manifest(path: &str) -> bool {
    path.strip_prefix("provider-manifest")
        .and_then(|rest| rest.strip_suffix(".json"))
        .is_some_and(|between| !between.contains('/'))
}

/// Whether some object with `role` = `role` holds the digest, bare or with its algorithm.
fn states(node: &Node, role: &str, hex: &str) -> bool {
    match &node.tree {
        Json::Array(items) => items.iter().any(|item| states(item, role, hex)),
        Json::Object(members) => {
            (node.get("role").and_then(Node::as_text) == Some(role) && holds(node, hex))
                || members
                    .iter()
                    .any(|member| states(&member.value, role, hex))
        }
        Json::Null | Json::Bool(_) | Json::Integer(_) | Json::Text(_) => false,
    }
}

fn holds(node: &Node, hex: &str) -> bool {
    match &node.tree {
        Json::Text(text) => text.strip_prefix("sha256:").unwrap_or(text) == hex,
        Json::Array(items) => items.iter().any(|item| holds(item, hex)),
        Json::Object(members) => members.iter().any(|member| holds(&member.value, hex)),
        Json::Null | Json::Bool(_) | Json::Integer(_) => false,
    }
}

/// Compares a checkout with its pin.
fn check_source(root: &SuiteRoot, source: &GitSource, role: Role) -> Result<(), Failure> {
    let failed = |kind, message| Failure::new(Stage::Toolchain, kind, message).of_role(role);
    let place = Place {
        root,
        locator: &source.worktree,
    };
    let revision = git::head(place)
        .map_err(|error| failed(FailureKind::SourceRevisionMismatch, error.to_string()))?;
    if revision != source.revision {
        let message = format!("the work tree is at {revision}, not at {}", source.revision);
        return Err(failed(FailureKind::SourceRevisionMismatch, message));
    }
    let tree = read_paths(place, &source.paths, SOURCE_TREE).map_err(|error| {
        let kind = match error {
            TreeError::TooLarge(_) => FailureKind::SourceTreeTooLarge,
            TreeError::Special { .. } | TreeError::Name { .. } | TreeError::Read(_) => {
                FailureKind::SourceTreeDirty
            }
        };
        failed(kind, format!("the work tree: {error}"))
    })?;
    if tree.identity != source.tree {
        let message = "a file of the work tree was added, changed or removed".to_owned();
        return Err(
            failed(FailureKind::SourceTreeDirty, message).mismatch(&source.tree, &tree.identity)
        );
    }
    Ok(())
}

/// Reads a provider package that is to be pinned.
///
/// # Errors
/// Why it has no identity.
pub fn measure_package(root: &SuiteRoot, locator: &ToolLocator) -> Result<Tree, TreeError> {
    read_tree(Place { root, locator }, PROVIDER_PACKAGE)
}

/// Identity and length in bytes of a component of a provider package; `None` when it has no such file.
pub fn measure_component(package: &Tree, path: &str) -> Option<(TypedDigest, u64)> {
    let file = package.files.iter().find(|file| file.path == path)?;
    let identity = TypedDigest::new(COMPONENT, Algorithm::Sha256, sha256(&file.bytes));
    Some((identity, file.bytes.len() as u64))
}

/// Reads a checkout that is to be pinned: its revision and the tree below `paths`.
///
/// # Errors
/// Why it has none.
pub fn measure_source(
    root: &SuiteRoot,
    worktree: &ToolLocator,
    paths: &[edict_test_model::Locator],
) -> Result<(String, TypedDigest), MeasureError> {
    let (_, revision, tree) = checkout(root, worktree, paths)?;
    Ok((revision, tree.identity))
}

/// As [`measure_source`], of a checkout in which nothing was added, changed or removed (C4).
///
/// # Errors
/// As [`measure_source`], and [`MeasureError::Dirty`].
pub fn measure_clean_source(
    root: &SuiteRoot,
    worktree: &ToolLocator,
    paths: &[edict_test_model::Locator],
) -> Result<(String, TypedDigest), MeasureError> {
    let (place, revision, tree) = checkout(root, worktree, paths)?;
    match git::dirt(place, &revision, &tree.files, paths)? {
        None => Ok((revision, tree.identity)),
        Some(path) => Err(MeasureError::Dirty(path)),
    }
}

/// Why a checkout cannot be pinned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasureError {
    /// `HEAD` has no revision.
    #[error("{0}")]
    Head(#[from] git::HeadError),
    /// The files have no identity.
    #[error("{0}")]
    Tree(#[from] TreeError),
    /// A file is not the one that was checked out or staged.
    #[error("`{0}` was added, changed or removed; commit it first")]
    Dirty(String),
}

fn checkout<'a>(
    root: &'a SuiteRoot,
    worktree: &'a ToolLocator,
    paths: &[edict_test_model::Locator],
) -> Result<(Place<'a>, String, Tree), MeasureError> {
    let place = Place {
        root,
        locator: worktree,
    };
    let revision = git::head(place)?;
    let tree = read_paths(place, paths, SOURCE_TREE)?;
    Ok((place, revision, tree))
}
