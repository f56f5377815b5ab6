// SPDX-License-Identifier: Apache-2.0
//! The evidence of a whole case against its plan: who failed first, if anybody did.

use super::{
    Binder, BoundOperation, CaseEvidence, ContextFacts, ExecutionStep, HostHello, Opening,
    OutcomeKind, storage_for,
};
use crate::diagnostic::{Child, Excerpt};
use crate::failure::{FailureKind, Stage};
use crate::ids::ContextNonce;
use crate::plan::CasePlan;
use edict_codec::digest::TypedDigest;

/// A case whose evidence was judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundCase {
    /// Those operations that got an outcome, in the order of the plan.
    pub operations: Vec<BoundOperation>,
    /// The first failure. Without one, either every operation of the plan has its terminal outcome,
    /// or the last one here is a setup operation that ended in an obstruction.
    pub failure: Option<BoundFailure>,
}

/// The first failure of execution or evidence, before F6 moves failures of setup to stage `setup`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundFailure {
    /// Where in the exchange.
    pub step: ExecutionStep,
    /// `host`, `admission`, `execute` or `evidence`.
    pub stage: Stage,
    /// The kind.
    pub kind: FailureKind,
    /// The check, for stage `evidence`.
    pub check: Option<&'static str>,
    /// The host's own kind of a refusal or fault.
    pub host_code: Option<String>,
    /// How the host process ended or stood.
    pub child: Option<Child>,
    /// What a digest should have been.
    pub expected: Option<TypedDigest>,
    /// What it was.
    pub actual: Option<TypedDigest>,
    /// Standard error of that process.
    pub excerpt: Option<Excerpt>,
    /// One sentence.
    pub message: String,
}

impl BoundFailure {
    fn evidence(step: ExecutionStep, kind: FailureKind, message: String) -> Self {
        Self {
            step,
            stage: stage_of(kind),
            kind,
            check: None,
            host_code: None,
            child: None,
            expected: None,
            actual: None,
            excerpt: None,
            message,
        }
    }
}

/// Judges what an execution port received for `plan` in the context `nonce`. A pure function: the
/// same evidence always gives the same answer.
pub fn bind_case(plan: &CasePlan, nonce: &ContextNonce, evidence: &CaseEvidence) -> BoundCase {
    let mut operations = Vec::new();
    let failure = match facts(plan, nonce, evidence) {
        Ok(Some(facts)) => bind_operations(plan, evidence, facts, &mut operations),
        Ok(None) => None,
        Err(failure) => Some(*failure),
    };
    // The port noted its failure after the last outcome, so a broken outcome came first in time.
    let failure = failure
        .or_else(|| evidence.failure.as_ref().map(port_failure))
        .or_else(|| missing(plan, evidence, &operations));
    BoundCase {
        operations,
        failure,
    }
}

/// The context as planned; `None` when none was opened.
fn facts(
    plan: &CasePlan,
    nonce: &ContextNonce,
    evidence: &CaseEvidence,
) -> Result<Option<ContextFacts>, Box<BoundFailure>> {
    let fail = |kind, message: String| {
        Err(Box::new(BoundFailure::evidence(
            ExecutionStep::Open,
            kind,
            message,
        )))
    };
    let Some(context) = &evidence.context else {
        return Ok(None);
    };
    let Some(host) = &evidence.host else {
        let message = "a context without a host".to_owned();
        return fail(FailureKind::EvidenceMissing, message);
    };
    let hello = match HostHello::decode(&host.hello.bytes) {
        Ok(hello) => hello,
        Err(error) => return fail(FailureKind::EvidenceMalformed, error.to_string()),
    };
    let opening = match Opening::decode(&context.opened.bytes) {
        Ok(opening) => opening,
        Err(error) => {
            let message = format!("the reply to open-context is malformed at {error}");
            return fail(FailureKind::EvidenceMalformed, message);
        }
    };
    let storage = storage_for(plan.operations.iter().map(|it| &*it.program.executable));
    if host.executable != plan.host.executable {
        let message = "another executable answered than is pinned".to_owned();
        return fail(FailureKind::HostBuildMismatch, message);
    }
    if context.nonce != *nonce
        || context.subject != plan.case
        || context.storage != storage
        || context.grants != plan_grants(plan)
    {
        let message = "the context was opened for another case".to_owned();
        return fail(FailureKind::ForeignContext, message);
    }
    if let Err((kind, message)) = opening.check_fresh(nonce, &plan.case, storage) {
        return fail(kind, message);
    }
    Ok(Some(ContextFacts {
        nonce: *nonce,
        subject: plan.case.clone(),
        storage,
        hello,
        opening,
        log: None,
    }))
}

/// The installations of a plan, ascending and each once: the grants of its context (P15).
pub fn plan_grants(plan: &CasePlan) -> Vec<TypedDigest> {
    let mut grants: Vec<TypedDigest> = plan
        .operations
        .iter()
        .map(|operation| operation.program.executable.installation.clone())
        .collect();
    grants.sort();
    grants.dedup();
    grants
}

fn bind_operations(
    plan: &CasePlan,
    evidence: &CaseEvidence,
    facts: ContextFacts,
    operations: &mut Vec<BoundOperation>,
) -> Option<BoundFailure> {
    let mut binder = Binder::new(facts);
    for (position, received) in evidence.operations.iter().enumerate() {
        let step = ExecutionStep::Invoke(position);
        let Some(planned) = plan.operations.get(position) else {
            let message = "more outcomes than operations".to_owned();
            return Some(BoundFailure::evidence(
                step,
                FailureKind::OutcomeUnknown,
                message,
            ));
        };
        let bound = binder.bind(&planned.program.executable, &planned.input, received);
        let failure = bound.failure.clone();
        operations.push(bound);
        if let Some(failure) = failure {
            return Some(BoundFailure {
                step,
                stage: stage_of(failure.kind),
                kind: failure.kind,
                check: Some(failure.check),
                host_code: None,
                child: None,
                expected: failure.expected,
                actual: failure.actual,
                excerpt: None,
                message: failure.message,
            });
        }
    }
    None
}

fn port_failure(failure: &super::ExecutionFailure) -> BoundFailure {
    BoundFailure {
        step: failure.step,
        stage: stage_of(failure.kind),
        kind: failure.kind,
        check: None,
        host_code: failure.host_code.clone(),
        child: failure.child.clone(),
        expected: None,
        actual: None,
        excerpt: failure.excerpt.clone(),
        message: failure.message.clone(),
    }
}

/// Outcomes that the plan asks for and nobody explains (F9).
fn missing(
    plan: &CasePlan,
    evidence: &CaseEvidence,
    operations: &[BoundOperation],
) -> Option<BoundFailure> {
    let obstructed = evidence
        .operations
        .last()
        .is_some_and(|last| last.frame.kind == OutcomeKind::Obstruction);
    if operations.len() == plan.operations.len() || obstructed {
        return None;
    }
    let step = ExecutionStep::Invoke(operations.len());
    let message = "there is no evidence of this operation".to_owned();
    Some(BoundFailure::evidence(
        step,
        FailureKind::EvidenceMissing,
        message,
    ))
}

/// The stage of a kind that an execution can end in (section 4).
pub(crate) fn stage_of(kind: FailureKind) -> Stage {
    match kind {
        FailureKind::InputRefused
        | FailureKind::InstallRefused
        | FailureKind::InvocationRefused
        | FailureKind::ContextRefused => Stage::Admission,
        FailureKind::WallTimeout
        | FailureKind::OutcomeMissing
        | FailureKind::OutcomeDuplicate
        | FailureKind::OutcomeUnknown
        | FailureKind::OutcomeLate
        | FailureKind::OutcomeReordered => Stage::Execute,
        FailureKind::HostSpawnFailed
        | FailureKind::HandshakeFailed
        | FailureKind::HostLost
        | FailureKind::HostProtocol
        | FailureKind::FrameMalformed
        | FailureKind::FrameTruncated
        | FailureKind::FrameTooLarge
        | FailureKind::HostFault => Stage::Host,
        FailureKind::Interrupted => Stage::Interrupt,
        FailureKind::CleanupIncomplete => Stage::Cleanup,
        FailureKind::ArtifactBytesExceeded => Stage::Report,
        FailureKind::InternalError => Stage::Internal,
        _ => Stage::Evidence,
    }
}
