// SPDX-License-Identifier: Apache-2.0
//! What a build and a verification leave: artifacts with their identities and bytes.

use edict_codec::{
    cbor,
    digest::{TypedDigest, derive_typed, frame_typed},
};
use std::{fmt, sync::Arc};

/// Context of a blob digest.
pub const BLOB: &str = "edict.test/blob/v1";

/// The blob digest of `bytes` (D4).
pub fn blob(bytes: &[u8]) -> TypedDigest {
    derive_typed(BLOB, bytes)
}

/// Bytes with their blob digest, equal by content, cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Body {
    /// Digest of the bytes.
    pub blob: TypedDigest,
    /// The bytes.
    pub bytes: Arc<[u8]>,
}

impl Body {
    /// A body of `bytes`; the digest is computed here.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            blob: blob(&bytes),
            bytes,
        }
    }

    /// Length in bytes.
    pub fn byte_length(&self) -> u64 {
        self.bytes.len() as u64
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Body({}, {} bytes)", self.blob, self.bytes.len())
    }
}

/// The role of an artifact, in the order of D4, then the verification report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtifactRole {
    /// `core.cbor`.
    Core,
    /// `target-ir.cbor`.
    TargetIr,
    /// `result-projection.cbor`.
    ResultProjection,
    /// `executable-operation-package.cbor`.
    Package,
    /// The source file.
    Source,
    /// The exports of one lawpack.
    LawpackExports,
    /// `verification-report.cbor`.
    VerificationReport,
}

impl ArtifactRole {
    /// All roles in order.
    pub const ALL: [Self; 7] = [
        Self::Core,
        Self::TargetIr,
        Self::ResultProjection,
        Self::Package,
        Self::Source,
        Self::LawpackExports,
        Self::VerificationReport,
    ];

    /// The name in keys, records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::TargetIr => "target-ir",
            Self::ResultProjection => "result-projection",
            Self::Package => "executable-operation-package",
            Self::Source => "source",
            Self::LawpackExports => "lawpack-exports",
            Self::VerificationReport => "verification-report",
        }
    }

    /// The role of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The file the build writes or the verifier leaves; `None` for inputs (S18).
    pub const fn file_name(self) -> Option<&'static str> {
        match self {
            Self::Core => Some("core.cbor"),
            Self::TargetIr => Some("target-ir.cbor"),
            Self::ResultProjection => Some("result-projection.cbor"),
            Self::Package => Some("executable-operation-package.cbor"),
            Self::VerificationReport => Some("verification-report.cbor"),
            Self::Source | Self::LawpackExports => None,
        }
    }

    /// The digest domain; `None` for exports, whose domain is their own coordinate (D7).
    pub const fn domain(self) -> Option<&'static str> {
        match self {
            Self::Core => Some("edict.core.module/v1"),
            Self::TargetIr => Some("edict.target-ir.artifact/v1"),
            Self::ResultProjection => Some("edict.result-projection.artifact/v1"),
            Self::Package => Some("echo.program-package/v1"),
            Self::Source => Some("edict.source/v1"),
            Self::LawpackExports => None,
            Self::VerificationReport => Some("edict.verification-report/v1"),
        }
    }
}

/// Why bytes are no artifact of a role.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("artifact `{}` is not one canonical item: {reason}", role.name())]
pub struct ArtifactError {
    /// The role.
    pub role: ArtifactRole,
    /// The codec's rejection.
    pub reason: String,
}

/// One artifact: a role, an identity by the rule of D7, and the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What it is.
    pub role: ArtifactRole,
    /// SHA-256 of the Edict frame in the domain of the role.
    pub identity: TypedDigest,
    /// The bytes and their blob digest.
    pub body: Body,
}

impl Artifact {
    /// Identifies `bytes` as a source file: the file as one byte string.
    pub fn source(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        let item = cbor::encode(&cbor::Value::bytes(bytes.to_vec()));
        Self {
            role: ArtifactRole::Source,
            identity: frame_typed("edict.source/v1", &item),
            body: Body::new(bytes),
        }
    }

    /// Identifies `bytes` as an artifact of `role` in `domain`. For exports the domain is their
    /// coordinate; for other roles it must be that of [`ArtifactRole::domain`].
    ///
    /// # Errors
    /// When the bytes are not one canonical item.
    pub fn item(
        role: ArtifactRole,
        domain: &str,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<Self, ArtifactError> {
        let bytes = bytes.into();
        cbor::validate(&bytes, cbor::DecodeLimits::default()).map_err(|error| ArtifactError {
            role,
            reason: error.to_string(),
        })?;
        Ok(Self {
            role,
            identity: frame_typed(domain, &bytes),
            body: Body::new(bytes),
        })
    }
}

/// The outputs and the source of one build.
///
/// Two builds are equal when artifacts and source are: how they were come by is no part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// Canonical Core; none in shape `upstream`, whose compiler writes the package alone.
    pub core: Option<Artifact>,
    /// Target IR; likewise.
    pub target_ir: Option<Artifact>,
    /// The compiler-owned result projection; likewise, there it is embedded in the package.
    pub projection: Option<Artifact>,
    /// The executable operation package.
    pub package: Artifact,
    /// The source file that was staged.
    pub source: Artifact,
    /// The exports of each lawpack, in closure order.
    pub lawpack_exports: Vec<Artifact>,
    /// Shape `upstream` only: the verification report that the build itself made.
    pub report: Option<Artifact>,
}

impl Built {
    /// The artifacts in the order of D4, the verification report left out.
    pub fn artifacts(&self) -> Vec<&Artifact> {
        let intermediate = [&self.core, &self.target_ir, &self.projection];
        intermediate
            .into_iter()
            .flatten()
            .chain([&self.package, &self.source])
            .chain(&self.lawpack_exports)
            .collect()
    }
}

/// What the verifier said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerificationOutcome {
    /// The report accepts the program.
    Accepted,
    /// It does not.
    Rejected,
}

impl VerificationOutcome {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
        }
    }
}

/// A verification that came to a judgement, accepted or rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The verification report.
    pub report: Artifact,
    /// Its outcome.
    pub outcome: VerificationOutcome,
    /// The first disagreement the verifier named, for people.
    pub disagreement: Option<Disagreement>,
}

/// The first disagreement of a rejected program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The verifier's kind.
    pub kind: String,
    /// Where.
    pub path: String,
}
