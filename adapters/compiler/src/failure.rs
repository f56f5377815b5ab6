// SPDX-License-Identifier: Apache-2.0
//! How the compiler process ended, as a failure or as an exit code.

use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    diagnostic::{Detail, Excerpt},
    failure::{Failure, FailureKind, Stage},
    ports::{BuildRequest, StopFlag},
};
use edict_test_process::{Ended, Outcome, SpawnError};

/// The role in diagnostics.
pub(crate) const ROLE: &str = "compiler";

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
        Stage::Build,
        FailureKind::CompilerSpawnFailed,
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
pub(crate) fn exit_code(
    ended: &Ended,
    request: &BuildRequest,
    stop: &StopFlag,
) -> Result<i32, Failure> {
    let build = |kind, message: &str| Err(failed(Stage::Build, kind, message, ended));
    if ended.hit_file_limit() {
        return Err(too_many_bytes(request.artifact_bytes));
    }
    match &ended.outcome {
        Outcome::Exited(code) => Ok(*code),
        Outcome::NotLaunched(reason) => build(
            FailureKind::CompilerSpawnFailed,
            &format!("the compiler was not started: {reason}"),
        ),
        Outcome::Signaled(signal) => build(
            FailureKind::CompilerCrashed,
            &format!("signal {signal} ended the compiler"),
        ),
        Outcome::TimedOut => build(
            FailureKind::BuildTimeout,
            &format!("the build took longer than {} ms", request.wall_timeout_ms),
        ),
        Outcome::Stopped => Err(interrupted(stop)),
        Outcome::Killed => Err(failed(
            Stage::Cleanup,
            FailureKind::CleanupIncomplete,
            "the compiler cannot be reaped",
            ended,
        )),
    }
}

/// The limit of written bytes was reached.
pub(crate) fn too_many_bytes(limit: ByteLimit) -> Failure {
    let message = format!(
        "a build writes more than the {} bytes that are left",
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
