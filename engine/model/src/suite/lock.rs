// SPDX-License-Identifier: Apache-2.0
//! The toolchain lock `edict.test-toolchain-lock/v1` (section 1.5).

use super::{
    decode::{
        At, DocumentError, Object,
        Presence::{Optional, Required},
        tree,
    },
    locator::{RoleLocator, ToolLocator, locator, scopes, tool_locator},
    role::{Role, RoleKind, Shape},
};
use crate::{failure::FailureKind, ids::Locator};
use edict_codec::digest::{Algorithm, TypedDigest};

/// The schema of a lock.
pub const SCHEMA: &str = "edict.test-toolchain-lock/v1";
/// Domain of program identities.
pub const EXECUTABLE: &str = "edict.test/executable/v1";
/// Domain of component identities.
pub const COMPONENT: &str = "edict.provider-component/v1";
/// Domain of target profile identities.
pub const TARGET_PROFILE: &str = "edict.target-profile/v1";
/// Domain of interpreter profile identities.
pub const INTERPRETER_PROFILE: &str = "echo/interpreter-profile/v1";
/// Domain of ABI identities.
pub const ABI: &str = "edict.test/abi/v1";
/// Domain of tree identities.
pub const TREE: &str = "edict.test/tree/v1";
/// Greatest length of a pinned file in bytes.
const MAX_TOOL: u64 = 268_435_456;

/// A lock that was decoded in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockDocument {
    /// Bundled or upstream.
    pub shape: Shape,
    /// Shape `upstream` only.
    pub provider_package: Option<ProviderPackage>,
    /// The eleven entries in the order of section 1.5.
    pub roles: Vec<RoleEntry>,
}

/// The pinned provider package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPackage {
    /// Its coordinate.
    pub coordinate: String,
    /// Its tree identity.
    pub identity: TypedDigest,
    /// Where it is.
    pub locator: ToolLocator,
}

/// One role with its pin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleEntry {
    /// The role.
    pub role: Role,
    /// The pinned identity.
    pub identity: TypedDigest,
    /// Where it is now.
    pub locator: RoleLocator,
    /// The members of its kind.
    pub pin: RolePin,
}

/// Members of an entry that depend on its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RolePin {
    /// A program.
    Executable {
        /// Exact length in bytes.
        byte_length: u64,
        /// The checkout it was built from.
        source: Option<GitSource>,
    },
    /// A component of the provider package.
    Component {
        /// Its coordinate.
        coordinate: String,
        /// Exact length in bytes.
        byte_length: u64,
        /// Its role in the provider manifest.
        manifest_role: String,
    },
    /// A profile.
    Profile {
        /// Its coordinate.
        coordinate: String,
    },
    /// An ABI.
    Abi {
        /// Its coordinate.
        coordinate: String,
    },
}

/// The local checkout of a program (S15).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitSource {
    /// 40 or 64 lower-case hexadecimal digits.
    pub revision: String,
    /// Identity of the files below `paths`.
    pub tree: TypedDigest,
    /// The work tree.
    pub worktree: ToolLocator,
    /// 1 to 64 paths below the work tree.
    pub paths: Vec<Locator>,
}

impl RoleEntry {
    /// The kind of the entry.
    pub fn kind(&self) -> RoleKind {
        match self.pin {
            RolePin::Executable { .. } => RoleKind::Executable,
            RolePin::Component { .. } => RoleKind::Component,
            RolePin::Profile { .. } => RoleKind::Profile,
            RolePin::Abi { .. } => RoleKind::Abi,
        }
    }

    /// The coordinate of components, profiles and ABIs.
    pub fn coordinate(&self) -> Option<&str> {
        match &self.pin {
            RolePin::Executable { .. } => None,
            RolePin::Component { coordinate, .. }
            | RolePin::Profile { coordinate }
            | RolePin::Abi { coordinate } => Some(coordinate),
        }
    }

    /// Exact length of a pinned file in bytes.
    pub fn byte_length(&self) -> Option<u64> {
        match self.pin {
            RolePin::Executable { byte_length, .. } | RolePin::Component { byte_length, .. } => {
                Some(byte_length)
            }
            RolePin::Profile { .. } | RolePin::Abi { .. } => None,
        }
    }

    /// The checkout of a program.
    pub fn source(&self) -> Option<&GitSource> {
        match &self.pin {
            RolePin::Executable { source, .. } => source.as_ref(),
            RolePin::Component { .. } | RolePin::Profile { .. } | RolePin::Abi { .. } => None,
        }
    }
}

impl LockDocument {
    /// Decodes a lock.
    ///
    /// # Errors
    /// The first rejection in the order of S3.
    pub fn decode(bytes: &[u8]) -> Result<Self, DocumentError> {
        let node = tree(bytes, FailureKind::LockTooLarge)?;
        let object = At::root(&node).object()?;
        object
            .required("schema")?
            .exactly(SCHEMA, FailureKind::UnsupportedSchema)?;
        let shape = object.required("shape")?.variant(Shape::from_name)?;
        let mut table = vec![("schema", Required), ("shape", Required)];
        if shape == Shape::Upstream {
            table.push(("providerPackage", Required));
        }
        table.push(("roles", Required));
        object.closed(&table)?;
        let provider_package = object
            .optional("providerPackage")
            .map(|at| provider_package(&at))
            .transpose()?;
        let roles = roles(&object.required("roles")?, shape)?;
        Ok(Self {
            shape,
            provider_package,
            roles,
        })
    }

    /// The entry of a role; a decoded lock has all eleven.
    pub fn entry(&self, role: Role) -> Option<&RoleEntry> {
        self.roles.iter().find(|entry| entry.role == role)
    }
}

fn roles(at: &At<'_>, shape: Shape) -> Result<Vec<RoleEntry>, DocumentError> {
    let object = at.object()?;
    object.closed(&Role::ALL.map(|role| (role.name(), Required)))?;
    let mut entries = Vec::new();
    for role in Role::ALL {
        entries.push(entry(&object.required(role.name())?, role, shape)?);
    }
    independent(&object, &entries, shape)?;
    Ok(entries)
}

/// The verifier shares its bytes with nothing it judges.
fn independent(
    object: &Object<'_>,
    entries: &[RoleEntry],
    shape: Shape,
) -> Result<(), DocumentError> {
    let identity = |role| {
        entries
            .iter()
            .find(|entry| entry.role == role)
            .map(|entry| &entry.identity)
    };
    let judged: &[Role] = match shape {
        Shape::Bundled => &[Role::Compiler, Role::Lowerer],
        Shape::Upstream => &[Role::Lowerer],
    };
    let verifier = identity(Role::Verifier);
    match judged.iter().find(|role| identity(**role) == verifier) {
        None => Ok(()),
        Some(role) => object
            .required(Role::Verifier.name())?
            .object()?
            .required("identity")?
            .fail(
                FailureKind::VerifierNotIndependent,
                format!("the verifier is the {} itself", role.name()),
            ),
    }
}

fn entry(at: &At<'_>, role: Role, shape: Shape) -> Result<RoleEntry, DocumentError> {
    let object = at.object()?;
    let kind_at = object.required("kind")?;
    let kind = kind_at.variant(RoleKind::from_name)?;
    let wanted = role.kind(shape);
    if kind != wanted {
        return kind_at.fail(
            FailureKind::RoleKindMismatch,
            format!("role {} is of kind {}", role.name(), wanted.name()),
        );
    }
    let has = |one: &[RoleKind]| one.contains(&kind);
    let files = has(&[RoleKind::Executable, RoleKind::Component]);
    let mut table = vec![("kind", Required)];
    if kind != RoleKind::Executable {
        table.push(("coordinate", Required));
    }
    table.push(("identity", Required));
    if files {
        table.push(("byteLength", Required));
    }
    table.push(("locator", Required));
    match kind {
        RoleKind::Executable => table.push(("source", Optional)),
        RoleKind::Component => table.push(("manifestRole", Required)),
        RoleKind::Profile | RoleKind::Abi => {}
    }
    object.closed(&table)?;
    members(&object, role, kind, shape)
}

/// The values of an entry in table order.
fn members(
    object: &Object<'_>,
    role: Role,
    kind: RoleKind,
    shape: Shape,
) -> Result<RoleEntry, DocumentError> {
    let coordinate = match object.optional("coordinate") {
        Some(at) => at.coordinate()?.as_str().to_owned(),
        None => String::new(),
    };
    let (domain, algorithm) = domain(role, kind);
    let identity = object.required("identity")?.digest(domain, algorithm)?;
    let byte_length = match object.optional("byteLength") {
        Some(at) => at.within(1, MAX_TOOL)?,
        None => 0,
    };
    let locator = locator(&object.required("locator")?, scopes(role, kind, shape))?;
    let pin = match kind {
        RoleKind::Executable => RolePin::Executable {
            byte_length,
            source: object
                .optional("source")
                .map(|at| source(&at))
                .transpose()?,
        },
        RoleKind::Component => RolePin::Component {
            coordinate,
            byte_length,
            manifest_role: manifest_role(&object.required("manifestRole")?)?,
        },
        RoleKind::Profile => RolePin::Profile { coordinate },
        RoleKind::Abi => RolePin::Abi { coordinate },
    };
    Ok(RoleEntry {
        role,
        identity,
        locator,
        pin,
    })
}

fn manifest_role(at: &At<'_>) -> Result<String, DocumentError> {
    if at.text()?.is_empty() {
        return at.fail(FailureKind::EmptyString, "a text is needed here");
    }
    Ok(at.text_within(256)?.to_owned())
}

fn domain(role: Role, kind: RoleKind) -> (&'static str, Algorithm) {
    match kind {
        RoleKind::Executable => (EXECUTABLE, Algorithm::Blake3),
        RoleKind::Component => (COMPONENT, Algorithm::Sha256),
        RoleKind::Profile if role == Role::TargetProfile => (TARGET_PROFILE, Algorithm::Sha256),
        RoleKind::Profile => (INTERPRETER_PROFILE, Algorithm::Blake3),
        RoleKind::Abi => (ABI, Algorithm::Blake3),
    }
}

fn provider_package(at: &At<'_>) -> Result<ProviderPackage, DocumentError> {
    let object = at.object()?;
    object.closed(&[
        ("coordinate", Required),
        ("identity", Required),
        ("locator", Required),
    ])?;
    Ok(ProviderPackage {
        coordinate: object
            .required("coordinate")?
            .coordinate()?
            .as_str()
            .to_owned(),
        identity: object
            .required("identity")?
            .digest(TREE, Algorithm::Blake3)?,
        locator: tool_locator(&object.required("locator")?)?,
    })
}

fn source(at: &At<'_>) -> Result<GitSource, DocumentError> {
    let object = at.object()?;
    object
        .required("kind")?
        .variant(|name| (name == "git").then_some(()))?;
    object.closed(&[
        ("kind", Required),
        ("revision", Required),
        ("tree", Required),
        ("worktree", Required),
        ("paths", Required),
    ])?;
    let revision_at = object.required("revision")?;
    let revision = revision_at.text()?;
    let lower_hex = |sign: u8| matches!(sign, b'0'..=b'9' | b'a'..=b'f');
    if !matches!(revision.len(), 40 | 64) || !revision.bytes().all(lower_hex) {
        return revision_at.fail(
            FailureKind::InvalidRevision,
            "a revision is 40 or 64 lower-case hexadecimal digits",
        );
    }
    let tree = object.required("tree")?.digest(TREE, Algorithm::Blake3)?;
    let worktree = tool_locator(&object.required("worktree")?)?;
    let paths_at = object.required("paths")?;
    let items = paths_at.items()?;
    if !(1..=64).contains(&items.len()) {
        let message = format!("{} paths are outside 1 to 64", items.len());
        return paths_at.fail(FailureKind::ValueOutOfRange, message);
    }
    Ok(GitSource {
        revision: revision.to_owned(),
        tree,
        worktree,
        paths: items.iter().map(At::path).collect::<Result<_, _>>()?,
    })
}
