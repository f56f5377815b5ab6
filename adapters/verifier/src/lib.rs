// SPDX-License-Identifier: Apache-2.0
//! The independent verifier behind the port `Verifier`: artifacts in, a judgement and its report out.
//!
//! A rejection is a judgement. Whether the report is about this package is not decided here, but
//! recomputed by the model from the bytes.

mod failure;
mod report;
mod request;

use crate::failure::{failed, launch_failure};
use edict_test_model::{
    built::Verified,
    failure::{Failure, FailureKind, Stage},
    ports::{StopFlag, Verifier, VerifyRequest},
};
use edict_test_process::{ChildSpec, Deadline, Isolation, PrivateDir, Watch, run};
use std::path::PathBuf;

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
        let private = PrivateDir::create(&self.temporary).map_err(|error| {
            let message = format!("make a private directory for the verifier: {error}");
            Failure::new(Stage::Verify, FailureKind::VerifierSpawnFailed, message)
        })?;
        let verified = self.verify_in(&private, request);
        // The verification is the first in time; what cannot be removed only matters when it
        // succeeded (F4).
        match (verified, private.remove()) {
            (Ok(_), Err(error)) => {
                let message = format!("remove the directory of a verification: {error}");
                Err(Failure::new(
                    Stage::Cleanup,
                    FailureKind::CleanupIncomplete,
                    message,
                ))
            }
            (verified, _) => verified,
        }
    }
}

impl ReportVerifier {
    fn verify_in(
        &self,
        private: &PrivateDir,
        request: &VerifyRequest,
    ) -> Result<Verified, Failure> {
        request::stage(private.path(), request)?;
        let spec = ChildSpec {
            file_bytes: request.artifact_bytes.get(),
            cpu_seconds: Some(request.wall_timeout_ms.div_ceil(1000).saturating_add(1)),
            isolation: self.isolation,
            ..ChildSpec::new(&self.program, private.path())
        };
        let stop = || self.stop.is_set();
        let watch = Watch {
            deadline: Deadline::after_ms(request.wall_timeout_ms),
            stop: &stop,
        };
        let ended = run(&spec, request::line(request).as_bytes(), watch)
            .map_err(|error| launch_failure(&error))?;
        let code = failure::exit_code(&ended, request, &self.stop)?;
        let judgement = report::judge(&ended, code)?;
        if ended.survivors > 0 {
            let message = "a descendant of the verifier is still alive";
            return Err(failed(
                Stage::Cleanup,
                FailureKind::CleanupIncomplete,
                message,
                &ended,
            ));
        }
        report::read(private.path(), judgement, request, &ended)
    }
}
