// SPDX-License-Identifier: Apache-2.0
//! M6: exclusive, chained, on the disk; read back up to the point of a kill.

use edict_codec::{
    bounded::ByteLimit,
    digest::derive,
    hex,
    json::{Json, Node},
};
use edict_test_model::failure::{FailureKind, Stage};
use edict_test_store::{
    journal::{Journal, SCHEMA, read_records},
    publish::ExistingReport,
};
use std::{fs, os::unix::fs::symlink, path::PathBuf};

const MUCH: ByteLimit = ByteLimit::new(1_000_000);

fn space() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let space = tempfile::tempdir().unwrap();
    let report = space.path().join("run.json");
    let journal = space.path().join("run.json.journal");
    (space, report, journal)
}

fn begin(journal: &mut Journal) {
    let schema = ("schema".to_owned(), Json::text(SCHEMA));
    journal.append("begin", vec![schema], MUCH).unwrap();
}

#[test]
fn records_are_chained_by_the_bytes_of_the_line_before() {
    let (_space, report, path) = space();
    let mut journal = Journal::create(&report, ExistingReport::Refuse).unwrap();
    begin(&mut journal);
    journal
        .append("end", vec![("complete".to_owned(), Json::Bool(true))], MUCH)
        .unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(journal.bytes(), bytes.len() as u64);
    let zeros = "0".repeat(64);
    let first =
        format!(r#"{{"seq":0,"prev":"{zeros}","type":"begin","schema":"edict.test.journal/v1"}}"#);
    let prev = hex::encode(&derive("edict.test/journal/v1", first.as_bytes()));
    let second = format!(r#"{{"seq":1,"prev":"{prev}","type":"end","complete":true}}"#);
    assert_eq!(
        String::from_utf8(bytes.clone()).unwrap(),
        format!("{first}\n{second}\n")
    );
    let read = read_records(&bytes).unwrap();
    assert!(!read.torn);
    assert_eq!(
        read.records[1].get("type").and_then(Node::as_text),
        Some("end")
    );
    journal.remove().unwrap();
    assert!(!path.exists());
}

#[test]
fn a_torn_last_line_is_left_out() {
    let (_space, report, path) = space();
    let mut journal = Journal::create(&report, ExistingReport::Refuse).unwrap();
    begin(&mut journal);
    journal.append("case", Vec::new(), MUCH).unwrap();
    let bytes = fs::read(&path).unwrap();
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in 0..bytes.len() {
        let read = read_records(&bytes[..cut]).unwrap();
        assert_eq!(read.records.len(), usize::from(cut >= first), "{cut}");
        assert_eq!(read.torn, cut != 0 && cut != first, "{cut}");
    }
}

#[test]
fn every_changed_byte_breaks_the_chain_or_the_record_after_it() {
    let (_space, report, path) = space();
    let mut journal = Journal::create(&report, ExistingReport::Refuse).unwrap();
    begin(&mut journal);
    journal
        .append("case", vec![("case".to_owned(), Json::text("a"))], MUCH)
        .unwrap();
    journal.append("end", Vec::new(), MUCH).unwrap();
    let bytes = fs::read(&path).unwrap();
    let last = bytes[..bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .unwrap();
    for at in 0..last {
        let mut changed = bytes.clone();
        changed[at] ^= 1;
        assert!(read_records(&changed).is_err(), "{at}");
    }
    let mut swapped: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    swapped.swap(1, 2);
    assert_eq!(read_records(&swapped.concat()).unwrap_err().line, 2);
}

#[test]
fn a_journal_that_is_there_is_not_overwritten() {
    let (_space, report, path) = space();
    fs::write(&path, "anything").unwrap();
    for existing in [ExistingReport::Refuse, ExistingReport::Replace] {
        let failure = Journal::create(&report, existing).unwrap_err();
        assert_eq!(
            (failure.stage, failure.kind),
            (Stage::Arguments, FailureKind::ReportExists)
        );
        assert_eq!(fs::read(&path).unwrap(), b"anything");
    }
}

#[test]
fn only_a_journal_of_ours_is_replaced() {
    let (space, report, path) = space();
    let mut journal = Journal::create(&report, ExistingReport::Refuse).unwrap();
    begin(&mut journal);
    drop(journal);
    assert!(Journal::create(&report, ExistingReport::Refuse).is_err());
    assert_eq!(
        Journal::create(&report, ExistingReport::Replace)
            .unwrap()
            .bytes(),
        0
    );
    assert_eq!(fs::read(&path).unwrap(), b"");
    fs::rename(&path, space.path().join("elsewhere")).unwrap();
    symlink("elsewhere", &path).unwrap();
    let failure = Journal::create(&report, ExistingReport::Replace).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ReportExists);
    fs::remove_file(&path).unwrap();
    symlink("dangling", &path).unwrap();
    let failure = Journal::create(&report, ExistingReport::Replace).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ReportExists);
}

#[test]
fn a_directory_that_is_not_there_is_unusable() {
    let (space, _, _) = space();
    let report = space.path().join("absent/run.json");
    let failure = Journal::create(&report, ExistingReport::Refuse).unwrap_err();
    assert_eq!(failure.kind, FailureKind::ReportPathUnusable);
}

#[test]
fn the_limit_is_measured_before_the_record_is_appended() {
    let (_space, report, path) = space();
    let mut journal = Journal::create(&report, ExistingReport::Refuse).unwrap();
    begin(&mut journal);
    let before = journal.bytes();
    let mut probe = Journal::create(&path, ExistingReport::Refuse).unwrap();
    begin(&mut probe);
    probe.append("end", Vec::new(), MUCH).unwrap();
    let total = probe.bytes();
    let failure = journal
        .append("end", Vec::new(), ByteLimit::new(total - 1))
        .unwrap_err();
    assert_eq!(
        (failure.stage, failure.kind),
        (Stage::Report, FailureKind::ReportTooLarge)
    );
    assert_eq!(journal.bytes(), before);
    assert_eq!(fs::metadata(&path).unwrap().len(), before);
    journal
        .append("end", Vec::new(), ByteLimit::new(total))
        .unwrap();
}

#[test]
fn a_file_that_begins_otherwise_is_no_journal() {
    let zeros = "0".repeat(64);
    for text in [
        "{}\n".to_owned(),
        "not a record\n".to_owned(),
        format!("{{\"seq\":0,\"prev\":\"{zeros}\",\"type\":\"case\"}}\n"),
        format!("{{\"seq\":0,\"prev\":\"{zeros}\",\"type\":\"begin\",\"schema\":\"x\"}}\n"),
        format!("{{\"seq\":1,\"prev\":\"{zeros}\",\"type\":\"begin\",\"schema\":\"{SCHEMA}\"}}\n"),
        "\n".to_owned(),
    ] {
        assert_eq!(read_records(text.as_bytes()).unwrap_err().line, 1, "{text}");
    }
    assert_eq!(read_records(b"").unwrap().records, []);
}
