// SPDX-License-Identifier: Apache-2.0
//! Starting children on a thread that lives as long as this process (P5, P6, P7).

use crate::{
    launch::{ChildSpec, LAUNCH_ARGUMENT},
    reap::owned,
};
use rustix::{
    io::ioctl_fionbio,
    pipe::{PipeFlags, pipe_with},
    process::{Pid, PidfdFlags, getpid, pidfd_open, set_child_subreaper},
};
use std::{
    io,
    os::{
        fd::{AsRawFd as _, OwnedFd},
        unix::process::CommandExt as _,
    },
    process::{Command, Stdio},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

/// Orders for the thread that starts children. The parent-death signal is bound to the thread that
/// started a child, so it is one that never ends before the process does.
static GUARD: Mutex<Option<Sender<Order>>> = Mutex::new(None);

/// A child to be started, and where the answer goes.
struct Order {
    spec: ChildSpec,
    answer: SyncSender<io::Result<Started>>,
}

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
    /// The other end of `status`. The launcher opens it by its number in this process, so it stays
    /// open as long as there can be a launcher.
    pub(crate) status_source: OwnedFd,
}

/// Starts the launcher for `spec`.
pub(crate) fn start(spec: &ChildSpec) -> Result<Started, SpawnError> {
    let failed = |step| move |source| SpawnError { step, source };
    set_child_subreaper(Some(getpid()))
        .map_err(|error| failed("become a subreaper")(error.into()))?;
    let (answer, answered) = sync_channel(1);
    let order = Order {
        spec: spec.clone(),
        answer,
    };
    give(order).map_err(failed("start the thread of children"))?;
    answered
        .recv()
        .unwrap_or_else(|_| Err(io::Error::other("the thread of children ended")))
        .map_err(failed("start the launcher"))
}

/// Hands an order to the thread, which is started by the first one.
fn give(order: Order) -> io::Result<()> {
    // A sender is whole whatever panicked while it was held.
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let order = match guard.as_ref() {
        None => order,
        Some(orders) => match orders.send(order) {
            Ok(()) => return Ok(()),
            // It panicked; the kernel has killed what it had started.
            Err(unsent) => unsent.0,
        },
    };
    let (orders, taken) = channel();
    thread::Builder::new()
        .name("child-guard".to_owned())
        .spawn(move || stay(&taken))?;
    let given = orders.send(order);
    *guard = Some(orders);
    given.map_err(|_| io::Error::other("it ended"))
}

/// Serves orders. The sender is never dropped, so this ends with the process.
fn stay(orders: &Receiver<Order>) {
    while let Ok(order) = orders.recv() {
        // Whoever gave the order waits for the answer and does nothing else.
        _ = order.answer.send(spawn(&order.spec));
    }
}

fn spawn(spec: &ChildSpec) -> io::Result<Started> {
    let (status, status_source) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    let mut command = Command::new("/proc/self/exe");
    command
        .arg(LAUNCH_ARGUMENT)
        .arg(spec.order(getpid(), status_source.as_raw_fd()))
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
            status_source,
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
