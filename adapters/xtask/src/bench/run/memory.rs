// SPDX-License-Identifier: Apache-2.0
//! Peak memory of the runner and of the programs that it starts, each by itself.

use super::suite::Suite;
use crate::job::Failure;
use std::{collections::BTreeMap, fs, io::Read as _, path::Path, time::Duration};

/// How often the kernel is asked. A peak only grows, so that only what is reached later than this
/// before the end is missed.
const PAUSE: Duration = Duration::from_millis(1);

/// The greatest resident size in MiB of each program of a run by its name, the runner among them.
pub(super) fn peaks(suite: &Suite, options: &[&str]) -> Result<BTreeMap<String, f64>, Failure> {
    let mut child = suite.command(options).spawn()?;
    let mut pipe = child.stdout.take();
    // All points fit into the pipe, but a reader makes it independent of their number.
    let reader = std::thread::spawn(move || {
        let mut points = Vec::new();
        if let Some(pipe) = &mut pipe {
            _ = pipe.read_to_end(&mut points);
        }
    });
    let mut peaks = BTreeMap::new();
    let runner = child.id();
    loop {
        note(&mut peaks, runner);
        for process in children(runner) {
            note(&mut peaks, process);
        }
        if let Some(status) = child.try_wait()? {
            _ = reader.join();
            return if status.success() {
                Ok(peaks)
            } else {
                Err(Failure::new(format!(
                    "the measured run ended with {status}"
                )))
            };
        }
        std::thread::sleep(PAUSE);
    }
}

/// Takes the peak of one process, if it still runs, under the name that the kernel has for it.
fn note(peaks: &mut BTreeMap<String, f64>, process: u32) {
    let Ok(status) = fs::read_to_string(format!("/proc/{process}/status")) else {
        return;
    };
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    let peak = field("VmHWM:").and_then(|it| it.split_whitespace().next()?.parse::<f64>().ok());
    if let (Some(name), Some(peak)) = (field("Name:"), peak) {
        let known = peaks.entry(name.trim().to_owned()).or_insert(0.0);
        *known = known.max(peak / 1024.0);
    }
}

/// Children of every thread of a process.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(Path::new("/proc").join(process.to_string()).join("task"));
    let mut found = Vec::new();
    for thread in threads.into_iter().flatten().flatten() {
        let listed = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(
            listed
                .split_whitespace()
                .filter_map(|it| it.parse::<u32>().ok()),
        );
    }
    found
}
