// SPDX-License-Identifier: Apache-2.0
//! Staged inputs: exactly the files of a request, kept for the next one only when nobody touched them.

use crate::support::{patient, read, trials, write};
use edict_test_process::{ChildSpec, IsolationLevel, Outcome, Staging, run};
use std::{
    fs::{self, Permissions},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

pub(crate) fn tests() -> Vec<libtest_mimic::Trial> {
    trials![
        a_tree_holds_exactly_the_files_of_its_request,
        equal_files_stay_and_all_others_go,
        what_was_touched_is_not_used_again,
        a_child_that_could_write_leaves_nothing_behind,
        trees_in_use_are_not_shared,
        directories_follow_the_files,
        two_paths_that_exclude_each_other_are_refused,
        a_child_reads_its_inputs_and_writes_its_private_directory_alone,
    ]
}

struct Space {
    root: tempfile::TempDir,
    staging: Staging,
}

impl Space {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let staging = Staging::below(root.path());
        Self { root, staging }
    }

    fn trees(&self) -> usize {
        entries(self.root.path()).len()
    }
}

fn bytes(text: &str) -> Arc<[u8]> {
    text.as_bytes().into()
}

#[expect(clippy::disallowed_methods, reason = "tests look at their own files")]
fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// Every file and directory below `root`, with the identity of each and the content of files.
fn listing(root: &Path) -> Vec<(String, u64, String)> {
    let mut found = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for path in entries(&directory) {
            let metadata = fs::symlink_metadata(&path).unwrap();
            let content = if metadata.is_dir() {
                pending.push(path.clone());
                String::new()
            } else {
                String::from_utf8(read(&path)).unwrap()
            };
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.push((name.to_owned(), metadata.ino(), content));
        }
    }
    found.sort();
    found
}

fn names(root: &Path) -> Vec<(String, String)> {
    let rows = listing(root).into_iter();
    rows.map(|(name, _, content)| (name, content)).collect()
}

fn rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    let rows = rows.iter();
    rows.map(|(name, content)| ((*name).to_owned(), (*content).to_owned()))
        .collect()
}

fn a_tree_holds_exactly_the_files_of_its_request() {
    let space = Space::new();
    let (one, two) = (bytes("one"), bytes("two"));
    let files = [("m".to_owned(), &one), ("a/b/n".to_owned(), &two)];
    let inputs = space.staging.open(&files, "private").unwrap();
    let expected = [
        ("a", ""),
        ("a/b", ""),
        ("a/b/n", "two"),
        ("m", "one"),
        ("private", ""),
    ];
    assert_eq!(names(inputs.path()), rows(&expected));
    assert_eq!(inputs.private(), inputs.path().join("private"));
    for path in [inputs.path(), inputs.private()] {
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o700);
    }
    drop(inputs);
    assert_eq!(space.trees(), 0);
}

fn equal_files_stay_and_all_others_go() {
    let space = Space::new();
    let (pack, first) = (bytes("pack"), bytes("first"));
    let files = [
        ("pack/m".to_owned(), &pack),
        ("src/0".to_owned(), &first),
        ("src/1".to_owned(), &first),
    ];
    let inputs = space.staging.open(&files, "private").unwrap();
    write(&inputs.private().join("written"), "by the child");
    let before = listing(inputs.path());
    inputs.close(true).unwrap();
    // The same bytes from elsewhere, another content under an old name, and a new name.
    let (pack, second) = (bytes("pack"), bytes("second"));
    let files = [
        ("pack/m".to_owned(), &pack),
        ("src/1".to_owned(), &second),
        ("src/2".to_owned(), &second),
    ];
    let inputs = space.staging.open(&files, "private").unwrap();
    let after = listing(inputs.path());
    let expected = [
        ("pack", ""),
        ("pack/m", "pack"),
        ("private", ""),
        ("src", ""),
        ("src/1", "second"),
        ("src/2", "second"),
    ];
    assert_eq!(names(inputs.path()), rows(&expected));
    assert_eq!(before[1], after[1], "the pack is the file that was there");
    inputs.close(true).unwrap();
    assert_eq!(space.trees(), 1);
    drop(space.staging);
    assert_eq!(entries(space.root.path()).len(), 0);
}

fn what_was_touched_is_not_used_again() {
    let content = bytes("content");
    let files = [("a/n".to_owned(), &content)];
    let touches: [fn(&Path); 5] = [
        |tree| fs::set_permissions(tree.join("a/n"), Permissions::from_mode(0o644)).unwrap(),
        |tree| fs::set_permissions(tree.join("a"), Permissions::from_mode(0o755)).unwrap(),
        |tree| fs::set_permissions(tree, Permissions::from_mode(0o755)).unwrap(),
        |tree| write(&tree.join("more"), ""),
        |tree| fs::hard_link(tree.join("a/n"), tree.join("a/more")).unwrap(),
    ];
    for (number, touch) in touches.into_iter().enumerate() {
        let space = Space::new();
        let inputs = space.staging.open(&files, "private").unwrap();
        touch(inputs.path());
        inputs.close(true).unwrap();
        assert_eq!(space.trees(), 0, "touch {number}");
    }
}

fn a_child_that_could_write_leaves_nothing_behind() {
    let space = Space::new();
    let content = bytes("content");
    let files = [("n".to_owned(), &content)];
    let inputs = space.staging.open(&files, "private").unwrap();
    inputs.close(false).unwrap();
    assert_eq!(space.trees(), 0);
}

fn trees_in_use_are_not_shared() {
    let space = Space::new();
    let content = bytes("content");
    let files = [("n".to_owned(), &content)];
    let one = space.staging.open(&files, "private").unwrap();
    let two = space.staging.open(&files, "private").unwrap();
    assert_ne!(one.path(), two.path());
    one.close(true).unwrap();
    two.close(true).unwrap();
    assert_eq!(space.trees(), 2);
}

fn directories_follow_the_files() {
    let space = Space::new();
    let content = bytes("content");
    let one = [("a/b/n".to_owned(), &content), ("c/n".to_owned(), &content)];
    let inputs = space.staging.open(&one, "private").unwrap();
    let tree = inputs.path().to_owned();
    inputs.close(true).unwrap();
    // A directory where a file was, and a file where a directory was.
    let two = [("a".to_owned(), &content), ("c/n/m".to_owned(), &content)];
    let inputs = space.staging.open(&two, "private").unwrap();
    assert_eq!(inputs.path(), tree);
    let expected = [
        ("a", "content"),
        ("c", ""),
        ("c/n", ""),
        ("c/n/m", "content"),
        ("private", ""),
    ];
    assert_eq!(names(inputs.path()), rows(&expected));
    inputs.close(true).unwrap();
    assert_eq!(space.trees(), 1);
}

fn two_paths_that_exclude_each_other_are_refused() {
    let space = Space::new();
    let content = bytes("content");
    let files = [("a".to_owned(), &content), ("a/n".to_owned(), &content)];
    assert!(space.staging.open(&files, "private").is_err());
    assert_eq!(space.trees(), 0);
}

fn a_child_reads_its_inputs_and_writes_its_private_directory_alone() {
    let script = "#!/bin/sh
cat ../a/n
(echo x > ../a/n) 2>/dev/null && echo changed
(echo x > ../a/new) 2>/dev/null && echo added
rm ../a/n 2>/dev/null && echo removed
mv ../a/n here 2>/dev/null && echo moved
echo own > own && cat own
";
    let program = crate::support::Space::new(script);
    let space = Space::new();
    let content = bytes("content\n");
    let files = [("a/n".to_owned(), &content)];
    let inputs = space.staging.open(&files, "private").unwrap();
    let tree = inputs.path().to_owned();
    let spec = ChildSpec {
        readable: vec![tree.clone()],
        ..ChildSpec::new(&program.program(), inputs.private())
    };
    let ended = run(&spec, b"", patient()).unwrap();
    assert_eq!(ended.isolation, Some(IsolationLevel::Full));
    assert_eq!(ended.outcome, Outcome::Exited(0));
    assert_eq!(ended.stdout.complete().unwrap(), b"content\nown\n");
    inputs.close(true).unwrap();
    let inputs = space.staging.open(&files, "private").unwrap();
    assert_eq!(inputs.path(), tree);
    assert_eq!(names(inputs.path()).last().unwrap().0, "private");
}
