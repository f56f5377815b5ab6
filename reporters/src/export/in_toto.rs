// SPDX-License-Identifier: Apache-2.0
//! An in-toto statement of type test result about the packages that were executed.

use super::{Standing, suite_id};
use edict_codec::{
    digest::{TypedDigest, sha256},
    hex,
    json::{Json, write_document},
};
use edict_test_model::{
    built::ArtifactRole,
    report::ReadReport,
    run::{Class, ProgramReport},
};

/// The statement as a JSON document.
pub(super) fn in_toto(report: &ReadReport) -> String {
    let semantic = &report.semantic;
    let outcome = &semantic.summary.outcome;
    let passed = report.complete && outcome.class == Class::Passed;
    let named = |wanted: &[Standing]| {
        let cases = semantic.cases.iter();
        let ids = cases.filter(|case| wanted.contains(&Standing::of(case)));
        Json::Array(ids.map(|case| Json::text(case.id.as_str())).collect())
    };
    let predicate = Json::object([
        (
            "result",
            Json::text(if passed { "PASSED" } else { "FAILED" }),
        ),
        ("configuration", configuration(report)),
        ("passedTests", named(&[Standing::Passed])),
        ("warnedTests", named(&[Standing::Skipped])),
        (
            "failedTests",
            named(&[Standing::Failed, Standing::Errored, Standing::NotRun]),
        ),
    ]);
    write_document(&Json::object([
        ("_type", Json::text("https://in-toto.io/Statement/v1")),
        (
            "subject",
            Json::Array(semantic.programs.iter().filter_map(subject).collect()),
        ),
        (
            "predicateType",
            Json::text("https://in-toto.io/attestation/test-result/v0.1"),
        ),
        ("predicate", predicate),
    ]))
}

/// A package by the plain SHA-256 of its bytes, which any tool can compute.
fn subject(program: &ProgramReport) -> Option<Json> {
    let package = program
        .artifacts
        .iter()
        .find(|artifact| artifact.role == ArtifactRole::Package)?;
    let digest = hex::encode(&sha256(&package.body.bytes));
    Some(Json::object([
        ("name", Json::text(program.coordinate.as_str())),
        ("digest", Json::object([("sha256", Json::text(digest))])),
    ]))
}

/// Suite, lock, producers and this run, each under the domain of its digest.
fn configuration(report: &ReadReport) -> Json {
    let mut rows = vec![descriptor(
        &format!("run of {}", suite_id(report)),
        &report.semantic_digest,
    )];
    if let Some(suite) = &report.semantic.suite {
        for (name, digest) in [
            ("suite", suite.identity.as_ref()),
            ("manifest", Some(&suite.manifest)),
            ("lock", suite.lock.as_ref()),
        ] {
            rows.extend(digest.map(|digest| descriptor(name, digest)));
        }
    }
    for producer in &report.semantic.producers {
        rows.push(descriptor(producer.role.name(), &producer.identity));
    }
    Json::Array(rows)
}

fn descriptor(name: &str, digest: &TypedDigest) -> Json {
    let algorithm = format!("{}:{}", digest.algorithm().name(), digest.domain());
    Json::object([
        ("name", Json::text(name)),
        (
            "digest",
            Json::object([(algorithm, Json::text(digest.hex()))]),
        ),
    ])
}
