// SPDX-License-Identifier: Apache-2.0
//! The private directory of a run, and the copies of its programs that are made while they are read.

use edict_test_model::{Failure, FailureKind, Stage, suite::Role};
use edict_test_process::{PrivateDir, ToolDir, ToolStage};
use std::path::Path;

/// The private directory of a run with the copies of its programs, made when the first bytes come.
pub(super) struct Staged<'a> {
    parent: &'a Path,
    made: Option<(PrivateDir, ToolStage)>,
}

impl<'a> Staged<'a> {
    /// Nothing is made yet; the directory will stand below `parent`.
    pub(super) fn new(parent: &'a Path) -> Self {
        Self { parent, made: None }
    }

    fn made(&mut self) -> Result<&mut (PrivateDir, ToolStage), Failure> {
        if self.made.is_none() {
            let failed = |error: std::io::Error| not_private(self.parent, &error);
            let private = PrivateDir::create(self.parent).map_err(failed)?;
            let stage = ToolStage::create(private.path()).map_err(failed)?;
            self.made = Some((private, stage));
        }
        self.made
            .as_mut()
            .ok_or_else(|| Failure::internal("a made directory is not there"))
    }

    /// Adds bytes of the program of a role.
    ///
    /// # Errors
    /// `UsageError` for a place that cannot be written.
    pub(super) fn write(&mut self, role: Role, bytes: &[u8]) -> Result<(), Failure> {
        let (private, stage) = self.made()?;
        stage
            .write(role.name(), bytes)
            .map_err(|error| not_private(private.path(), &error))
    }

    /// Seals the copies; from here on they can run.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub(super) fn seal(mut self) -> Result<(ToolDir, PrivateDir), Failure> {
        self.made()?;
        let Some((private, stage)) = self.made else {
            return Err(Failure::internal("a made directory is not there"));
        };
        match stage.seal() {
            Ok(directory) => Ok((directory, private)),
            Err(error) => Err(not_private(private.path(), &error)),
        }
    }
}

fn not_private(place: &Path, error: &std::io::Error) -> Failure {
    let message = format!(
        "make a private directory in `{}`: {error}; choose another with --temp-root",
        place.display()
    );
    Failure::new(Stage::Arguments, FailureKind::UsageError, message)
}
