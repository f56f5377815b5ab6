// SPDX-License-Identifier: Apache-2.0
//! What the client needs of a host process: bytes both ways under one deadline per request.

use edict_test_model::{
    Excerpt,
    diagnostic::{Child, Notice},
};

/// Why bytes could not be exchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
    /// The host reads no more.
    #[error("the host reads no more")]
    Closed,
    /// The wall limit of the request passed.
    #[error("no answer within the wall limit")]
    TimedOut,
    /// A stop was asked for.
    #[error("the run is being stopped")]
    Stopped,
    /// The operating system refused.
    #[error("{0}")]
    Failed(String),
}

/// How a host process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ending {
    /// The process, for diagnostics.
    pub child: Option<Child>,
    /// Its standard error, if it wrote any.
    pub excerpt: Option<Excerpt>,
    /// Why the program was never executed.
    pub not_launched: Option<String>,
    /// Whether it exited with code 0.
    pub orderly: bool,
    /// Bytes on its standard output that nobody received.
    pub unread: u64,
    /// Processes of it that could not be ended.
    pub survivors: u32,
    /// What it did beside its work.
    pub stray: Option<Notice>,
    /// What of its files could not be removed.
    pub leftover: Option<String>,
    /// Whether the file size limit ended it.
    pub hit_file_limit: bool,
}

/// One host process.
pub trait Transport: Send + std::fmt::Debug {
    /// Starts the wall clock of the next request.
    fn begin(&mut self);

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// [`TransportError`]; how much was written is then unknown.
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError>;

    /// Reads `length` bytes; fewer only when the stream ends before. The buffer grows with the bytes
    /// received.
    ///
    /// # Errors
    /// [`TransportError`]; bytes received before are lost with the conversation.
    fn receive(&mut self, length: usize) -> Result<Vec<u8>, TransportError>;

    /// Ends the process: at once, or after the grace of an orderly teardown. Reaps and sweeps.
    fn end(self: Box<Self>, orderly: bool) -> Ending;
}

/// Starts host processes.
pub trait Launch: Send + Sync + std::fmt::Debug {
    /// Starts one.
    ///
    /// # Errors
    /// Why it could not be started.
    fn launch(&self) -> Result<Box<dyn Transport>, String>;
}
