// SPDX-License-Identifier: Apache-2.0
//! Every document of `document-cases.json`: accepted, or refused with exact kind and pointer.

use crate::support::{Doc, contract, patched};
use edict_codec::json::Node;
use edict_test_model::{
    Excerpt, FailureKind, Limit, Limits,
    ids::{Coordinate, Locator, NameError},
    suite::{ApplicationDocument, DocumentError, LockDocument, Shape, SuiteDocument},
};
use proptest::{prelude::*, sample::select};

fn decode(document: &str, bytes: &[u8]) -> Result<(), DocumentError> {
    match document {
        "suite" => SuiteDocument::decode(bytes).map(drop),
        "lock" | "upstreamLock" => LockDocument::decode(bytes).map(drop),
        other => panic!("unknown document {other}"),
    }
}

#[test]
fn every_document_case_has_its_exact_kind_and_pointer() {
    let data = contract("document-cases.json");
    let cases = data.get("cases").and_then(|it| it.as_array()).unwrap();
    assert_eq!(cases.len(), 101);
    let mut wrong = Vec::new();
    for case in cases {
        let text = |name: &str| case.get(name).and_then(|it| it.as_text());
        let name = text("name").unwrap();
        let document = text("document").unwrap();
        let bytes = text("text").map_or_else(
            || {
                let base = data.get("base").and_then(|it| it.get(document)).unwrap();
                patched(
                    base,
                    case.get("patch").and_then(|it| it.as_array()).unwrap(),
                )
            },
            str::to_owned,
        );
        let got =
            decode(document, bytes.as_bytes()).map_err(|error| (error.kind.name(), error.pointer));
        let want = match text("result").unwrap() {
            "accept" => Ok(()),
            _ => Err((text("kind").unwrap(), text("pointer").map(str::to_owned))),
        };
        if got != want {
            wrong.push(format!("{name}: {got:?} instead of {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn suite(text: &str) -> Result<SuiteDocument, DocumentError> {
    SuiteDocument::decode(text.as_bytes())
}

#[test]
fn a_rejection_carries_the_span_of_the_member_at_fault() {
    let text = r#"{"schema":"edict.test-suite/v1","id":"s","toolchainLock":"l","cases":[
      {"id":"a","application":"a","input":"i","expect":{"kind":"caseResult","schema":"edict.test.case-result/v1"}},
      {"id":"a","application":"a","input":"i","expect":{"kind":"caseResult","schema":"edict.test.case-result/v1"}}]}"#;
    let error = suite(text).unwrap_err();
    assert_eq!(error.kind, FailureKind::DuplicateCaseId);
    assert_eq!(error.pointer.as_deref(), Some("/cases/1/id"));
    assert_eq!(&text[error.span.start..error.span.end], "\"a\"");
    assert_eq!(error.message, "case id \"a\" is already used by /cases/0");
    let unknown = r#"{"schema":"edict.test-suite/v1","parallel":4}"#;
    let error = suite(unknown).unwrap_err();
    assert_eq!(&unknown[error.span.start..error.span.end], "\"parallel\"");
}

#[test]
fn a_manifest_above_one_mebibyte_is_too_large_whatever_it_holds() {
    let text = format!("\"{}\"", "x".repeat(1_048_575));
    assert_eq!(
        suite(&text).unwrap_err().kind,
        FailureKind::ManifestTooLarge
    );
    assert_eq!(
        LockDocument::decode(text.as_bytes()).unwrap_err().kind,
        FailureKind::LockTooLarge
    );
    let fits = format!("\"{}\"", "x".repeat(1_048_574));
    assert_eq!(suite(&fits).unwrap_err().kind, FailureKind::WrongType);
}

#[test]
fn a_lowered_manifest_limit_holds_for_the_manifest_itself() {
    let text = |limit: usize| {
        format!(
            r#"{{"schema":"edict.test-suite/v1","id":"s","toolchainLock":"l","limits":{{"maxManifestBytes":{limit:03}}},"cases":[]}}"#
        )
        .replace(":0", ": ")
    };
    let length = text(123).len();
    assert_eq!(
        suite(&text(length)).unwrap().limits.max_manifest_bytes(),
        length as u64
    );
    let error = suite(&text(length - 1)).unwrap_err();
    assert_eq!(
        (error.kind, error.pointer),
        (FailureKind::ManifestTooLarge, None)
    );
}

#[test]
fn every_limit_can_be_one_its_ceiling_and_nothing_above() {
    for limit in Limit::ALL {
        let mut limits = Limits::default();
        assert_eq!(limits.get(limit), limit.ceiling());
        assert_eq!(limits.lower(limit, 1), Ok(()));
        assert_eq!(limits.get(limit), 1);
        let ceiling = i128::from(limit.ceiling());
        assert_eq!(limits.lower(limit, ceiling), Ok(()));
        assert_eq!(limits, Limits::default());
        assert_eq!(
            limits.lower(limit, ceiling + 1),
            Err(FailureKind::LimitAboveCeiling)
        );
        assert_eq!(
            limits.lower(limit, i128::from(u64::MAX)),
            Err(FailureKind::LimitAboveCeiling)
        );
        for value in [0, -1, i128::from(i64::MIN)] {
            assert_eq!(
                limits.lower(limit, value),
                Err(FailureKind::LimitNotPositive)
            );
        }
    }
}

#[test]
fn the_order_of_path_checks_is_characters_escape_components() {
    let kind = |path: &str| Locator::parse(path).map(drop);
    assert_eq!(kind("a/b.c"), Ok(()));
    assert_eq!(kind("/a\\b"), Err(NameError::InvalidPath));
    assert_eq!(kind("a//.."), Err(NameError::PathEscape));
    assert_eq!(kind("/"), Err(NameError::PathEscape));
    assert_eq!(kind("a/./b"), Err(NameError::InvalidPath));
    assert_eq!(kind("..."), Ok(()));
    assert_eq!(kind("a\u{7f}"), Err(NameError::InvalidPath));
    assert_eq!(kind("a\u{a0}"), Ok(()));
    let longest = format!("{}a", "a/".repeat(2047));
    assert_eq!(longest.len(), 4095);
    assert_eq!(kind(&format!("{longest}b")), Ok(()));
    assert_eq!(kind(&format!("{longest}bc")), Err(NameError::InvalidPath));
}

#[test]
fn a_sibling_is_seen_from_the_suite_directory() {
    let locator = |text: &str| Locator::parse(text).unwrap();
    let document = locator("cases/a/edict.application.json");
    assert_eq!(
        document.sibling(&locator("src/a.edict")),
        Ok(locator("cases/a/src/a.edict"))
    );
    assert_eq!(locator("app.json").sibling(&locator("x")), Ok(locator("x")));
    let long = locator(&format!("{}a", "a/".repeat(2047)));
    assert_eq!(document.sibling(&long), Err(NameError::InvalidPath));
}

#[test]
fn a_coordinate_names_its_version() {
    let kind = |text: &str| Coordinate::parse(text).map(drop);
    for good in [
        "a@1",
        "a@1.B",
        "x/v1",
        "x/v10",
        "@0",
        "echo.obstruction.budget-exhausted/v1",
    ] {
        assert_eq!(kind(good), Ok(()), "{good}");
    }
    for bad in [
        "a",
        "a@",
        "a@x",
        "x/v",
        "x/v0",
        "x/v01",
        "x/v1a",
        "a @1",
        "a@1\u{2028}",
        "a@1\u{7}",
    ] {
        assert_eq!(kind(bad), Err(NameError::InvalidCoordinate), "{bad}");
    }
    assert_eq!(kind(""), Err(NameError::EmptyString));
    let longest = format!("{}@1", "a".repeat(1022));
    assert_eq!(kind(&longest), Ok(()));
    assert_eq!(kind(&format!("a{longest}")), Err(NameError::StringTooLong));
}

/// An application document after `edit` of its text.
fn application(edit: impl Fn(&mut Doc), shape: Shape) -> Result<ApplicationDocument, String> {
    let mut doc = Doc::parse(
        r#"{"schema":"edict.application/v1","coordinate":"demo.choose@1","sources":["src/main.edict"],
        "lawpacks":[{"manifest":"m","exports":"e","adapter":"a","targetConfiguration":"c"},{"manifest":"m2","exports":"e2"}],
        "target":{"profile":"echo.dpo@1","providerPackage":"p"},"outputDirectory":"out"}"#,
    );
    edit(&mut doc);
    ApplicationDocument::decode(doc.text().as_bytes(), shape).map_err(|error| {
        assert_eq!(error.kind, FailureKind::ApplicationInvalid);
        error.pointer.unwrap()
    })
}

#[test]
fn an_application_document_is_closed_at_every_level() {
    let document = application(|_| {}, Shape::Bundled).unwrap();
    assert_eq!(document.files().len(), 7);
    assert_eq!(document.lawpacks[1].target, None);
    let refused = |edit: &dyn Fn(&mut Doc)| application(edit, Shape::Bundled).unwrap_err();
    assert_eq!(
        refused(&|doc| doc.add("/externalActionResources", "[]")),
        "/externalActionResources"
    );
    assert_eq!(
        refused(&|doc| doc.add("/buildKind", r#""library""#)),
        "/buildKind"
    );
    assert_eq!(refused(&|doc| doc.add("/sources/-", r#""b""#)), "/sources");
    assert_eq!(refused(&|doc| doc.replace("/sources", "[]")), "/sources");
    assert_eq!(
        refused(&|doc| doc.replace("/sources/0", r#""../b""#)),
        "/sources/0"
    );
    assert_eq!(
        refused(&|doc| doc.replace("/coordinate", r#""demo""#)),
        "/coordinate"
    );
    assert_eq!(
        refused(&|doc| doc.remove("/lawpacks/0/adapter")),
        "/lawpacks/0/adapter"
    );
    assert_eq!(
        refused(&|doc| doc.add("/lawpacks/1/adapter", "null")),
        "/lawpacks/1/targetConfiguration"
    );
    assert_eq!(
        refused(&|doc| doc.add("/lawpacks/1/x", "1")),
        "/lawpacks/1/x"
    );
    assert_eq!(
        refused(&|doc| doc.replace("/target/profile", r#""echo""#)),
        "/target/profile"
    );
    assert_eq!(
        refused(&|doc| doc.remove("/outputDirectory")),
        "/outputDirectory"
    );
    assert_eq!(
        refused(&|doc| doc.replace("/schema", r#""edict.application/v2""#)),
        "/schema"
    );
}

#[test]
fn an_application_names_its_provider_package_where_the_shape_needs_one() {
    let without = |doc: &mut Doc| doc.remove("/target/providerPackage");
    assert_eq!(
        application(without, Shape::Bundled)
            .unwrap()
            .provider_package,
        None
    );
    assert_eq!(
        application(without, Shape::Upstream),
        Err("/target/providerPackage".to_owned())
    );
    let document = application(|doc| doc.replace("/lawpacks", "[]"), Shape::Upstream).unwrap();
    assert_eq!(document.lawpacks, []);
}

#[test]
fn the_spelled_out_build_kind_is_the_default() {
    let spelled = |doc: &mut Doc| doc.add("/buildKind", r#""executableOperation""#);
    assert_eq!(
        application(spelled, Shape::Bundled),
        application(|_| {}, Shape::Bundled)
    );
}

#[test]
fn an_excerpt_is_cut_at_a_scalar_and_says_so() {
    let excerpt = |text: &str| Excerpt::of(text);
    let longest = "x".repeat(4096);
    assert_eq!(excerpt(&longest).text, longest);
    assert!(!excerpt(&longest).truncated);
    let longer = format!("{}\u{e9}", "x".repeat(4095));
    let cut = excerpt(&longer);
    assert_eq!(
        (cut.text.len(), cut.truncated, cut.byte_length),
        (4095, true, 4097)
    );
    let foreign = Excerpt::of_bytes(b"a\xff");
    assert_eq!(
        (foreign.text.as_str(), foreign.truncated),
        ("a\u{fffd}", false)
    );
    let long = Excerpt::of_bytes(&[b'x'; 5000]);
    assert_eq!(
        (long.text.len(), long.truncated, long.byte_length),
        (4096, true, 5000)
    );
}

/// Small values of every JSON kind, and texts that are nearly right somewhere.
fn values() -> impl Strategy<Value = String> {
    select(vec![
        "null",
        "true",
        "0",
        "-1",
        "268435457",
        "\"\"",
        "\"a\"",
        "\"..\"",
        "\"/a\"",
        "[]",
        "{}",
        "[1]",
        "[{}]",
        "{\"kind\":\"caseResult\"}",
        "{\"kind\":\"abi\"}",
        "{\"scope\":\"suite\"}",
        "{\"scope\":\"embedded\",\"in\":\"host\"}",
        "{\"a\":1,\"b\":2}",
    ])
    .prop_map(str::to_owned)
}

/// Every pointer into a document.
fn pointers(node: &Node, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    for member in node.as_object().unwrap_or_default() {
        pointers(&member.value, &format!("{at}/{}", member.name), all);
    }
    for (index, item) in node.as_array().unwrap_or_default().iter().enumerate() {
        pointers(item, &format!("{at}/{index}"), all);
    }
}

proptest! {
    #[test]
    fn a_document_changed_anywhere_is_read_or_refused_in_place(
        document in select(vec!["suite", "lock", "upstreamLock"]),
        at in any::<prop::sample::Index>(),
        value in values(),
    ) {
        let data = contract("document-cases.json");
        let base = data.get("base").and_then(|it| it.get(document)).unwrap();
        let mut all = Vec::new();
        pointers(base, "", &mut all);
        let pointer = &all[1 + at.index(all.len() - 1)];
        let mut doc = Doc::of(base);
        doc.replace(pointer, &value);
        let text = doc.text();
        if let Err(error) = decode(document, text.as_bytes()) {
            prop_assert!(text.get(error.span.start..error.span.end).is_some());
            if let Some(place) = &error.pointer {
                // What is wrong is the changed member, something in it, or something that depends on it.
                let related = place.starts_with(pointer.as_str()) || pointer.starts_with(place.as_str());
                let tag = pointer.rsplit('/').next().is_some_and(|it| ["kind", "shape", "scope", "id"].contains(&it));
                prop_assert!(related || tag || error.kind == FailureKind::VerifierNotIndependent, "{error}");
            }
        }
    }
}
