// SPDX-License-Identifier: Apache-2.0
//! `Schedule`: which request may start, who reads, and when reading has to wait (section 1.5).

use crate::{
    limits,
    refusal::Refusal,
    wire::{frame::Fault, request::Request},
};
use std::{
    collections::{BTreeSet, VecDeque},
    num::NonZeroUsize,
};

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

/// What reading came to.
#[derive(Debug)]
pub enum Arrival {
    /// A request.
    Job(Job),
    /// A request that is answered already.
    Nothing,
    /// Nothing more.
    End(End),
    /// It cannot be told what arrived.
    Broken(Fault),
}

/// Requests between their reading and their reply.
#[derive(Debug)]
pub struct Schedule {
    workers: usize,
    waiting: VecDeque<Job>,
    busy: BTreeSet<[u8; 32]>,
    running: usize,
    running_alone: bool,
    /// Whether a thread reads.
    reading: bool,
    unanswered: u64,
    unanswered_bytes: u64,
    end: Option<End>,
    stop: Option<Stop>,
}

/// What a thread does next.
#[derive(Debug)]
pub enum Next {
    /// Answer this request.
    Run(Job, Ticket),
    /// Read one more.
    Read,
    /// Nothing may be done now.
    Wait,
    /// Nothing will be started any more.
    Leave,
}

/// What has to be given back when a request is answered.
#[derive(Debug)]
pub struct Ticket {
    lane: Lane,
    bytes: u64,
}

impl Schedule {
    /// No request yet, and at most so many running at once.
    pub fn new(workers: NonZeroUsize) -> Self {
        Self {
            workers: workers.get(),
            waiting: VecDeque::new(),
            busy: BTreeSet::new(),
            running: 0,
            running_alone: false,
            reading: false,
            unanswered: 0,
            unanswered_bytes: 0,
            end: None,
            stop: None,
        }
    }

    /// The first request that may start now; if there is none, reading, while there is room for what
    /// arrives.
    pub fn choose(&mut self) -> Next {
        if self.stop.is_some() {
            return Next::Leave;
        }
        if let Some((job, ticket)) = self.start() {
            return Next::Run(job, ticket);
        }
        if self.end.is_some() {
            return if self.waiting.is_empty() {
                Next::Leave
            } else {
                Next::Wait
            };
        }
        let has_room = self.unanswered < limits::MAX_IN_FLIGHT
            && self.unanswered_bytes < limits::MAX_IN_FLIGHT_BYTES;
        if self.reading || !has_room {
            return Next::Wait;
        }
        self.reading = true;
        Next::Read
    }

    fn start(&mut self) -> Option<(Job, Ticket)> {
        if self.running_alone || self.running == self.workers {
            return None;
        }
        let job = self.waiting.remove(self.first_free()?)?;
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
        Some((job, Ticket { lane, bytes }))
    }

    /// Takes what the reading thread brought. After `shutdown` nothing is read.
    pub fn take(&mut self, arrival: Arrival) {
        self.reading = false;
        match arrival {
            Arrival::Job(job) => {
                if matches!(job.request, Ok(Request::Shutdown)) {
                    self.end = Some(End::Orderly);
                }
                self.unanswered = self.unanswered.saturating_add(1);
                self.unanswered_bytes = self.unanswered_bytes.saturating_add(job.bytes);
                self.waiting.push_back(job);
            }
            Arrival::Nothing => {}
            Arrival::End(end) => self.end = Some(end),
            Arrival::Broken(fault) => self.stop(Stop::Broken(fault)),
        }
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

    /// Starts nothing more. That something is broken is said even when nobody seems to read.
    pub fn stop(&mut self, stop: Stop) {
        if self.stop.is_none() || matches!(stop, Stop::Broken(_)) {
            self.stop = Some(stop);
        }
    }

    /// Whether nothing runs and nothing will be started any more.
    pub fn is_over(&self) -> bool {
        let is_drained = self.end.is_some() && self.waiting.is_empty();
        self.running == 0 && (self.stop.is_some() || is_drained)
    }

    /// How it came to its end.
    pub fn ending(&mut self) -> (Option<Stop>, Option<End>) {
        (self.stop.take(), self.end.take())
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
