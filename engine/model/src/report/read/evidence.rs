// SPDX-License-Identifier: Apache-2.0
//! `evidence` but its list of bodies: hosts, contexts, operations and their checks.

use super::{
    Bodies,
    case::{identity, index},
};
use crate::{
    evidence::CHECK_NAMES,
    failure::FailureKind,
    ids::{ContextNonce, ProgramIndex},
    plan::OperationRole,
    report::fields::{blake3, bytes_32, closed, decimal, list, optional, position},
    run::{
        CaseEvidenceReport, Check, CheckResult, ContextReport, EvidenceReport, HostReport,
        OperationReport, SettlementReport, StateReport, StorageKind, WalReport,
    },
    suite::{
        decode::{At, DocumentError, Object},
        lock::EXECUTABLE,
    },
};

/// Names of the checks of a case, in order.
const CASE_CHECKS: [&str; 4] = ["closure", "producers", "artifacts", "verification"];

/// The member `evidence`.
pub(super) fn evidence(
    at: &At<'_>,
    bodies: &mut Bodies<'_>,
) -> Result<EvidenceReport, DocumentError> {
    let object = at.object()?;
    let mut hosts = list(&object.required("hosts")?, |at| {
        let object = closed(at, &["executable", "hello"])?;
        Ok(HostReport {
            executable: identity(&object, "executable", EXECUTABLE)?,
            hello: bodies.body(&object.required("hello")?)?,
            process: 0,
        })
    })?;
    for (host, process) in hosts.iter_mut().zip(0..) {
        host.process = process;
    }
    Ok(EvidenceReport {
        hosts,
        cases: list(&object.required("cases")?, |at| case(at, bodies))?,
    })
}

fn case(at: &At<'_>, bodies: &mut Bodies<'_>) -> Result<CaseEvidenceReport, DocumentError> {
    let object = closed(at, &["index", "host", "context", "operations", "checks"])?;
    Ok(CaseEvidenceReport {
        index: index(&object.required("index")?)?,
        host: position(&object.required("host")?)?,
        context: context(&object.required("context")?)?,
        operations: list(&object.required("operations")?, |at| operation(at, bodies))?,
        checks: checks(&object.required("checks")?, &CASE_CHECKS)?,
    })
}

fn context(at: &At<'_>) -> Result<ContextReport, DocumentError> {
    let object = closed(at, &["nonce", "worldline", "storage", "grants"])?;
    Ok(ContextReport {
        nonce: ContextNonce::new(bytes_32(&object.required("nonce")?)?),
        worldline: identity(&object, "worldline", "echo/worldline/v1")?,
        storage: object.required("storage")?.variant(|name| match name {
            "volatile" => Some(StorageKind::Volatile),
            "durable" => Some(StorageKind::Durable),
            _ => None,
        })?,
        grants: list(&object.required("grants")?, |at| {
            blake3(at, "echo/installation/v1")
        })?,
    })
}

fn operation(at: &At<'_>, bodies: &mut Bodies<'_>) -> Result<OperationReport, DocumentError> {
    let object = closed(
        at,
        &[
            "role",
            "setupIndex",
            "program",
            "installation",
            "invocation",
            "ordinal",
            "request",
            "input",
            "record",
            "receipt",
            "result",
            "footprint",
            "patch",
            "settlement",
            "checks",
        ],
    )?;
    let mut body = |name| bodies.body(&object.required(name)?);
    let (request, input) = (body("request")?, body("input")?);
    let (record, receipt, result) = (body("record")?, body("receipt")?, body("result")?);
    let mut body_or_null = |name| optional(object.required(name)?, |at| bodies.body(at));
    let (footprint, patch) = (body_or_null("footprint")?, body_or_null("patch")?);
    Ok(OperationReport {
        role: role(&object)?,
        program: ProgramIndex(position(&object.required("program")?)?),
        installation: identity(&object, "installation", "echo/installation/v1")?,
        invocation: bytes_32(&object.required("invocation")?)?,
        ordinal: decimal(&object.required("ordinal")?)?,
        request,
        input,
        record,
        receipt,
        result,
        footprint,
        patch,
        settlement: optional(object.required("settlement")?, settlement)?,
        checks: checks(&object.required("checks")?, &CHECK_NAMES)?,
    })
}

fn role(object: &Object<'_>) -> Result<OperationRole, DocumentError> {
    let role = object.required("role")?;
    let index = optional(object.required("setupIndex")?, position)?;
    match (role.text()?, index) {
        ("case", None) => Ok(OperationRole::Case),
        ("setup", Some(index)) => match u32::try_from(index) {
            Ok(index) => Ok(OperationRole::Setup(index)),
            Err(_) => role.fail(FailureKind::ValueOutOfRange, "no setup entry"),
        },
        _ => role.fail(
            FailureKind::UnknownVariant,
            "`setup` with a `setupIndex`, or `case` with null, is needed here",
        ),
    }
}

fn settlement(at: &At<'_>) -> Result<SettlementReport, DocumentError> {
    let object = closed(
        at,
        &["posture", "before", "after", "declaredFootprint", "wal"],
    )?;
    let posture = object.required("posture")?.variant(|name| {
        ["settled", "unchanged"]
            .into_iter()
            .find(|posture| *posture == name)
    })?;
    Ok(SettlementReport {
        posture: posture.to_owned(),
        before: state(&object.required("before")?)?,
        after: state(&object.required("after")?)?,
        declared_footprint: identity(&object, "declaredFootprint", "echo/footprint-declared/v1")?,
        wal: wal(&object.required("wal")?)?,
    })
}

fn state(at: &At<'_>) -> Result<StateReport, DocumentError> {
    let object = closed(at, &["tick", "stateRoot"])?;
    Ok(StateReport {
        tick: decimal(&object.required("tick")?)?,
        state_root: identity(&object, "stateRoot", "echo/state-root/v1")?,
    })
}

fn wal(at: &At<'_>) -> Result<WalReport, DocumentError> {
    let object = closed(at, &["epoch", "firstLsn", "lastLsn", "commit"])?;
    let number = |name| decimal(&object.required(name)?);
    Ok(WalReport {
        epoch: number("epoch")?,
        first_lsn: number("firstLsn")?,
        last_lsn: number("lastLsn")?,
        commit: identity(&object, "commit", "echo/wal-record/v1")?,
    })
}

/// The checks of exactly these names in this order.
fn checks(at: &At<'_>, names: &[&'static str]) -> Result<Vec<Check>, DocumentError> {
    let items = at.items()?;
    if items.len() != names.len() {
        let message = format!("exactly {} checks are needed here", names.len());
        return at.fail(FailureKind::ValueOutOfRange, message);
    }
    items
        .iter()
        .zip(names)
        .map(|(at, name)| {
            let object = closed(at, &["name", "result"])?;
            object
                .required("name")?
                .exactly(name, FailureKind::ValueOutOfRange)?;
            let result = object.required("result")?.variant(|name| {
                [
                    CheckResult::Passed,
                    CheckResult::Failed,
                    CheckResult::NotApplicable,
                ]
                .into_iter()
                .find(|result| result.name() == name)
            })?;
            Ok(Check { name, result })
        })
        .collect()
}
