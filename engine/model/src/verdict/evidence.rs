// SPDX-License-Identifier: Apache-2.0
//! The evidence of a case as the report tells it.

use crate::{
    binding,
    evidence::{BoundCase, CaseEvidence},
    ids::{CaseIndex, ProgramIndex},
    plan::{CasePlan, Program},
    run::{CaseEvidenceReport, ContextReport, HostReport, OperationReport},
};

/// The evidence entry of a case that opened a context; `None` when none was opened. `hosts` are the
/// processes of the run, `position` gives the place of a program in the report.
pub fn evidence_report(
    index: CaseIndex,
    hosts: &[HostReport],
    plan: &CasePlan,
    evidence: &CaseEvidence,
    bound: &BoundCase,
    position: &dyn Fn(&Program) -> ProgramIndex,
) -> Option<CaseEvidenceReport> {
    let (host, context) = (evidence.host.as_ref()?, evidence.context.as_ref()?);
    let worldline =
        crate::evidence::worldline(context.nonce.bytes(), &context.subject, context.storage);
    let operations = plan
        .operations
        .iter()
        .zip(&evidence.operations)
        .zip(&bound.operations)
        .map(|((planned, received), bound)| OperationReport {
            role: planned.role,
            program: position(&planned.program),
            installation: planned.program.executable.installation.clone(),
            invocation: received.invocation,
            ordinal: bound.ordinal,
            request: received.request.clone(),
            input: received.input.clone(),
            record: received.record.clone(),
            receipt: received.receipt.clone(),
            result: received.body.clone(),
            footprint: received.footprint.clone(),
            patch: received.patch.clone(),
            settlement: bound.settlement.clone(),
            checks: bound.checks.clone(),
        });
    Some(CaseEvidenceReport {
        index,
        host: hosts.iter().position(|it| it == host)?,
        context: ContextReport {
            nonce: context.nonce,
            worldline,
            storage: context.storage,
            grants: context.grants.clone(),
        },
        operations: operations.collect(),
        checks: binding::case_checks(plan),
    })
}
