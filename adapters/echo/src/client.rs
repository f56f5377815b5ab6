// SPDX-License-Identifier: Apache-2.0
//! One conversation with one host process: a request, then exactly its reply.

use crate::frame::{
    DIGEST_BYTES, Direction, FrameError, FrameKind, HEADER_BYTES, Header, check_digest,
    decode_header, encode_frame,
};
use crate::ledger::Ledger;
use crate::message::{self, BadReply, Refusal};
use crate::transport::{Ending, Transport, TransportError};
use edict_codec::cbor::{Value, encode};
use edict_test_model::FailureKind;

/// Why a conversation cannot go on, or an answer not be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) kind: FailureKind,
    pub(crate) host_code: Option<String>,
    pub(crate) message: String,
}

impl Trouble {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            host_code: None,
            message: message.into(),
        }
    }
}

impl From<FrameError> for Trouble {
    fn from(error: FrameError) -> Self {
        Self::new(error.kind(), error.to_string())
    }
}

impl From<BadReply> for Trouble {
    fn from(error: BadReply) -> Self {
        Self::new(
            FailureKind::FrameMalformed,
            format!("a reply is malformed: {error}"),
        )
    }
}

impl From<TransportError> for Trouble {
    fn from(error: TransportError) -> Self {
        let kind = match error {
            TransportError::Closed | TransportError::Failed(_) => FailureKind::HostLost,
            TransportError::TimedOut => FailureKind::WallTimeout,
            TransportError::Stopped => FailureKind::Interrupted,
        };
        Self::new(kind, error.to_string())
    }
}

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The success type of the request.
    Done(Reply),
    /// `refused`; the conversation goes on.
    Refused(Refusal),
}

/// A successful reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The exact bytes of the body.
    pub(crate) bytes: Vec<u8>,
    /// The body decoded.
    pub(crate) body: Value,
}

/// A host process and where the conversation with it stands.
#[derive(Debug)]
pub(crate) struct Client {
    transport: Box<dyn Transport>,
    sequence: u64,
    max_frame_bytes: u64,
}

impl Client {
    pub(crate) fn new(transport: Box<dyn Transport>, max_frame_bytes: u64) -> Self {
        Self {
            transport,
            sequence: 0,
            max_frame_bytes,
        }
    }

    /// Sends one request and takes its reply. The next request is sent only after that, so a frame
    /// with another sequence answers nothing that was asked.
    pub(crate) fn ask(
        &mut self,
        kind: FrameKind,
        body: &Value,
        ledger: &Ledger,
    ) -> Result<Answer, Trouble> {
        self.send(kind, &encode(body))?;
        self.answer(kind, ledger)
    }

    /// Sends one request without waiting for its reply.
    pub(crate) fn send(&mut self, kind: FrameKind, body: &[u8]) -> Result<(), Trouble> {
        let sequence = self.sequence.saturating_add(1);
        let frame = encode_frame(kind, sequence, body, self.max_frame_bytes)?;
        self.sequence = sequence;
        self.transport.begin();
        match self.transport.send(&frame) {
            // A host that reads no more may have said why; what it said is read as the answer.
            Ok(()) | Err(TransportError::Closed) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts the wall clock of the last request anew.
    pub(crate) fn begin(&mut self) {
        self.transport.begin();
    }

    /// Takes the reply to the last request.
    pub(crate) fn answer(&mut self, asked: FrameKind, ledger: &Ledger) -> Result<Answer, Trouble> {
        let head = self.transport.receive(HEADER_BYTES)?;
        let header = decode_header(&head, self.max_frame_bytes)?;
        if header.kind == FrameKind::Fault {
            return Err(self.fault(&head, header)?);
        }
        let outcome = FrameKind::Invoke(Direction::Reply);
        if header.sequence != self.sequence && header.kind != outcome {
            let message = format!(
                "a reply with sequence {} where {} was due",
                header.sequence, self.sequence
            );
            // A later sequence means that the host passed over what was asked.
            let kind = if header.sequence > self.sequence {
                no_answer(asked)
            } else {
                FailureKind::HostProtocol
            };
            return Err(Trouble::new(kind, message));
        }
        let bytes = self.body(&head, header)?;
        let body = message::canonical(&bytes)?;
        if header.kind == outcome {
            let due = asked == FrameKind::Invoke(Direction::Request);
            if header.sequence != self.sequence || !due {
                return Err(stray(&body, ledger)?);
            }
        }
        if header.kind == FrameKind::Refused {
            return Ok(Answer::Refused(message::refusal(&body)?));
        }
        if header.kind.number() != asked.number() | 0x8000 {
            let message = format!("a reply of type {:#06x}", header.kind.number());
            return Err(Trouble::new(no_answer(asked), message));
        }
        Ok(Answer::Done(Reply { bytes, body }))
    }

    /// Ends the process.
    pub(crate) fn end(self, orderly: bool) -> Ending {
        self.transport.end(orderly)
    }

    /// After `bye` nothing may follow but the end of the stream.
    pub(crate) fn nothing_more(&mut self) -> Result<(), Trouble> {
        if self.transport.receive(1)?.is_empty() {
            Ok(())
        } else {
            let message = "the host wrote more after its last reply";
            Err(Trouble::new(FailureKind::HostProtocol, message))
        }
    }

    fn body(&mut self, head: &[u8], header: Header) -> Result<Vec<u8>, Trouble> {
        let length = header.length.saturating_add(DIGEST_BYTES);
        let mut bytes = self.transport.receive(length)?;
        if bytes.len() < length {
            return Err(FrameError::Truncated.into());
        }
        let digest = bytes.split_off(header.length);
        check_digest(head, &bytes, &digest)?;
        Ok(bytes)
    }

    /// What a `fault` frame says; an unreadable one is an error of its own.
    fn fault(&mut self, head: &[u8], header: Header) -> Result<Trouble, Trouble> {
        let bytes = self.body(head, header)?;
        let (kind, message) = message::fault(&message::canonical(&bytes)?)?;
        Ok(Trouble {
            kind: FailureKind::HostFault,
            message: format!("the host gave up: {kind}: {message}"),
            host_code: Some(kind),
        })
    }
}

/// What it is when the answer to a request is something else than its reply.
fn no_answer(asked: FrameKind) -> FailureKind {
    if asked == FrameKind::Invoke(Direction::Request) {
        FailureKind::OutcomeMissing
    } else {
        FailureKind::HostProtocol
    }
}

/// What an outcome is that was not due here.
fn stray(body: &Value, ledger: &Ledger) -> Result<Trouble, Trouble> {
    let (worldline, invocation) = message::outcome_pair(body)?;
    Ok(Trouble::new(
        ledger.stray(&worldline, invocation),
        "an outcome came that answers nothing that was asked",
    ))
}
