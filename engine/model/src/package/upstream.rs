// SPDX-License-Identifier: Apache-2.0
//! The upstream shape, as far as a report is bound to a package: `echo.operation-package/v1` and
//! `echo.operation-package-verifier-report/v1`.

use super::fields::{Field, Malformed};
use super::{MAX_PACKAGE_BYTES, MAX_REPORT_BYTES, PackageError, decode_file};
use edict_codec::cbor::Value;
use edict_codec::digest::{Algorithm, TypedDigest, frame_typed};

/// Schema of an upstream package, and the domain of its digest.
pub const OPERATION_PACKAGE_SCHEMA: &str = "echo.operation-package/v1";

/// Schema of an upstream report, and the domain of its digest.
pub const OPERATION_REPORT_SCHEMA: &str = "echo.operation-package-verifier-report/v1";

/// What a report says about the package of an upstream build. Bare upstream digests are lifted to
/// typed ones by the domain that upstream uses for the artifact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationPackage {
    /// Digest of the package file.
    pub digest: TypedDigest,
    /// Coordinate of the operation.
    pub operation: String,
    /// Core (`edict.core.module/v1`).
    pub core: [u8; 32],
    /// Target IR.
    pub target_ir: [u8; 32],
    /// Source.
    pub source: [u8; 32],
    /// Coordinate of the one lawpack.
    pub lawpack_coordinate: String,
    /// Manifest of the lawpack.
    pub lawpack: [u8; 32],
    /// Target profile.
    pub target_profile: [u8; 32],
    /// Result projection, as stated beside its embedded bytes.
    pub projection: [u8; 32],
    /// The embedded projection.
    pub projection_bytes: Vec<u8>,
}

/// A decoded upstream report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationReport {
    /// Digest of the report file.
    pub digest: TypedDigest,
    /// `outcome` is `accepted`.
    pub accepted: bool,
    /// SHA-256 of the package judged.
    pub package: [u8; 32],
    /// Target IR judged.
    pub target_ir: [u8; 32],
    /// Operation whose projection was judged.
    pub projection_operation: String,
    /// Result projection judged.
    pub projection: [u8; 32],
}

/// Two artifacts of an upstream build that do not belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamMismatch {
    /// The report rejects its package.
    #[error("the report rejects the package")]
    Rejected,
    /// The report names another package.
    #[error("the report names another package")]
    Package,
    /// The report names another Target IR.
    #[error("the report names another Target IR")]
    TargetIr,
    /// The report names another result projection, or that of another operation.
    #[error("the report names another result projection")]
    Projection,
}

impl OperationPackage {
    /// Decodes an upstream package file.
    ///
    /// # Errors
    /// `NotCanonical`, `UnsupportedSchema`, or `Malformed` at the first member missing or mistyped.
    pub fn decode(bytes: &[u8]) -> Result<Self, PackageError> {
        let value = decode_file(bytes, MAX_PACKAGE_BYTES)?;
        if value.get("schema").and_then(Value::as_text) != Some(OPERATION_PACKAGE_SCHEMA) {
            return Err(PackageError::UnsupportedSchema {
                expected: OPERATION_PACKAGE_SCHEMA,
            });
        }
        let root = Field::root(&value);
        let closure = root.get("semantic_closure")?;
        let projection = root.get("application_result_projection")?;
        Ok(Self {
            digest: frame_typed(OPERATION_PACKAGE_SCHEMA, bytes),
            operation: root.get("operation_coordinate")?.coordinate()?,
            core: closure.get("core_identity")?.bytes_32()?,
            target_ir: closure.get("target_ir_identity")?.bytes_32()?,
            source: closure.get("edict_source_identity")?.bytes_32()?,
            lawpack_coordinate: closure.get("lawpack_coordinate")?.coordinate()?,
            lawpack: closure.get("lawpack_identity")?.bytes_32()?,
            target_profile: root.get("target_profile_identity")?.bytes_32()?,
            projection: projection.get("artifact_identity")?.bytes_32()?,
            projection_bytes: projection.get("artifact_bytes")?.bytes()?.to_vec(),
        })
    }
}

impl OperationReport {
    /// Decodes an upstream report file.
    ///
    /// # Errors
    /// As [`OperationPackage::decode`]; the report is a closed map.
    pub fn decode(bytes: &[u8]) -> Result<Self, PackageError> {
        let value = decode_file(bytes, MAX_REPORT_BYTES)?;
        if value.get("apiVersion").and_then(Value::as_text) != Some(OPERATION_REPORT_SCHEMA) {
            return Err(PackageError::UnsupportedSchema {
                expected: OPERATION_REPORT_SCHEMA,
            });
        }
        let root = Field::root(&value);
        root.closed(&[
            "apiVersion",
            "outcome",
            "package",
            "targetIr",
            "diagnosticAbi",
            "diagnosticBytes",
            "applicationResultProjection",
        ])?;
        root.get("diagnosticBytes")?.bytes()?;
        reference(&root.get("diagnosticAbi")?)?;
        let outcome = root.get("outcome")?;
        let accepted = match outcome.text()? {
            "accepted" => true,
            "rejected" => false,
            _ => return Err(outcome.fail("neither `accepted` nor `rejected`").into()),
        };
        let (projection_operation, projection) =
            reference(&root.get("applicationResultProjection")?)?;
        Ok(Self {
            digest: frame_typed(OPERATION_REPORT_SCHEMA, bytes),
            accepted,
            package: reference(&root.get("package")?)?.1,
            target_ir: reference(&root.get("targetIr")?)?.1,
            projection_operation,
            projection,
        })
    }

    /// Whether this report accepts exactly `package`.
    ///
    /// # Errors
    /// The first pair that disagrees: verdict, package, Target IR, projection.
    pub fn check(&self, package: &OperationPackage) -> Result<(), UpstreamMismatch> {
        if !self.accepted {
            Err(UpstreamMismatch::Rejected)
        } else if self.package != *package.digest.bytes() {
            Err(UpstreamMismatch::Package)
        } else if self.target_ir != package.target_ir {
            Err(UpstreamMismatch::TargetIr)
        } else if self.projection != package.projection
            || self.projection_operation != package.operation
        {
            Err(UpstreamMismatch::Projection)
        } else {
            Ok(())
        }
    }
}

/// Reads `{id, digest: ["sha256", 32 bytes]}`.
fn reference(field: &Field<'_>) -> Result<(String, [u8; 32]), Malformed> {
    field.closed(&["id", "digest"])?;
    let digest = field.get("digest")?;
    match digest.items()?.as_slice() {
        [algorithm, bytes] => {
            algorithm.exactly(Algorithm::Sha256.name())?;
            Ok((field.get("id")?.coordinate()?, bytes.bytes_32()?))
        }
        _ => Err(digest.fail("not `[\"sha256\", 32 bytes]`")),
    }
}
