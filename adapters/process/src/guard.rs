// SPDX-License-Identifier: Apache-2.0
//! Starting a child on a thread that lives as long as the child (P5, P6, P7).

use crate::{
    launch::{ChildSpec, LAUNCH_ARGUMENT, STATUS_PIPE},
    reap::owned,
};
use rustix::{
    fs::{CWD, FileType, Mode, OFlags},
    io::ioctl_fionbio,
    process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper},
};
use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    process::{Command, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
};

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
#[error("start a child: {step}: {source}")]
pub struct SpawnError {
    step: &'static str,
    source: io::Error,
}

/// A child that was started, and our ends of its pipes; all but `pidfd` do not block.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) pid: Pid,
    pub(crate) pidfd: OwnedFd,
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
    /// What the launcher says about itself.
    pub(crate) status: OwnedFd,
}

/// The thread that started a child. The parent-death signal is bound to it, so it stays until dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    release: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.release = None;
        if let Some(thread) = self.thread.take() {
            // The thread only waits for the release; it has nothing to tell.
            _ = thread.join();
        }
    }
}

/// Starts the launcher for `spec`.
pub(crate) fn start(spec: &ChildSpec) -> Result<(Started, Guard), SpawnError> {
    let failed = |step| move |source| SpawnError { step, source };
    set_child_subreaper(Some(getpid()))
        .map_err(|error| failed("become a subreaper")(error.into()))?;
    let status = status_pipe(spec).map_err(failed("make the status pipe"))?;
    let (give, take) = sync_channel(1);
    let (release, held) = sync_channel::<()>(0);
    let spec = spec.clone();
    let thread = thread::Builder::new()
        .name("child-guard".to_owned())
        .spawn(move || stay(&spec, status, &give, &held))
        .map_err(failed("start its thread"))?;
    let guard = Guard {
        release: Some(release),
        thread: Some(thread),
    };
    let started = take
        .recv()
        .unwrap_or_else(|_| Err(io::Error::other("the thread ended")))
        .map_err(failed("start the launcher"))?;
    Ok((started, guard))
}

fn stay(
    spec: &ChildSpec,
    status: OwnedFd,
    give: &SyncSender<io::Result<Started>>,
    held: &Receiver<()>,
) {
    let started = spawn(spec, status);
    if started.is_ok() && give.send(started).is_ok() {
        // Ends with an error when the guard is dropped, which is the release.
        _ = held.recv();
    } else {
        // A failure was given, or nobody waits for it.
    }
}

fn status_pipe(spec: &ChildSpec) -> io::Result<OwnedFd> {
    let path = spec.directory.join(STATUS_PIPE);
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::openat(CWD, &path, flags, Mode::empty())?)
}

fn spawn(spec: &ChildSpec, status: OwnedFd) -> io::Result<Started> {
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(LAUNCH_ARGUMENT)
        .arg(spec.order(getpid()))
        .env_clear()
        .envs(spec.environment())
        .current_dir(&spec.directory)
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut owned = owned();
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let started = (|| {
        let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?)
            .ok_or_else(missing)?;
        let started = Started {
            pid,
            pidfd: pidfd_open(pid, PidfdFlags::empty())?,
            stdin: child.stdin.take().ok_or_else(missing)?.into(),
            stdout: child.stdout.take().ok_or_else(missing)?.into(),
            stderr: child.stderr.take().ok_or_else(missing)?.into(),
            status,
        };
        for pipe in [&started.stdin, &started.stdout, &started.stderr] {
            ioctl_fionbio(pipe, true)?;
        }
        Ok(started)
    })();
    if let Ok(started) = &started {
        owned.insert(started.pid.as_raw_nonzero().get());
    } else {
        // It is un-reaped, so the number is still its own.
        _ = child.kill();
        _ = child.wait();
    }
    started
}
