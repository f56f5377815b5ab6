// SPDX-License-Identifier: Apache-2.0
//! One case in one context: install, open, invoke in order, close.

use crate::ahead::{self, Ahead};
use crate::client::{Answer, Client, Reply, Trouble};
use crate::frame::{Direction, FrameKind};
use crate::ledger::Ledger;
use crate::message::{self, Refusal};
use edict_codec::cbor::Value;
use edict_codec::digest::TypedDigest;
use edict_test_model::built::Body;
use edict_test_model::evidence::{
    Binder, CaseEvidence, ContextEvidence, ContextFacts, ExecutionStep, HostHello, InvokeRequest,
    Opening, OutcomeKind, Program, invocation_id, plan_grants, storage_for,
};
use edict_test_model::plan::{CasePlan, Operation, OperationRole};
use edict_test_model::run::HostReport;
use edict_test_model::{ContextNonce, FailureKind};
use std::collections::BTreeMap;

/// Installations of one process at most, and the bytes of their packages and reports.
const MAX_INSTALLATIONS: usize = 512;
const MAX_PACKAGE_BYTES: u64 = 67_108_864;

/// A living host whose `hello` was accepted.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) client: Client,
    pub(crate) hello: HostHello,
    pub(crate) report: HostReport,
    /// Installed programs and the bytes of their files.
    pub(crate) installed: BTreeMap<TypedDigest, u64>,
    /// An installation for the next case whose answer is due.
    pub(crate) ahead: Option<Ahead>,
    /// Whether a case was already run in it.
    pub(crate) served: bool,
}

/// Why a case went no further.
#[derive(Debug)]
pub(crate) struct Stop {
    /// Where.
    pub(crate) step: ExecutionStep,
    /// What happened; none when an outcome does not bind, which is the evidence's to tell.
    pub(crate) trouble: Option<Trouble>,
}

impl Stop {
    pub(crate) fn at(step: ExecutionStep) -> impl Fn(Trouble) -> Self {
        move |trouble| Self {
            step,
            trouble: Some(trouble),
        }
    }
}

/// The invocation ids of a plan in the context `nonce`.
pub(crate) fn invocations(plan: &CasePlan, nonce: &ContextNonce) -> Vec<[u8; 32]> {
    (0u64..)
        .zip(&plan.operations)
        .map(|(position, _)| invocation_id(nonce.bytes(), position))
        .collect()
}

/// Runs a whole case and fills `evidence`. An input that the host refuses leaves the context in
/// order, so it is closed and the host lives on; `Ok` then carries the refusal.
pub(crate) fn run(
    session: &mut Session,
    ledger: &mut Ledger,
    plan: &CasePlan,
    nonce: &ContextNonce,
    evidence: &mut CaseEvidence,
) -> Result<Option<(ExecutionStep, Trouble)>, Stop> {
    install_all(session, ledger, plan)?;
    let mut binder = open(session, ledger, plan, nonce, evidence)?;
    let mut refused = None;
    let planned = plan.operations.iter().zip(invocations(plan, nonce));
    for (position, (operation, invocation)) in planned.enumerate() {
        let step = ExecutionStep::Invoke(position);
        match invoke(
            session,
            ledger,
            &mut binder,
            operation,
            invocation,
            evidence,
        ) {
            Ok(Next::Go) => {}
            Ok(Next::Obstructed) => break,
            Ok(Next::Unbound) => {
                return Err(Stop {
                    step,
                    trouble: None,
                });
            }
            Err(trouble) if trouble.kind == FailureKind::InputRefused => {
                refused = Some((step, trouble));
                break;
            }
            Err(trouble) => return Err(Stop::at(step)(trouble)),
        }
    }
    match close(session, ledger, &binder) {
        Ok(()) => Ok(refused),
        // The refusal was first in time; that the host cannot be used further shows with the next case.
        Err(trouble) => Err(match refused {
            Some((step, first)) => Stop::at(step)(first),
            None => Stop::at(ExecutionStep::Close)(trouble),
        }),
    }
}

fn install_all(session: &mut Session, ledger: &Ledger, plan: &CasePlan) -> Result<(), Stop> {
    ahead::take(session, ledger, plan)?;
    make_room(session, ledger, plan).map_err(Stop::at(ExecutionStep::Open))?;
    for (position, operation) in plan.operations.iter().enumerate() {
        let program = &operation.program.executable;
        if !session.installed.contains_key(&program.installation) {
            install(session, ledger, program)
                .map_err(Stop::at(ExecutionStep::Install(position)))?;
        }
    }
    Ok(())
}

/// Whether the host can hold the missing programs of a case beside those that it has.
pub(crate) fn has_room(session: &Session, plan: &CasePlan) -> bool {
    let missing: BTreeMap<_, _> = plan
        .operations
        .iter()
        .map(|operation| &*operation.program.executable)
        .filter(|program| !session.installed.contains_key(&program.installation))
        .map(|program| (&program.installation, file_bytes(program)))
        .collect();
    let count = session.installed.len().saturating_add(missing.len());
    let bytes = session.installed.values().chain(missing.values());
    let bytes = bytes.copied().fold(0, u64::saturating_add);
    count <= MAX_INSTALLATIONS && bytes <= MAX_PACKAGE_BYTES
}

/// Uninstalls what this case does not need when the host could not hold both.
fn make_room(session: &mut Session, ledger: &Ledger, plan: &CasePlan) -> Result<(), Trouble> {
    if has_room(session, plan) {
        return Ok(());
    }
    let grants = plan_grants(plan);
    let unneeded: Vec<TypedDigest> = session
        .installed
        .keys()
        .filter(|installation| !grants.contains(installation))
        .cloned()
        .collect();
    for installation in unneeded {
        let kind = FrameKind::Uninstall(Direction::Request);
        let request = message::uninstall(&installation);
        let reply = done(session.client.ask(kind, &request, ledger)?, |_| {
            FailureKind::HostProtocol
        })?;
        message::uninstalled(&reply.body)?;
        session.installed.remove(&installation);
    }
    Ok(())
}

fn install(session: &mut Session, ledger: &Ledger, program: &Program) -> Result<(), Trouble> {
    let kind = FrameKind::Install(Direction::Request);
    let answer = session
        .client
        .ask(kind, &message::install(program), ledger)?;
    installed(session, answer, program)
}

/// Takes the answer to the installation of `program`.
pub(crate) fn installed(
    session: &mut Session,
    answer: Answer,
    program: &Program,
) -> Result<(), Trouble> {
    let reply = done(answer, |_| FailureKind::InstallRefused)?;
    if !message::installed(&reply.body)?.is_of(program) {
        let message = "the host installed another program than it was given";
        return Err(Trouble::new(FailureKind::SubjectMismatch, message));
    }
    session
        .installed
        .insert(program.installation.clone(), file_bytes(program));
    Ok(())
}

fn file_bytes(program: &Program) -> u64 {
    let (package, report) = (&program.package_file, &program.report_file);
    package.byte_length().saturating_add(report.byte_length())
}

fn open(
    session: &mut Session,
    ledger: &Ledger,
    plan: &CasePlan,
    nonce: &ContextNonce,
    evidence: &mut CaseEvidence,
) -> Result<Binder, Stop> {
    let stop = Stop::at(ExecutionStep::Open);
    let grants = plan_grants(plan);
    let storage = storage_for(plan.operations.iter().map(|it| &*it.program.executable));
    let request = message::open_context(nonce.bytes(), &plan.case, storage, &grants);
    let kind = FrameKind::OpenContext(Direction::Request);
    let reply = session
        .client
        .ask(kind, &request, ledger)
        .and_then(|answer| done(answer, |_| FailureKind::ContextRefused))
        .map_err(&stop)?;
    let opening = Opening::decode(&reply.bytes).map_err(|error| {
        let message = format!("the reply to open-context is malformed at {error}");
        stop(Trouble::new(FailureKind::FrameMalformed, message))
    })?;
    evidence.context = Some(ContextEvidence {
        nonce: *nonce,
        subject: plan.case.clone(),
        storage,
        grants,
        opened: Body::new(reply.bytes),
    });
    opening
        .check_fresh(nonce, &plan.case, storage)
        .map_err(|(kind, message)| stop(Trouble::new(kind, message)))?;
    Ok(Binder::new(ContextFacts {
        nonce: *nonce,
        subject: plan.case.clone(),
        storage,
        hello: session.hello.clone(),
        opening,
        log: None,
    }))
}

/// What follows an outcome.
enum Next {
    /// The next operation.
    Go,
    /// Nothing: a setup operation was obstructed, so the case cannot run as declared.
    Obstructed,
    /// Nothing: the outcome does not bind.
    Unbound,
}

fn invoke(
    session: &mut Session,
    ledger: &mut Ledger,
    binder: &mut Binder,
    operation: &Operation,
    invocation: [u8; 32],
    evidence: &mut CaseEvidence,
) -> Result<Next, Trouble> {
    let program = &operation.program.executable;
    let request = Body::new(
        InvokeRequest {
            worldline: binder.worldline().clone(),
            installation: program.installation.clone(),
            invocation,
            basis: InvokeRequest::basis_for(program.package.kind, binder.basis()),
            input: operation.input.bytes.to_vec(),
            budget: None,
        }
        .encode(),
    );
    let kind = FrameKind::Invoke(Direction::Request);
    ledger.submit(binder.worldline(), invocation);
    session.client.send(kind, &request.bytes)?;
    let answer = session.client.answer(kind, ledger)?;
    let reply = done(answer, |refusal| match refusal.kind.as_str() {
        "input-too-large" | "input-noncanonical" | "input-type" => FailureKind::InputRefused,
        _ => FailureKind::InvocationRefused,
    })?;
    let received = message::outcome(&reply.body, invocation, request, operation.input.clone())?;
    let frame = &received.frame;
    if frame.worldline != *binder.worldline() || frame.invocation != invocation {
        return Err(Trouble::new(
            ledger.stray(&frame.worldline, frame.invocation),
            "the outcome names another worldline or invocation than was asked",
        ));
    }
    ledger.answer(binder.worldline(), invocation);
    let obstructed = frame.kind == OutcomeKind::Obstruction;
    let bound = binder.bind(program, &operation.input, &received);
    evidence.operations.push(received);
    Ok(if bound.failure.is_some() {
        Next::Unbound
    } else if obstructed && operation.role != OperationRole::Case {
        Next::Obstructed
    } else {
        Next::Go
    })
}

fn close(session: &mut Session, ledger: &mut Ledger, binder: &Binder) -> Result<(), Trouble> {
    let kind = FrameKind::CloseContext(Direction::Request);
    let request: Value = message::close_context(binder.worldline());
    let answer = session.client.ask(kind, &request, ledger)?;
    let reply = done(answer, |_| FailureKind::HostProtocol)?;
    let closed = message::closed_context(&reply.body)?;
    ledger.close(binder.worldline());
    if closed.agrees(
        binder.worldline(),
        binder.basis(),
        binder.decided(),
        binder.last_receipt(),
    ) {
        Ok(())
    } else {
        let message = "the context closed elsewhere than its outcomes led";
        Err(Trouble::new(FailureKind::HostProtocol, message))
    }
}

/// The reply, or the trouble that a refusal is: `kind` says which, unless the context is poisoned.
fn done(answer: Answer, kind: impl Fn(&Refusal) -> FailureKind) -> Result<Reply, Trouble> {
    match answer {
        Answer::Done(reply) => Ok(reply),
        Answer::Refused(refusal) => Err(Trouble {
            kind: if refusal.poisoned {
                FailureKind::HostFault
            } else {
                kind(&refusal)
            },
            message: format!("the host refused: {}: {}", refusal.kind, refusal.message),
            host_code: Some(refusal.kind),
        }),
    }
}
