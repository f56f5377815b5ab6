// SPDX-License-Identifier: Apache-2.0
//! M5, M7 and M10: durable bodies, a report that appears whole, and nothing that is overwritten.

use edict_codec::bounded::ByteLimit;
use edict_test_model::{
    built::blob,
    failure::{FailureKind, Stage},
};
use edict_test_store::publish::{Bodies, ExistingReport, ReportPlace, body_path, read_body};
use std::{fs, os::unix::fs::symlink, path::Path};

const OLD: &str = r#"{"schema": "edict.test.run/v1"}"#;
const NEW: &[u8] = br#"{"schema": "edict.test.run/v1", "complete": true}"#;

fn check(path: &Path, existing: ExistingReport) -> Result<ReportPlace, FailureKind> {
    ReportPlace::check(path, existing).map_err(|failure| {
        assert_eq!(failure.stage, Stage::Arguments);
        failure.kind
    })
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_report_appears_whole_under_its_name_alone() {
    let space = tempfile::tempdir().unwrap();
    let path = space.path().join("run.json");
    let place = check(&path, ExistingReport::Refuse).unwrap();
    assert_eq!(place.artifacts(), space.path().join("run.json.artifacts"));
    place.publish(NEW).unwrap();
    assert_eq!(fs::read(&path).unwrap(), NEW);
    assert_eq!(names(space.path()), ["run.json"]);
}

#[test]
fn b20_a_report_that_is_there_is_refused_and_untouched() {
    let space = tempfile::tempdir().unwrap();
    let path = space.path().join("run.json");
    fs::write(&path, OLD).unwrap();
    assert_eq!(
        check(&path, ExistingReport::Refuse),
        Err(FailureKind::ReportExists)
    );
    let place = check(&path, ExistingReport::Replace).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), OLD);
    place.publish(NEW).unwrap();
    assert_eq!(fs::read(&path).unwrap(), NEW);
}

#[test]
fn b20_links_directories_and_foreign_files_are_never_replaced() {
    let space = tempfile::tempdir().unwrap();
    let at = |name: &str| space.path().join(name);
    fs::write(at("report"), OLD).unwrap();
    fs::write(at("foreign"), r#"{"schema": "other/v1"}"#).unwrap();
    fs::write(at("text"), "hello").unwrap();
    fs::create_dir(at("directory")).unwrap();
    symlink("report", at("link")).unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    for name in ["foreign", "text", "directory", "link", "dangling"] {
        for existing in [ExistingReport::Refuse, ExistingReport::Replace] {
            assert_eq!(
                check(&at(name), existing),
                Err(FailureKind::ReportExists),
                "{name}"
            );
        }
    }
    assert_eq!(fs::read_to_string(at("report")).unwrap(), OLD);
}

#[test]
fn a_place_without_a_directory_or_a_name_is_unusable() {
    let space = tempfile::tempdir().unwrap();
    fs::write(space.path().join("file"), "").unwrap();
    for path in ["absent/run.json", "file/run.json", "..", ""] {
        let path = space.path().join(path);
        let refused = check(&path, ExistingReport::Refuse);
        let expected = if path.file_name().is_none() || !path.parent().unwrap().is_dir() {
            FailureKind::ReportPathUnusable
        } else {
            FailureKind::ReportExists
        };
        assert_eq!(refused, Err(expected), "{path:?}");
    }
}

#[test]
fn what_appears_meanwhile_wins() {
    let space = tempfile::tempdir().unwrap();
    let path = space.path().join("run.json");
    for existing in [ExistingReport::Refuse, ExistingReport::Replace] {
        let place = check(&path, existing).unwrap();
        fs::write(&path, "late").unwrap();
        let failure = place.publish(NEW).unwrap_err();
        assert_eq!(
            (failure.stage, failure.kind),
            (Stage::Report, FailureKind::ReportExists)
        );
        assert_eq!(names(space.path()), ["run.json"]);
        assert_eq!(fs::read(&path).unwrap(), b"late");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn b19_a_report_that_cannot_be_written_leaves_no_part() {
    let space = tempfile::tempdir().unwrap();
    let path = space.path().join("gone/run.json");
    fs::create_dir(space.path().join("gone")).unwrap();
    let place = check(&path, ExistingReport::Refuse).unwrap();
    fs::remove_dir(space.path().join("gone")).unwrap();
    let failure = place.publish(NEW).unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Report, FailureKind::ReportWriteFailed)
    );
    let full = check(Path::new("/dev/full"), ExistingReport::Refuse).unwrap();
    assert_eq!(
        full.publish(NEW).unwrap_err().kind,
        FailureKind::ReportWriteFailed
    );
}

#[test]
fn bodies_are_named_by_their_digests_and_kept_once() {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().join("run.json.artifacts");
    let mut bodies = Bodies::new(&root, ByteLimit::new(100));
    let digest = bodies.keep(b"hello\n").unwrap();
    assert_eq!(digest, blob(b"hello\n"));
    assert_eq!(
        body_path(&digest),
        "blake3/49/6188ee461b234be751ce6799047ffed734571f29719b964b27cd73340e5bf8",
    );
    assert_eq!(bodies.keep(b"hello\n").unwrap(), digest);
    bodies.sync().unwrap();
    assert_eq!(names(&root.join("blake3/49")).len(), 1);
    assert_eq!(
        read_body(&root, &digest, ByteLimit::new(6)).unwrap(),
        b"hello\n"
    );
    assert!(read_body(&root, &digest, ByteLimit::new(5)).is_err());
    assert!(read_body(&root, &blob(b"other"), ByteLimit::new(5)).is_err());
}

#[test]
fn many_bodies_are_kept_at_once_and_equal_ones_once() {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().join("store");
    let texts: Vec<String> = (0..200)
        .map(|number| format!("body {}", number / 2))
        .collect();
    let bytes = || texts.iter().map(String::as_bytes);
    let mut bodies = Bodies::new(&root, ByteLimit::new(10_000));
    bodies.keep_all(bytes()).unwrap();
    for text in bytes() {
        assert_eq!(
            read_body(&root, &blob(text), ByteLimit::new(100)).unwrap(),
            text
        );
    }
    let files: usize = names(&root.join("blake3"))
        .iter()
        .map(|shelf| names(&root.join("blake3").join(shelf)).len())
        .sum();
    assert_eq!(files, 100, "no temporary file is left");
    let failure = Bodies::new(&root, ByteLimit::new(10)).keep_all(bytes());
    assert_eq!(
        failure.unwrap_err().kind,
        FailureKind::ArtifactBytesExceeded
    );
}

#[test]
fn an_existing_body_is_rehashed_and_never_rewritten() {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().join("store");
    let digest = Bodies::new(&root, ByteLimit::new(100))
        .keep(b"hello\n")
        .unwrap();
    let path = root.join(body_path(&digest));
    for wrong in [b"hellO\n".as_slice(), b"hello\n and more", b""] {
        fs::write(&path, wrong).unwrap();
        let failure = Bodies::new(&root, ByteLimit::new(100))
            .keep(b"hello\n")
            .unwrap_err();
        assert_eq!(
            (failure.stage, failure.kind),
            (Stage::Report, FailureKind::ArtifactBodyMismatch)
        );
        assert_eq!(fs::read(&path).unwrap(), wrong);
        assert!(read_body(&root, &digest, ByteLimit::new(100)).is_err());
    }
    fs::remove_file(&path).unwrap();
    fs::write(space.path().join("same"), "hello\n").unwrap();
    symlink(space.path().join("same"), &path).unwrap();
    let failure = Bodies::new(&root, ByteLimit::new(100))
        .keep(b"hello\n")
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::ArtifactBodyMismatch);
}

#[test]
fn the_limit_of_bodies_is_exact_and_checked_before_writing() {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().join("store");
    let mut bodies = Bodies::new(&root, ByteLimit::new(6));
    bodies.keep(b"hello\n").unwrap();
    let failure = bodies.keep(b"x").unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Report, FailureKind::ArtifactBytesExceeded)
    );
    assert!(!root.join(body_path(&blob(b"x"))).exists());
    bodies.keep(b"").unwrap();
}

#[test]
fn a_directory_that_cannot_be_made_is_a_write_failure() {
    let space = tempfile::tempdir().unwrap();
    let root = space.path().join("file");
    fs::write(&root, "").unwrap();
    let failure = Bodies::new(&root, ByteLimit::new(6))
        .keep(b"x")
        .unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Report, FailureKind::ArtifactWriteFailed)
    );
}
