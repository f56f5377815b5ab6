// SPDX-License-Identifier: Apache-2.0
//! A1, A7 and A10: the layout, the lock, blobs and run records.

use crate::support::{Space, open};
use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    built::blob,
    ports::{BlobStore as _, RunStore as _},
};
use edict_test_store::{StateError, Store};
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

fn try_open(path: &Path) -> Result<Store, StateError> {
    Store::open(path, blob(b"runner"))
}

#[test]
fn a_fresh_directory_has_the_layout_and_is_private() {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().join("a/.edict-test");
    let store = open(&root);
    assert_eq!(
        fs::read(root.join("VERSION")).unwrap(),
        b"edict-test-store/1\n"
    );
    assert_eq!(fs::read(root.join(".gitignore")).unwrap(), b"*\n");
    let tag = fs::read_to_string(root.join("CACHEDIR.TAG")).unwrap();
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
    for name in ["blob", "action", "runs", "quarantine"] {
        assert!(root.join(name).is_dir(), "{name}");
    }
    assert_eq!(
        fs::metadata(&root).unwrap().permissions().mode() & 0o777,
        0o700
    );
    drop(store);
    open(&root);
}

#[test]
fn several_runs_share_a_directory_and_a_collection_waits_for_none() {
    let space = Space::new();
    let second = open(space.path());
    let exclusive = || Store::open_exclusive(space.path(), blob(b"runner"));
    assert!(matches!(exclusive(), Err(StateError::Busy { .. })));
    drop(second);
    assert!(matches!(exclusive(), Err(StateError::Busy { .. })));
    let root = space.close();
    Store::open_exclusive(root.path(), blob(b"runner")).unwrap();
}

#[test]
fn another_version_is_refused_and_untouched() {
    for version in [
        "edict-test-store/2\n",
        "edict-test-store/1",
        "",
        "edict-test-store/1\nx",
    ] {
        let space = tempfile::tempdir().unwrap();
        fs::write(space.path().join("VERSION"), version).unwrap();
        let error = try_open(space.path()).unwrap_err();
        assert!(matches!(error, StateError::Version { .. }), "{version}");
        assert_eq!(fs::read_dir(space.path()).unwrap().count(), 1);
    }
}

#[test]
fn a_directory_with_other_things_is_refused_and_untouched() {
    let space = tempfile::tempdir().unwrap();
    fs::write(space.path().join("notes.txt"), "").unwrap();
    let error = try_open(space.path()).unwrap_err();
    assert!(matches!(error, StateError::Foreign { name, .. } if name == "notes.txt"));
    assert_eq!(fs::read_dir(space.path()).unwrap().count(), 1);
}

#[test]
fn a_place_that_is_no_directory_is_refused() {
    let space = tempfile::tempdir().unwrap();
    fs::write(space.path().join("file"), "").unwrap();
    for path in ["file", "file/below"] {
        let error = try_open(&space.path().join(path)).unwrap_err();
        assert!(matches!(error, StateError::Io { .. }), "{path}");
    }
    let error = Store::open_exclusive(space.path(), blob(b"runner")).unwrap_err();
    assert!(matches!(error, StateError::Foreign { .. }));
}

#[test]
fn a_half_made_directory_is_completed() {
    let space = Space::new();
    let root = space.close();
    fs::remove_file(root.path().join("VERSION")).unwrap();
    fs::remove_dir(root.path().join("runs")).unwrap();
    open(root.path());
    assert!(root.path().join("runs").is_dir());
}

#[test]
fn a_blob_is_rehashed_on_every_read() {
    let space = Space::new();
    let digest = space.store.put(b"hello\n").unwrap();
    let get = |limit| space.store.get(&digest, ByteLimit::new(limit));
    assert_eq!(get(6).as_deref(), Some(b"hello\n".as_slice()));
    assert_eq!(get(5), None);
    let [path] = space.files("blob").try_into().unwrap();
    assert!(
        path.ends_with("blob/49/6188ee461b234be751ce6799047ffed734571f29719b964b27cd73340e5bf8")
    );
    fs::write(&path, "hellO\n").unwrap();
    assert_eq!(get(6), None);
    assert_eq!(space.files("blob").len(), 0);
    assert_eq!(space.files("quarantine").len(), 1);
}

#[test]
fn a_corrupt_blob_is_quarantined_before_it_is_written_again() {
    let space = Space::new();
    space.store.put(b"hello\n").unwrap();
    let [path] = space.files("blob").try_into().unwrap();
    for torn in ["", "hell", "hello\nand more"] {
        fs::write(&path, torn).unwrap();
        let digest = space.store.put(b"hello\n").unwrap();
        assert!(
            space.store.get(&digest, ByteLimit::new(6)).is_some(),
            "{torn}"
        );
    }
    assert_eq!(space.files("quarantine").len(), 3);
}

#[test]
fn runs_are_numbered_and_complete_with_their_document() {
    let space = Space::new();
    let store = &space.store;
    assert_eq!(store.begin().unwrap(), 1);
    assert_eq!(open(space.path()).begin().unwrap(), 2);
    store.append(1, "{\"a\":1}").unwrap();
    store.append(1, "{\"b\":2}").unwrap();
    let record = space.path().join("runs/000000000001/record.jsonl");
    assert_eq!(fs::read(record).unwrap(), b"{\"a\":1}\n{\"b\":2}\n");
    assert_eq!(store.numbers(), []);
    store.finish(1, &mut pieces(["{", "}"])).unwrap();
    assert_eq!(store.numbers(), [1]);
    assert_eq!(store.load(1).unwrap(), b"{}");
    assert_eq!(store.load(2), None);
    assert!(store.finish(1, &mut pieces(["{\"other\":1}"])).is_err());
    assert_eq!(store.load(1).unwrap(), b"{}");
    assert_eq!(store.begin().unwrap(), 3);
}

fn pieces<const N: usize>(texts: [&str; N]) -> impl Iterator<Item = String> {
    texts.map(str::to_owned).into_iter()
}
