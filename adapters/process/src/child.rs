// SPDX-License-Identifier: Apache-2.0
//! `OwnedChild`: talking to a child under a deadline, and its end whatever it does (P11-P13).

use crate::{
    ended::{Ended, Outcome, outcome_of},
    guard::{self, SpawnError},
    launch::{ChildSpec, LaunchStatus},
    reap::{owned, sweep},
    stream::{CHUNK, Stream},
    wait::{Deadline, GaveUp, Watch, poll_slice},
};
use rustix::{
    event::{PollFd, PollFlags},
    io::Errno,
    process::{
        Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, pidfd_send_signal,
        waitid,
    },
};
use std::{
    os::fd::{AsFd as _, OwnedFd},
    time::Instant,
};

/// How long a killed child may take to become waitable, in milliseconds.
const DEATH_MS: u64 = 2_000;

/// Why a conversation cannot go on. The child is still to be ended with [`OwnedChild::finish`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TalkError {
    /// The child reads no more: it closed its standard input or is gone.
    #[error("the child reads no more")]
    Closed,
    /// The deadline passed.
    #[error("the deadline passed")]
    TimedOut,
    /// A stop was asked for.
    #[error("a stop was asked for")]
    Stopped,
    /// The operating system refused.
    #[error("the pipe failed: {0}")]
    Io(Errno),
}

impl From<GaveUp> for TalkError {
    fn from(gave_up: GaveUp) -> Self {
        match gave_up {
            GaveUp::Late => Self::TimedOut,
            GaveUp::Stopped => Self::Stopped,
        }
    }
}

/// A child with its pipes, its process group and its descendants.
///
/// [`OwnedChild::finish`] or [`OwnedChild::kill`] ends it; dropping it does so without telling what was
/// found.
#[derive(Debug)]
pub struct OwnedChild {
    pid: Pid,
    pidfd: OwnedFd,
    status: OwnedFd,
    stdin: Option<OwnedFd>,
    stdout: Stream,
    stderr: Stream,
    since: Instant,
    reaped: bool,
    _status_source: OwnedFd,
}

/// Runs a program to its end: gives it `input`, closes its standard input, keeps what it prints.
///
/// The end is that of the program itself: descendants that hold its streams open are killed.
///
/// # Errors
/// When the launcher cannot be started. Everything later is an [`Outcome`].
pub fn run(spec: &ChildSpec, input: &[u8], watch: Watch<'_>) -> Result<Ended, SpawnError> {
    let mut child = OwnedChild::spawn(spec)?;
    let cause = child.feed(input, watch).err();
    Ok(child.end(cause.map(Outcome::from)))
}

impl OwnedChild {
    /// Starts a program. Whether it was really executed is known at its end.
    ///
    /// # Errors
    /// When the launcher cannot be started.
    pub fn spawn(spec: &ChildSpec) -> Result<Self, SpawnError> {
        let since = Instant::now();
        let started = guard::start(spec)?;
        Ok(Self {
            pid: started.pid,
            pidfd: started.pidfd,
            status: started.status,
            stdin: Some(started.stdin),
            stdout: Stream::new(started.stdout),
            stderr: Stream::new(started.stderr),
            since,
            reaped: false,
            _status_source: started.status_source,
        })
    }

    /// The process number, for telemetry only.
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Writes all of `bytes` to its standard input.
    ///
    /// Standard output is not read meanwhile. A child that answers without reading makes this end with
    /// `Closed` or `TimedOut`; what it wrote can still be received.
    ///
    /// # Errors
    /// `Closed`, `TimedOut`, `Stopped`, `Io`; how much was written is then unknown.
    pub fn send(&mut self, bytes: &[u8], watch: Watch<'_>) -> Result<(), TalkError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let stdin = self.stdin.as_ref().ok_or(TalkError::Closed)?;
            match rustix::io::write(stdin, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::AGAIN) => self.wait_to_write(watch)?,
                Err(Errno::INTR) => {}
                Err(Errno::PIPE) => self.stdin = None,
                Err(error) => return Err(TalkError::Io(error)),
            }
        }
        Ok(())
    }

    /// Reads `length` bytes of its standard output, fewer only when the stream ends before.
    ///
    /// The buffer grows with the bytes received; `length` may be any checked claim.
    ///
    /// # Errors
    /// `TimedOut`, `Stopped`, `Io`; bytes received before are lost with the conversation.
    pub fn receive(&mut self, length: usize, watch: Watch<'_>) -> Result<Vec<u8>, TalkError> {
        let mut bytes = Vec::new();
        let mut chunk = [0; CHUNK];
        while bytes.len() < length
            && let Some(stdout) = &self.stdout.pipe
        {
            let room = chunk.len().min(length - bytes.len());
            match rustix::io::read(stdout, chunk.get_mut(..room).unwrap_or_default()) {
                Ok(0) => self.stdout.pipe = None,
                Ok(count) => bytes.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                Err(Errno::AGAIN) => self.wait_to_read(watch)?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(TalkError::Io(error)),
            }
        }
        Ok(bytes)
    }

    /// Whether bytes or the end of its standard output wait to be received.
    pub fn has_output(&self) -> bool {
        self.stdout
            .pipe
            .as_ref()
            .is_none_or(|pipe| is_ready(pipe, PollFlags::IN))
    }

    /// Kills it at once, reaps and sweeps. What it wrote and nobody received is in [`Ended::stdout`].
    pub fn kill(self) -> Ended {
        self.end(Some(Outcome::Killed))
    }

    /// Closes its standard input, waits `grace_ms` for its exit, then does as [`Self::kill`].
    pub fn finish(mut self, grace_ms: u64) -> Ended {
        let watch = Watch {
            deadline: Deadline::after_ms(grace_ms),
            stop: &|| false,
        };
        let cause = self.feed(&[], watch).err();
        self.end(cause.map(|_| Outcome::Killed))
    }

    /// Writes `input`, closes standard input, and drains both streams until the child is waitable.
    fn feed(&mut self, input: &[u8], watch: Watch<'_>) -> Result<(), GaveUp> {
        let mut rest = input;
        loop {
            if rest.is_empty() {
                self.stdin = None;
            }
            self.wait_for_anything(watch.deadline);
            // One chunk of each, so that a flood cannot keep this loop from its deadline.
            self.stdout.read_some();
            self.stderr.read_some();
            if is_ready(&self.pidfd, PollFlags::IN) {
                return Ok(());
            }
            if let Some(stdin) = &self.stdin {
                match rustix::io::write(stdin, rest) {
                    Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(_) => rest = &[],
                }
            }
            watch.check()?;
        }
    }

    fn wait_for_anything(&self, deadline: Deadline) {
        let mut events = vec![PollFd::new(&self.pidfd, PollFlags::IN)];
        for (pipe, flags) in [
            (&self.stdin, PollFlags::OUT),
            (&self.stdout.pipe, PollFlags::IN),
            (&self.stderr.pipe, PollFlags::IN),
        ] {
            events.extend(pipe.as_ref().map(|pipe| PollFd::new(pipe, flags)));
        }
        // A failed poll costs a round of the loop, which looks at everything anyway.
        _ = poll_slice(&mut events, deadline);
    }

    fn wait_to_write(&mut self, watch: Watch<'_>) -> Result<(), TalkError> {
        loop {
            watch.check()?;
            let Some(stdin) = &self.stdin else {
                return Ok(());
            };
            let mut events = vec![
                PollFd::new(stdin, PollFlags::OUT),
                PollFd::new(&self.pidfd, PollFlags::IN),
            ];
            events.extend(
                self.stderr
                    .pipe
                    .as_ref()
                    .map(|pipe| PollFd::new(pipe, PollFlags::IN)),
            );
            poll_slice(&mut events, watch.deadline).map_err(TalkError::Io)?;
            self.stderr.read_some();
            if self
                .stdin
                .as_ref()
                .is_some_and(|pipe| is_ready(pipe, PollFlags::OUT))
            {
                return Ok(());
            }
            if is_ready(&self.pidfd, PollFlags::IN) {
                // A descendant may hold the other end, but nobody answers any more.
                self.stdin = None;
            }
        }
    }

    fn wait_to_read(&mut self, watch: Watch<'_>) -> Result<(), TalkError> {
        loop {
            watch.check()?;
            let Some(stdout) = &self.stdout.pipe else {
                return Ok(());
            };
            let mut events = vec![
                PollFd::new(stdout, PollFlags::IN),
                PollFd::new(&self.pidfd, PollFlags::IN),
            ];
            events.extend(
                self.stderr
                    .pipe
                    .as_ref()
                    .map(|pipe| PollFd::new(pipe, PollFlags::IN)),
            );
            poll_slice(&mut events, watch.deadline).map_err(TalkError::Io)?;
            self.stderr.read_some();
            // In this order: what a dead child has written is seen before its death.
            let dead = is_ready(&self.pidfd, PollFlags::IN);
            if self.has_output() {
                return Ok(());
            }
            if dead {
                // A descendant may hold the other end, but nobody answers any more.
                self.stdout.pipe = None;
            }
        }
    }

    /// Kills the group, reaps the child, sweeps its descendants, and takes the last output.
    fn end(mut self, cause: Option<Outcome>) -> Ended {
        let status = self.kill_and_reap();
        let swept = sweep();
        self.stdout.read_rest();
        self.stderr.read_rest();
        let launch = self.launch_status();
        let outcome = match (cause, launch.failure, status) {
            (Some(cause), _, _) => cause,
            (None, Some(failure), _) => Outcome::NotLaunched(failure),
            (None, None, Some(status)) => outcome_of(status),
            (None, None, None) => Outcome::Killed,
        };
        Ended {
            outcome,
            elapsed_ms: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            stdout: std::mem::take(&mut self.stdout.capture),
            stderr: std::mem::take(&mut self.stderr.capture),
            strays: swept.strays,
            survivors: swept.survivors.saturating_add(u32::from(!self.reaped)),
            isolation: launch.level,
        }
    }

    /// The group is killed before its leader is reaped: until then its number cannot be another's.
    fn kill_and_reap(&mut self) -> Option<WaitIdStatus> {
        // Errors mean that nobody is left to be killed.
        _ = kill_process_group(self.pid, Signal::KILL);
        _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
        let deadline = Deadline::after_ms(DEATH_MS);
        while !is_ready(&self.pidfd, PollFlags::IN) && !deadline.passed() {
            // A failed poll costs a round.
            _ = poll_slice(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], deadline);
        }
        let mut owned = owned();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        let status = waitid(WaitId::PidFd(self.pidfd.as_fd()), options).ok()??;
        owned.remove(&self.pid.as_raw_nonzero().get());
        self.reaped = true;
        Some(status)
    }

    fn launch_status(&self) -> LaunchStatus {
        let mut text = [0; CHUNK];
        let length = rustix::io::read(&self.status, &mut text).unwrap_or(0);
        LaunchStatus::parse(text.get(..length).unwrap_or_default())
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        if !self.reaped {
            _ = self.kill_and_reap();
            _ = sweep();
        }
    }
}

fn is_ready(descriptor: &OwnedFd, flags: PollFlags) -> bool {
    let mut events = [PollFd::new(descriptor, flags)];
    poll_slice(&mut events, Deadline::after_ms(0)).is_ok()
        && events.iter().any(|event| !event.revents().is_empty())
}
