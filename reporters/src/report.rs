// SPDX-License-Identifier: Apache-2.0
//! The machine report `edict.test.run/v1` as a document (section 5, M1).

mod evidence;

pub use evidence::case_evidence;

use crate::json_parts::digest;
use edict_codec::json::{Json, write_document};
use edict_test_model::{
    built::Body,
    run::{CaseTelemetry, ExecutionOutcome, RunReport, Telemetry, semantic_digest, semantic_json},
};
use std::collections::BTreeMap;

/// The whole report as text. `diagnostics` are the records as they were written.
pub fn write(report: &RunReport, diagnostics: &[Json]) -> String {
    write_document(&document(report, diagnostics))
}

/// The whole report as a tree, members in table order.
pub fn document(report: &RunReport, diagnostics: &[Json]) -> Json {
    let semantic = semantic_json(&report.semantic);
    Json::object([
        ("schema", Json::text("edict.test.run/v1")),
        ("complete", Json::Bool(report.complete)),
        (
            "semanticDigest",
            Json::optional(semantic_digest(&semantic).as_ref(), digest),
        ),
        ("semantic", semantic),
        (
            "evidence",
            evidence::evidence(&report.evidence, &bodies(report)),
        ),
        ("diagnostics", Json::Array(diagnostics.to_vec())),
        ("telemetry", telemetry(&report.telemetry)),
    ])
}

/// Every body that the report names, once, ascending by digest (M3).
pub fn bodies(report: &RunReport) -> BTreeMap<[u8; 32], Body> {
    let mut bodies = BTreeMap::new();
    let mut add = |body: &Body| {
        bodies.insert(*body.blob.bytes(), body.clone());
    };
    for program in &report.semantic.programs {
        program
            .artifacts
            .iter()
            .for_each(|artifact| add(&artifact.body));
    }
    for case in &report.semantic.cases {
        if let Some(execution) = &case.execution {
            match &execution.outcome {
                ExecutionOutcome::Result(body) => add(body),
                ExecutionOutcome::Obstruction { payload, .. } => add(payload),
            }
        }
    }
    for host in &report.evidence.hosts {
        add(&host.hello);
    }
    for case in &report.evidence.cases {
        for operation in &case.operations {
            evidence::operation_bodies(operation)
                .into_iter()
                .for_each(&mut add);
        }
    }
    bodies
}

fn telemetry(telemetry: &Telemetry) -> Json {
    let mut members = vec![
        ("runId".to_owned(), Json::text(telemetry.run_id.as_str())),
        ("startedAt".to_owned(), Json::text(&telemetry.started_at)),
        (
            "durationMs".to_owned(),
            Json::unsigned(telemetry.duration_ms),
        ),
        (
            "cases".to_owned(),
            Json::Array(telemetry.cases.iter().map(case_telemetry).collect()),
        ),
    ];
    members.extend(telemetry.objects.iter().cloned());
    Json::object(members)
}

fn case_telemetry(case: &CaseTelemetry) -> Json {
    let mut members = vec![("index".to_owned(), Json::unsigned(case.index.number()))];
    for (phase, duration) in &case.phases {
        members.push((phase.clone(), Json::unsigned(*duration)));
    }
    members.push(("buildDecision".to_owned(), Json::text(case.build.name())));
    members.push(("verifyDecision".to_owned(), Json::text(case.verify.name())));
    Json::object(members)
}
