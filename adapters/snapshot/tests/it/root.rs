// SPDX-License-Identifier: Apache-2.0
//! P1 and P2: what is read, what is refused, and with which kind.

use crate::support::{Space, locator};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    built::blob,
    failure::FailureKind,
    ports::{FileBytes, ReadError, SnapshotPort as _},
};
use edict_test_snapshot::SuiteRoot;
use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _, os::unix::net::UnixListener, path::Path};

fn read(root: &SuiteRoot, path: &str) -> Result<FileBytes, ReadError> {
    root.read(&locator(path), ByteLimit::new(100))
}

fn refusal(root: &SuiteRoot, path: &str) -> Option<FailureKind> {
    read(root, path).unwrap_err().kind
}

#[test]
fn a_regular_file_is_read_and_digested() {
    let space = Space::new(&[("a/b.bin", "hello\n")]);
    let file = read(&space.root(), "a/b.bin").unwrap();
    assert_eq!(&*file.bytes, b"hello\n");
    assert_eq!(file.blob, blob(b"hello\n"));
    assert_eq!(
        file.blob.hex(),
        "496188ee461b234be751ce6799047ffed734571f29719b964b27cd73340e5bf8",
    );
    assert!(!file.hard_linked);
}

#[test]
fn a_limit_admits_exactly_itself() {
    let space = Space::new(&[("empty", ""), ("file", "12345")]);
    let root = space.root();
    for (path, limit, length) in [("empty", 0, 0), ("file", 5, 5), ("file", u64::MAX, 5)] {
        let file = root.read(&locator(path), ByteLimit::new(limit)).unwrap();
        assert_eq!(file.bytes.len(), length);
    }
    for limit in [0, 1, 4] {
        let error = root
            .read(&locator("file"), ByteLimit::new(limit))
            .unwrap_err();
        assert_eq!(error.kind, None);
        assert_eq!(
            error.message,
            format!("read `file`: larger than {limit} bytes")
        );
    }
}

#[test]
fn a_second_link_is_noticed() {
    let space = Space::new(&[("one", "x")]);
    std::fs::hard_link(space.path("one"), space.path("two")).unwrap();
    assert!(read(&space.root(), "one").unwrap().hard_linked);
}

#[test]
fn what_is_not_there_is_missing() {
    let space = Space::new(&[("file", "x")]);
    let root = space.root();
    assert_eq!(refusal(&root, "absent"), Some(FailureKind::InputMissing));
    assert_eq!(refusal(&root, "absent/x"), Some(FailureKind::InputMissing));
    assert_eq!(refusal(&root, "file/x"), Some(FailureKind::InputMissing));
}

#[test]
fn no_symbolic_link_is_followed() {
    let space = Space::new(&[("real/file", "x")]);
    space.link("real/file", "inside");
    space.link("real", "directory");
    space.link("/etc/passwd", "absolute");
    space.link("../x", "up");
    space.link("nowhere", "dangling");
    let root = space.root();
    for path in ["inside", "directory/file", "absolute", "up", "dangling"] {
        assert_eq!(
            refusal(&root, path),
            Some(FailureKind::SymlinkRejected),
            "{path}"
        );
    }
}

#[test]
fn b30_special_files_are_refused_without_blocking() {
    let space = Space::new(&[("directory/file", "x")]);
    space.fifo("fifo");
    let _listener = UnixListener::bind(space.path("socket")).unwrap();
    let root = space.root();
    for path in ["fifo", "socket", "directory"] {
        assert_eq!(
            refusal(&root, path),
            Some(FailureKind::NotARegularFile),
            "{path}"
        );
    }
    let device = SuiteRoot::open(Path::new("/dev")).unwrap();
    assert_eq!(refusal(&device, "null"), Some(FailureKind::NotARegularFile));
}

#[test]
fn another_file_system_is_an_escape() {
    let root = SuiteRoot::open(Path::new("/")).unwrap();
    assert_eq!(
        refusal(&root, "proc/self/stat"),
        Some(FailureKind::PathEscape)
    );
}

#[test]
fn a_name_that_climbs_is_an_escape_even_past_the_locator() {
    let space = Space::new(&[("suite/file", "x"), ("outside", "x")]);
    let root = SuiteRoot::open(&space.path("suite")).unwrap();
    for name in ["../outside", "/etc/passwd"] {
        let error = root
            .read_name(OsStr::new(name), ByteLimit::new(100))
            .unwrap_err();
        assert_eq!(error.kind, Some(FailureKind::PathEscape), "{name}");
    }
}

#[test]
fn a_file_whose_size_is_not_what_was_read_has_changed() {
    // Files of this file system say that they are empty and are not.
    let root = SuiteRoot::open(Path::new("/proc/self")).unwrap();
    let error = root
        .read(&locator("statm"), ByteLimit::new(4096))
        .unwrap_err();
    assert_eq!(error.kind, Some(FailureKind::InputChanged));
}

#[test]
fn the_directory_stays_the_one_that_was_opened() {
    let space = Space::new(&[("suite/file", "old"), ("other/file", "new")]);
    let root = SuiteRoot::open(&space.path("suite")).unwrap();
    std::fs::rename(space.path("suite"), space.path("moved")).unwrap();
    std::fs::rename(space.path("other"), space.path("suite")).unwrap();
    assert_eq!(&*read(&root, "file").unwrap().bytes, b"old");
}

#[test]
fn a_manifest_path_is_split_and_need_not_be_utf_8() {
    let space = Space::new(&[]);
    let name = OsStr::from_bytes(b"s\xff<.json");
    std::fs::write(space.path("").join(name), "{}").unwrap();
    let path = space.path("").join(name);
    let (root, found) = SuiteRoot::of_manifest(&path).unwrap();
    assert_eq!(found, name);
    assert_eq!(
        &*root.read_name(found, ByteLimit::new(9)).unwrap().bytes,
        b"{}"
    );
    let error = root.read_name(found, ByteLimit::new(1)).unwrap_err();
    assert_eq!(error.message, "read `s<FF><3C>.json`: larger than 1 bytes");
    let (_, found) = SuiteRoot::of_manifest(Path::new("Cargo.toml")).unwrap();
    assert_eq!(found, "Cargo.toml");
}

#[test]
fn a_manifest_path_without_a_name_is_refused() {
    for path in ["", "/", "src/", "src/.", "src/.."] {
        let error = SuiteRoot::of_manifest(Path::new(path)).unwrap_err();
        assert_eq!(error.kind, Some(FailureKind::NotARegularFile), "{path}");
    }
    let error = SuiteRoot::of_manifest(Path::new("absent/suite.json")).unwrap_err();
    assert_eq!(error.kind, Some(FailureKind::InputMissing));
}
