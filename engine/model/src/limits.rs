// SPDX-License-Identifier: Apache-2.0
//! The nine limits of a run: ceilings that a manifest may lower and never raise (R4, section 3).

use crate::failure::FailureKind;

/// One limit, in the order of section 3, which is the order in the suite preimage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// Bytes of the manifest file.
    ManifestBytes,
    /// Entries of `cases`.
    Cases,
    /// Entries of one `setup`.
    SetupOperationsPerCase,
    /// Sum of bytes over distinct fixture paths.
    FixtureBytes,
    /// Encoded application value of a `caseResult` case, in bytes.
    CaseResultBytes,
    /// One whole transport frame, in bytes.
    FrameBytes,
    /// Report file plus journal, in bytes.
    ReportBytes,
    /// Bytes written for the run by the runner and its children.
    ArtifactBytes,
    /// Monotonic time of one build, one verification or one host request, in milliseconds.
    WallTimeoutMs,
}

impl Limit {
    /// All limits in the order of section 3.
    pub const ALL: [Self; 9] = [
        Self::ManifestBytes,
        Self::Cases,
        Self::SetupOperationsPerCase,
        Self::FixtureBytes,
        Self::CaseResultBytes,
        Self::FrameBytes,
        Self::ReportBytes,
        Self::ArtifactBytes,
        Self::WallTimeoutMs,
    ];

    /// The member of `limits` in manifest and report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ManifestBytes => "maxManifestBytes",
            Self::Cases => "maxCases",
            Self::SetupOperationsPerCase => "maxSetupOperationsPerCase",
            Self::FixtureBytes => "maxFixtureBytes",
            Self::CaseResultBytes => "maxCaseResultBytes",
            Self::FrameBytes => "maxFrameBytes",
            Self::ReportBytes => "maxReportBytes",
            Self::ArtifactBytes => "maxArtifactBytes",
            Self::WallTimeoutMs => "wallTimeoutMs",
        }
    }

    /// The greatest value, which is also the default.
    pub const fn ceiling(self) -> u64 {
        match self {
            Self::ManifestBytes => 1_048_576,
            Self::Cases => 1_024,
            Self::SetupOperationsPerCase => 128,
            Self::FixtureBytes => 8_388_608,
            Self::CaseResultBytes => 2_048,
            Self::FrameBytes => 16_777_216,
            Self::ReportBytes => 67_108_864,
            Self::ArtifactBytes => 268_435_456,
            Self::WallTimeoutMs => 30_000,
        }
    }
}

/// The nine effective values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits([u64; 9]);

impl Default for Limits {
    fn default() -> Self {
        Self(Limit::ALL.map(Limit::ceiling))
    }
}

impl Limits {
    /// The effective value of `limit`, in its unit.
    pub fn get(&self, limit: Limit) -> u64 {
        // The discriminants are the positions in `Limit::ALL`.
        self.0.get(limit as usize).copied().unwrap_or_default()
    }

    /// The nine values in the order of section 3.
    pub const fn values(&self) -> [u64; 9] {
        self.0
    }

    /// Sets `limit` to `value`.
    ///
    /// # Errors
    /// `LimitNotPositive` for 0 and below, `LimitAboveCeiling` above the ceiling.
    pub fn lower(&mut self, limit: Limit, value: i128) -> Result<(), FailureKind> {
        if value < 1 {
            return Err(FailureKind::LimitNotPositive);
        }
        match u64::try_from(value) {
            Ok(value) if value <= limit.ceiling() => {
                if let Some(slot) = self.0.get_mut(limit as usize) {
                    *slot = value;
                }
                Ok(())
            }
            _ => Err(FailureKind::LimitAboveCeiling),
        }
    }

    /// `maxManifestBytes`.
    pub fn max_manifest_bytes(&self) -> u64 {
        self.get(Limit::ManifestBytes)
    }

    /// `maxCases`.
    pub fn max_cases(&self) -> u64 {
        self.get(Limit::Cases)
    }

    /// `maxSetupOperationsPerCase`.
    pub fn max_setup_operations_per_case(&self) -> u64 {
        self.get(Limit::SetupOperationsPerCase)
    }

    /// `maxFixtureBytes`.
    pub fn max_fixture_bytes(&self) -> u64 {
        self.get(Limit::FixtureBytes)
    }

    /// `maxCaseResultBytes`.
    pub fn max_case_result_bytes(&self) -> u64 {
        self.get(Limit::CaseResultBytes)
    }

    /// `maxFrameBytes`.
    pub fn max_frame_bytes(&self) -> u64 {
        self.get(Limit::FrameBytes)
    }

    /// `maxReportBytes`.
    pub fn max_report_bytes(&self) -> u64 {
        self.get(Limit::ReportBytes)
    }

    /// `maxArtifactBytes`.
    pub fn max_artifact_bytes(&self) -> u64 {
        self.get(Limit::ArtifactBytes)
    }

    /// `wallTimeoutMs`.
    pub fn wall_timeout_ms(&self) -> u64 {
        self.get(Limit::WallTimeoutMs)
    }
}
