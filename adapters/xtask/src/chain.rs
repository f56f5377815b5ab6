// SPDX-License-Identifier: Apache-2.0
//! The real programs in a row, each through its own process: compiler, verifier, second evaluator
//! and host. Written from their contracts, so that none of them can vouch for itself.

pub mod host;
pub mod workshop;

pub use host::{Host, Outcome};
pub use workshop::{Attempt, Built, Refused, Workshop};

use serde_json::Value as Json;
use std::{
    collections::BTreeMap,
    fmt,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Why a link of the chain did not hold, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError(String);

impl ChainError {
    /// An error that says `reason`.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ChainError {}

impl From<crate::host::HostError> for ChainError {
    fn from(error: crate::host::HostError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for ChainError {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Atoms: value bytes by space and key bytes.
pub type Atoms = BTreeMap<(String, Vec<u8>), Vec<u8>>;

/// What a program answered.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The exit code; `None` after a signal.
    pub code: Option<i32>,
    /// The records on standard output.
    pub output: Vec<Json>,
    /// The records on standard error.
    pub errors: Vec<Json>,
}

impl Answer {
    /// The first record of standard output of a program that ended with 0.
    ///
    /// # Errors
    /// When it ended otherwise; with everything it said.
    pub fn success(self, program: &str) -> Result<Json, ChainError> {
        match (self.code, self.output.into_iter().next()) {
            (Some(0), Some(record)) => Ok(record),
            (code, _) => Err(ChainError::new(format!(
                "{program} ended with {code:?}: {:?}",
                self.errors
            ))),
        }
    }
}

/// Where the programs stand.
#[derive(Clone, Debug)]
pub struct Programs(PathBuf);

impl Programs {
    /// The programs in `directory`.
    ///
    /// # Errors
    /// The name of one that is missing.
    pub fn at(directory: impl Into<PathBuf>) -> Result<Self, ChainError> {
        let programs = Self(directory.into());
        for name in ["edict", "edict-verifier", "echo-host"] {
            if !programs.path(name).is_file() {
                let place = programs.0.display();
                return Err(ChainError::new(format!(
                    "`{name}` is not in {place}; run: cargo build --workspace --bins"
                )));
            }
        }
        Ok(programs)
    }

    /// The file of a program.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Starts `program` in `directory`, writes one request and reads all records.
    ///
    /// # Errors
    /// When it cannot be started or answers with something else than records.
    pub fn ask(
        &self,
        program: &str,
        directory: &Path,
        request: &Json,
    ) -> Result<Answer, ChainError> {
        self.ask_lines(program, directory, &request.to_string())
    }

    /// The same with a request of several lines.
    ///
    /// # Errors
    /// As [`Self::ask`].
    pub fn ask_lines(
        &self,
        program: &str,
        directory: &Path,
        request: &str,
    ) -> Result<Answer, ChainError> {
        let mut child = Command::new(self.path(program))
            .current_dir(directory)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(format!("{request}\n").as_bytes())?;
        }
        let output = child.wait_with_output()?;
        let records = |bytes: &[u8]| -> Result<Vec<Json>, ChainError> {
            bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| {
                    serde_json::from_slice(line).map_err(|error| {
                        let line = String::from_utf8_lossy(line);
                        ChainError::new(format!("{program}: {error}: {line}"))
                    })
                })
                .collect()
        };
        Ok(Answer {
            code: output.status.code(),
            output: records(&output.stdout)?,
            errors: records(&output.stderr)?,
        })
    }
}
