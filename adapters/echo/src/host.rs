// SPDX-License-Identifier: Apache-2.0
//! `EchoHost`: the execution port over one host process, used for one case after the other.

use crate::ahead;
use crate::client::{Answer, Client, Trouble};
use crate::context::{self, Session, invocations};
use crate::frame::{Direction, FrameKind};
use crate::ledger::Ledger;
use crate::message;
use crate::preflight;
use crate::stopped::{Stopped, execution};
use crate::transport::{Ending, Launch};
use edict_codec::digest::TypedDigest;
use edict_test_model::evidence::{CaseEvidence, ExecutionStep};
use edict_test_model::plan::{CasePlan, HostPins};
use edict_test_model::ports::{ExecutionPort, Notices};
use edict_test_model::run::HostReport;
use edict_test_model::suite::Shape;
use edict_test_model::{ContextNonce, Failure, FailureKind, Stage};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a port is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSettings {
    /// Identity of the executable that is launched.
    pub executable: TypedDigest,
    /// One whole frame, both directions, in bytes.
    pub max_frame_bytes: u64,
    /// Whether every case gets a process of its own instead of a context in a shared one.
    pub process_per_case: bool,
}

/// The execution port. One process serves all cases; after the first failure that stops a run it is
/// killed and no other one is started.
#[derive(Debug)]
pub struct EchoHost {
    settings: HostSettings,
    launch: Box<dyn Launch>,
    state: Mutex<State>,
    /// Whether the host is asked for the profile of packages of shape `upstream`.
    is_anchored: bool,
    /// Where the end of a process tells what it did beside its work.
    notices: Notices,
}

#[derive(Debug, Default)]
struct State {
    ledger: Ledger,
    session: Option<Session>,
    /// The case that follows, as far as it is known.
    next: Option<Arc<CasePlan>>,
    /// Why there is no session any more.
    lost: Option<String>,
    /// Processes whose `hello` was accepted.
    greeted: u64,
    /// What could not be cleaned up.
    leftover: Option<String>,
}

impl EchoHost {
    /// A port that has not started anything.
    pub fn new(settings: HostSettings, launch: Box<dyn Launch>) -> Self {
        Self {
            settings,
            launch,
            state: Mutex::default(),
            is_anchored: false,
            notices: Notices::default(),
        }
    }

    /// As this port, which tells `notices` what a process did beside its work.
    #[must_use]
    pub fn telling(self, notices: &Notices) -> Self {
        Self {
            notices: notices.clone(),
            ..self
        }
    }

    /// As this port, for packages of that shape.
    #[must_use]
    pub fn for_shape(self, shape: Shape) -> Self {
        Self {
            is_anchored: shape == Shape::Upstream,
            ..self
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic elsewhere ends the run; the ledger stays true in any case.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, state: &mut State, pins: &HostPins) -> Result<HostReport, Stopped> {
        let max_frame_bytes = self.settings.max_frame_bytes;
        preflight::frame_limit(max_frame_bytes)?;
        if self.settings.executable != pins.executable {
            let message = "the host to start is not the one pinned";
            return Err(Trouble::new(FailureKind::ToolMismatch, message).into());
        }
        let transport = self.launch.launch().map_err(|message| {
            let kind = FailureKind::HostSpawnFailed;
            Trouble::new(kind, format!("start the host: {message}"))
        })?;
        let mut client = Client::new(transport, max_frame_bytes);
        match preflight::greet(
            &mut client,
            &state.ledger,
            max_frame_bytes,
            pins,
            self.is_anchored,
        ) {
            Ok((hello, body)) => {
                let report = HostReport {
                    executable: self.settings.executable.clone(),
                    hello: body,
                    process: state.greeted,
                };
                state.greeted += 1;
                state.session = Some(Session {
                    client,
                    hello,
                    report: report.clone(),
                    installed: BTreeMap::new(),
                    ahead: None,
                    served: false,
                });
                Ok(report)
            }
            Err(trouble) => {
                let ending = client.end(ends_itself(trouble.kind));
                state.note(&trouble.message, &ending);
                Err(Stopped {
                    trouble: blamed(trouble, &ending),
                    ending: Some(Box::new(ending)),
                })
            }
        }
    }
}

impl EchoHost {
    /// With a process per case, ends the one that served the case before and starts the next.
    fn replace(&self, state: &mut State, plan: &CasePlan) -> Result<(), Stopped> {
        let served = state.session.as_ref().is_some_and(|session| session.served);
        if !self.settings.process_per_case || !served {
            return Ok(());
        }
        self.shut_down(state)?;
        self.start(state, &plan.host).map(|_| ())
    }

    /// Ends the process in order, if there is one.
    fn shut_down(&self, state: &mut State) -> Result<(), Stopped> {
        let Some(mut session) = state.session.take() else {
            return Ok(());
        };
        let parting = ahead::discard(&mut session, &state.ledger)
            .and_then(|()| shutdown(&mut session.client, &state.ledger));
        let gone = |trouble: &Trouble| ends_itself(trouble.kind);
        let ending = session.client.end(parting.as_ref().err().is_none_or(gone));
        state.leave(&ending);
        let parted = parting.and(ended_in_order(&ending));
        if let (Ok(()), Some(notice)) = (&parted, &ending.stray) {
            self.notices.tell(notice.clone());
        }
        parted.map_err(|trouble| Stopped {
            trouble: blamed(trouble, &ending),
            ending: Some(Box::new(ending)),
        })
    }
}

impl State {
    fn note(&mut self, why: &str, ending: &Ending) {
        self.lost.get_or_insert_with(|| why.to_owned());
        self.leave(ending);
    }

    /// Keeps what an ended process left behind.
    fn leave(&mut self, ending: &Ending) {
        let survivors = ending.survivors;
        if survivors > 0 {
            let message = format!("{survivors} processes of the host could not be ended");
            self.leftover.get_or_insert(message);
        }
        if let Some(leftover) = &ending.leftover {
            self.leftover.get_or_insert_with(|| leftover.clone());
        }
    }
}

impl ExecutionPort for EchoHost {
    fn preflight(&self, pins: &HostPins) -> Result<HostReport, Failure> {
        let mut state = self.state();
        if let Some(session) = &state.session {
            return Ok(session.report.clone());
        }
        if let Some(lost) = &state.lost {
            let message = format!("the host is gone: {lost}");
            let trouble = Trouble::new(FailureKind::HostLost, message);
            return Err(Stopped::from(trouble).outside(self.settings.max_frame_bytes));
        }
        self.start(&mut state, pins)
            .map_err(|stopped| stopped.outside(self.settings.max_frame_bytes))
    }

    fn announce(&self, next: &Arc<CasePlan>) {
        self.state().next = Some(Arc::clone(next));
    }

    fn run_case(&self, plan: &CasePlan, nonce: ContextNonce) -> CaseEvidence {
        let mut state = self.state();
        let state = &mut *state;
        let next = state
            .next
            .take()
            .filter(|_| !self.settings.process_per_case);
        let mut evidence = CaseEvidence {
            host: None,
            context: None,
            operations: Vec::new(),
            failure: None,
        };
        if !state.ledger.spend(&nonce, &invocations(plan, &nonce)) {
            let message = "this context was submitted before";
            let trouble = Trouble::new(FailureKind::ReplayedContext, message);
            evidence.failure = Some(execution(ExecutionStep::Open, trouble, None));
            return evidence;
        }
        if let Err(stopped) = self.replace(state, plan) {
            evidence.failure = Some(stopped.of_case());
            return evidence;
        }
        let Some(mut session) = state.session.take() else {
            let lost = state.lost.as_deref().unwrap_or("it was never started");
            let trouble = Trouble::new(FailureKind::HostLost, format!("there is no host: {lost}"));
            evidence.failure = Some(Stopped::from(trouble).of_case());
            return evidence;
        };
        evidence.host = Some(session.report.clone());
        match context::run(&mut session, &mut state.ledger, plan, &nonce, &mut evidence) {
            Ok(refused) => {
                evidence.failure = refused.map(|(step, trouble)| execution(step, trouble, None));
                session.served = true;
                if let Some(next) = next {
                    ahead::ask(&mut session, &next);
                }
                state.session = Some(session);
            }
            Err(stop) => {
                let gone = stop.trouble.as_ref().is_some_and(|it| ends_itself(it.kind));
                let ending = session.client.end(gone);
                let why = match &stop.trouble {
                    Some(trouble) => trouble.message.as_str(),
                    None => "its evidence did not bind",
                };
                state.note(why, &ending);
                evidence.failure = stop.trouble.map(|trouble| {
                    let trouble = blamed(trouble, &ending);
                    execution(stop.step, trouble, Some(ending))
                });
            }
        }
        evidence
    }

    fn close(&self) -> Result<(), Failure> {
        let mut state = self.state();
        let outcome = self
            .shut_down(&mut state)
            .map_err(|stopped| stopped.outside(self.settings.max_frame_bytes));
        state
            .lost
            .get_or_insert_with(|| "it was shut down".to_owned());
        match state.leftover.take() {
            Some(message) if outcome.is_ok() => Err(Failure::new(
                Stage::Cleanup,
                FailureKind::CleanupIncomplete,
                message,
            )),
            _ => outcome,
        }
    }

    fn submissions(&self) -> u64 {
        self.state().ledger.submissions()
    }
}

fn shutdown(client: &mut Client, ledger: &Ledger) -> Result<(), Trouble> {
    let kind = FrameKind::Shutdown(Direction::Request);
    match client.ask(kind, &message::shutdown(), ledger)? {
        Answer::Done(reply) => {
            if message::bye(&reply.body)? != 0 {
                let message = "the host had contexts open that nobody uses";
                return Err(Trouble::new(FailureKind::HostProtocol, message));
            }
            client.nothing_more()
        }
        Answer::Refused(refusal) => Err(Trouble {
            kind: FailureKind::HostProtocol,
            message: format!("the host refused to shut down: {}", refusal.message),
            host_code: Some(refusal.kind),
        }),
    }
}

/// Whether a host with this trouble is ending by itself: the grace of a teardown then shows how. Any
/// other one is killed at once.
fn ends_itself(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::HostLost | FailureKind::FrameTruncated | FailureKind::HostFault
    )
}

fn ended_in_order(ending: &Ending) -> Result<(), Trouble> {
    if ending.unread > 0 {
        let message = "the host wrote more after its last reply";
        Err(Trouble::new(FailureKind::HostProtocol, message))
    } else if ending.orderly {
        Ok(())
    } else {
        let message = "the host did not exit in order after `bye`";
        Err(Trouble::new(FailureKind::HostLost, message))
    }
}

/// What the end of the process says about the trouble that came before it.
fn blamed(trouble: Trouble, ending: &Ending) -> Trouble {
    if let Some(why) = &ending.not_launched {
        let message = format!("the host could not be executed: {why}");
        return Trouble::new(FailureKind::HostSpawnFailed, message);
    }
    if ending.hit_file_limit {
        let message = "the host wrote more than is left of maxArtifactBytes";
        return Trouble::new(FailureKind::ArtifactBytesExceeded, message);
    }
    trouble
}
