// SPDX-License-Identifier: Apache-2.0
//! Staged inputs: a tree that holds exactly the files of one request, which its child may read and not
//! write, and in it the private directory of that child (P6, P9).
//!
//! Making and removing files is most of what a short child costs. The next request finds the files that
//! it has in common with the last one, when nothing has touched them.

use crate::{PrivateDir, tools::write_all};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs::symlink_metadata,
    io,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// One file of a request: its path below the tree, and its bytes.
pub type InputFile<'a> = (String, &'a Arc<[u8]>);

/// Trees of staged inputs below one directory. Dropping it removes those that nobody holds.
#[derive(Debug)]
pub struct Staging {
    parent: PathBuf,
    idle: Mutex<Vec<Tree>>,
}

/// The tree of one request and the private directory of its child. Dropping it removes both.
#[derive(Debug)]
pub struct Inputs<'a> {
    staging: &'a Staging,
    tree: Tree,
    private: PrivateDir,
    seal: Vec<Condition>,
}

#[derive(Debug)]
struct Tree {
    directory: PrivateDir,
    directories: BTreeSet<String>,
    files: BTreeMap<String, Arc<[u8]>>,
}

/// What nobody can change without a trace: kind and mode, identity, and the times of the last change of
/// content and of anything else.
type Condition = (u32, u64, [i64; 4]);

impl Staging {
    /// No tree yet; they are made below `parent`, which must exist by then.
    pub fn below(parent: &Path) -> Self {
        Self {
            parent: parent.to_owned(),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// A tree of exactly `files`, and in it the fresh directory `private`, a name that no path of
    /// `files` begins with.
    ///
    /// # Errors
    /// When something cannot be written, or two paths cannot be in one tree.
    pub fn open(&self, files: &[InputFile<'_>], private: &str) -> io::Result<Inputs<'_>> {
        let idle = self.idle().pop();
        let mut tree = idle.map_or_else(|| Tree::create(&self.parent), Ok)?;
        tree.become_exactly(files)?;
        let private = PrivateDir::named(tree.directory.path().join(private))?;
        let seal = tree.conditions()?;
        Ok(Inputs {
            staging: self,
            tree,
            private,
            seal,
        })
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Tree>> {
        // A tree is pushed or popped whole, whatever panics meanwhile.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inputs<'_> {
    /// The tree, to be read by the child.
    pub fn path(&self) -> &Path {
        self.tree.directory.path()
    }

    /// The private directory of the child.
    pub fn private(&self) -> &Path {
        self.private.path()
    }

    /// Removes the private directory, and the tree too unless the child was kept from writing it, as
    /// `kept_out` says, and everything in it is as it was.
    ///
    /// # Errors
    /// When something cannot be removed (`CleanupIncomplete`).
    pub fn close(self, kept_out: bool) -> io::Result<()> {
        let Self {
            staging,
            tree,
            private,
            seal,
        } = self;
        let untouched = kept_out && tree.conditions().is_ok_and(|conditions| conditions == seal);
        private.remove()?;
        if untouched {
            staging.idle().push(tree);
            return Ok(());
        }
        tree.directory.remove()
    }
}

impl Tree {
    fn create(parent: &Path) -> io::Result<Self> {
        Ok(Self {
            directory: PrivateDir::create(parent)?,
            directories: BTreeSet::new(),
            files: BTreeMap::new(),
        })
    }

    /// Removes what is not in `files` or has other bytes there, and makes what is missing. After an
    /// error it is good for nothing but to be removed.
    fn become_exactly(&mut self, files: &[InputFile<'_>]) -> io::Result<()> {
        let root = self.directory.path();
        let wanted: BTreeMap<&str, &Arc<[u8]>> = files
            .iter()
            .map(|(path, bytes)| (path.as_str(), *bytes))
            .collect();
        let stays = |path: &str, bytes: &Arc<[u8]>| {
            let same = |it: &&Arc<[u8]>| Arc::ptr_eq(it, bytes) || ***it == **bytes;
            wanted.get(path).is_some_and(same)
        };
        for (path, _) in self.files.extract_if(.., |path, bytes| !stays(path, bytes)) {
            unlinkat(CWD, root.join(path), AtFlags::empty())?;
        }
        let directories = directories(files);
        // What is above sorts before what is below: it is made first and removed last.
        let gone = |path: &&String| !directories.contains(*path);
        for path in self.directories.iter().rev().filter(gone) {
            unlinkat(CWD, root.join(path), AtFlags::REMOVEDIR)?;
        }
        for path in directories.difference(&self.directories) {
            mkdirat(CWD, root.join(path), Mode::RWXU)?;
        }
        self.directories = directories;
        for (path, bytes) in files {
            if !self.files.contains_key(path) {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                let file = openat(CWD, root.join(path), flags, Mode::RUSR | Mode::WUSR)?;
                write_all(&file, bytes)?;
                self.files.insert(path.clone(), Arc::clone(bytes));
            }
        }
        Ok(())
    }

    fn conditions(&self) -> io::Result<Vec<Condition>> {
        let root = self.directory.path();
        let inner = self.directories.iter().chain(self.files.keys());
        let all = std::iter::once(root.to_owned()).chain(inner.map(|path| root.join(path)));
        all.map(|path| {
            let it = symlink_metadata(path)?;
            let times = [it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec()];
            Ok((it.mode(), it.ino(), times))
        })
        .collect()
    }
}

/// Every directory above a path of `files`.
fn directories(files: &[InputFile<'_>]) -> BTreeSet<String> {
    files
        .iter()
        .flat_map(|(path, _)| path.match_indices('/').map(|(end, _)| path.split_at(end).0))
        .map(str::to_owned)
        .collect()
}
