// SPDX-License-Identifier: Apache-2.0
//! What changed a verdict: every cause of the closed set, the positive `none`, and the proof.

use crate::golden_run::{GoldenRun, reader};
use edict_codec::digest::derive_typed;
use edict_test_model::{
    CaseId, CaseIndex, FailureKind, Locator, Stage, Verdict,
    recipe::{Leaf, LeafValue},
    run::{BuildDecision, CaseTelemetry, Class, VerifyDecision, semantic_digest, semantic_json},
    suite::Role,
    why::{
        CaseRecord, Cause, Dependent, Ending, NotChanged, RunRecord, StepName, decode_record,
        dependents, explain_case, not_changed, record_pieces,
    },
};

/// The record of the golden run.
pub(crate) fn golden() -> RunRecord {
    let report = GoldenRun::load().run_report();
    let reader = reader();
    let cases = reader
        .cases()
        .into_iter()
        .zip(&report.semantic.cases)
        .map(|(subject, case)| {
            let program = case
                .program
                .and_then(|index| report.semantic.programs.get(index.0));
            let telemetry = CaseTelemetry {
                index: CaseIndex(0),
                phases: Vec::new(),
                build: BuildDecision::Built,
                verify: VerifyDecision::Verified,
            };
            CaseRecord::new(&subject, case, program, None, &telemetry)
        });
    let semantic = semantic_digest(&semantic_json(&report.semantic)).unwrap();
    RunRecord::new(
        41,
        &reader.suite(),
        &reader.lock(),
        cases.collect(),
        &report.semantic.summary,
        semantic,
    )
}

pub(crate) fn pick() -> CaseId {
    CaseId::parse("pick").unwrap()
}

pub(crate) fn other() -> LeafValue {
    LeafValue::Digest(derive_typed("d/v1", b"another"))
}

pub(crate) fn set(leaves: &mut [Leaf], label: &str, value: LeafValue) {
    leaves
        .iter_mut()
        .find(|leaf| leaf.label == label)
        .unwrap()
        .value = value;
}

fn fail(case: &mut CaseRecord) {
    case.ending = Some(Ending {
        verdict: Verdict::AssertionFailed,
        stage: Stage::Compare,
        kind: FailureKind::AssertionFailed,
    });
}

/// Causes between the golden run and one with a change and another verdict.
fn causes(change: impl Fn(&mut RunRecord)) -> Vec<String> {
    let from = golden();
    let mut to = golden();
    to.number = 42;
    fail(&mut to.cases[0]);
    change(&mut to);
    let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    explanation
        .causes
        .iter()
        .map(|cause| cause.name())
        .collect()
}

#[test]
fn each_differing_leaf_has_its_cause() {
    let leaf =
        |label: &'static str| causes(move |run| set(&mut run.cases[0].leaves, label, other()));
    assert_eq!(leaf("application.source[0]"), ["source.nonsemantic"]);
    assert_eq!(leaf("application.lawpack[0].exports"), ["lawpack"]);
    assert_eq!(leaf("input"), ["fixture"]);
    assert_eq!(leaf("expectation.schema"), ["expectation"]);
    assert_eq!(leaf("skip"), ["skip"]);
    assert_eq!(
        leaf("application.targetProfile"),
        ["toolchain.targetProfile"]
    );
    let lock = |label: &'static str| causes(move |run| set(&mut run.leaves, label, other()));
    for role in Role::ALL {
        let label = format!("toolchain.{}", role.name());
        let got = causes(|run| set(&mut run.leaves, &label, other()));
        assert_eq!(got, [label.as_str()]);
    }
    assert_eq!(
        lock("toolchain.providerPackage"),
        ["toolchain.providerPackage"]
    );
    assert_eq!(lock("toolchain.host.source"), ["toolchain.host"]);
    assert_eq!(lock("limits.wallTimeoutMs"), ["limits"]);
}

#[test]
fn a_changed_source_is_semantic_when_core_changed_with_it() {
    let got = causes(|run| {
        set(&mut run.cases[0].leaves, "application.source[0]", other());
        run.cases[0].core = Some(derive_typed("d/v1", b"core"));
        run.cases[0].build_key = Some(derive_typed("d/v1", b"key"));
    });
    assert_eq!(got, ["source.semantic"]);
    let unbuilt = causes(|run| {
        set(&mut run.cases[0].leaves, "application.source[0]", other());
        run.cases[0].core = None;
    });
    assert_eq!(unbuilt, ["source.semantic"]);
}

#[test]
fn several_leaves_give_several_causes_in_preimage_order() {
    let got = causes(|run| {
        set(&mut run.cases[0].leaves, "input", other());
        set(
            &mut run.cases[0].leaves,
            "application.lawpack[0].manifest",
            other(),
        );
        set(
            &mut run.cases[0].leaves,
            "application.lawpack[0].adapter",
            other(),
        );
        set(&mut run.leaves, "limits.maxCases", LeafValue::Number(7));
        set(&mut run.leaves, "toolchain.verifier", other());
        run.cases[0].label = "another".to_owned();
    });
    assert_eq!(
        got,
        [
            "toolchain.verifier",
            "limits",
            "presentation",
            "lawpack",
            "fixture"
        ]
    );
}

#[test]
fn the_same_key_with_another_core_is_a_broken_store() {
    let got = causes(|run| run.cases[0].core = Some(derive_typed("d/v1", b"core")));
    assert_eq!(got, ["cache.integrity"]);
}

#[test]
fn order_alone_explains_no_verdict() {
    let (from, mut to) = (golden(), golden());
    to.cases.swap(0, 1);
    fail(&mut to.cases[1]);
    let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    assert_eq!(explanation.causes, [Cause::SuiteOrder]);
    assert!(explanation.is_defect());
    to.cases[1].ending = from.cases[0].ending;
    let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    assert!(!explanation.is_defect());
}

#[test]
fn a_case_that_came_or_went_is_its_own_cause() {
    let (from, mut to) = (golden(), golden());
    to.cases.remove(0);
    let removed = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    assert_eq!(removed.causes, [Cause::CaseRemoved]);
    let added = explain_case(&to, &from, &pick(), Vec::new()).unwrap();
    assert_eq!(added.causes, [Cause::CaseAdded]);
    assert_eq!(explain_case(&to, &to, &pick(), Vec::new()), None);
    // Other cases are neither reordered nor changed by it.
    let deny = CaseId::parse("deny").unwrap();
    let kept = explain_case(&from, &to, &deny, Vec::new()).unwrap();
    assert_eq!(kept.causes, [Cause::None]);
}

#[test]
fn infrastructure_shows_its_stage_and_kind() {
    let (from, mut to) = (golden(), golden());
    to.cases[0].ending = None;
    to.class = Class::Infrastructure;
    to.primary = Some((Stage::Host, FailureKind::HostLost));
    let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    let cause = Cause::Infrastructure(Stage::Host, FailureKind::HostLost);
    assert_eq!(explanation.causes, [cause]);
    let deny = CaseId::parse("deny").unwrap();
    let explanation = explain_case(&from, &to, &deny, Vec::new()).unwrap();
    assert_eq!(explanation.causes, [Cause::None]);
}

#[test]
fn none_is_a_positive_statement_about_every_leaf() {
    let (from, mut to) = (golden(), golden());
    fail(&mut to.cases[0]);
    let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    assert_eq!(explanation.causes, [Cause::None]);
    assert!(explanation.verdict_changed() && explanation.first().is_none());
    for label in [
        "toolchain.host",
        "limits.maxCases",
        "application.source[0]",
        "input",
        "skip",
    ] {
        assert!(
            explanation.unchanged.iter().any(|it| it == label),
            "{label}"
        );
    }
    let unverified = vec!["input".to_owned()];
    let explanation = explain_case(&from, &to, &pick(), unverified).unwrap();
    assert_eq!(explanation.causes, [Cause::Unverified]);
}

#[test]
fn steps_stand_in_chain_order_and_name_where_the_file_was() {
    let (from, mut to) = (golden(), golden());
    set(&mut to.cases[0].leaves, "application.source[0]", other());
    to.cases[0].build = BuildDecision::Reused;
    fail(&mut to.cases[0]);
    let explanation = explain_case(&from, &to, &pick(), Vec::new()).unwrap();
    let steps: Vec<(&str, &str, usize)> = explanation
        .steps
        .iter()
        .map(|step| (step.name.name(), step.decision, step.differing.len()))
        .collect();
    assert_eq!(
        steps,
        [
            ("suite", "unchanged", 0),
            ("case", "unchanged", 0),
            ("build", "reused", 1),
            ("verify", "verified", 0),
            ("execute", "executed", 0),
            ("verdict", "changed", 0),
        ]
    );
    let first = explanation.first().unwrap();
    assert_eq!(first.name, StepName::Build);
    let [Some(before), Some(after)] = &first.differing[0].locators else {
        panic!("a source has a place on both sides");
    };
    assert_eq!(
        (before.as_str(), before),
        ("cases/choose/src/main.edict", after)
    );
}

#[test]
fn a_record_is_read_back_as_it_was_written() {
    let record = golden();
    let mut run = record.clone();
    let cases = std::mem::take(&mut run.cases).into_iter();
    let text: String = record_pieces(&run, cases).collect();
    assert_eq!(decode_record(text.as_bytes()), Ok(record));
    for (from, to, kind) in [
        (
            "run-record/v1",
            "run-record/v2",
            FailureKind::UnsupportedSchema,
        ),
        (
            "\"number\":41",
            "\"number\":-1",
            FailureKind::ValueOutOfRange,
        ),
        (
            "\"class\":\"passed\"",
            "\"class\":\"green\"",
            FailureKind::UnknownVariant,
        ),
        (
            "\"class\":\"passed\"",
            "\"klass\":\"passed\"",
            FailureKind::UnknownField,
        ),
        (
            "\"algorithm\":\"blake3\"",
            "\"algorithm\":\"md5\"",
            FailureKind::UnsupportedAlgorithm,
        ),
        (
            "\"id\":\"pick\"",
            "\"id\":\"-\"",
            FailureKind::InvalidIdentifier,
        ),
    ] {
        let changed = text.replacen(from, to, 1);
        assert_ne!(changed, text);
        assert_eq!(
            decode_record(changed.as_bytes()).unwrap_err().kind,
            kind,
            "{to}"
        );
    }
}

#[test]
fn a_file_names_its_cases_and_the_steps_it_reaches() {
    use StepName::{Build, Case, Execute, Verdict, Verify};
    let record = golden();
    let path = |text: &str| Locator::parse(text).unwrap();
    let of = |text: &str| {
        let rows = dependents(&record, &path(text));
        let row = |it: &Dependent| (it.case.to_string(), it.labels.join(" "), it.steps.clone());
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let built = vec![Build, Verify, Execute, Verdict];
    let source = |case: &str| {
        (
            case.to_owned(),
            "application.source[0]".to_owned(),
            built.clone(),
        )
    };
    assert_eq!(
        of("cases/choose/src/main.edict"),
        [source("pick"), source("deny"), source("later")]
    );
    let input = |case: &str| {
        (
            case.to_owned(),
            "input".to_owned(),
            vec![Case, Execute, Verdict],
        )
    };
    assert_eq!(
        of("fixtures/one.bin"),
        [input("pick"), input("bump"), input("later")]
    );
    let setup = (
        "bump".to_owned(),
        "setup[0].input".to_owned(),
        vec![Case, Execute, Verdict],
    );
    assert_eq!(of("fixtures/two.bin"), [setup]);
    let payload = (
        "deny".to_owned(),
        "expectation.payload".to_owned(),
        vec![Case, Execute, Verdict],
    );
    assert_eq!(of("fixtures/range.bin"), [payload]);
    assert_eq!(of("fixtures/none.bin"), []);
}

#[test]
fn an_edit_that_changed_nothing_says_why() {
    let record = golden();
    let case = record.case(&pick()).unwrap();
    let reader = reader();
    let check = |text: &str, change: bool| {
        let locator = Locator::parse(text).unwrap();
        let mut bytes = reader.bytes(&locator);
        if change {
            bytes.push(b' ');
        }
        not_changed(case, &locator, &bytes)
    };
    assert_eq!(check("fixtures/two.bin", true), NotChanged::NotAnInput);
    for input in [
        "cases/choose/src/main.edict",
        "fixtures/one.bin",
        "cases/choose/pack/exports.cbor",
    ] {
        assert_eq!(check(input, false), NotChanged::SameContent);
        assert_eq!(check(input, true), NotChanged::NotRunSince);
    }
}
