// SPDX-License-Identifier: Apache-2.0
//! What the launcher takes away from itself: resources (P8), files and TCP (P9).

use crate::launch::ChildSpec;
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
    RulesetError, RulesetStatus, path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::{io, path::Path, thread};

/// The first kernel interface that knows all that is asked for: file rights, truncation and TCP.
const RULES: ABI = ABI::V4;
/// Programs and libraries of the system: they hold the dynamic loader, and the interpreter of a tool
/// that is a script.
const SYSTEM: [&str; 5] = ["/usr", "/lib", "/lib32", "/lib64", "/bin"];
/// What the dynamic loader reads beside the libraries.
const LOADER: [&str; 1] = ["/etc/ld.so.cache"];
/// Greatest number of open files (P8).
const OPEN_FILES: u64 = 256;

/// Whether a child may start with less than full isolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// It must not start.
    Required,
    /// It may.
    BestEffort,
}

/// What the kernel enforces for a child (telemetry).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IsolationLevel {
    /// Nothing: this kernel has no Landlock.
    None,
    /// Some of the file rules, or all without the TCP rule.
    Partial,
    /// All file rules, and no TCP.
    Full,
}

impl IsolationLevel {
    /// The name in telemetry: `none`, `partial` or `full`.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        [Self::None, Self::Partial, Self::Full]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

/// The level that children of this process will reach, found out on a thread of its own.
pub fn probe() -> IsolationLevel {
    // Rules bind only the thread that asks for them, and it ends at once.
    thread::spawn(|| enforce(None))
        .join()
        .map_or(IsolationLevel::None, |level| {
            level.unwrap_or(IsolationLevel::None)
        })
}

/// Applies the Landlock rules of `spec` to this thread and what it executes.
pub(crate) fn restrict(spec: &ChildSpec) -> Result<IsolationLevel, RulesetError> {
    enforce(Some(spec))
}

fn enforce(spec: Option<&ChildSpec>) -> Result<IsolationLevel, RulesetError> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write = AccessFs::from_all(RULES) & !AccessFs::Execute;
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(RULES))?
        .handle_access(AccessNet::from_all(RULES))?
        .create()?;
    if let Some(spec) = spec {
        let tools = spec.program.parent().unwrap_or(Path::new("/"));
        rules = rules
            .add_rules(path_beneath_rules(SYSTEM, read | AccessFs::Execute))?
            .add_rules(path_beneath_rules([tools], read | AccessFs::Execute))?
            .add_rules(path_beneath_rules(LOADER, read))?
            .add_rules(path_beneath_rules(
                ["/dev/null"],
                read | AccessFs::WriteFile,
            ))?
            .add_rules(path_beneath_rules(&spec.readable, read))?
            .add_rules(path_beneath_rules([&spec.directory], write))?;
    }
    Ok(match rules.restrict_self()?.ruleset {
        RulesetStatus::FullyEnforced => IsolationLevel::Full,
        RulesetStatus::PartiallyEnforced => IsolationLevel::Partial,
        RulesetStatus::NotEnforced => IsolationLevel::None,
    })
}

/// Applies the resource limits of `spec` to this process.
pub(crate) fn limit(spec: &ChildSpec) -> io::Result<()> {
    set(Resource::Core, 0)?;
    set(Resource::Nofile, OPEN_FILES)?;
    set(Resource::Fsize, spec.file_bytes)?;
    spec.cpu_seconds
        .map_or(Ok(()), |seconds| set(Resource::Cpu, seconds))
}

/// Lowers a limit; what is lower already stays.
fn set(resource: Resource, limit: u64) -> io::Result<()> {
    let limit = getrlimit(resource)
        .maximum
        .map_or(limit, |maximum| maximum.min(limit));
    let limit = Some(limit);
    Ok(setrlimit(
        resource,
        Rlimit {
            current: limit,
            maximum: limit,
        },
    )?)
}
