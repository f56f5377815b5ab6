// SPDX-License-Identifier: Apache-2.0
//! `serve`: threads that read and answer, and the one place that decides how the process ends
//! (section 1.6).

use super::{
    host::{Answer, Failure, Host},
    output::Output,
    schedule::{Arrival, End, Job, Next, Schedule, Stop},
};
use crate::wire::{
    frame::{Fault, FrameReader, RequestType},
    message,
    reply::Reply,
    request::Request,
};
use std::{
    io::Read,
    num::NonZeroUsize,
    panic::catch_unwind,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
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

struct Shared<Input> {
    host: Host,
    /// Locked by the one thread that reads.
    requests: Mutex<Requests<Input>>,
    output: Output,
    schedule: Mutex<Schedule>,
    /// There may be something to do.
    changed: Condvar,
    /// Nothing will be started any more.
    over: Condvar,
}

/// The stream of requests.
struct Requests<Input> {
    frames: FrameReader<Input>,
    /// Whether `hello` was accepted.
    greeted: bool,
}

/// Answers requests from `input` on `output` with so many workers until the stream ends.
///
/// There is one thread more than workers, and all do the same: whoever has nothing to answer reads, and
/// whoever has read a request answers it, so that no request waits for another thread to wake up.
pub fn serve(
    host: Host,
    input: impl Read + Send + 'static,
    output: Output,
    workers: NonZeroUsize,
) -> Exit {
    let shared = Arc::new(Shared {
        host,
        requests: Mutex::new(Requests {
            frames: FrameReader::new(input),
            greeted: false,
        }),
        output,
        schedule: Mutex::new(Schedule::new(workers)),
        changed: Condvar::new(),
        over: Condvar::new(),
    });
    for _ in 0..=workers.get() {
        let working = Arc::clone(&shared);
        // The size of a stack is given here and not by the environment.
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        // Nobody joins it: it may wait for a client that never writes again.
        if thread.spawn(move || working.work()).is_err() {
            let fault = Fault::new("internal", "a thread cannot be started", 0);
            shared.stop(Stop::Broken(fault));
        }
    }
    shared.finish()
}

impl<Input: Read> Shared<Input> {
    fn schedule(&self) -> MutexGuard<'_, Schedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts no further request.
    fn stop(&self, stop: Stop) {
        self.schedule().stop(stop);
        self.changed.notify_all();
        self.over.notify_all();
    }

    /// Reads and answers until nothing will be started any more.
    fn work(&self) {
        let mut schedule = self.schedule();
        loop {
            match schedule.choose() {
                Next::Run(job, ticket) => {
                    drop(schedule);
                    // Another thread reads on, or answers what need not wait for this.
                    self.changed.notify_all();
                    self.answer(&job);
                    schedule = self.schedule();
                    schedule.finish(&ticket);
                }
                Next::Read => {
                    drop(schedule);
                    let arrival = self.read();
                    schedule = self.schedule();
                    schedule.take(arrival);
                }
                Next::Wait => {
                    schedule = self
                        .changed
                        .wait(schedule)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                Next::Leave => break,
            }
        }
        drop(schedule);
        self.changed.notify_all();
        self.over.notify_all();
    }

    /// One more request, or how the stream ends.
    fn read(&self) -> Arrival {
        let read = catch_unwind(|| {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            self.read_frame(&mut requests)
        });
        match read {
            Ok(Ok(arrival)) => arrival,
            Ok(Err(fault)) => Arrival::End(End::Fault(fault)),
            Err(_) => Arrival::Broken(Fault::new("internal", "the reader panicked", 0)),
        }
    }

    fn read_frame(&self, requests: &mut Requests<Input>) -> Result<Arrival, Fault> {
        let Some(frame) = requests.frames.read()? else {
            return Ok(Arrival::End(End::Orderly));
        };
        let sequence = frame.sequence;
        match (frame.request_type, requests.greeted) {
            (RequestType::Hello, true) => {
                return Err(Fault::new("hello-repeated", "hello was accepted", sequence));
            }
            (RequestType::Hello, false) | (_, true) => {}
            (_, false) => {
                let message = "the first request is hello";
                return Err(Fault::new("hello-required", message, sequence));
            }
        }
        let job = Job {
            sequence,
            bytes: u64::try_from(frame.body.len()).unwrap_or(u64::MAX),
            request: message::decode(&frame),
        };
        if requests.greeted {
            return Ok(Arrival::Job(job));
        }
        // Nothing else runs yet, and what may follow depends on the answer.
        requests.greeted = self.answer(&job);
        Ok(Arrival::Nothing)
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
        self.stop(Stop::Broken(fault));
        false
    }

    fn write(&self, job: &Job, answer: &Answer) {
        let is_invoked = matches!(job.request, Ok(Request::Invoke(_)));
        let fault_points = self.host.fault_points();
        let written = self
            .output
            .write(job.sequence, &answer.reply, is_invoked, fault_points);
        if written.is_err() {
            self.stop(Stop::Closed);
        } else if let Some(point) = answer.behind {
            fault_points.reach(point);
        }
    }

    /// Waits until everything that was started is answered, closes what is open and says how it ends.
    fn finish(&self) -> Exit {
        let mut schedule = self.schedule();
        while !schedule.is_over() {
            schedule = self
                .over
                .wait(schedule)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (stop, end) = schedule.ending();
        drop(schedule);
        let closed = self.host.close_all();
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
