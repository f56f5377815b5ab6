// SPDX-License-Identifier: Apache-2.0
//! V2's pins, V3, V5, V6 and V7: what ran, on which input, under which budget.

use super::super::checks::{Fault, ensure, same};
use super::super::{ExecutionRecord, InvokeRequest, OperationEvidence, Program, Receipt};
use crate::built::Body;
use crate::failure::FailureKind;
use crate::package::Malformed;

/// V2: interpreter and cost law as pinned.
pub(super) fn pins(program: &Program, record: &ExecutionRecord) -> Result<(), Box<Fault>> {
    ensure(
        record.interpreter == program.package.interpreter
            && record.cost_law == program.package.cost_law,
        FailureKind::EvidenceVersionUnsupported,
        "the record names another interpreter or cost law",
    )
}

/// V3.
pub(super) fn semantic_digest(
    record: &ExecutionRecord,
    receipt: &Receipt,
) -> Result<(), Box<Fault>> {
    same(
        "the execution of the receipt",
        &record.semantic,
        &receipt.execution,
        FailureKind::SemanticDigestMismatch,
    )
}

/// V5: package and report are the runner's own files, and the report accepts that package.
pub(super) fn files(program: &Program, record: &ExecutionRecord) -> Result<(), Box<Fault>> {
    let kind = FailureKind::SubjectMismatch;
    let (package, report) = (&program.package, &program.report);
    same(
        "the package of the record",
        &package.digest,
        &record.package,
        kind,
    )?;
    same(
        "the report of the record",
        &report.digest,
        &record.report,
        kind,
    )?;
    ensure(
        report.accepted,
        kind,
        "the report does not accept the package",
    )?;
    same(
        "the package of the report",
        &package.digest,
        &report.package,
        kind,
    )
}

/// V6.
pub(super) fn installation(
    program: &Program,
    record: &ExecutionRecord,
    request: Result<&InvokeRequest, &Malformed>,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::SubjectMismatch;
    let expected = &program.installation;
    same(
        "the installation of the record",
        expected,
        &record.installation,
        kind,
    )?;
    if let Ok(request) = request {
        same(
            "the installation sent",
            expected,
            &request.installation,
            kind,
        )?;
    }
    ensure(
        record.operation == program.package.operation,
        kind,
        "the record names another operation",
    )
}

/// V7.
pub(super) fn input_and_budget(
    program: &Program,
    input: &Body,
    operation: &OperationEvidence,
    record: &ExecutionRecord,
    request: Result<&InvokeRequest, &Malformed>,
) -> Result<(), Box<Fault>> {
    let kind = FailureKind::InputMismatch;
    let expected = super::super::input_digest(&input.bytes);
    same("the input of the record", &expected, &record.input, kind)?;
    ensure(
        operation.input.bytes == input.bytes,
        kind,
        "another input was sent than planned",
    )?;
    if let Ok(request) = request {
        ensure(
            *request.input == *input.bytes,
            kind,
            "the request carries another input than planned",
        )?;
        ensure(
            request.budget.is_none(),
            FailureKind::BudgetMismatch,
            "the request lowers the declared budget",
        )?;
    }
    let kind = FailureKind::BudgetMismatch;
    ensure(
        record.budget == program.package.budget,
        kind,
        "the record has another budget than the package declares",
    )?;
    ensure(
        record.consumed.within_budget(record.budget),
        kind,
        "more was consumed than the budget allows",
    )?;
    ensure(record.consumed.steps >= 1, kind, "no step was consumed")
}
