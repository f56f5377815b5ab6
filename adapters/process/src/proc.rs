// SPDX-License-Identifier: Apache-2.0
//! What is read from `/proc`: numbered entries of a directory, the children of this process, and the
//! parent of any.

use rustix::{
    fs::{CWD, Dir, Mode, OFlags},
    io::Errno,
    process::{Pid, getpid},
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

/// The children of this process by the lists that the kernel keeps for each of its threads, or `None`
/// where it offers none.
///
/// A list that is read while one of its children is reaped may lack another one, so whoever reaps
/// what it names must read it again.
pub(crate) fn children() -> Option<Vec<i32>> {
    let mut children = Vec::new();
    for thread in numbers("/proc/self/task").ok()? {
        match whole(&format!("/proc/self/task/{thread}/children")) {
            Ok(text) => children.extend(
                String::from_utf8_lossy(&text)
                    .split_ascii_whitespace()
                    .filter_map(|number| number.parse::<i32>().ok()),
            ),
            // A thread that has ended left its children to another one. That one is the first thread
            // of the process, and its list is there, or there are no lists at all.
            Err(Errno::NOENT | Errno::SRCH) if thread != getpid().as_raw_nonzero().get() => {}
            Err(_) => return None,
        }
    }
    Some(children)
}

fn whole(path: &str) -> Result<Vec<u8>, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(CWD, path, flags, Mode::empty())?;
    let mut text = Vec::new();
    let mut chunk = [0; STAT_BYTES];
    loop {
        match rustix::io::read(&file, &mut chunk) {
            Ok(0) => return Ok(text),
            Ok(count) => text.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
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
