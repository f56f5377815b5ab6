// SPDX-License-Identifier: Apache-2.0
//! A private directory with one script in it, and ways to run it.

use edict_test_process::{ChildSpec, Deadline, Ended, OwnedChild, PrivateDir, Watch, run};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

/// Makes a named test of each function.
macro_rules! trials {
    ($($name:ident),* $(,)?) => {
        vec![$(libtest_mimic::Trial::test(stringify!($name), || { $name(); Ok(()) })),*]
    };
}
pub(crate) use trials;

/// Long enough for any honest step of these tests.
pub(crate) fn patient() -> Watch<'static> {
    within(30_000)
}

pub(crate) fn within(milliseconds: u64) -> Watch<'static> {
    Watch {
        deadline: Deadline::after_ms(milliseconds),
        stop: &|| false,
    }
}

/// A program and the directory in which it runs.
pub(crate) struct Space {
    root: tempfile::TempDir,
    private: PrivateDir,
}

impl Space {
    pub(crate) fn new(script: &str) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("tools")).unwrap();
        fs::create_dir(root.path().join("work")).unwrap();
        let private = PrivateDir::create(&root.path().join("work")).unwrap();
        let space = Self { root, private };
        write(&space.program(), script);
        fs::set_permissions(space.program(), fs::Permissions::from_mode(0o500)).unwrap();
        space
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.root.path().join("tools/program")
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn directory(&self) -> &Path {
        self.private.path()
    }

    pub(crate) fn spec(&self) -> ChildSpec {
        ChildSpec::new(&self.program(), self.directory())
    }

    pub(crate) fn run(&self, input: &[u8]) -> Ended {
        run(&self.spec(), input, patient()).unwrap()
    }

    pub(crate) fn spawn(&self) -> OwnedChild {
        OwnedChild::spawn(&self.spec()).unwrap()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.directory().join(name)).unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
pub(crate) fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "tests look at their own files")]
pub(crate) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()
}

/// Whether a process of that number and start is still there; a zombie counts as gone.
pub(crate) fn is_alive(stat: &str) -> bool {
    let (pid, start, _) = parse(stat);
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|now| {
        let (_, now_start, state) = parse(&now);
        now_start == start && state != "Z"
    })
}

fn parse(stat: &str) -> (&str, &str, &str) {
    let pid = stat.split(' ').next().unwrap();
    let rest = stat.rsplit_once(") ").unwrap().1;
    let fields: Vec<&str> = rest.split(' ').collect();
    (pid, fields[19], fields[0])
}
