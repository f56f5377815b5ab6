// SPDX-License-Identifier: Apache-2.0
//! A suite directory with files in it.

use edict_test_model::{ids::Locator, suite::ToolLocator};
use edict_test_snapshot::SuiteRoot;
use rustix::fs::{CWD, FileType, Mode};
use std::{fs, os::unix::fs::symlink, path::PathBuf};

pub(crate) struct Space(tempfile::TempDir);

impl Space {
    /// Files by path, parents made.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let space = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            space.write(path, text.as_bytes());
        }
        space
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    pub(crate) fn write(&self, path: &str, bytes: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn link(&self, target: &str, path: &str) {
        symlink(target, self.path(path)).unwrap();
    }

    pub(crate) fn fifo(&self, path: &str) {
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, self.path(path), FileType::Fifo, mode, 0).unwrap();
    }

    pub(crate) fn root(&self) -> SuiteRoot {
        SuiteRoot::open(self.0.path()).unwrap()
    }
}

pub(crate) fn locator(path: &str) -> Locator {
    Locator::parse(path).unwrap()
}

pub(crate) fn suite(path: &str) -> ToolLocator {
    ToolLocator::Suite(locator(path))
}

pub(crate) fn outside(path: &str) -> ToolLocator {
    ToolLocator::Outside(path.to_owned())
}
