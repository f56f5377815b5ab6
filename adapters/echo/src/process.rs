// SPDX-License-Identifier: Apache-2.0
//! The transport over an owned child: the verified copy of the host, its pipes, its private
//! directory and its state root.

use crate::transport::{Ending, Launch, Transport, TransportError};
use edict_test_model::ports::StopFlag;
use edict_test_model::{Excerpt, Stage};
use edict_test_process::{
    ChildSpec, Deadline, Ended, Isolation, Outcome, OwnedChild, PrivateDir, TEARDOWN_MS, TalkError,
    Watch,
};
use std::path::PathBuf;

/// How a host is started.
#[derive(Clone, Debug)]
pub struct ProcessSettings {
    /// The verified copy of the host.
    pub program: PathBuf,
    /// The runner's private directory; those of the process are made below it.
    pub directory: PathBuf,
    /// Whether the host may start with less than full isolation.
    pub isolation: Isolation,
    /// Greatest size of a file that it may write, in bytes.
    pub file_bytes: u64,
    /// Wall limit of one request in milliseconds.
    pub wall_timeout_ms: u64,
    /// The stop flag of the run.
    pub stop: StopFlag,
}

/// Starts host processes.
#[derive(Debug)]
pub struct ProcessLaunch(ProcessSettings);

impl ProcessLaunch {
    /// A launcher of `settings`.
    pub fn new(settings: ProcessSettings) -> Self {
        Self(settings)
    }
}

impl Launch for ProcessLaunch {
    fn launch(&self) -> Result<Box<dyn Transport>, String> {
        let settings = &self.0;
        let directory =
            PrivateDir::create(&settings.directory).map_err(|error| error.to_string())?;
        let mut spec = ChildSpec::new(&settings.program, directory.path());
        spec.arguments = vec![
            "serve".into(),
            "--state-root".into(),
            directory.path().into(),
        ];
        spec.isolation = settings.isolation;
        spec.file_bytes = settings.file_bytes;
        let child = OwnedChild::spawn(&spec).map_err(|error| error.to_string())?;
        Ok(Box::new(ProcessTransport {
            child,
            directory,
            deadline: Deadline::after_ms(settings.wall_timeout_ms),
            wall_timeout_ms: settings.wall_timeout_ms,
            stop: settings.stop.clone(),
        }))
    }
}

#[derive(Debug)]
struct ProcessTransport {
    child: OwnedChild,
    /// Working directory and state root at once; removed as a whole.
    directory: PrivateDir,
    deadline: Deadline,
    wall_timeout_ms: u64,
    stop: StopFlag,
}

impl Transport for ProcessTransport {
    fn begin(&mut self) {
        self.deadline = Deadline::after_ms(self.wall_timeout_ms);
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let (stop, deadline) = (&self.stop, self.deadline);
        let watch = Watch {
            deadline,
            stop: &|| stop.is_set(),
        };
        self.child.send(bytes, watch).map_err(talk)
    }

    fn receive(&mut self, length: usize) -> Result<Vec<u8>, TransportError> {
        let (stop, deadline) = (&self.stop, self.deadline);
        let watch = Watch {
            deadline,
            stop: &|| stop.is_set(),
        };
        self.child.receive(length, watch).map_err(talk)
    }

    fn end(self: Box<Self>, orderly: bool) -> Ending {
        let ended = if orderly {
            self.child.finish(TEARDOWN_MS)
        } else {
            self.child.kill()
        };
        let mut ending = ending(ended);
        if let Err(error) = self.directory.remove() {
            ending.leftover = Some(format!("remove the directory of the host: {error}"));
        }
        ending
    }
}

fn talk(error: TalkError) -> TransportError {
    match error {
        TalkError::Closed => TransportError::Closed,
        TalkError::TimedOut => TransportError::TimedOut,
        TalkError::Stopped => TransportError::Stopped,
        TalkError::Io(error) => TransportError::Failed(error.to_string()),
    }
}

fn ending(ended: Ended) -> Ending {
    let stderr = ended.stderr.head();
    Ending {
        child: Some(ended.child("host")),
        stray: ended.stray(Stage::Host, "host"),
        excerpt: (!stderr.is_empty()).then(|| Excerpt::of_bytes(stderr)),
        orderly: ended.outcome == Outcome::Exited(0),
        unread: ended.stdout.total(),
        survivors: ended.survivors,
        leftover: None,
        hit_file_limit: ended.hit_file_limit(),
        not_launched: match ended.outcome {
            Outcome::NotLaunched(why) => Some(why),
            Outcome::Exited(_)
            | Outcome::Signaled(_)
            | Outcome::TimedOut
            | Outcome::Stopped
            | Outcome::Killed => None,
        },
    }
}
