// SPDX-License-Identifier: Apache-2.0
//! `.programs[]` of the report: what was built and verified.

use crate::built::{Artifact, VerificationOutcome};
use edict_codec::digest::TypedDigest;

/// One built application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramReport {
    /// Application identity.
    pub application: TypedDigest,
    /// Coordinate of the application document.
    pub coordinate: String,
    /// The build key.
    pub build_key: TypedDigest,
    /// Artifacts in the order of D4, then the verification report.
    pub artifacts: Vec<Artifact>,
    /// `None` when not verified.
    pub verification: Option<VerificationReport>,
}

/// `.programs[].verification`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerificationReport {
    /// Identity of the verifier's pin.
    pub verifier: TypedDigest,
    /// Identity of the report.
    pub report: TypedDigest,
    /// Accepted or rejected.
    pub outcome: VerificationOutcome,
}
