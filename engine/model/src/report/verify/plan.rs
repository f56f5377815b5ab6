// SPDX-License-Identifier: Apache-2.0
//! The plan that a case was held to, rebuilt from the report, and the exchange with the host that
//! its bodies tell of.

use super::programs::Programs;
use crate::{
    built::Body,
    evidence::{
        CaseEvidence, ContextEvidence, ExecutionRecord, HostHello, LogReplica, Opening,
        OperationEvidence, OutcomeFrame, OutcomeKind, plan_grants, storage_for,
    },
    failure::FailureKind,
    ids::Coordinate,
    plan::{CasePlan, Expectation, HostPins, Operation, OperationRole},
    report::{ReadReport, SuiteContent, identity},
    run::{CaseEvidenceReport, CaseReport, OperationReport, SetupReport, StorageKind},
    suite::{
        Role,
        identity::{ExpectationSubject, FixtureUse, fixture_of},
    },
};
use edict_codec::cbor::{Value, encode};

/// A coordinate that no program can raise.
const NEVER: &str = "edict.test.never@1";

/// The plan of `case`.
///
/// # Errors
/// What of it is unknown or does not hold.
pub(super) fn plan(
    report: &ReadReport,
    suite: Option<&SuiteContent>,
    programs: &Programs,
    case: &CaseReport,
    entry: &CaseEvidenceReport,
) -> Result<CasePlan, String> {
    let known = |name: &str| format!("the {name} of the case is unknown");
    let own = SetupReport {
        application: case.application.clone(),
        input: case.input.clone(),
        program: case.program,
        outcome: None,
    };
    let mut operations = Vec::new();
    for (position, entry_report) in case.setup.iter().chain([&own]).enumerate() {
        let program = entry_report
            .program
            .and_then(|index| programs.get(index.0)?.clone())
            .ok_or("a program of the case could not be bound")?;
        let fixture = entry_report.input.clone().ok_or_else(|| known("input"))?;
        let role = match u32::try_from(position) {
            Ok(index) if position < case.setup.len() => OperationRole::Setup(index),
            _ => OperationRole::Case,
        };
        operations.push(Operation {
            role,
            program,
            input: input(&fixture, entry.operations.get(position))?,
            fixture,
        });
    }
    let expectation_identity = case
        .expectation
        .clone()
        .ok_or_else(|| known("expectation"))?;
    let content = suite.and_then(|suite| suite.cases.get(case.index.0));
    let expectation = match content {
        Some(content) => content.expectation.clone(),
        None => expectation(case, entry),
    };
    Ok(CasePlan {
        id: case.id.clone(),
        case: case.case.clone().ok_or_else(|| known("identity"))?,
        operations,
        expectation_identity,
        expectation,
        limits: report.semantic.limits.unwrap_or_default(),
        host: pins(report).ok_or("the producers are unknown")?,
    })
}

/// The input that was sent, which must be the fixture; an operation that was not reached sent none.
fn input(
    fixture: &edict_codec::digest::TypedDigest,
    operation: Option<&OperationReport>,
) -> Result<Body, String> {
    let Some(operation) = operation else {
        return Ok(Body::new(Vec::new()));
    };
    if fixture_of(FixtureUse::Input, &operation.input.bytes) == *fixture {
        Ok(operation.input.clone())
    } else {
        Err("the input that was sent is not the fixture of the plan".to_owned())
    }
}

/// What the case expected, as far as its identity tells: a case result, or the obstruction that
/// came. Another obstruction is known only to differ in what the verdict says.
fn expectation(case: &CaseReport, entry: &CaseEvidenceReport) -> Expectation {
    if case.expectation == Some(ExpectationSubject::CaseResult.identity()) {
        return Expectation::CaseResult;
    }
    let own = entry
        .operations
        .iter()
        .find(|operation| operation.role == OperationRole::Case);
    let record = own.and_then(|it| ExecutionRecord::decode(&it.record.bytes).ok());
    let raised = record.and_then(|it| it.obstruction);
    let coordinate = raised.and_then(|it| Coordinate::parse(&it.coordinate).ok());
    let kind = case.ending.as_ref().map(|ending| ending.kind);
    if let (Some(operation), Some(coordinate)) = (own, coordinate) {
        let fixture = fixture_of(FixtureUse::Payload, &operation.result.bytes);
        let same = identity::obstruction(coordinate.as_str(), &fixture);
        if Some(same) == case.expectation {
            return Expectation::Obstruction {
                coordinate,
                fixture,
                payload: operation.result.clone(),
            };
        }
        if kind == Some(FailureKind::ObstructionPayloadMismatch) {
            return other(coordinate);
        }
    }
    Coordinate::parse(NEVER).map_or(Expectation::CaseResult, other)
}

/// An expected obstruction whose payload is unknown: no bytes, which are no value.
fn other(coordinate: Coordinate) -> Expectation {
    Expectation::Obstruction {
        coordinate,
        fixture: fixture_of(FixtureUse::Payload, &[]),
        payload: Body::new(Vec::new()),
    }
}

fn pins(report: &ReadReport) -> Option<HostPins> {
    let producer = |role| identity::producer(&report.semantic, role);
    let interpreter = producer(Role::InterpreterProfile)?;
    Some(HostPins {
        executable: producer(Role::Host)?.identity.clone(),
        interpreter: interpreter.coordinate.clone()?,
        interpreter_identity: interpreter.identity.clone(),
        target_profile: producer(Role::TargetProfile)?.identity.clone(),
        transport: producer(Role::TransportAbi)?.identity.clone(),
    })
}

/// The opening of the context as it must have been: fresh, with the worldline that is stated.
pub(super) fn opening(
    plan: &CasePlan,
    entry: &CaseEvidenceReport,
    hello: &HostHello,
) -> (StorageKind, Option<LogReplica>, Opening) {
    let storage = storage_for(plan.operations.iter().map(|it| &*it.program.executable));
    let nonce = &entry.context.nonce;
    let log = LogReplica::genesis(nonce, &plan.case, &hello.build);
    let mut opening = log.opening(entry.context.worldline.clone());
    let durable = storage == StorageKind::Durable;
    if !durable {
        opening.wal = None;
    }
    (storage, durable.then_some(log), opening)
}

/// What the host answered, as far as bodies tell: a frame repeats what they say.
pub(super) fn exchange(
    report: &ReadReport,
    plan: &CasePlan,
    entry: &CaseEvidenceReport,
    opening: &Opening,
    storage: StorageKind,
) -> CaseEvidence {
    CaseEvidence {
        host: report.evidence.hosts.get(entry.host).cloned(),
        context: Some(ContextEvidence {
            nonce: entry.context.nonce,
            subject: plan.case.clone(),
            storage,
            grants: plan_grants(plan),
            opened: Body::new(opened(opening)),
        }),
        operations: entry
            .operations
            .iter()
            .map(|operation| received(operation, opening))
            .collect(),
        failure: None,
    }
}

fn opened(opening: &Opening) -> Vec<u8> {
    let wal = opening.wal.as_ref().map_or(Value::Null, |wal| {
        Value::text_map([
            ("epoch", Value::unsigned(wal.epoch)),
            ("lastLsn", Value::unsigned(wal.last_lsn)),
            ("commit", wal.commit.to_value()),
        ])
    });
    encode(&Value::text_map([
        ("worldline", opening.worldline.to_value()),
        ("basis", opening.basis.to_value()),
        ("decided", Value::unsigned(opening.decided)),
        ("lastReceipt", Value::Null),
        ("wal", wal),
        ("recovery", Value::Null),
    ]))
}

fn received(operation: &OperationReport, opening: &Opening) -> OperationEvidence {
    let record = ExecutionRecord::decode(&operation.record.bytes);
    OperationEvidence {
        invocation: operation.invocation,
        request: operation.request.clone(),
        input: operation.input.clone(),
        frame: OutcomeFrame {
            worldline: opening.worldline.clone(),
            invocation: operation.invocation,
            kind: record.map_or(OutcomeKind::Result, |record| record.outcome_kind()),
            recalled: false,
        },
        record: operation.record.clone(),
        receipt: operation.receipt.clone(),
        body: operation.result.clone(),
        footprint: operation.footprint.clone(),
        patch: operation.patch.clone(),
    }
}
