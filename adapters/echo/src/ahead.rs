// SPDX-License-Identifier: Apache-2.0
//! An installation for the next case, asked for while the case before it is still being judged.
//!
//! The host gets the same requests in the same order as without it; only the wait for this one answer
//! comes later. An installation executes nothing.

use crate::client::Trouble;
use crate::context::{self, Session, Stop};
use crate::frame::{Direction, FrameKind};
use crate::ledger::Ledger;
use crate::message;
use edict_codec::cbor::encode;
use edict_test_model::FailureKind;
use edict_test_model::evidence::{ExecutionStep, Program};
use edict_test_model::plan::CasePlan;
use std::sync::Arc;

const INSTALL: FrameKind = FrameKind::Install(Direction::Request);

/// An installation whose answer was not taken yet.
#[derive(Debug)]
pub(crate) struct Ahead {
    program: Arc<Program>,
    /// Whether the request went out; if not, nothing more can be said to this host.
    sent: Result<(), Trouble>,
}

/// Asks for the first program of `next` that is not installed, when the host has room for all of them.
pub(crate) fn ask(session: &mut Session, next: &CasePlan) {
    if !context::has_room(session, next) {
        return;
    }
    let mut programs = next.operations.iter().map(|it| &it.program.executable);
    let missing = programs.find(|it| !session.installed.contains_key(&it.installation));
    session.ahead = missing.map(|program| Ahead {
        program: Arc::clone(program),
        sent: session
            .client
            .send(INSTALL, &encode(&message::install(program))),
    });
}

/// Takes the answer that is due, if any. A refusal of a program that `plan` does not have concerns
/// nobody.
pub(crate) fn take(session: &mut Session, ledger: &Ledger, plan: &CasePlan) -> Result<(), Stop> {
    let Some(ahead) = session.ahead.take() else {
        return Ok(());
    };
    let wanted = &ahead.program.installation;
    let mut operations = plan.operations.iter();
    let position = operations.position(|it| it.program.executable.installation == *wanted);
    let answered = answer(session, ledger, &ahead);
    match (answered, position) {
        (Err(trouble), None) if trouble.kind == FailureKind::InstallRefused => Ok(()),
        (answered, position) => {
            answered.map_err(Stop::at(ExecutionStep::Install(position.unwrap_or(0))))
        }
    }
}

/// Takes the answer that is due before the host is shut down.
pub(crate) fn discard(session: &mut Session, ledger: &Ledger) -> Result<(), Trouble> {
    let answered = session
        .ahead
        .take()
        .map_or(Ok(()), |ahead| answer(session, ledger, &ahead));
    match answered {
        Err(trouble) if trouble.kind != FailureKind::InstallRefused => Err(trouble),
        _ => Ok(()),
    }
}

fn answer(session: &mut Session, ledger: &Ledger, ahead: &Ahead) -> Result<(), Trouble> {
    ahead.sent.clone()?;
    // What was done since then, like a second evaluation, is no time of the host.
    session.client.begin();
    let answer = session.client.answer(INSTALL, ledger)?;
    context::installed(session, answer, &ahead.program)
}
