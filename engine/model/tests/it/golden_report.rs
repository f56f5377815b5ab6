// SPDX-License-Identifier: Apache-2.0
//! The golden run judged and reported: its `semantic` member is that of the golden report, byte for
//! byte.

use crate::golden_run::{GoldenRun, digest, reader, suite_file};
use edict_codec::{digest::TypedDigest, json::Json};
use edict_test_model::{
    CaseIndex, Limits, ProgramIndex, RunId,
    built::blob,
    plan::Program,
    run::{
        self, CaseReport, CheckResult, EvidenceReport, ProgramReport, RunReport, RunSummary,
        SemanticReport, SetupReport, SuiteReport, Telemetry, VerificationReport,
    },
    verdict::{self, judge},
};

impl GoldenRun {
    fn case_report(&self, position: usize) -> CaseReport {
        let reader = reader();
        let document = reader.document();
        let (case, subject) = (
            &document.cases[position],
            reader.case(&document.cases[position]),
        );
        let executed = case.skip.is_none();
        let judged = executed.then(|| self.judged(position));
        let place = |application: &TypedDigest| {
            self.programs
                .iter()
                .position(|it| it.application == *application)
                .map(ProgramIndex)
        };
        let application = subject.application.identity();
        let outcomes = judged
            .as_ref()
            .map_or(vec![None; case.setup.len()], |it| it.setup.clone());
        let setup = subject
            .setup
            .iter()
            .zip(outcomes)
            .map(|(entry, outcome)| SetupReport {
                application: Some(entry.application.identity()),
                input: Some(entry.input.identity()),
                program: place(&entry.application.identity()),
                outcome,
            });
        CaseReport {
            index: CaseIndex(position),
            id: case.id.clone(),
            label: case.label.clone(),
            case: Some(subject.identity()),
            expectation: Some(subject.expectation.identity()),
            application: Some(application.clone()),
            input: Some(subject.input.identity()),
            ending: match &judged {
                Some(judged) => judged.ending.clone(),
                None => Some(verdict::skipped()),
            },
            program: place(&application).filter(|_| executed),
            setup: setup.collect(),
            execution: judged.as_ref().and_then(|it| it.execution.clone()),
            result: judged.as_ref().and_then(|it| it.result.clone()),
            skip: case.skip.clone(),
        }
    }

    pub(crate) fn run_report(&self) -> RunReport {
        let reader = reader();
        let cases: Vec<CaseReport> = (0..4).map(|position| self.case_report(position)).collect();
        let summary = RunSummary::of(&cases, &[]);
        let evidence = (0..3).filter_map(|position| {
            let (nonce, evidence) = self.evidence(position);
            let plan = self.plan(position);
            let bound = judge(&plan, nonce, &evidence).bound;
            let place = |program: &Program| {
                let at = self
                    .programs
                    .iter()
                    .position(|it| it.application == program.application);
                ProgramIndex(at.unwrap())
            };
            let hosts = std::slice::from_ref(&self.hello);
            verdict::evidence_report(CaseIndex(position), hosts, &plan, &evidence, &bound, &place)
        });
        RunReport {
            complete: summary.complete,
            semantic: SemanticReport {
                suite: Some(SuiteReport {
                    id: reader.document().id,
                    identity: Some(reader.suite().identity()),
                    manifest: blob(&suite_file("edict.test-suite.json")),
                    shape: Some(self.lock.shape),
                    lock: Some(self.lock.identity()),
                    lock_file: Some(blob(&suite_file("edict.test-toolchain-lock.json"))),
                }),
                producers: run::producers(&self.lock),
                provider_package: run::provider_package(&self.lock),
                limits: Some(Limits::default()),
                programs: self.programs.iter().map(|it| program_report(it)).collect(),
                cases,
                summary,
            },
            evidence: EvidenceReport {
                hosts: vec![self.hello.clone()],
                cases: evidence.collect(),
            },
            diagnostics: Vec::new(),
            telemetry: Telemetry {
                run_id: RunId::new("golden"),
                started_at: "2026-01-01T00:00:00Z".to_owned(),
                duration_ms: 1,
                cases: Vec::new(),
                objects: Vec::new(),
            },
        }
    }
}

fn program_report(program: &Program) -> ProgramReport {
    let artifacts = program
        .built
        .artifacts()
        .into_iter()
        .chain([&program.verified.report]);
    ProgramReport {
        application: program.application.clone(),
        coordinate: program.coordinate.clone(),
        build_key: program.build_key.clone(),
        artifacts: artifacts.cloned().collect(),
        verification: Some(VerificationReport {
            verifier: program.verifier.clone(),
            report: program.verified.report.identity.clone(),
            outcome: program.verified.outcome,
        }),
    }
}

#[test]
fn the_golden_run_has_the_semantics_of_the_golden_report() {
    let golden = GoldenRun::load();
    let report = golden.run_report();
    let semantic = run::semantic_json(&report.semantic);
    let wanted = golden.report.get("semantic").unwrap();
    assert_eq!(
        edict_codec::json::write_document(&semantic),
        edict_codec::json::write_document(&Json::from(wanted))
    );
    let wanted = digest(golden.report.get("semanticDigest").unwrap());
    assert_eq!(run::semantic_digest(&semantic).as_ref(), Some(&wanted));
    assert_eq!(run::digest_of_semantic(&report.semantic), Some(wanted));
    assert!(report.complete);
}

#[test]
fn every_check_of_the_golden_run_passes_or_does_not_apply() {
    let report = GoldenRun::load().run_report();
    assert_eq!(run::laws::check(&report), Ok(()));
    assert_eq!(report.evidence.cases.len(), 3);
    for case in &report.evidence.cases {
        assert!(
            case.checks
                .iter()
                .all(|check| check.result == CheckResult::Passed)
        );
        for operation in &case.operations {
            let failed = |check: &&run::Check| check.result == CheckResult::Failed;
            assert_eq!(operation.checks.iter().find(failed), None);
            assert_eq!(operation.checks.len(), 18);
        }
    }
}
