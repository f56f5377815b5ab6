// SPDX-License-Identifier: Apache-2.0
//! `Schedule`: which request may start, and when reading has to wait (section 1.5).

use crate::{
    limits,
    refusal::Refusal,
    wire::{frame::Fault, request::Request},
};
use std::collections::{BTreeSet, VecDeque};

/// What a request must not overlap with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    /// Anything at all.
    Alone,
    /// Other requests of the same worldline.
    Context([u8; 32]),
    /// Nothing: it was refused already.
    Free,
}

/// A request that waits or runs.
#[derive(Debug)]
pub struct Job {
    /// Sequence of its frame.
    pub sequence: u64,
    /// Body bytes of its frame.
    pub bytes: u64,
    /// What to answer.
    pub request: Result<Request, Refusal>,
}

impl Job {
    fn lane(&self) -> Lane {
        match &self.request {
            Err(_) => Lane::Free,
            Ok(Request::Invoke(it)) => Lane::Context(*it.worldline.bytes()),
            Ok(Request::Recall(it)) => Lane::Context(*it.worldline.bytes()),
            Ok(Request::Observe(it)) => Lane::Context(*it.worldline.bytes()),
            // Opening and closing change which contexts there are; that they run alone keeps
            // refusals independent of the number of workers.
            Ok(
                Request::Hello(_)
                | Request::Install(_)
                | Request::Uninstall(_)
                | Request::Open(_)
                | Request::Close(_)
                | Request::Shutdown,
            ) => Lane::Alone,
        }
    }
}

/// Why no further request is read.
#[derive(Debug)]
pub enum End {
    /// End of the stream between frames, or after `shutdown`.
    Orderly,
    /// The stream cannot be trusted.
    Fault(Fault),
}

/// Why no further request is started, whatever waits.
#[derive(Debug)]
pub enum Stop {
    /// The reader of the replies is gone.
    Closed,
    /// An internal invariant is broken.
    Broken(Fault),
}

/// Requests between their reading and their reply.
#[derive(Debug, Default)]
pub struct Schedule {
    waiting: VecDeque<Job>,
    busy: BTreeSet<[u8; 32]>,
    running: u64,
    running_alone: bool,
    unanswered: u64,
    unanswered_bytes: u64,
    /// Set once by the reader.
    pub end: Option<End>,
    /// Set by whoever sees the reason first.
    pub stop: Option<Stop>,
}

/// What a worker does next.
#[derive(Debug)]
pub enum Next {
    /// Answer this request.
    Run(Job, Ticket),
    /// Nothing may start now.
    Wait,
    /// Nothing will start any more.
    Leave,
}

/// What has to be given back when a request is answered.
#[derive(Debug)]
pub struct Ticket {
    lane: Lane,
    bytes: u64,
}

impl Schedule {
    /// Whether one more frame may be read.
    pub fn may_read(&self) -> bool {
        self.unanswered < limits::MAX_IN_FLIGHT
            && self.unanswered_bytes < limits::MAX_IN_FLIGHT_BYTES
    }

    /// Adds a request in arrival order.
    pub fn push(&mut self, job: Job) {
        self.unanswered = self.unanswered.saturating_add(1);
        self.unanswered_bytes = self.unanswered_bytes.saturating_add(job.bytes);
        self.waiting.push_back(job);
    }

    /// The first request that may start now.
    pub fn start(&mut self) -> Next {
        if self.stop.is_some() {
            return Next::Leave;
        }
        if self.running_alone {
            return Next::Wait;
        }
        let Some(index) = self.first_free() else {
            return if self.waiting.is_empty() && self.end.is_some() {
                Next::Leave
            } else {
                Next::Wait
            };
        };
        let Some(job) = self.waiting.remove(index) else {
            return Next::Wait;
        };
        let lane = job.lane();
        match lane {
            Lane::Alone => self.running_alone = true,
            Lane::Context(worldline) => {
                self.busy.insert(worldline);
            }
            Lane::Free => {}
        }
        self.running = self.running.saturating_add(1);
        let bytes = job.bytes;
        Next::Run(job, Ticket { lane, bytes })
    }

    /// Takes a request as answered.
    pub fn finish(&mut self, ticket: &Ticket) {
        match ticket.lane {
            Lane::Alone => self.running_alone = false,
            Lane::Context(worldline) => {
                self.busy.remove(&worldline);
            }
            Lane::Free => {}
        }
        self.running = self.running.saturating_sub(1);
        self.unanswered = self.unanswered.saturating_sub(1);
        self.unanswered_bytes = self.unanswered_bytes.saturating_sub(ticket.bytes);
    }

    fn first_free(&self) -> Option<usize> {
        // A waiting request of a context holds back the later ones of the same context.
        let mut held = self.busy.clone();
        for (index, job) in self.waiting.iter().enumerate() {
            match job.lane() {
                Lane::Alone => return (index == 0 && self.running == 0).then_some(0),
                Lane::Context(worldline) => {
                    if held.insert(worldline) {
                        return Some(index);
                    }
                }
                Lane::Free => return Some(index),
            }
        }
        None
    }
}
