// SPDX-License-Identifier: Apache-2.0
//! Program packages and verification reports as the runner needs them: strictly decoded views with
//! recomputed digests.
//!
//! Sources: `docs/host.md` 3.1 and 3.2 for the bundled toolchain; for the upstream shape only what
//! binds a report to a package ([`upstream`]).

mod anchored;
mod budget;
pub(crate) mod fields;
mod program;
mod report;
pub mod upstream;

pub use anchored::{ANCHORED_PROFILE, Anchored};
pub use budget::{Counters, ExecutionBudget};
pub use fields::Malformed;
pub use program::{
    Artifact, EffectRow, FootprintRow, Lawpack, ObstructionRow, ProgramKind, ProgramPackage,
};
pub use report::{LawpackDigests, ReportDiagnostic, VerificationReport};

use edict_codec::cbor::CborError;
use edict_codec::digest::{TypedDigest, frame_typed};

/// Schema of a package of the bundled toolchain, and the domain of its digest.
pub const PACKAGE_SCHEMA: &str = "echo.program-package/v1";

/// Schema of a report of the bundled verifier, and the domain of its digest.
pub const REPORT_SCHEMA: &str = "edict.verification-report/v1";

/// Domain of Core digests.
pub const CORE_DOMAIN: &str = "edict.core.module/v1";
/// Domain of Target IR digests.
pub const TARGET_IR_DOMAIN: &str = "edict.target-ir.artifact/v1";
/// Domain of result projection digests.
pub const PROJECTION_DOMAIN: &str = "edict.result-projection.artifact/v1";
/// Domain of source digests.
pub const SOURCE_DOMAIN: &str = "edict.source/v1";
/// Domain of target profile digests.
pub const TARGET_PROFILE_DOMAIN: &str = "edict.target-profile/v1";
/// Domain of lawpack manifest digests.
pub const LAWPACK_DOMAIN: &str = "edict.lawpack/v1";

/// Greatest package in bytes that a host admits (`docs/host.md` 8).
pub const MAX_PACKAGE_BYTES: usize = 4_194_304;
/// Greatest verification report in bytes that a host admits.
pub const MAX_REPORT_BYTES: usize = 262_144;
/// Greatest number of items in a package, a report or an embedded artifact.
const MAX_ARTIFACT_NODES: usize = 1_048_576;

/// Why a file is no package or no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageError {
    /// More bytes than a host would admit.
    #[error("larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The file is no canonical CBOR item.
    #[error("not canonical: {0}")]
    NotCanonical(CborError),
    /// The schema is another one, or none.
    #[error("its schema is not `{expected}`")]
    UnsupportedSchema {
        /// The schema wanted.
        expected: &'static str,
    },
    /// A key, type, bound or order is not that of the table.
    #[error("malformed at {0}")]
    Malformed(#[from] Malformed),
    /// A type value or type text of the package cannot be resolved.
    #[error("malformed type at {0}")]
    TypeMalformed(Malformed),
    /// An embedded artifact is not the one its digest names.
    #[error("the digest at {path} is not that of the embedded bytes")]
    ArtifactDigestMismatch {
        /// Where the artifact stands.
        path: String,
        /// The digest stated.
        stated: Box<TypedDigest>,
        /// The digest of the bytes.
        actual: Box<TypedDigest>,
    },
    /// An embedded artifact is not canonical.
    #[error("the artifact at {path} is not canonical: {error}")]
    ArtifactNotCanonical {
        /// Where the artifact stands.
        path: String,
        /// Why.
        error: CborError,
    },
}

/// The identity of a source file: the Edict frame over it as one byte string (D7).
pub fn source_digest(source: &[u8]) -> TypedDigest {
    let mut item = edict_codec::cbor::Encoder::new();
    item.bytes(source);
    frame_typed(SOURCE_DOMAIN, &item.into_bytes())
}

/// Decodes a file of at most `limit` bytes within the node bound of artifacts.
fn decode_file(bytes: &[u8], limit: usize) -> Result<edict_codec::cbor::Value, PackageError> {
    if bytes.len() > limit {
        return Err(PackageError::TooLarge { limit });
    }
    decode_item(bytes).map_err(PackageError::NotCanonical)
}

fn decode_item(bytes: &[u8]) -> Result<edict_codec::cbor::Value, CborError> {
    edict_codec::cbor::decode_with(bytes, artifact_limits())
}

fn validate_item(bytes: &[u8]) -> Result<(), CborError> {
    edict_codec::cbor::validate(bytes, artifact_limits())
}

fn artifact_limits() -> edict_codec::cbor::DecodeLimits {
    edict_codec::cbor::DecodeLimits {
        nodes: MAX_ARTIFACT_NODES,
        ..Default::default()
    }
}
