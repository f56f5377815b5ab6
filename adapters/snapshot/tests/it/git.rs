// SPDX-License-Identifier: Apache-2.0
//! S15: `HEAD` is resolved from loose and packed refs, also of a linked work tree.

use crate::support::{Space, suite};
use edict_test_snapshot::{
    Place,
    git::{HeadError, head},
};

const ONE: &str = "1111111111111111111111111111111111111111";
const TWO: &str = "2222222222222222222222222222222222222222222222222222222222222222";

fn resolve(files: &[(&str, &str)]) -> Result<String, HeadError> {
    let space = Space::new(files);
    let root = space.root();
    head(Place {
        root: &root,
        locator: &suite("tree"),
    })
}

#[test]
fn a_detached_head_is_its_own_revision() {
    for revision in [ONE, TWO] {
        let text = format!("{revision}\n");
        assert_eq!(resolve(&[("tree/.git/HEAD", &text)]).unwrap(), revision);
    }
}

#[test]
fn a_branch_is_resolved_loose_before_packed() {
    let packed = format!(
        "# pack-refs with: peeled\n{TWO} refs/heads/main\n^{ONE}\n{ONE} refs/heads/other\n"
    );
    let head = ("tree/.git/HEAD", "ref: refs/heads/main\n");
    let packed = ("tree/.git/packed-refs", packed.as_str());
    assert_eq!(resolve(&[head, packed]).unwrap(), TWO);
    assert_eq!(
        resolve(&[head, packed, ("tree/.git/refs/heads/main", ONE)]).unwrap(),
        ONE
    );
}

#[test]
fn a_linked_work_tree_uses_the_common_refs() {
    let files = [
        ("tree/.git", "gitdir: ../main/.git/worktrees/tree\n"),
        ("main/.git/worktrees/tree/HEAD", "ref: refs/heads/topic\n"),
        ("main/.git/worktrees/tree/commondir", "../..\n"),
        ("main/.git/refs/heads/topic", ONE),
    ];
    assert_eq!(resolve(&files).unwrap(), ONE);
}

#[test]
fn symbolic_refs_may_follow_one_another() {
    let files = [
        ("tree/.git/HEAD", "ref: refs/heads/alias\n"),
        ("tree/.git/refs/heads/alias", "ref: refs/heads/main\n"),
        ("tree/.git/refs/heads/main", ONE),
    ];
    assert_eq!(resolve(&files).unwrap(), ONE);
}

#[test]
fn what_resolves_to_nothing_is_told() {
    let upper = ONE.replace('1', "A");
    let cases: &[&[(&str, &str)]] = &[
        &[("tree/file", "")],
        &[("tree/.git", "elsewhere")],
        &[("tree/.git/HEAD", "")],
        &[("tree/.git/HEAD", &upper)],
        &[("tree/.git/HEAD", "ref: refs/heads/unborn\n")],
        &[("tree/.git/HEAD", "ref: HEAD\n")],
        &[("tree/.git/HEAD", "ref: ../../outside\n"), ("outside", ONE)],
        &[("tree/.git/HEAD", "ref: /etc/hostname\n")],
    ];
    for files in cases {
        assert!(resolve(files).is_err(), "{files:?}");
    }
}
