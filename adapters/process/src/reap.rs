// SPDX-License-Identifier: Apache-2.0
//! The sweep: every adopted descendant is killed and reaped, for at most two seconds (P10, P11).

use crate::proc::{children, numbers, parent_of};
use crate::wait::{Deadline, poll_slice};
use rustix::{
    event::{PollFd, PollFlags},
    io::Errno,
    process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, pidfd_open, pidfd_send_signal,
        waitid,
    },
};
use std::{
    collections::BTreeSet,
    os::fd::AsFd as _,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// How long a sweep may take in milliseconds (P11).
const SWEEP_MS: u64 = 2_000;

/// Numbers of the un-reaped children that were started here. A child is started and reaped with the
/// lock held, so a sweep sees it either here or not at all.
static OWNED: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// The children started here, locked.
pub(crate) fn owned() -> MutexGuard<'static, BTreeSet<i32>> {
    // The set holds plain numbers: a panic elsewhere cannot leave it half changed.
    OWNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a sweep found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Swept {
    /// Descendants that were adopted, killed and reaped.
    pub(crate) strays: u32,
    /// Descendants that are still alive.
    pub(crate) survivors: u32,
}

/// Kills and reaps adopted descendants until none is left or the time is over.
pub(crate) fn sweep() -> Swept {
    let deadline = Deadline::after_ms(SWEEP_MS);
    let mut swept = Swept::default();
    loop {
        let strays = {
            let owned = owned();
            adopted(&owned)
        };
        if strays.is_empty() {
            return swept;
        }
        if deadline.passed() {
            swept.survivors = u32::try_from(strays.len()).unwrap_or(u32::MAX);
            return swept;
        }
        for pid in strays {
            if end(pid, deadline) {
                swept.strays = swept.strays.saturating_add(1);
            }
        }
    }
}

/// Kills and reaps one adopted process; false when it was gone or would not die in time.
fn end(pid: Pid, deadline: Deadline) -> bool {
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    // Another sweep may have reaped it before the descriptor was opened, and the number may be that
    // of a stranger or of a child of ours by now.
    if parent_of(pid) != Some(getpid()) || owned().contains(&pid.as_raw_nonzero().get()) {
        return false;
    }
    _ = pidfd_send_signal(&descriptor, Signal::KILL);
    while !deadline.passed() {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        match waitid(WaitId::PidFd(descriptor.as_fd()), options) {
            Ok(Some(_)) => return true,
            Ok(None) => {}
            Err(_) => return false,
        }
        let mut events = [PollFd::new(&descriptor, PollFlags::IN)];
        if poll_slice(&mut events, deadline).is_err() {
            return false;
        }
    }
    false
}

/// Children of this process that were not started here.
fn adopted(owned: &BTreeSet<i32>) -> Vec<Pid> {
    if has_no_children() {
        return Vec::new();
    }
    children()
        .unwrap_or_else(scanned)
        .into_iter()
        .filter(|raw| !owned.contains(raw))
        .filter_map(Pid::from_raw)
        .collect()
}

/// Whether this process has no child at all, alive or not yet reaped: the usual case after the only
/// one was reaped, and the cheapest to find out.
fn has_no_children() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, look), Err(Errno::CHILD))
}

/// The children of this process by the parent of every process there is, for kernels that keep no list.
fn scanned() -> Vec<i32> {
    let is_ours = |raw: &i32| Pid::from_raw(*raw).and_then(parent_of) == Some(getpid());
    let mut found = numbers("/proc").unwrap_or_default();
    found.retain(is_ours);
    found
}

#[cfg(test)]
mod tests {
    use super::{children, has_no_children, owned, scanned};
    use std::process::{Command, Stdio};

    #[test]
    fn lists_and_parents_name_the_same_children() {
        // A program that waits for the end of its input, and one that has ended and was not reaped.
        let mut waiting = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let mut ended = Command::new("true").spawn().unwrap();
        let wanted = [&waiting, &ended].map(|child| i32::try_from(child.id()).unwrap());
        for found in [children().unwrap_or_else(scanned), scanned()] {
            assert!(wanted.iter().all(|raw| found.contains(raw)), "{found:?}");
        }
        assert!(!has_no_children());
        drop(waiting.stdin.take());
        waiting.wait().unwrap();
        ended.wait().unwrap();
        for found in [children().unwrap_or_default(), scanned()] {
            assert!(!wanted.iter().any(|raw| found.contains(raw)), "{found:?}");
        }
        assert!(has_no_children());
        assert!(owned().is_empty());
    }
}
