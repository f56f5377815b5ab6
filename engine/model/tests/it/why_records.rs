// SPDX-License-Identifier: Apache-2.0
//! Reports as records, and records that hold only with their own leaves.

use crate::why::{golden, other, pick, set};
use edict_test_model::{
    recipe::LeafValue,
    why::{CaseRecord, Cause, RunRecord, explain_case, report_record, settle},
};

/// The golden report as a record, with a change in its text; it must be one that can be compared.
fn reported(change: impl FnOnce(&str) -> String) -> (RunRecord, bool) {
    let bytes = include_bytes!("../../../../testdata/golden-report/report.json");
    let text = std::str::from_utf8(bytes).unwrap();
    report_record(change(text).as_bytes()).unwrap()
}

#[test]
fn a_report_amounts_to_the_record_of_its_run() {
    let (record, holds) = reported(str::to_owned);
    assert!(holds, "the semantic digest is that of the content");
    let kept = golden();
    assert_eq!(record.suite, kept.suite);
    assert_eq!(record.semantic, kept.semantic);
    assert_eq!(record.class, kept.class);
    for (told, kept) in record.cases.iter().zip(&kept.cases) {
        assert_eq!((&told.id, &told.case), (&kept.id, &kept.case));
        assert_eq!((&told.core, &told.ending), (&kept.core, &kept.ending));
        let source = |case: &CaseRecord| {
            let leaves = case.leaves.iter();
            let source = leaves
                .clone()
                .find(|it| it.label == "application.source[0]");
            source.map(|it| it.value.clone())
        };
        // Nothing was built for a skipped case, so a report does not name its source.
        let built = told.core.is_some();
        assert_eq!(source(told), source(kept).filter(|_| built));
    }
    assert!(record.cases.iter().any(|case| case.core.is_some()));
    let explanation = explain_case(&record, &record, &pick(), Vec::new()).unwrap();
    assert_eq!(explanation.causes, [Cause::None]);
}

#[test]
fn a_report_with_another_content_than_its_digest_does_not_hold() {
    let (_, holds) = reported(|text| text.replacen("\"assertions\": 1", "\"assertions\": 2", 1));
    assert!(!holds);
    for spoiled in [&b"{}"[..], b"", b"{\"schema\":\"edict.test.run/v1\"}"] {
        report_record(spoiled).unwrap_err();
    }
}

#[test]
fn what_a_report_does_not_tell_apart_in_an_application_is_one_leaf() {
    let (from, to) = (reported(str::to_owned).0, reported(str::to_owned).0);
    let explained = |change: &dyn Fn(&mut CaseRecord)| {
        let (mut from, mut to) = (from.clone(), to.clone());
        change(&mut to.cases[0]);
        settle(&mut from, &mut to);
        let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
        let labels = explanation.differing().into_iter();
        let labels: Vec<String> = labels.map(|it| it.difference.label.clone()).collect();
        (labels.join(", "), explanation.causes)
    };
    let rest = |case: &mut CaseRecord| set(&mut case.leaves, "application.identity", other());
    assert_eq!(
        explained(&rest),
        ("application.lawpacks".to_owned(), vec![Cause::Lawpack])
    );
    // A changed source changes the identity of the application too, and is told once.
    let source = |case: &mut CaseRecord| {
        rest(case);
        set(&mut case.leaves, "application.source[0]", other());
    };
    assert_eq!(
        explained(&source),
        (
            "application.source[0]".to_owned(),
            vec![Cause::SourceNonsemantic]
        )
    );
}

#[test]
fn a_record_holds_only_with_the_leaves_of_its_identities() {
    let record = golden();
    assert!(record.holds());
    for index in 0..record.leaves.len() {
        let mut spoiled = record.clone();
        let leaf = &mut spoiled.leaves[index];
        leaf.value = LeafValue::Text("another".to_owned());
        let label = leaf.label.clone();
        assert!(!spoiled.holds(), "{label}");
    }
    for case in 0..record.cases.len() {
        for index in 0..record.cases[case].leaves.len() {
            let mut spoiled = record.clone();
            let leaf = &mut spoiled.cases[case].leaves[index];
            leaf.value = LeafValue::Text("another".to_owned());
            let label = leaf.label.clone();
            assert!(!spoiled.holds(), "{case} {label}");
        }
    }
    let mut swapped = record.clone();
    swapped.cases.swap(0, 1);
    assert!(!swapped.holds());
}
