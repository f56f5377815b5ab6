// SPDX-License-Identifier: Apache-2.0
//! The two things read from `/proc`: numbered entries of a directory, and the parent of a process.

use rustix::{
    fs::{CWD, Dir, Mode, OFlags},
    io::Errno,
    process::Pid,
};

/// More than the kernel writes into one `stat` file.
const STAT_BYTES: usize = 4096;

/// The entries of `directory` whose names are numbers.
pub(crate) fn numbers(directory: &str) -> Result<Vec<i32>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(CWD, directory, flags, Mode::empty())?;
    let mut numbers = Vec::new();
    for entry in Dir::new(opened)? {
        let entry = entry?;
        numbers.extend(
            entry
                .file_name()
                .to_str()
                .ok()
                .and_then(|name| name.parse::<i32>().ok()),
        );
    }
    Ok(numbers)
}

/// Fourth field of `/proc/N/stat`; the second one is in parentheses and may hold anything.
pub(crate) fn parent_of(pid: Pid) -> Option<Pid> {
    let path = format!("/proc/{}/stat", pid.as_raw_nonzero());
    let file = rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    let mut stat = [0; STAT_BYTES];
    let length = rustix::io::read(file.ok()?, &mut stat).ok()?;
    let stat = stat.get(..length)?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = str::from_utf8(stat.get(end..)?).ok()?;
    Pid::from_raw(rest.split_ascii_whitespace().nth(2)?.parse().ok()?)
}
