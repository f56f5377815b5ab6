// SPDX-License-Identifier: Apache-2.0
//! The independent verifier behind the port `Verifier`: artifacts in, a judgement and its report out.
//!
//! A rejection is a judgement. Whether the report is about this package is not decided here, but
//! recomputed by the model from the bytes.

mod evaluate;
mod report;
mod request;

use edict_test_model::{
    built::Verified,
    failure::{Failure, FailureKind, Stage},
    ports::{Notices, StopFlag, Verifier, VerifyRequest},
};
use edict_test_process::{Bounds, Isolation, Place, PrivateDir, Task};
use std::path::{Path, PathBuf};

/// What a verification is and how it fails.
const TASK: Task = Task {
    role: "verifier",
    stage: Stage::Verify,
    work: "verification",
    not_started: FailureKind::VerifierSpawnFailed,
    crashed: FailureKind::VerifierCrashed,
    late: FailureKind::VerifyTimeout,
};

/// The verifier of a lock, as its verified copy.
#[derive(Clone, Debug)]
pub struct ReportVerifier {
    /// The verified copy.
    pub program: PathBuf,
    /// Existing directory below which each verification gets a private one.
    pub temporary: PathBuf,
    /// Whether the verifier may run with less than full isolation.
    pub isolation: Isolation,
    /// The stop flag of the run.
    pub stop: StopFlag,
    /// Where verifications tell what the verifier did beside its work.
    pub notices: Notices,
}

impl Verifier for ReportVerifier {
    fn verify(&self, request: &VerifyRequest) -> Result<Verified, Failure> {
        self.in_private(|private| {
            request::stage(private, request)?;
            let bounds = Bounds {
                wall_timeout_ms: request.wall_timeout_ms,
                artifact_bytes: request.artifact_bytes,
            };
            let (ended, code) = TASK.ask(self.place(private), &request::line(request), bounds)?;
            let judgement = report::judge(&ended, code)?;
            TASK.no_survivor(&ended)?;
            let verified = report::read(private, judgement, request, &ended)?;
            if let Some(notice) = ended.stray(Stage::Verify, "verifier") {
                self.notices.tell(notice);
            }
            Ok(verified)
        })
    }
}

impl ReportVerifier {
    /// Works in a directory that is removed afterwards.
    fn in_private<T>(&self, work: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
        let private = PrivateDir::create(&self.temporary).map_err(|error| {
            let message = format!("make a private directory for the verifier: {error}");
            TASK.unstarted(message)
        })?;
        let done = work(private.path());
        // The work is the first in time; what cannot be removed only matters when it succeeded
        // (F4).
        match (done, private.remove()) {
            (Ok(_), Err(error)) => {
                let message = format!("remove the directory of the verifier: {error}");
                Err(Failure::new(
                    Stage::Cleanup,
                    FailureKind::CleanupIncomplete,
                    message,
                ))
            }
            (done, _) => done,
        }
    }

    fn place<'a>(&'a self, private: &'a Path) -> Place<'a> {
        Place {
            program: &self.program,
            private,
            isolation: self.isolation,
            stop: &self.stop,
        }
    }
}
