// SPDX-License-Identifier: Apache-2.0
//! From what a run came to, the report that says it.

use super::Publisher;
use crate::wire;
use edict_codec::json::Json;
use edict_test_model::{
    CaseIndex, FailureKind, RunId,
    built::ArtifactRole,
    run::{
        BuildDecision, CaseReport, CaseTelemetry, EvidenceReport, RunReport, SemanticReport,
        Telemetry, VerifyDecision, producers, provider_package,
    },
};
use std::{io::Write, path::Path};

/// How much of a run is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// Everything, within the limits of the suite.
    Whole,
    /// What the run came to, without evidence and with the primary diagnostic alone: the whole is
    /// too large.
    Semantic,
    /// The same, with the bodies that can be kept: some cannot.
    Outline,
}

impl Extent {
    /// What may still be published after a failure of this extent.
    pub(super) fn after(self, kind: FailureKind) -> Option<Self> {
        match (self, kind) {
            (
                Self::Whole,
                FailureKind::ReportTooLarge
                | FailureKind::JournalWriteFailed
                | FailureKind::ArtifactBytesExceeded,
            ) => Some(Self::Semantic),
            (Self::Semantic, FailureKind::ArtifactBytesExceeded)
            | (
                Self::Whole | Self::Semantic,
                FailureKind::ArtifactWriteFailed
                | FailureKind::ArtifactBodyMismatch
                | FailureKind::ReportWriteFailed,
            ) => Some(Self::Outline),
            _ => None,
        }
    }
}

impl<Out: Write, Err: Write> Publisher<Out, Err> {
    /// The report as it stands; incomplete when something failed that bails out.
    pub(super) fn report(&self, extent: Extent) -> RunReport {
        let outcome = self.outcome.as_ref();
        let summary = self.summary();
        let failed = self
            .more
            .iter()
            .any(|it| it.stage == edict_test_model::Stage::Report);
        let complete = summary.complete && !failed && outcome.is_some();
        let cases = outcome.map_or_else(|| self.unreached(), |it| it.cases.clone());
        let summary = edict_test_model::run::RunSummary::of(&cases, &self.failures());
        let bytes = self.known.bytes.as_ref();
        RunReport {
            complete,
            semantic: SemanticReport {
                suite: self.known.suite.clone(),
                producers: bytes.map(|it| producers(&it.lock)).unwrap_or_default(),
                provider_package: bytes.and_then(|it| provider_package(&it.lock)),
                limits: self.known.document.as_ref().map(|document| document.limits),
                programs: outcome.map(|it| it.programs.clone()).unwrap_or_default(),
                cases,
                summary,
            },
            evidence: outcome
                .filter(|_| extent == Extent::Whole)
                .map_or_else(EvidenceReport::default, |it| it.evidence.clone()),
            diagnostics: Vec::new(),
            telemetry: self.telemetry(),
        }
    }

    /// The cases of a manifest whose files were never read: identities are unknown (M11).
    fn unreached(&self) -> Vec<CaseReport> {
        let Some(document) = &self.known.document else {
            return Vec::new();
        };
        document
            .cases
            .iter()
            .enumerate()
            .map(|(index, case)| CaseReport {
                index: CaseIndex(index),
                id: case.id.clone(),
                label: case.label.clone(),
                case: None,
                expectation: None,
                application: None,
                input: None,
                ending: None,
                program: None,
                setup: case
                    .setup
                    .iter()
                    .map(|_| edict_test_model::run::SetupReport {
                        application: None,
                        input: None,
                        program: None,
                        outcome: None,
                    })
                    .collect(),
                execution: None,
                result: None,
                skip: case.skip.clone(),
            })
            .collect()
    }

    fn telemetry(&self) -> Telemetry {
        let (wall, monotonic) = self.started;
        let cross_checks = self.outcome.as_ref().and_then(|it| it.cross_checks);
        let cross_checks = cross_checks.map(|it| {
            let counts = Json::object([
                ("compared", Json::unsigned(it.compared)),
                ("leftOut", Json::unsigned(it.left_out)),
            ]);
            ("crossCheck".to_owned(), counts)
        });
        let started_at = humantime::format_rfc3339_seconds(wall).to_string();
        Telemetry {
            run_id: RunId::new(&format!("{started_at}-{}", std::process::id())),
            started_at,
            duration_ms: u64::try_from(monotonic.elapsed().as_millis()).unwrap_or(u64::MAX),
            cases: self.case_telemetry(),
            objects: [
                ("paths".to_owned(), self.paths()),
                (
                    "pids".to_owned(),
                    Json::object([("runner", Json::unsigned(std::process::id().into()))]),
                ),
                ("platform".to_owned(), platform()),
                (
                    "isolation".to_owned(),
                    Json::object([(
                        "level",
                        Json::optional(self.known.isolation, |level| Json::text(level.name())),
                    )]),
                ),
                ("cache".to_owned(), self.cache()),
            ]
            .into_iter()
            .chain(cross_checks)
            .collect(),
        }
    }

    fn case_telemetry(&self) -> Vec<CaseTelemetry> {
        let cases = self.outcome.iter().flat_map(|outcome| &outcome.cases);
        cases.map(|case| self.telemetry_of(case)).collect()
    }

    fn telemetry_of(&self, case: &CaseReport) -> CaseTelemetry {
        let programs = self.outcome.as_ref().map(|it| &it.programs);
        let program = programs.and_then(|it| it.get(case.program?.0));
        let build_key = program.map(|it| &it.build_key);
        let package = program.and_then(|program| {
            let mut artifacts = program.artifacts.iter();
            artifacts.find(|artifact| artifact.role == ArtifactRole::Package)
        });
        let package = package.map(|it| &it.identity);
        let (decisions, durations) = (&self.decisions, &self.durations);
        let phases = [
            ("buildMs", build_key.and_then(|it| durations.builds.get(it))),
            (
                "verifyMs",
                package.and_then(|it| durations.verifications.get(it)),
            ),
            ("executeMs", durations.executions.get(&case.id)),
        ];
        let phases = phases
            .into_iter()
            .filter_map(|(name, duration)| Some((name.to_owned(), *duration?)));
        CaseTelemetry {
            index: case.index,
            phases: phases.collect(),
            build: build_key
                .and_then(|it| decisions.builds.get(it).copied())
                .unwrap_or(BuildDecision::NotBuilt),
            verify: package
                .and_then(|it| decisions.verifications.get(it).copied())
                .unwrap_or(VerifyDecision::NotVerified),
        }
    }

    fn paths(&self) -> Json {
        let Some(place) = &self.place else {
            return Json::Object(Vec::new());
        };
        let (report, artifacts) = place.paths();
        Json::object([
            ("report", Json::text(shown(report))),
            ("artifacts", Json::text(shown(artifacts))),
        ])
    }

    fn cache(&self) -> Json {
        let builds = self.decisions.builds.values();
        let reused = builds.filter(|it| **it == BuildDecision::Reused).count() as u64;
        let verifications = self.decisions.verifications.values();
        let kept = verifications
            .filter(|it| **it == VerifyDecision::Reused)
            .count() as u64;
        Json::object([
            ("builds", Json::unsigned(self.decisions.builds.len() as u64)),
            ("buildsReused", Json::unsigned(reused)),
            (
                "verifications",
                Json::unsigned(self.decisions.verifications.len() as u64),
            ),
            ("verificationsReused", Json::unsigned(kept)),
            ("diagnosticsLost", Json::unsigned(self.diagnostics.lost())),
        ])
    }
}

fn platform() -> Json {
    let system = rustix::system::uname();
    Json::object([
        ("system", Json::text(system.sysname().to_string_lossy())),
        ("release", Json::text(system.release().to_string_lossy())),
        ("machine", Json::text(system.machine().to_string_lossy())),
    ])
}

/// The absolute path as people are told it.
pub(crate) fn shown(path: &Path) -> String {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    wire::shown(&absolute)
}
