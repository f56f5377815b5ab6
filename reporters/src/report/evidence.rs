// SPDX-License-Identifier: Apache-2.0
//! `evidence` of the report: hosts, contexts, operations, checks and the list of bodies.

use crate::json_parts::{body, decimal, digest};
use edict_codec::{hex, json::Json};
use edict_test_model::{
    built::Body,
    run::{
        CaseEvidenceReport, Check, ContextReport, EvidenceReport, HostReport, OperationReport,
        SettlementReport, StateReport, WalReport,
    },
};
use std::collections::BTreeMap;

/// The member `evidence`.
pub(super) fn evidence(evidence: &EvidenceReport, bodies: &BTreeMap<[u8; 32], Body>) -> Json {
    Json::object([
        (
            "hosts",
            Json::Array(evidence.hosts.iter().map(host).collect()),
        ),
        (
            "cases",
            Json::Array(evidence.cases.iter().map(case_evidence).collect()),
        ),
        (
            "bodies",
            Json::Array(bodies.values().map(body_entry).collect()),
        ),
    ])
}

/// One entry of `evidence.cases`, also for the journal.
pub fn case_evidence(case: &CaseEvidenceReport) -> Json {
    Json::object([
        ("index", Json::unsigned(case.index.number())),
        ("host", Json::unsigned(case.host as u64)),
        ("context", context(&case.context)),
        (
            "operations",
            Json::Array(case.operations.iter().map(operation).collect()),
        ),
        ("checks", checks(&case.checks)),
    ])
}

/// The bodies that one operation names.
pub(super) fn operation_bodies(operation: &OperationReport) -> Vec<&Body> {
    [
        Some(&operation.request),
        Some(&operation.input),
        Some(&operation.record),
        Some(&operation.receipt),
        Some(&operation.result),
        operation.footprint.as_ref(),
        operation.patch.as_ref(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn host(host: &HostReport) -> Json {
    Json::object([
        ("executable", digest(&host.executable)),
        ("hello", body(&host.hello)),
    ])
}

fn context(context: &ContextReport) -> Json {
    Json::object([
        ("nonce", Json::text(context.nonce.hex())),
        ("worldline", digest(&context.worldline)),
        ("storage", Json::text(context.storage.name())),
        (
            "grants",
            Json::Array(context.grants.iter().map(digest).collect()),
        ),
    ])
}

fn operation(operation: &OperationReport) -> Json {
    let index = operation.role.setup_index();
    Json::object([
        ("role", Json::text(operation.role.name())),
        (
            "setupIndex",
            Json::optional(index, |index| Json::unsigned(index.into())),
        ),
        ("program", Json::unsigned(operation.program.0 as u64)),
        ("installation", digest(&operation.installation)),
        ("invocation", Json::text(hex::encode(&operation.invocation))),
        ("ordinal", decimal(operation.ordinal)),
        ("request", body(&operation.request)),
        ("input", body(&operation.input)),
        ("record", body(&operation.record)),
        ("receipt", body(&operation.receipt)),
        ("result", body(&operation.result)),
        (
            "footprint",
            Json::optional(operation.footprint.as_ref(), body),
        ),
        ("patch", Json::optional(operation.patch.as_ref(), body)),
        (
            "settlement",
            Json::optional(operation.settlement.as_ref(), settlement),
        ),
        ("checks", checks(&operation.checks)),
    ])
}

fn settlement(settlement: &SettlementReport) -> Json {
    Json::object([
        ("posture", Json::text(&settlement.posture)),
        ("before", state(&settlement.before)),
        ("after", state(&settlement.after)),
        ("declaredFootprint", digest(&settlement.declared_footprint)),
        ("wal", wal(&settlement.wal)),
    ])
}

fn state(state: &StateReport) -> Json {
    Json::object([
        ("tick", decimal(state.tick)),
        ("stateRoot", digest(&state.state_root)),
    ])
}

fn wal(wal: &WalReport) -> Json {
    Json::object([
        ("epoch", decimal(wal.epoch)),
        ("firstLsn", decimal(wal.first_lsn)),
        ("lastLsn", decimal(wal.last_lsn)),
        ("commit", digest(&wal.commit)),
    ])
}

fn checks(checks: &[Check]) -> Json {
    let entry = |check: &Check| {
        Json::object([
            ("name", Json::text(check.name)),
            ("result", Json::text(check.result.name())),
        ])
    };
    Json::Array(checks.iter().map(entry).collect())
}

fn body_entry(body: &Body) -> Json {
    let name = body.blob.hex();
    let (directory, rest) = name.split_at_checked(2).unwrap_or((&name, ""));
    Json::object([
        ("blob", digest(&body.blob)),
        ("byteLength", Json::unsigned(body.byte_length())),
        ("path", Json::text(format!("blake3/{directory}/{rest}"))),
    ])
}
