// SPDX-License-Identifier: Apache-2.0
//! The public compiler behind the port `Compiler`: a runner-owned copy in, four artifacts out.
//!
//! Nothing here makes Core or Target IR; what the compiler did not write does not exist.

mod jsonl;
mod outputs;
mod stage;

use edict_test_model::{
    built::Built,
    failure::{Failure, FailureKind, Stage},
    ports::{BuildRequest, Compiler, Notices, StopFlag},
};
use edict_test_process::{Bounds, Isolation, Place, PrivateDir, Task};
use std::{path::PathBuf, sync::Arc};

/// What a build is and how it fails.
const TASK: Task = Task {
    role: "compiler",
    stage: Stage::Build,
    work: "build",
    not_started: FailureKind::CompilerSpawnFailed,
    crashed: FailureKind::CompilerCrashed,
    late: FailureKind::BuildTimeout,
};

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
    /// Where builds tell what the compiler did beside its work.
    pub notices: Notices,
}

impl Compiler for EdictCompiler {
    fn build(&self, request: &BuildRequest) -> Result<Built, Failure> {
        let private = PrivateDir::create(&self.temporary).map_err(|error| {
            let message = format!("make a private directory for the compiler: {error}");
            TASK.unstarted(message)
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
        let place = Place {
            program: &self.program,
            private: private.path(),
            isolation: self.isolation,
            stop: &self.stop,
        };
        let bounds = Bounds {
            wall_timeout_ms: request.wall_timeout_ms,
            artifact_bytes: request.artifact_bytes,
        };
        let (ended, code) = TASK.ask(place, &jsonl::request(&staged.document), bounds)?;
        jsonl::judge(&ended, code, &request.files)?;
        TASK.no_survivor(&ended)?;
        let built = outputs::read(&staged.output, request)?;
        if let Some(notice) = ended.stray(Stage::Build, "compiler") {
            self.notices.tell(notice);
        }
        Ok(built)
    }
}
