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
use edict_test_process::{Bounds, Isolation, IsolationLevel, Place, Staging, Task};
use stage::Staged;
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
    /// Where each build gets its inputs and a private directory.
    pub staging: Arc<Staging>,
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
        let staged = stage::stage(&self.staging, request, &self.provider)?;
        let built = self.build_in(&staged, request);
        let kept_out = matches!(&built, Ok((_, IsolationLevel::Full)));
        // The build is the first in time; what cannot be removed only matters when it succeeded (F4).
        match (built, staged.inputs.close(kept_out)) {
            (Ok(_), Err(error)) => {
                let message = format!("remove the directory of a build: {error}");
                Err(Failure::new(
                    Stage::Cleanup,
                    FailureKind::CleanupIncomplete,
                    message,
                ))
            }
            (built, _) => built.map(|(built, _)| built),
        }
    }
}

impl EdictCompiler {
    /// The build, and the isolation that the compiler had.
    fn build_in(
        &self,
        staged: &Staged<'_>,
        request: &BuildRequest,
    ) -> Result<(Built, IsolationLevel), Failure> {
        let place = Place {
            program: &self.program,
            inputs: &staged.inputs,
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
        Ok((built, ended.isolation.unwrap_or(IsolationLevel::None)))
    }
}
