// SPDX-License-Identifier: Apache-2.0
//! C4: a checkout is pinned only when its files are those that its index has. The indexes were
//! written by Git, for `notes` (empty), `src/a.rs` (`x`) and `src/sub/b.rs` (`yy`), each with a line
//! feed.

use crate::support::{Space, locator, suite};
use edict_test_snapshot::toolchain::{MeasureError, measure_clean_source, measure_source};
use std::fs;

/// Version 2, object names of SHA-1.
const TWO: &str = "4449524300000002000000036b0e57fd2e57431c6b0e57fd2e57431c0000fe00009bfd35000081a400000000\
     0000000000000000e69de29bb2d1d6434b8b29ae775ad8c2e48c539100056e6f74657300000000006b0e57fd\
     2e41d6506b0e57fd2e41d6500000fe00009bfd13000081a4000000000000000000000002587be6b4c3f93f93\
     c489c0111bba5596147a26cb00087372632f612e727300006b0e57fd2e41d6506b0e57fd2e41d6500000fe00\
     009bfd26000081a40000000000000000000000036baf3dd9220eddda0eeac88b638208695db43e5c000c7372\
     632f7375622f622e72730000000000005452454500000051003320310af51e0ed8b59714fb5891ee23f713df\
     ab3596379f737263003220310a8ee618d00c2b2ce30d3225fa677930f0bdb38a1d737562003120300ad637f6\
     2d832db750b40b2986e8a1b699697155eae29ac410a40a6ad75e3f51a0fc299e36fb94a552";
/// Version 4, whose paths are cut where they begin like the one before.
const FOUR: &str = "4449524300000004000000036b0e57fe055537276b0e57fe055537270000fe00009bfd64000081a400000000\
     0000000000000000e69de29bb2d1d6434b8b29ae775ad8c2e48c53910005006e6f746573006b0e57fe04db25\
     276b0e57fe04db25270000fe00009bfd23000081a4000000000000000000000002587be6b4c3f93f93c489c0\
     111bba5596147a26cb0008057372632f612e7273006b0e57fe055537276b0e57fe055537270000fe00009bfd\
     25000081a40000000000000000000000036baf3dd9220eddda0eeac88b638208695db43e5c000c047375622f\
     622e7273005452454500000051003320310af51e0ed8b59714fb5891ee23f713dfab3596379f737263003220\
     310a8ee618d00c2b2ce30d3225fa677930f0bdb38a1d737562003120300ad637f62d832db750b40b2986e8a1\
     b699697155eac9b74404e58c9f58a1644ba1fd6b18c52bcb2550";
/// Version 2, object names of SHA-256.
const LONG: &str = "4449524300000002000000036b0e57fe21775d386b0e57fe21775d380000fe00009bffe5000081a400000000\
     0000000000000000473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a30372181300056e6f\
     746573006b0e57fe213a54386b0e57fe213a54380000fe00009bffe7000081a4000000000000000000000002\
     14f5162e2fe3d240d0d37aaab0f90e4af9a7cfa79639f3bab005b5bfb4174d9f00087372632f612e72730000\
     000000006b0e57fe213a54386b0e57fe213a54380000fe00009bffe6000081a4000000000000000000000003\
     f473a1df2eb5977b1a1024480c0099bc29fb53d031241fa3a4142c9c4a953279000c7372632f7375622f622e\
     727300005452454500000075003320310af3d3c08bc3462982a7e6ac92a4b88a682987af27766aceba76e623\
     e7f7ef0720737263003220310a4c6c0bdf9d0d9b8b169ddda5ad76adadb7e9c69e2a340b778fdb5000bcf70f\
     21737562003120300aabdf4b0b75335a25547b42a127b2a0232ee63197f7677cc180bbecddc745e4aa73c7ef\
     84419b5b6d6078541a7bd66f2e71886a475763f4d9bffa22a70c5b223c";

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn checkout(index: &str) -> Space {
    let revision = "1".repeat(if index == LONG { 64 } else { 40 });
    let space = Space::new(&[
        ("tree/.git/HEAD", &revision),
        ("tree/notes", ""),
        ("tree/src/a.rs", "x\n"),
        ("tree/src/sub/b.rs", "yy\n"),
    ]);
    space.write("tree/.git/index", &bytes(index));
    space
}

fn pinned(space: &Space, paths: &[&str]) -> Result<(), MeasureError> {
    let paths: Vec<_> = paths.iter().map(|path| locator(path)).collect();
    let clean = measure_clean_source(&space.root(), &suite("tree"), &paths)?;
    let known = measure_source(&space.root(), &suite("tree"), &paths)?;
    assert_eq!(clean, known);
    Ok(())
}

#[test]
fn a_checkout_is_clean_below_the_paths_that_are_named() {
    for index in [TWO, FOUR, LONG] {
        let space = checkout(index);
        pinned(&space, &["src"]).unwrap();
        pinned(&space, &["notes", "src/sub"]).unwrap();
        space.write("tree/other", b"added elsewhere");
        space.write("tree/notes", b"changed elsewhere");
        pinned(&space, &["src"]).unwrap();
        pinned(&space, &["src/a.rs"]).unwrap();
    }
}

#[test]
fn every_kind_of_dirt_is_named() {
    type Dirt = fn(&Space);
    let dirt: [(&str, Dirt); 5] = [
        ("src/a.rs", |space| space.write("tree/src/a.rs", b"z\n")),
        ("src/sub/b.rs", |space| {
            space.write("tree/src/sub/b.rs", b"yy");
        }),
        ("src/new.rs", |space| space.write("tree/src/new.rs", b"")),
        ("src/sub/b.rs", |space| {
            fs::remove_file(space.path("tree/src/sub/b.rs")).unwrap();
        }),
        ("src/a.rs", |space| {
            fs::rename(space.path("tree/src/a.rs"), space.path("tree/a.rs")).unwrap();
        }),
    ];
    for index in [TWO, FOUR, LONG] {
        for (path, spoil) in dirt {
            let space = checkout(index);
            spoil(&space);
            let error = pinned(&space, &["src"]).unwrap_err();
            assert_eq!(error, MeasureError::Dirty(path.to_owned()));
        }
    }
}

#[test]
fn an_index_that_is_not_understood_pins_nothing() {
    let whole = bytes(TWO);
    for length in [0, 3, 12, 40, 100, 280, whole.len() - 1] {
        let space = checkout(TWO);
        space.write("tree/.git/index", &whole[..length]);
        let error = pinned(&space, &["src"]).unwrap_err();
        assert!(matches!(error, MeasureError::Head(_)), "{length}: {error}");
    }
    for (at, value) in [(0, b'd'), (7, 1), (7, 5), (11, 4)] {
        let mut other = whole.clone();
        other[at] = value;
        let space = checkout(TWO);
        space.write("tree/.git/index", &other);
        assert!(matches!(
            pinned(&space, &["src"]),
            Err(MeasureError::Head(_))
        ));
    }
    // Entries that are kept in another file.
    let split = TWO.replace("54524545", "6c696e6b");
    assert!(matches!(
        pinned(&checkout(&split), &["src"]),
        Err(MeasureError::Head(_))
    ));
    let space = checkout(TWO);
    fs::remove_file(space.path("tree/.git/index")).unwrap();
    assert!(pinned(&space, &["src"]).is_err());
}

#[test]
fn a_side_of_a_conflict_and_a_link_are_no_files() {
    let mut conflict = bytes(TWO);
    // The flags of `src/a.rs`: its first stage.
    let name = conflict
        .windows(8)
        .position(|it| it == b"src/a.rs")
        .unwrap();
    conflict[name - 2] |= 0x10;
    let space = checkout(TWO);
    space.write("tree/.git/index", &conflict);
    let dirty = |path: &str| Err(MeasureError::Dirty(path.to_owned()));
    assert_eq!(pinned(&space, &["src"]), dirty("src/a.rs"));
    let mut link = bytes(TWO);
    // The mode of `src/a.rs`: that of a symbolic link.
    link[name - 2 - 20 - 16] = 0;
    link[name - 2 - 20 - 14] = 0xa0;
    let space = checkout(TWO);
    space.write("tree/.git/index", &link);
    assert_eq!(pinned(&space, &["src"]), dirty("src/a.rs"));
}
