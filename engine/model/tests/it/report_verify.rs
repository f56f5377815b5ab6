// SPDX-License-Identifier: Apache-2.0
//! The golden report judged from its own members and bodies, and every way to spoil it.

use crate::{golden::file, golden_run::suite_file};
use edict_codec::{
    digest::TypedDigest,
    json::{Json, JsonLimits, parse, write_document},
};
use edict_test_model::{
    report::{
        BodyBytes, CheckOutcome, ReadReport, ReportDocument, SuiteContent, Verification,
        diff::{NotComparable, diff},
        verify::verify,
    },
    run::{digest_json, semantic_digest},
};
use std::sync::Arc;

pub(crate) fn text() -> Vec<u8> {
    file("golden-report/report.json")
}

pub(crate) fn tree() -> Json {
    let limits = JsonLimits::document(1 << 26);
    Json::from(&parse(&text(), limits).unwrap())
}

/// The bytes that lie at the places of `document`, as they are.
fn bytes(document: &ReportDocument) -> BodyBytes {
    let bytes = |path: &str| file(&format!("golden-report/report.json.artifacts/{path}"));
    document
        .bodies()
        .iter()
        .filter(|entry| entry.path.starts_with("blake3/") && entry.path.len() == 72)
        .filter(|entry| {
            entry.path == edict_test_model::report::BodyEntry::expected_path(&entry.blob)
        })
        .map(|entry| (*entry.blob.bytes(), Arc::from(bytes(&entry.path))))
        .collect()
}

fn golden() -> (ReadReport, BodyBytes) {
    let document = ReportDocument::parse(&text()).unwrap();
    let bytes = bytes(&document);
    (document.read(&bytes).unwrap(), bytes)
}

pub(crate) fn suite() -> SuiteContent {
    SuiteContent::read(&suite_file("edict.test-suite.json"), &|locator| {
        Ok(suite_file(locator.as_str()))
    })
    .unwrap()
}

/// Verification of a tree with the golden bodies, read from text as any reader would.
fn judged(tree: &Json, golden: &BodyBytes, suite: Option<&SuiteContent>) -> Option<Verification> {
    let document = ReportDocument::parse(write_document(tree).as_bytes()).ok()?;
    let report = document.read(golden).ok()?;
    Some(verify(&report, golden, suite))
}

fn failures(verification: &Verification) -> Vec<String> {
    verification
        .checks
        .iter()
        .filter(|check| {
            !matches!(
                check.outcome,
                CheckOutcome::Passed | CheckOutcome::Recorded(_)
            )
        })
        .map(|check| format!("{} {}: {:?}", check.subject, check.name, check.outcome))
        .collect()
}

#[test]
fn the_golden_report_is_green_alone_and_beside_its_suite() {
    let (report, bytes) = golden();
    for suite in [None, Some(&suite())] {
        let verification = verify(&report, &bytes, suite);
        assert_eq!(failures(&verification), Vec::<String>::new());
        assert!(verification.green());
        assert_eq!(verification.exit_status(true), 0);
        let recorded: Vec<_> = verification
            .checks
            .iter()
            .filter(|check| matches!(check.outcome, CheckOutcome::Recorded(_)))
            .map(|check| (check.subject.as_str(), check.name.as_str()))
            .collect();
        assert_eq!(
            recorded,
            [
                ("case pick operation 0", "V1"),
                ("case deny operation 0", "V1"),
                ("case bump operation 0", "V1"),
                ("case bump operation 1", "V1"),
            ]
        );
        for number in 2..=18 {
            let name = format!("V{number}");
            let passed = verification
                .checks
                .iter()
                .filter(|check| check.name == name);
            assert_eq!(passed.count(), 4, "{name}");
        }
    }
}

/// A leaf by the steps that lead to it.
#[derive(Clone)]
enum Step {
    Member(usize),
    Item(usize),
}

fn leaves(json: &Json, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    match json {
        Json::Object(members) if !members.is_empty() => {
            for (index, (_, value)) in members.iter().enumerate() {
                path.push(Step::Member(index));
                leaves(value, path, found);
                path.pop();
            }
        }
        Json::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Item(index));
                leaves(value, path, found);
                path.pop();
            }
        }
        _ => found.push(path.clone()),
    }
}

fn at<'a>(mut json: &'a mut Json, path: &[Step]) -> (String, &'a mut Json) {
    let mut shown = String::new();
    for step in path {
        json = match (step, json) {
            (Step::Member(index), Json::Object(members)) => {
                let (name, value) = &mut members[*index];
                shown = format!("{shown}/{name}");
                value
            }
            (Step::Item(index), Json::Array(items)) => {
                shown = format!("{shown}/{index}");
                &mut items[*index]
            }
            _ => panic!("{shown} leads nowhere"),
        };
    }
    (shown, json)
}

/// Other values for a leaf: of its own form; for null two that could stand there.
fn spoiled(leaf: &Json) -> Vec<Json> {
    match leaf {
        Json::Null => vec![Json::text("x"), Json::Integer(0)],
        Json::Bool(value) => vec![Json::Bool(!value)],
        Json::Integer(value) => vec![Json::Integer(value + 1)],
        Json::Text(text) => {
            let digit = text.chars().last().and_then(|it| it.to_digit(16));
            let mut other: String = text.chars().take(text.chars().count().max(1) - 1).collect();
            other
                .push_str(&digit.map_or("x".to_owned(), |digit| format!("{:x}", (digit + 1) % 10)));
            vec![Json::text(other)]
        }
        Json::Array(_) => vec![Json::Array(vec![Json::Null])],
        Json::Object(_) => vec![Json::Null],
    }
}

fn member<'a>(json: &'a Json, name: &str) -> &'a Json {
    let Json::Object(members) = json else {
        panic!("no object")
    };
    &members.iter().find(|member| member.0 == name).unwrap().1
}

fn position(json: &Json, name: &str) -> usize {
    let Json::Object(members) = json else {
        panic!("no object")
    };
    members.iter().position(|member| member.0 == name).unwrap()
}

/// The tree with the digest over its `semantic` made right again.
pub(crate) fn redigested(mut tree: Json) -> Json {
    if let Some(digest) = semantic_digest(member(&tree, "semantic")) {
        let place = [Step::Member(position(&tree, "semanticDigest"))];
        *at(&mut tree, &place).1 = digest_json(&digest);
    }
    tree
}

/// Spoils every leaf of a part of the report, in every way; gives the number of changes.
fn spoil_every_leaf(part: &str) -> usize {
    let (_, bytes) = golden();
    let (suite, tree) = (suite(), tree());
    let index = position(&tree, part);
    let mut paths = Vec::new();
    leaves(
        member(&tree, part),
        &mut vec![Step::Member(index)],
        &mut paths,
    );
    let spoil = |path: &Vec<Step>| {
        let values = spoiled(at(&mut tree.clone(), path).1);
        for value in &values {
            let mut other = tree.clone();
            let (shown, place) = at(&mut other, path);
            *place = value.clone();
            let verification = judged(&redigested(other), &bytes, Some(&suite));
            assert!(
                verification.is_none_or(|it| !it.green() && it.exit_status(true) != 0),
                "{shown} = {value:?} is green"
            );
        }
        values.len()
    };
    let halves = paths.split_at(paths.len() / 2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| halves.0.iter().map(spoil).sum::<usize>());
        halves.1.iter().map(spoil).sum::<usize>() + first.join().unwrap()
    })
}

#[test]
fn no_spoiled_leaf_of_semantic_is_green_beside_the_suite() {
    let changes = spoil_every_leaf("semantic");
    assert!(changes > 300, "{changes} changes");
}

#[test]
fn no_spoiled_leaf_of_evidence_is_green_beside_the_suite() {
    let changes = spoil_every_leaf("evidence");
    assert!(changes > 300, "{changes} changes");
}

#[test]
fn a_changed_semantic_member_with_the_old_digest_is_unsound() {
    let (_, bytes) = golden();
    let mut other = tree();
    let semantic = position(&other, "semantic");
    let suite = position(member(&other, "semantic"), "suite");
    let path = [Step::Member(semantic), Step::Member(suite), Step::Member(0)];
    *at(&mut other, &path).1 = Json::text("demo.other");
    let verification = judged(&other, &bytes, None).unwrap();
    assert_eq!(verification.exit_status(false), 1);
    assert!(failures(&verification)[0].starts_with("report semantic-digest"));
}

#[test]
fn no_changed_byte_of_a_body_is_green() {
    let (report, golden) = golden();
    assert_eq!(golden.len(), 36);
    for (digest, bytes) in &golden {
        for position in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut other = bytes.to_vec();
            other[position] ^= 1;
            let mut spoiled = golden.clone();
            spoiled.insert(*digest, Arc::from(other));
            let read = ReportDocument::parse(&text())
                .unwrap()
                .read(&spoiled)
                .unwrap();
            let verification = verify(&read, &spoiled, None);
            assert_eq!(verification.exit_status(true), 1);
        }
        let mut missing = golden.clone();
        missing.remove(digest);
        let verification = verify(&report, &missing, None);
        assert_ne!(verification.exit_status(true), 0);
        assert!(
            failures(&verification)
                .iter()
                .any(|it| it.contains("is not there"))
        );
    }
}

/// The same tree with the members of every object turned around.
fn reversed(json: &Json) -> Json {
    match json {
        Json::Object(members) => Json::Object(
            members
                .iter()
                .rev()
                .map(|(name, value)| (name.clone(), reversed(value)))
                .collect(),
        ),
        Json::Array(items) => Json::Array(items.iter().map(reversed).collect()),
        other => other.clone(),
    }
}

/// The place of every object.
fn objects(json: &Json, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    match json {
        Json::Object(members) => {
            found.push(path.clone());
            for (index, (_, value)) in members.iter().enumerate() {
                path.push(Step::Member(index));
                objects(value, path, found);
                path.pop();
            }
        }
        Json::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Item(index));
                objects(value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

#[test]
fn members_stand_in_any_order_and_no_other_is_accepted() {
    let (_, bytes) = golden();
    assert!(
        judged(&reversed(&tree()), &bytes, Some(&suite()))
            .unwrap()
            .green()
    );

    let mut paths = Vec::new();
    objects(&tree(), &mut Vec::new(), &mut paths);
    let mut open = 0;
    for path in paths {
        let mut more = tree();
        let (shown, place) = at(&mut more, &path);
        let Json::Object(members) = place else {
            panic!()
        };
        members.push(("further".into(), Json::Null));
        let more = if shown == "/semanticDigest" {
            more
        } else {
            redigested(more)
        };
        let accepted = judged(&more, &bytes, None).is_some();
        assert_eq!(accepted, shown.starts_with("/telemetry"), "{shown}");
        open += u32::from(accepted);
    }
    assert!(open > 3);
}

#[test]
fn a_rejection_names_its_place() {
    let mut other = tree();
    let text = write_document(&other).replace("\"bump\"", "\"-bump\"");
    let document = ReportDocument::parse(text.as_bytes()).unwrap();
    let error = document.read(&BodyBytes::new()).unwrap_err();
    assert_eq!(error.pointer.as_deref(), Some("/semantic/cases/2/id"));
    assert_eq!(error.kind.name(), "InvalidIdentifier");

    let executed = position(member(&other, "semantic"), "cases");
    let path = [
        Step::Member(position(&other, "semantic")),
        Step::Member(executed),
        Step::Item(0),
        Step::Member(12),
    ];
    let (shown, place) = at(&mut other, &path);
    assert_eq!(shown, "/semantic/cases/0/executed");
    *place = Json::Bool(false);
    let document = ReportDocument::parse(write_document(&other).as_bytes()).unwrap();
    let error = document.read(&BodyBytes::new()).unwrap_err();
    assert_eq!(error.pointer.as_deref(), Some("/semantic/cases/0/executed"));
}

#[test]
fn reports_are_compared_link_by_link() {
    let (report, _) = golden();
    let same = diff(&report, &report).unwrap();
    assert!(same.equal && same.suite.is_empty());
    assert!(same.cases.iter().all(|case| case.links.is_empty()));

    let other: TypedDigest = report.semantic_digest.clone();
    let mut changed = report.clone();
    let program = &mut changed.semantic.programs[0];
    program.artifacts[4].identity = other.clone();
    program.artifacts[0].identity = other;
    changed.semantic.cases[0]
        .result
        .as_mut()
        .unwrap()
        .assertions += 1;
    changed.semantic_tree = Json::Null;
    let difference = diff(&report, &changed).unwrap();
    assert!(!difference.equal);
    let names = |id: &str| -> Vec<String> {
        let case = difference.cases.iter().find(|case| case.id == id).unwrap();
        case.links.iter().map(|link| link.name.clone()).collect()
    };
    assert_eq!(names("pick"), ["source", "core", "assertions"]);
    assert_eq!(names("deny"), ["source", "core"]);
    assert!(names("bump").is_empty() && names("later").is_empty());

    changed.semantic.suite = None;
    assert_eq!(diff(&report, &changed), Err(NotComparable::NoSuite));
}
