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
use edict_test_process::{
    Bounds, InputFile, Inputs, Isolation, IsolationLevel, Place, Staging, Task,
};
use std::{fs, io, path::PathBuf, sync::Arc};

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
    /// Where each verification gets its inputs and a private directory.
    pub staging: Arc<Staging>,
    /// Whether the verifier may run with less than full isolation.
    pub isolation: Isolation,
    /// The stop flag of the run.
    pub stop: StopFlag,
    /// Where verifications tell what the verifier did beside its work.
    pub notices: Notices,
}

impl Verifier for ReportVerifier {
    fn verify(&self, request: &VerifyRequest) -> Result<Verified, Failure> {
        self.with_inputs(&request::files(request), |inputs| {
            let bounds = Bounds {
                wall_timeout_ms: request.wall_timeout_ms,
                artifact_bytes: request.artifact_bytes,
            };
            let (ended, code) = TASK.ask(self.place(inputs), &request::line(request), bounds)?;
            let judgement = report::judge(&ended, code)?;
            TASK.no_survivor(&ended)?;
            let verified = report::read(inputs.private(), judgement, request, &ended)?;
            if let Some(notice) = ended.stray(Stage::Verify, "verifier") {
                self.notices.tell(notice);
            }
            Ok((verified, ended.isolation))
        })
    }
}

impl ReportVerifier {
    /// Works in a directory that is removed afterwards, over `files`. The work tells also which
    /// isolation the verifier had.
    fn with_inputs<T>(
        &self,
        files: &[InputFile<'_>],
        work: impl FnOnce(&Inputs<'_>) -> Result<(T, Option<IsolationLevel>), Failure>,
    ) -> Result<T, Failure> {
        let unstaged = |error: io::Error| {
            let message = format!("stage the inputs of the verifier: {error}");
            TASK.unstarted(message)
        };
        let inputs = self
            .staging
            .open(files, request::PRIVATE)
            .map_err(unstaged)?;
        let output = inputs.private().join(request::OUTPUT);
        let done = fs::create_dir(output)
            .map_err(unstaged)
            .and_then(|()| work(&inputs));
        let kept_out = matches!(&done, Ok((_, Some(IsolationLevel::Full))));
        // The work is the first in time; what cannot be removed only matters when it succeeded
        // (F4).
        match (done, inputs.close(kept_out)) {
            (Ok(_), Err(error)) => {
                let message = format!("remove the directory of the verifier: {error}");
                Err(Failure::new(
                    Stage::Cleanup,
                    FailureKind::CleanupIncomplete,
                    message,
                ))
            }
            (done, _) => done.map(|(done, _)| done),
        }
    }

    fn place<'a>(&'a self, inputs: &'a Inputs<'a>) -> Place<'a> {
        Place {
            program: &self.program,
            inputs,
            isolation: self.isolation,
            stop: &self.stop,
        }
    }
}
