// SPDX-License-Identifier: Apache-2.0
//! The independent verifier behind the port `Verifier`: artifacts in, a judgement and its report out.
//!
//! A rejection is a judgement. Whether the report is about this package is not decided here, but
//! recomputed by the model from the bytes.

mod evaluate;
mod failure;
mod report;
mod request;

use crate::failure::{Bounds, failed, launch_failure};
use edict_test_model::{
    built::Verified,
    failure::{Failure, FailureKind, Stage},
    ports::{StopFlag, Verifier, VerifyRequest},
};
use edict_test_process::{ChildSpec, Deadline, Ended, Isolation, PrivateDir, Watch, run};
use std::path::{Path, PathBuf};

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
}

impl Verifier for ReportVerifier {
    fn verify(&self, request: &VerifyRequest) -> Result<Verified, Failure> {
        self.in_private(|private| {
            request::stage(private, request)?;
            let bounds = Bounds {
                work: "verification",
                wall_timeout_ms: request.wall_timeout_ms,
                artifact_bytes: request.artifact_bytes,
            };
            let (ended, code) = self.ask(private, &request::line(request), bounds)?;
            let judgement = report::judge(&ended, code)?;
            no_survivor(&ended)?;
            report::read(private, judgement, request, &ended)
        })
    }
}

impl ReportVerifier {
    /// Works in a directory that is removed afterwards.
    fn in_private<T>(&self, work: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
        let private = PrivateDir::create(&self.temporary).map_err(|error| {
            let message = format!("make a private directory for the verifier: {error}");
            Failure::new(Stage::Verify, FailureKind::VerifierSpawnFailed, message)
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

    /// Runs the program on one request; how it ended, and its exit code when it ended by itself.
    fn ask(&self, private: &Path, line: &str, bounds: Bounds) -> Result<(Ended, i32), Failure> {
        let spec = ChildSpec {
            file_bytes: bounds.artifact_bytes.get(),
            cpu_seconds: Some(bounds.wall_timeout_ms.div_ceil(1000).saturating_add(1)),
            isolation: self.isolation,
            ..ChildSpec::new(&self.program, private)
        };
        let stop = || self.stop.is_set();
        let watch = Watch {
            deadline: Deadline::after_ms(bounds.wall_timeout_ms),
            stop: &stop,
        };
        let ended = run(&spec, line.as_bytes(), watch).map_err(|error| launch_failure(&error))?;
        let code = failure::exit_code(&ended, bounds, &self.stop)?;
        Ok((ended, code))
    }
}

fn no_survivor(ended: &Ended) -> Result<(), Failure> {
    if ended.survivors == 0 {
        return Ok(());
    }
    let message = "a descendant of the verifier is still alive";
    Err(failed(
        Stage::Cleanup,
        FailureKind::CleanupIncomplete,
        message,
        ended,
    ))
}
