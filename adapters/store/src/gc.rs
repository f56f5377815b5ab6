// SPDX-License-Identifier: Apache-2.0
//! Collection: a plan that is a pure function of a listing, and then its execution (A9).

use crate::{
    disk::{TEMPORARY, names, read},
    record::{MAX_RECORD, blobs, digest},
    state::{ACTION, BLOB, QUARANTINE, Store, entries},
};
use edict_codec::{
    bounded::ByteLimit,
    json::{JsonLimits, Node, Tree, parse},
};
use edict_test_model::{
    built,
    ports::RunStore as _,
    recipe::{BUILD, VERIFY},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
    time::SystemTime,
};

/// Runs kept when nothing is said.
pub const KEEP_RUNS: u64 = 20;
/// Temporary names younger than this may belong to a writer.
const LEFTOVER_SECONDS: u64 = 3600;
const SECONDS_A_DAY: u64 = 86_400;

/// What a collection may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Greatest number of bytes that are left, unless the roots alone have more.
    pub max_bytes: Option<u64>,
    /// Greatest age since the last use in days, roots aside.
    pub max_age_days: Option<u64>,
    /// The newest runs, which are roots together with what they reference.
    pub keep_runs: u64,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// The record of one run.
    Run,
    /// An action record.
    Action,
    /// Bytes by digest.
    Blob,
    /// An entry that failed a check.
    Quarantined,
    /// What a killed writer left.
    Temporary,
}

impl EntryKind {
    /// All kinds in order.
    pub const ALL: [Self; 5] = [
        Self::Run,
        Self::Action,
        Self::Blob,
        Self::Quarantined,
        Self::Temporary,
    ];

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Action => "action",
            Self::Blob => "blob",
            Self::Quarantined => "quarantined",
            Self::Temporary => "temporary",
        }
    }
}

/// One entry of a state directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Path relative to the state directory; unique.
    pub path: String,
    /// The number of a run, or the hexadecimal name of an action or a blob.
    pub name: String,
    /// Bytes of its files.
    pub bytes: u64,
    /// Seconds since its last use.
    pub age_seconds: u64,
    /// The actions and blobs it references, by kind and name.
    pub references: BTreeSet<(EntryKind, String)>,
}

/// Why an entry goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A run beyond those that are kept.
    OldRun,
    /// A leftover of a killed writer.
    Leftover,
    /// Not used for longer than the greatest age.
    Age,
    /// Least recently used while there are too many bytes.
    Bytes,
}

impl Reason {
    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OldRun => "old run",
            Self::Leftover => "leftover",
            Self::Age => "age",
            Self::Bytes => "bytes",
        }
    }
}

/// One deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Path relative to the state directory.
    pub path: String,
    /// Bytes it frees.
    pub bytes: u64,
    /// Why.
    pub reason: Reason,
}

/// What a collection will do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The deletions in order.
    pub deletions: Vec<Deletion>,
    /// Bytes that are left.
    pub kept_bytes: u64,
}

/// Decides what goes: runs beyond the kept ones and leftovers; then, least recently used first, what no
/// root needs, until bytes and age hold.
pub fn plan(listing: &[Entry], policy: &Policy) -> Plan {
    let roots = roots(listing, policy);
    let mut deletions = Vec::new();
    let mut kept = listing
        .iter()
        .fold(0_u64, |sum, it| sum.saturating_add(it.bytes));
    let mut delete = |entry: &Entry, reason: Reason, kept: &mut u64| {
        *kept = kept.saturating_sub(entry.bytes);
        deletions.push(Deletion {
            path: entry.path.clone(),
            bytes: entry.bytes,
            reason,
        });
    };
    let mut rest: Vec<&Entry> = Vec::new();
    for entry in listing.iter().filter(|entry| !roots.contains(&entry.path)) {
        match entry.kind {
            EntryKind::Run => delete(entry, Reason::OldRun, &mut kept),
            EntryKind::Temporary if entry.age_seconds > LEFTOVER_SECONDS => {
                delete(entry, Reason::Leftover, &mut kept);
            }
            EntryKind::Temporary => {}
            EntryKind::Action | EntryKind::Blob | EntryKind::Quarantined => rest.push(entry),
        }
    }
    // An action goes before the blobs of the same age that it names.
    rest.sort_by(|left, right| {
        let order = right.age_seconds.cmp(&left.age_seconds);
        order.then_with(|| (left.kind, &left.path).cmp(&(right.kind, &right.path)))
    });
    let max_age = policy
        .max_age_days
        .map(|days| days.saturating_mul(SECONDS_A_DAY));
    for entry in rest {
        if max_age.is_some_and(|max_age| entry.age_seconds > max_age) {
            delete(entry, Reason::Age, &mut kept);
        } else if policy.max_bytes.is_some_and(|max_bytes| kept > max_bytes) {
            delete(entry, Reason::Bytes, &mut kept);
        }
    }
    Plan {
        deletions,
        kept_bytes: kept,
    }
}

/// Paths of the newest runs and of everything they reach.
fn roots(listing: &[Entry], policy: &Policy) -> BTreeSet<String> {
    let by_name: BTreeMap<(EntryKind, &str), &Entry> = listing
        .iter()
        .map(|entry| ((entry.kind, entry.name.as_str()), entry))
        .collect();
    let mut runs: Vec<&Entry> = listing
        .iter()
        .filter(|it| it.kind == EntryKind::Run)
        .collect();
    runs.sort_by(|left, right| right.name.cmp(&left.name));
    let keep = usize::try_from(policy.keep_runs).unwrap_or(usize::MAX);
    let mut open: Vec<&Entry> = runs.into_iter().take(keep).collect();
    let mut roots = BTreeSet::new();
    while let Some(entry) = open.pop() {
        if roots.insert(entry.path.clone()) {
            let references = entry.references.iter();
            open.extend(references.filter_map(|(kind, name)| by_name.get(&(*kind, name.as_str()))));
        }
    }
    roots
}

impl Store {
    /// Everything in the state directory, ascending by path.
    pub fn list(&self) -> Vec<Entry> {
        let now = SystemTime::now();
        let mut listing = Vec::new();
        for (kind, directory) in [(EntryKind::Action, ACTION), (EntryKind::Blob, BLOB)] {
            for (path, name) in entries(&self.root, directory) {
                listing.extend(self.entry_at(&path, kind, name, now));
            }
        }
        for name in names(&self.root.join(QUARANTINE)) {
            let path = self.root.join(QUARANTINE).join(&name);
            listing.extend(self.entry_at(&path, EntryKind::Quarantined, name, now));
        }
        for name in names(&self.root) {
            if name.starts_with(TEMPORARY) {
                let path = self.root.join(&name);
                listing.extend(self.entry_at(&path, EntryKind::Temporary, name, now));
            }
        }
        for number in self.all_runs() {
            let path = self.run(number);
            let mut entry = self.entry_at(&path, EntryKind::Run, format!("{number:012}"), now);
            if let Some(entry) = &mut entry {
                for name in names(&path) {
                    let file = fs::symlink_metadata(path.join(&name));
                    entry.bytes = entry.bytes.saturating_add(file.map_or(0, |it| it.len()));
                    let file = path.join(&name);
                    if name.starts_with(TEMPORARY) {
                        listing.extend(self.entry_at(&file, EntryKind::Temporary, name, now));
                    }
                }
                if let Some(bytes) = self.load(number) {
                    entry.references = references(&bytes);
                }
            }
            listing.extend(entry);
        }
        listing.sort_by(|left, right| left.path.cmp(&right.path));
        listing
    }

    /// Carries out `plan`; gives what could not be deleted, and why.
    pub fn collect(&self, plan: &Plan) -> Vec<(String, io::Error)> {
        let mut failed = Vec::new();
        for deletion in &plan.deletions {
            let path = self.root.join(&deletion.path);
            let deleted = match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => fs::remove_dir_all(&path),
                Ok(_) => fs::remove_file(&path),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = deleted {
                failed.push((deletion.path.clone(), error));
            }
        }
        failed
    }

    fn entry_at(
        &self,
        path: &Path,
        kind: EntryKind,
        name: String,
        now: SystemTime,
    ) -> Option<Entry> {
        let found = fs::symlink_metadata(path).ok()?;
        let used = found.modified().ok()?;
        let last = path.file_name()?.to_string_lossy();
        let kind = if last.starts_with(TEMPORARY) {
            EntryKind::Temporary
        } else {
            kind
        };
        let references = if kind == EntryKind::Action {
            let bytes = read(path, ByteLimit::new(MAX_RECORD)).unwrap_or_default();
            let blobs = blobs(&bytes).into_iter();
            blobs.map(|blob| (EntryKind::Blob, blob.hex())).collect()
        } else {
            BTreeSet::new()
        };
        Some(Entry {
            kind,
            path: path.strip_prefix(&self.root).ok()?.to_str()?.to_owned(),
            name,
            bytes: if found.is_file() { found.len() } else { 0 },
            age_seconds: now.duration_since(used).map_or(0, |age| age.as_secs()),
            references,
        })
    }
}

/// Every blob and action that a `run.json` names, wherever it stands in it.
fn references(bytes: &[u8]) -> BTreeSet<(EntryKind, String)> {
    let mut found = BTreeSet::new();
    if let Ok(node) = parse(bytes, JsonLimits::document(bytes.len())) {
        search(&node, &mut found);
    }
    found
}

fn search(node: &Node, found: &mut BTreeSet<(EntryKind, String)>) {
    if let Some(digest) = digest(Some(node)) {
        match digest.domain() {
            built::BLOB => found.insert((EntryKind::Blob, digest.hex())),
            BUILD | VERIFY => found.insert((EntryKind::Action, digest.hex())),
            _ => false,
        };
        return;
    }
    match &node.tree {
        Tree::Array(items) => items.iter().for_each(|item| search(item, found)),
        Tree::Object(members) => members.iter().for_each(|it| search(&it.value, found)),
        Tree::Null | Tree::Bool(_) | Tree::Integer(_) | Tree::Text(_) => {}
    }
}
