// SPDX-License-Identifier: Apache-2.0
//! D4: the identity of a tree is that of its paths and bytes, and nothing else can be in it.

use crate::support::{Space, locator, suite};
use edict_test_model::{built::blob, failure::FailureKind};
use edict_test_snapshot::{
    Place,
    tree::{SOURCE_TREE, Tree, TreeError, TreeLimits, identity, read_paths, read_tree},
};

fn tree(space: &Space, limits: TreeLimits) -> Result<Tree, TreeError> {
    let root = space.root();
    read_tree(
        Place {
            root: &root,
            locator: &suite("tree"),
        },
        limits,
    )
}

fn paths(space: &Space, paths: &[&str]) -> Result<Tree, TreeError> {
    let root = space.root();
    let paths: Vec<_> = paths.iter().map(|path| locator(path)).collect();
    read_paths(
        Place {
            root: &root,
            locator: &suite("tree"),
        },
        &paths,
        SOURCE_TREE,
    )
}

fn names(tree: &Tree) -> Vec<&str> {
    tree.files.iter().map(|file| file.path.as_str()).collect()
}

#[test]
fn files_are_ordered_by_path_bytes_and_git_is_left_out() {
    let space = Space::new(&[
        ("tree/b", "1"),
        ("tree/a/z", "2"),
        ("tree/a-b", "3"),
        ("tree/.git/HEAD", "4"),
        ("tree/a/.git/x", "5"),
    ]);
    let found = tree(&space, SOURCE_TREE).unwrap();
    assert_eq!(names(&found), ["a-b", "a/.git/x", "a/z", "b"]);
    let blobs = [blob(b"3"), blob(b"5"), blob(b"2"), blob(b"1")];
    let rows = ["a-b", "a/.git/x", "a/z", "b"].into_iter().zip(&blobs);
    assert_eq!(found.identity, identity(rows));
}

#[test]
fn the_published_vector_is_met() {
    let typed = |hex: &str| {
        let bytes = edict_codec::hex::decode_32(hex).unwrap();
        let algorithm = edict_codec::digest::Algorithm::Blake3;
        edict_codec::digest::TypedDigest::new("edict.test/blob/v1", algorithm, bytes)
    };
    let lowerer = typed("51ab4ef54445834226a5db6bccf0119e2e3100ba6dd558990a1a170793b85428");
    let verifier = typed("761865057c05c12295d8106eba0f19eb7bdf9b960283c0567134974f5d69e8dc");
    let manifest = typed("be2d94b4012eb7ae65a19c294e1b76789ceeabc62d637f03241c7268757e1ab1");
    let identity = identity([
        ("components/lowerer.component.wasm", &lowerer),
        ("components/verifier.component.wasm", &verifier),
        ("provider-manifest.echo.json", &manifest),
    ]);
    assert_eq!(identity.domain(), "edict.test/tree/v1");
    assert_eq!(
        identity.hex(),
        "150dfe450c7871c844cd8b88f7bf423c5e82ba950ce992bfe3873a5c351a66f1",
    );
}

#[test]
fn chosen_paths_are_named_from_the_root_and_counted_once() {
    let space = Space::new(&[
        ("tree/src/a", "1"),
        ("tree/src/b/c", "2"),
        ("tree/other", "3"),
    ]);
    let found = paths(&space, &["src/b", "src", "src/a"]).unwrap();
    assert_eq!(names(&found), ["src/a", "src/b/c"]);
    assert_ne!(found.identity, paths(&space, &["src/a"]).unwrap().identity);
}

#[test]
fn links_and_special_files_are_refused() {
    for path in ["tree/src/x", "tree/x"] {
        let space = Space::new(&[("tree/src/a", "1"), ("outside", "2")]);
        space.link("a", path);
        assert!(matches!(
            tree(&space, SOURCE_TREE),
            Err(TreeError::Special { .. })
        ));
        let space = Space::new(&[("tree/src/a", "1")]);
        space.fifo(path);
        assert!(matches!(
            tree(&space, SOURCE_TREE),
            Err(TreeError::Special { .. })
        ));
    }
}

#[test]
fn a_path_that_is_gone_is_told() {
    let space = Space::new(&[("tree/src/a", "1")]);
    let error = paths(&space, &["src", "gone"]).unwrap_err();
    assert!(
        matches!(error, TreeError::Read(error) if error.kind == Some(FailureKind::InputMissing))
    );
}

#[test]
fn limits_hold_exactly() {
    let space = Space::new(&[("tree/a", "12"), ("tree/b/c", "345"), ("tree/d", "")]);
    let limits = |files, bytes| TreeLimits { files, bytes };
    assert_eq!(tree(&space, limits(3, 5)).unwrap().files.len(), 3);
    for limits in [limits(2, 5), limits(3, 4), limits(0, 0)] {
        assert_eq!(tree(&space, limits), Err(TreeError::TooLarge(limits)));
    }
}

#[test]
fn a_tree_that_is_only_deep_is_refused() {
    let space = Space::new(&[]);
    let deep = format!("tree/{}file", "d/".repeat(200));
    space.write(&deep, b"x");
    assert_eq!(
        tree(&space, SOURCE_TREE),
        Err(TreeError::TooLarge(SOURCE_TREE))
    );
}
