// SPDX-License-Identifier: Apache-2.0
//! Built programs, hosts and suites for the tests of Jim.

use edict_codec::cbor::{Value, encode};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use tempfile::TempDir;
use xtask::host::Host;
use xtask::jim::{
    home,
    lane::{PROGRAMS, Programs},
    model::{Edit, Fact, State},
    public_table,
    random::Buffer,
    suite,
    table::Table,
    toolchain::Tools,
};

/// The toolchain of this profile.
pub(crate) fn tools() -> Tools {
    Tools::beside_this().unwrap()
}

/// The public table.
pub(crate) fn table() -> Table {
    Table::read(&public_table()).unwrap()
}

/// The programs a lane can run, built and verified once.
pub(crate) fn programs() -> &'static Programs {
    static BUILT: OnceLock<Programs> = OnceLock::new();
    BUILT.get_or_init(|| {
        let space = tempfile::tempdir().unwrap();
        let place = space.path().join("programs");
        suite::copy(&home().join("programs"), &place).unwrap();
        let mut built = BTreeMap::new();
        for name in PROGRAMS {
            built.insert(name.to_owned(), tools().build(&place, name).unwrap());
        }
        built
    })
}

/// A host over a state root of its own.
pub(crate) struct Served {
    pub(crate) root: TempDir,
    pub(crate) host: Host,
}

impl Served {
    pub(crate) fn start() -> Self {
        let root = tempfile::tempdir().unwrap();
        let host = Host::start(&tools().path("echo-host"), Some(root.path()), None).unwrap();
        Self { root, host }
    }

    /// A buffer with that text in a context of its own.
    pub(crate) fn buffer(&mut self, number: u64, text: &str) -> Buffer {
        Buffer::create(&mut self.host, programs(), number, text).unwrap()
    }
}

/// The state of a buffer that is one.
pub(crate) fn state(buffer: &Buffer) -> State {
    match &buffer.fact {
        Fact::Buffer(state) => state.clone(),
        other => panic!("no buffer: {other:?}"),
    }
}

/// An edit.
pub(crate) fn edit(start: u64, end: u64, replacement: impl AsRef<[u8]>) -> Edit {
    let replacement = replacement.as_ref().to_vec();
    Edit {
        start,
        end,
        replacement,
    }
}

/// A map with one member replaced.
pub(crate) fn with(value: &Value, key: &str, new: Value) -> Value {
    let mut entries: Vec<(Value, Value)> = value.as_map().unwrap().to_vec();
    entries.retain(|(name, _)| name.as_text() != Some(key));
    entries.push((Value::text(key), new));
    Value::map(entries)
}

/// A written suite in a directory of its own.
pub(crate) struct Space {
    pub(crate) directory: TempDir,
}

impl Space {
    /// The suite of a table.
    pub(crate) fn of(table: &Table) -> Self {
        let directory = tempfile::tempdir().unwrap();
        suite::write(table, &directory.path().join("suite")).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Overwrites a fixture.
    pub(crate) fn put(&self, name: &str, value: &Value) {
        let path = self.fixture(name);
        assert!(path.is_file(), "{}", path.display());
        std::fs::write(path, encode(value)).unwrap();
    }

    pub(crate) fn fixture(&self, name: &str) -> PathBuf {
        self.path()
            .join("suite/fixtures")
            .join(format!("{name}.bin"))
    }

    /// A fixture, decoded.
    pub(crate) fn get(&self, name: &str) -> Value {
        edict_codec::cbor::decode(&std::fs::read(self.fixture(name)).unwrap()).unwrap()
    }
}
