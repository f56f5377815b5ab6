// SPDX-License-Identifier: Apache-2.0
//! The command line: `serve` with its options, or `--version` (section 1.1).

use crate::fault_point::FaultPoints;
use std::{ffi::OsString, num::NonZeroUsize, path::PathBuf};

const MAX_WORKERS: usize = 16;

/// A command the program knows.
#[derive(Debug)]
pub enum Command {
    /// Print one line and end.
    Version,
    /// Speak frames on the standard streams.
    Serve(Options),
}

/// Options of `serve`.
#[derive(Debug)]
pub struct Options {
    /// Directory of durable contexts.
    pub state_root: Option<PathBuf>,
    /// Threads that answer requests, 1..16.
    pub workers: NonZeroUsize,
    /// At most one armed point of failure.
    pub fault_points: FaultPoints,
}

/// The command of `arguments`, the program name left out.
///
/// # Errors
/// One line for people that says what is wrong.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
    let mut arguments = arguments.into_iter();
    match arguments.next().as_deref().and_then(|it| it.to_str()) {
        Some("--version") if arguments.next().is_none() => Ok(Command::Version),
        Some("serve") => options(arguments).map(Command::Serve),
        _ => Err(
            "usage: echo-host serve [--state-root DIR] [--workers N] | echo-host --version"
                .to_owned(),
        ),
    }
}

fn options(mut arguments: impl Iterator<Item = OsString>) -> Result<Options, String> {
    let (mut state_root, mut workers, mut fault_points) = (None, None, None);
    while let Some(option) = arguments.next() {
        let name = option.to_string_lossy().into_owned();
        let mut value = || {
            arguments
                .next()
                .ok_or_else(|| format!("{name:?} needs a value"))
        };
        match name.as_str() {
            "--state-root" => once(&mut state_root, &name, PathBuf::from(value()?))?,
            "--workers" => once(&mut workers, &name, count(&value()?)?)?,
            "--fault" if FaultPoints::AVAILABLE => {
                let text = value()?;
                let points = text.to_str().and_then(FaultPoints::parse);
                let points = points.ok_or_else(|| format!("{} names no fault", text.display()))?;
                once(&mut fault_points, &name, points)?;
            }
            _ => return Err(format!("unknown option {name:?}")),
        }
    }
    Ok(Options {
        state_root,
        workers: workers.unwrap_or(NonZeroUsize::MIN),
        fault_points: fault_points.unwrap_or_default(),
    })
}

fn once<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), String> {
    if slot.replace(value).is_none() {
        Ok(())
    } else {
        Err(format!("{name} is given twice"))
    }
}

fn count(text: &OsString) -> Result<NonZeroUsize, String> {
    text.to_str()
        .filter(|text| !text.starts_with('0') && text.bytes().all(|sign| sign.is_ascii_digit()))
        .and_then(|text| text.parse::<NonZeroUsize>().ok())
        .filter(|count| count.get() <= MAX_WORKERS)
        .ok_or_else(|| {
            format!(
                "{} is no number of workers, 1 to {MAX_WORKERS}",
                text.display()
            )
        })
}
