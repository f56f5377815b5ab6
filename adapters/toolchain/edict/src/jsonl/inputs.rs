// SPDX-License-Identifier: Apache-2.0
//! The sources that input records stand for.

use super::request::Input;
use crate::{failure::Failure, paths};
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// Greatest number of files of one request.
const MAX_FILES: usize = 4_096;
/// Greatest nesting of directories that are searched.
const MAX_DEPTH: usize = 64;
/// Greatest size of a source in bytes; one more is read so that the parser can refuse it.
const MAX_SOURCE: u64 = 1_048_577;

/// One source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Reads every source that `inputs` stand for, in order.
pub(super) fn read(inputs: &[Input]) -> Result<Vec<Source>, Box<Failure>> {
    let mut sources = Vec::new();
    for input in inputs {
        let names = match input {
            Input::Source { name, text } => {
                sources.push(Source {
                    name: name.clone(),
                    bytes: text.clone().into_bytes(),
                });
                Vec::new()
            }
            Input::Paths(paths) => paths.clone(),
            Input::Directory(path) => search(path, |name| {
                Path::new(name).extension() == Some("edict".as_ref())
            })?,
            Input::Glob(pattern) => glob(pattern)?,
        };
        for name in names {
            let bytes = paths::read(Path::new(&name), MAX_SOURCE)
                .map_err(|error| unreadable(&name, &error))?;
            sources.push(Source { name, bytes });
        }
        if sources.len() > MAX_FILES {
            let message = format!("more than {MAX_FILES} files");
            return Err(Failure::cli("InvalidInput", message));
        }
    }
    if sources.is_empty() {
        let message = "there is no source; add an input record that names one";
        return Err(Failure::cli("InvalidInput", message));
    }
    Ok(sources)
}

fn unreadable(name: &str, error: &dyn std::error::Error) -> Box<Failure> {
    Failure::cli("InputReadFailed", format!("read `{name}`: {error}"))
}

fn glob(pattern: &str) -> Result<Vec<String>, Box<Failure>> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let fixed = parts
        .iter()
        .take_while(|part| !part.contains(['*', '?']))
        .count();
    let base = match parts.get(..fixed).unwrap_or_default() {
        [] => ".".to_owned(),
        [""] => "/".to_owned(),
        fixed => fixed.join("/"),
    };
    let wanted: Vec<&str> = parts.into_iter().filter(|part| *part != ".").collect();
    search(&base, |name| {
        let name = name.strip_prefix("./").unwrap_or(name);
        matches(&wanted, &name.split('/').collect::<Vec<_>>())
    })
}

/// Regular files below `root` that `accept` admits, ascending by bytes, through no link.
fn search(root: &str, accept: impl Fn(&str) -> bool) -> Result<Vec<String>, Box<Failure>> {
    let mut found = Vec::new();
    let mut pending = vec![(PathBuf::from(root), 0usize)];
    while let Some((directory, depth)) = pending.pop() {
        let listed = list(&directory).map_err(|error| unreadable(root, &error))?;
        for (path, is_directory) in listed {
            if is_directory && depth < MAX_DEPTH {
                pending.push((path, depth.saturating_add(1)));
                continue;
            }
            match path.to_str() {
                Some(name) if !is_directory && accept(name) => {
                    // A pattern without a directory searches `.`, which it does not spell.
                    let name = name.strip_prefix("./").unwrap_or(name);
                    found.push(name.to_owned());
                }
                _ => {}
            }
            if found.len() > MAX_FILES {
                let message = format!("more than {MAX_FILES} files below `{root}`");
                return Err(Failure::cli("InvalidInput", message));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Files and directories in `directory`, links and special files left out.
fn list(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut listed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() || kind.is_file() {
            listed.push((entry.path(), kind.is_dir()));
        }
    }
    Ok(listed)
}

/// Whether components match; `**` stands for any number of them.
fn matches(pattern: &[&str], name: &[&str]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        (["**", rest @ ..], _) => {
            matches(rest, name) || matches!(name, [_, below @ ..] if matches(pattern, below))
        }
        ([part, rest @ ..], [component, below @ ..]) => {
            component_matches(part.as_bytes(), component.as_bytes()) && matches(rest, below)
        }
        _ => false,
    }
}

/// Whether one component matches; `*` stands for any bytes, `?` for one. Linear in the pattern
/// times the component.
fn component_matches(pattern: &[u8], name: &[u8]) -> bool {
    let mut reachable = vec![false; name.len().saturating_add(1)];
    if let Some(first) = reachable.first_mut() {
        *first = true;
    }
    for sign in pattern {
        let mut next = vec![false; reachable.len()];
        let mut seen = false;
        for (index, slot) in next.iter_mut().enumerate() {
            let here = reachable.get(index).copied().unwrap_or(false);
            let before = index.checked_sub(1);
            let from_before = before.and_then(|it| reachable.get(it)).copied() == Some(true);
            let byte = before.and_then(|it| name.get(it));
            seen |= here;
            *slot = match sign {
                b'*' => seen,
                b'?' => from_before,
                sign => from_before && byte == Some(sign),
            };
        }
        reachable = next;
    }
    reachable.last().copied().unwrap_or(false)
}
