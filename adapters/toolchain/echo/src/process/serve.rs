// SPDX-License-Identifier: Apache-2.0
//! `serve`: a reader, workers, and the one place that decides how the process ends (section 1.6).

use super::{
    host::{Answer, Failure, Host},
    output::Output,
    schedule::{End, Job, Next, Schedule, Stop},
};
use crate::wire::{
    frame::{Fault, FrameReader, RequestType},
    message,
    reply::Reply,
    request::Request,
};
use std::{
    io::{self, Read},
    num::NonZeroUsize,
    panic::catch_unwind,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

/// Stack of a thread; nothing recurses on what a client sends.
const STACK_BYTES: usize = 2 << 20;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// In order.
    Orderly,
    /// The stream cannot be trusted, or nobody reads it any more.
    Stream,
    /// An internal invariant is broken.
    Internal,
}

impl Exit {
    /// The exit code.
    pub const fn code(self) -> u8 {
        match self {
            Self::Orderly => 0,
            Self::Stream => 3,
            Self::Internal => 4,
        }
    }
}

struct Shared {
    host: Host,
    output: Output,
    schedule: Mutex<Schedule>,
    changed: Condvar,
}

/// Answers requests from `input` on `output` with so many workers until the stream ends.
pub fn serve(
    host: Host,
    input: impl Read + Send + 'static,
    output: Output,
    workers: NonZeroUsize,
) -> Exit {
    let shared = Arc::new(Shared {
        host,
        output,
        schedule: Mutex::default(),
        changed: Condvar::new(),
    });
    // The reader may wait for a client that never writes again; it is left behind then.
    let reading = Arc::clone(&shared);
    let mut threads = Vec::new();
    let mut started = start(move || reading.read(input)).map(drop);
    for _ in 0..workers.get() {
        let working = Arc::clone(&shared);
        started = started.and(start(move || working.work()).map(|it| threads.push(it)));
    }
    if started.is_err() {
        let fault = Fault::new("internal", "a thread cannot be started", 0);
        shared.update(|schedule| schedule.stop = Some(Stop::Broken(fault)));
    }
    for worker in threads {
        // A worker catches what its requests do; it never ends with a panic of its own.
        let _ = worker.join();
    }
    shared.finish()
}

/// A thread whose stack size is given here and not by the environment.
fn start(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(work)
}

/// Stops everything unless the reader said how the stream ended: it must have panicked.
struct Reading<'a>(&'a Shared);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.update(|schedule| {
            if schedule.end.is_none() {
                let fault = Fault::new("internal", "the reader panicked", 0);
                schedule.stop.get_or_insert(Stop::Broken(fault));
            }
        });
    }
}

impl Shared {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut Schedule)) {
        change(&mut self.schedule());
        self.changed.notify_all();
    }

    fn read(&self, input: impl Read) {
        let _reading = Reading(self);
        let end = match self.read_frames(FrameReader::new(input)) {
            Ok(()) => End::Orderly,
            Err(fault) => End::Fault(fault),
        };
        self.update(|schedule| schedule.end = Some(end));
    }

    fn read_frames(&self, mut frames: FrameReader<impl Read>) -> Result<(), Fault> {
        let mut greeted = false;
        while let Some(frame) = {
            self.wait_for_room();
            frames.read()?
        } {
            let sequence = frame.sequence;
            match (frame.request_type, greeted) {
                (RequestType::Hello, true) => {
                    return Err(Fault::new("hello-repeated", "hello was accepted", sequence));
                }
                (RequestType::Hello, false) | (_, true) => {}
                (_, false) => {
                    return Err(Fault::new(
                        "hello-required",
                        "the first request is hello",
                        sequence,
                    ));
                }
            }
            let job = Job {
                sequence,
                bytes: u64::try_from(frame.body.len()).unwrap_or(u64::MAX),
                request: message::decode(&frame),
            };
            drop(frame);
            if matches!(job.request, Ok(Request::Shutdown)) {
                self.update(|schedule| schedule.push(job));
                return Ok(());
            }
            if greeted {
                self.update(|schedule| schedule.push(job));
            } else {
                // Nothing else runs yet, and what may follow depends on the answer.
                greeted = self.answer(&job);
            }
        }
        Ok(())
    }

    fn wait_for_room(&self) {
        let mut schedule = self.schedule();
        while !schedule.may_read() && schedule.stop.is_none() {
            schedule = self
                .changed
                .wait(schedule)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn work(&self) {
        loop {
            let (job, ticket) = {
                let mut schedule = self.schedule();
                loop {
                    match schedule.start() {
                        Next::Run(job, ticket) => break (job, ticket),
                        Next::Leave => return,
                        Next::Wait => {
                            schedule = self
                                .changed
                                .wait(schedule)
                                .unwrap_or_else(PoisonError::into_inner);
                        }
                    }
                }
            };
            self.answer(&job);
            self.update(|schedule| schedule.finish(&ticket));
        }
    }

    /// Writes the one reply to `job`; whether it was of the success type.
    fn answer(&self, job: &Job) -> bool {
        let answered = catch_unwind(|| match &job.request {
            Ok(request) => self.host.answer(request),
            Err(refusal) => Err(Failure::Refused(refusal.clone())),
        });
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(Failure::Refused(refusal))) => {
                self.write(job, &Reply::refused(&refusal).into());
                return false;
            }
            Ok(Err(Failure::Internal(reason))) => return self.broken(job, reason),
            Err(_) => return self.broken(job, "a request panicked"),
        };
        self.write(job, &answer);
        true
    }

    fn broken(&self, job: &Job, reason: &'static str) -> bool {
        let fault = Fault::new("internal", reason, job.sequence);
        self.update(|schedule| schedule.stop = Some(Stop::Broken(fault)));
        false
    }

    fn write(&self, job: &Job, answer: &Answer) {
        let is_invoked = matches!(job.request, Ok(Request::Invoke(_)));
        let fault_points = self.host.fault_points();
        let written = self
            .output
            .write(job.sequence, &answer.reply, is_invoked, fault_points);
        if written.is_err() {
            self.update(|schedule| {
                schedule.stop.get_or_insert(Stop::Closed);
            });
        } else if let Some(point) = answer.behind {
            fault_points.reach(point);
        }
    }

    /// Everything that was started is answered: closes what is open and says how it ends.
    fn finish(&self) -> Exit {
        let closed = self.host.close_all();
        let (stop, end) = {
            let mut schedule = self.schedule();
            (schedule.stop.take(), schedule.end.take())
        };
        let (fault, exit) = match (stop, end) {
            (Some(Stop::Closed), _) => return Exit::Stream,
            (Some(Stop::Broken(fault)), _) => (fault, Exit::Internal),
            (None, Some(End::Fault(fault))) => (fault, Exit::Stream),
            (None, Some(End::Orderly)) if closed.is_ok() => return Exit::Orderly,
            (None, _) => (
                Fault::new("internal", "contexts could not be closed", 0),
                Exit::Internal,
            ),
        };
        let reply = Reply::fault(&fault);
        let fault_points = self.host.fault_points();
        // Nobody may be left to read it; the exit code says the same.
        let _ = self
            .output
            .write(fault.sequence, &reply, false, fault_points);
        exit
    }
}
