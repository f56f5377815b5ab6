// SPDX-License-Identifier: Apache-2.0
//! How the verifier process ended, as a failure or as an exit code.

use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    diagnostic::{Detail, Excerpt},
    failure::{Failure, FailureKind, Stage},
    ports::StopFlag,
};
use edict_test_process::{Ended, Outcome, SpawnError};

/// The role in diagnostics.
pub(crate) const ROLE: &str = "verifier";

/// What a process is held to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    /// What it is to do.
    pub(crate) work: &'static str,
    /// Wall limit in milliseconds.
    pub(crate) wall_timeout_ms: u64,
    /// Limit of written bytes.
    pub(crate) artifact_bytes: ByteLimit,
}

/// A failure about the process, with what it printed last.
pub(crate) fn failed(stage: Stage, kind: FailureKind, message: &str, ended: &Ended) -> Failure {
    let failure = Failure::new(stage, kind, message).with_detail(Detail::Child(ended.child(ROLE)));
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

/// The launcher could not even be started.
pub(crate) fn launch_failure(error: &SpawnError) -> Failure {
    Failure::new(
        Stage::Verify,
        FailureKind::VerifierSpawnFailed,
        error.to_string(),
    )
    .with_detail(Detail::Child(edict_test_model::diagnostic::Child {
        role: ROLE.to_owned(),
        exit_code: None,
        signal: None,
        elapsed_ms: 0,
    }))
}

/// The exit code, when the process ended by itself and in time.
pub(crate) fn exit_code(ended: &Ended, bounds: Bounds, stop: &StopFlag) -> Result<i32, Failure> {
    let verify = |kind, message: &str| Err(failed(Stage::Verify, kind, message, ended));
    if ended.hit_file_limit() {
        return Err(too_many_bytes(bounds.artifact_bytes));
    }
    match &ended.outcome {
        Outcome::Exited(code) => Ok(*code),
        Outcome::NotLaunched(reason) => verify(
            FailureKind::VerifierSpawnFailed,
            &format!("the verifier was not started: {reason}"),
        ),
        Outcome::Signaled(signal) => verify(
            FailureKind::VerifierCrashed,
            &format!("signal {signal} ended the verifier"),
        ),
        Outcome::TimedOut => verify(
            FailureKind::VerifyTimeout,
            &format!(
                "the {} took longer than {} ms",
                bounds.work, bounds.wall_timeout_ms
            ),
        ),
        Outcome::Stopped => Err(interrupted(stop)),
        Outcome::Killed => Err(failed(
            Stage::Cleanup,
            FailureKind::CleanupIncomplete,
            "the verifier cannot be reaped",
            ended,
        )),
    }
}

/// The limit of written bytes was reached.
pub(crate) fn too_many_bytes(limit: ByteLimit) -> Failure {
    let message = format!(
        "a verification writes more than the {} bytes that are left",
        limit.get()
    );
    Failure::new(Stage::Report, FailureKind::ArtifactBytesExceeded, message).with_detail(
        Detail::Limit {
            limit: limit.get(),
            actual: None,
        },
    )
}

fn interrupted(stop: &StopFlag) -> Failure {
    let name = match stop.signal() {
        Some(1) => "HUP",
        Some(15) => "TERM",
        _ => "INT",
    };
    let message = format!("the run was interrupted by {name}");
    Failure::new(Stage::Interrupt, FailureKind::Interrupted, message)
        .with_detail(Detail::Signal(name.to_owned()))
}
