// SPDX-License-Identifier: Apache-2.0
//! One request to one program of the toolchain: started, held to its bounds, and every end that is
//! no exit as a failure.

use crate::{
    child::run,
    ended::{Ended, Outcome},
    launch::ChildSpec,
    sandbox::Isolation,
    staging::Inputs,
    wait::{Deadline, Watch},
};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    diagnostic::{Child, Detail, Excerpt},
    failure::{Failure, FailureKind, Stage},
    ports::StopFlag,
};
use std::path::Path;

/// A program that answers one request and ends, and what its failures are called.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Its role in diagnostics.
    pub role: &'static str,
    /// The stage of its failures.
    pub stage: Stage,
    /// What it does: `build`, `verification`, `evaluation`.
    pub work: &'static str,
    /// It was not started.
    pub not_started: FailureKind,
    /// A signal ended it.
    pub crashed: FailureKind,
    /// It took too long.
    pub late: FailureKind,
}

/// What a task is held to.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Wall limit in milliseconds.
    pub wall_timeout_ms: u64,
    /// Limit of written bytes.
    pub artifact_bytes: ByteLimit,
}

/// How and where a task runs.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The verified copy of the program.
    pub program: &'a Path,
    /// Its inputs and its private directory.
    pub inputs: &'a Inputs<'a>,
    /// Whether it may run with less than full isolation.
    pub isolation: Isolation,
    /// The stop flag of the run.
    pub stop: &'a StopFlag,
}

impl Task {
    /// Writes `request` to the program and waits: how it ended and its exit code, when it ended by
    /// itself and in time.
    ///
    /// # Errors
    /// The kinds of the task; `ArtifactBytesExceeded`, `Interrupted`, `CleanupIncomplete`.
    pub fn ask(
        &self,
        place: Place<'_>,
        request: &str,
        bounds: Bounds,
    ) -> Result<(Ended, i32), Failure> {
        let spec = ChildSpec {
            file_bytes: bounds.artifact_bytes.get(),
            cpu_seconds: Some(bounds.wall_timeout_ms.div_ceil(1000).saturating_add(1)),
            isolation: place.isolation,
            readable: vec![place.inputs.path().to_owned()],
            ..ChildSpec::new(place.program, place.inputs.private())
        };
        let stop = || place.stop.is_set();
        let watch = Watch {
            deadline: Deadline::after_ms(bounds.wall_timeout_ms),
            stop: &stop,
        };
        let ended = run(&spec, request.as_bytes(), watch)
            .map_err(|error| self.unstarted(error.to_string()))?;
        let code = self.exit_code(&ended, bounds, place.stop)?;
        Ok((ended, code))
    }

    /// A failure of this stage about the process, with what it printed last.
    pub fn failed(&self, kind: FailureKind, message: &str, ended: &Ended) -> Failure {
        self.failed_in(self.stage, kind, message, ended)
    }

    /// Nothing that the program started may outlive it.
    ///
    /// # Errors
    /// `CleanupIncomplete`.
    pub fn no_survivor(&self, ended: &Ended) -> Result<(), Failure> {
        if ended.survivors == 0 {
            return Ok(());
        }
        let message = format!("a descendant of the {} is still alive", self.role);
        let kind = FailureKind::CleanupIncomplete;
        Err(self.failed_in(Stage::Cleanup, kind, &message, ended))
    }

    /// The failure of a program that wrote more than `limit` bytes.
    pub fn too_many_bytes(&self, limit: ByteLimit) -> Failure {
        let message = format!(
            "the {} writes more than the {} bytes that are left",
            self.work,
            limit.get()
        );
        Failure::new(Stage::Report, FailureKind::ArtifactBytesExceeded, message).with_detail(
            Detail::Limit {
                limit: limit.get(),
                actual: None,
            },
        )
    }

    fn failed_in(&self, stage: Stage, kind: FailureKind, message: &str, ended: &Ended) -> Failure {
        let child = Detail::Child(ended.child(self.role));
        let failure = Failure::new(stage, kind, message).with_detail(child);
        let stream = if ended.stderr.total() > 0 {
            &ended.stderr
        } else {
            &ended.stdout
        };
        if stream.total() == 0 {
            return failure;
        }
        let mut excerpt = Excerpt::of_bytes(stream.head());
        excerpt.truncated |= stream.is_truncated();
        excerpt.byte_length = stream.total();
        failure.with_excerpt(excerpt)
    }

    /// The failure of work whose process was never started, for example because what it needs could
    /// not be written.
    pub fn unstarted(&self, message: String) -> Failure {
        let child = Child::not_started(self.role);
        Failure::new(self.stage, self.not_started, message).with_detail(Detail::Child(child))
    }

    fn exit_code(&self, ended: &Ended, bounds: Bounds, stop: &StopFlag) -> Result<i32, Failure> {
        if ended.hit_file_limit() {
            return Err(self.too_many_bytes(bounds.artifact_bytes));
        }
        let role = self.role;
        let (kind, message) = match &ended.outcome {
            Outcome::Exited(code) => return Ok(*code),
            Outcome::Stopped => {
                return Err(Failure::interrupted(stop.signal().unwrap_or_default()));
            }
            Outcome::Killed => {
                let message = format!("the {role} cannot be reaped");
                let kind = FailureKind::CleanupIncomplete;
                return Err(self.failed_in(Stage::Cleanup, kind, &message, ended));
            }
            Outcome::NotLaunched(reason) => (
                self.not_started,
                format!("the {role} was not started: {reason}"),
            ),
            Outcome::Signaled(signal) => {
                (self.crashed, format!("signal {signal} ended the {role}"))
            }
            Outcome::TimedOut => {
                let (work, limit) = (self.work, bounds.wall_timeout_ms);
                (self.late, format!("the {work} took longer than {limit} ms"))
            }
        };
        Err(self.failed(kind, &message, ended))
    }
}
