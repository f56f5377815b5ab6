// SPDX-License-Identifier: Apache-2.0
//! The client of the bounded host: frames, messages, one context per case, one terminal outcome per
//! invocation.
//!
//! The wire is written from `docs/host.md` 1 and 2 and shares no line with the host.
//! [`EchoHost`] fills [`edict_test_model::evidence::CaseEvidence`]; it never retries, never reuses a
//! context and never decides a verdict.

mod ahead;
mod client;
mod context;
mod frame;
mod host;
mod ledger;
mod message;
mod preflight;
mod process;
mod stopped;
mod transport;

pub use frame::{Direction, FrameError, FrameKind, Header, MAX_FRAME_BYTES, encode_frame};
pub use host::{EchoHost, HostSettings};
pub use ledger::Ledger;
pub use process::{ProcessLaunch, ProcessSettings};
pub use transport::{Ending, Launch, Transport, TransportError};
