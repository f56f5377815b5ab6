// SPDX-License-Identifier: Apache-2.0
//! The public compiler behind the port `Compiler`: a runner-owned copy in, four artifacts out.
//!
//! Nothing here makes Core or Target IR; what the compiler did not write does not exist.

mod failure;
mod jsonl;
mod outputs;
mod stage;

use crate::failure::{failed, launch_failure};
use edict_test_model::{
    built::Built,
    failure::{Failure, FailureKind, Stage},
    ports::{BuildRequest, Compiler, StopFlag},
};
use edict_test_process::{ChildSpec, Deadline, Isolation, PrivateDir, Watch, run};
use std::{path::PathBuf, sync::Arc};

/// The compiler of a lock, as its verified copy.
#[derive(Clone, Debug)]
pub struct EdictCompiler {
    /// The verified copy.
    pub program: PathBuf,
    /// Existing directory below which each build gets a private one.
    pub temporary: PathBuf,
    /// Path and bytes of every file of the provider package, in shape `upstream`.
    pub provider: Vec<(String, Arc<[u8]>)>,
    /// Whether the compiler may run with less than full isolation.
    pub isolation: Isolation,
    /// The stop flag of the run.
    pub stop: StopFlag,
}

impl Compiler for EdictCompiler {
    fn build(&self, request: &BuildRequest) -> Result<Built, Failure> {
        let private = PrivateDir::create(&self.temporary).map_err(|error| {
            let message = format!("make a private directory for the compiler: {error}");
            Failure::new(Stage::Build, FailureKind::CompilerSpawnFailed, message)
        })?;
        let built = self.build_in(&private, request);
        // The build is the first in time; what cannot be removed only matters when it succeeded (F4).
        match (built, private.remove()) {
            (Ok(_), Err(error)) => {
                let message = format!("remove the directory of a build: {error}");
                Err(Failure::new(
                    Stage::Cleanup,
                    FailureKind::CleanupIncomplete,
                    message,
                ))
            }
            (built, _) => built,
        }
    }
}

impl EdictCompiler {
    fn build_in(&self, private: &PrivateDir, request: &BuildRequest) -> Result<Built, Failure> {
        let staged = stage::stage(private.path(), request, &self.provider)?;
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
        let ended = run(&spec, jsonl::request(&staged.document).as_bytes(), watch)
            .map_err(|error| launch_failure(&error))?;
        let code = failure::exit_code(&ended, request, &self.stop)?;
        jsonl::judge(&ended, code, &request.files)?;
        if ended.survivors > 0 {
            let message = "a descendant of the compiler is still alive";
            return Err(failed(
                Stage::Cleanup,
                FailureKind::CleanupIncomplete,
                message,
                &ended,
            ));
        }
        outputs::read(&staged.output, request)
    }
}
