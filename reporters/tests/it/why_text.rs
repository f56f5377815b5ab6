// SPDX-License-Identifier: Apache-2.0
//! What an explanation says, also for what no healthy run leaves behind.

use edict_codec::digest::{Algorithm, TypedDigest};
use edict_test_model::{
    CaseId, FailureKind, Locator, Stage, Verdict,
    recipe::{Difference, LeafValue},
    suite::Role,
    why::{Cause, DifferingLeaf, Ending, Explanation, Proof, Side, Step, StepName},
};
use edict_test_reporters::{
    why_json::{RunName, document},
    why_text::write,
};
use expect_test::{Expect, expect};

fn digest(byte: u8) -> TypedDigest {
    TypedDigest::new("d/v1", Algorithm::Blake3, [byte; 32])
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "a side of a comparison may have no ending"
)]
fn ending(verdict: Verdict, stage: Stage, kind: FailureKind) -> Option<Ending> {
    Some(Ending {
        verdict,
        stage,
        kind,
    })
}

fn side(run: u64) -> Side {
    Side {
        run,
        ending: ending(Verdict::Passed, Stage::Compare, FailureKind::Passed),
        outcome: vec![("status".to_owned(), "0".to_owned())],
        context: Some(format!("{run:064x}")),
        core: Some(digest(0x91)),
    }
}

/// A case that passed twice with equal inputs.
fn calm() -> Explanation {
    let step = |name| Step {
        name,
        decision: match name {
            StepName::Build | StepName::Verify => "reused",
            StepName::Execute => "executed",
            StepName::Suite | StepName::Case | StepName::Verdict => "unchanged",
        },
        differing: Vec::new(),
        inputs: 9,
    };
    let equal = [
        "limits.maxCases",
        "toolchain.host",
        "application.source[0]",
        "application.lawpack[0].exports",
        "input",
        "expectation.kind",
        "skip",
    ];
    Explanation {
        case: CaseId::parse("pick").unwrap(),
        from: side(41),
        to: side(42),
        steps: StepName::ALL.into_iter().map(step).collect(),
        unchanged: equal.map(str::to_owned).to_vec(),
        causes: vec![Cause::None],
        proof: None,
        unverified: Vec::new(),
    }
}

fn fails(explanation: &mut Explanation) {
    explanation.steps[5].decision = "changed";
    explanation.to.ending = ending(
        Verdict::AssertionFailed,
        Stage::Compare,
        FailureKind::AssertionFailed,
    );
    explanation.to.outcome = vec![
        ("status".to_owned(), "1".to_owned()),
        ("message".to_owned(), "\"left was 3\"".to_owned()),
    ];
}

fn differs(
    explanation: &mut Explanation,
    label: &str,
    values: [LeafValue; 2],
    place: Option<&str>,
) {
    let [from, to] = values.map(Some);
    let name = StepName::of_label(label);
    let place = place.map(|it| Locator::parse(it).unwrap());
    let step = explanation.steps.iter_mut().find(|it| it.name == name);
    let step = step.unwrap();
    if matches!(name, StepName::Suite | StepName::Case) {
        step.decision = "changed";
    }
    step.differing.push(DifferingLeaf {
        difference: Difference {
            label: label.to_owned(),
            from,
            to,
        },
        locators: [place.clone(), place],
    });
    explanation.unchanged.retain(|it| it != label);
}

fn check(change: impl FnOnce(&mut Explanation), text: &Expect) {
    let mut explanation = calm();
    change(&mut explanation);
    let names = [RunName::Number(41), RunName::Number(42)];
    text.assert_eq(&write(&explanation, [&names[0], &names[1]]));
}

#[test]
fn none_is_said_as_such_with_all_that_was_compared() {
    check(
        fails,
        &expect![[r#"
            pick: passed -> assertion_failed   (run 41 -> run 42)

              build      reused      none of 9 inputs differs
              verify     reused      nothing it reads changed
              execute    executed    always: context 0000.. is new; executions are never reused
              verdict    changed     status 0 -> 1, message "left was 3"

              compared   limits.maxCases, toolchain.host, application.source[0],
                         application.lawpack[0].exports, input, expectation.kind, skip
              not pinned kernel, load, wall time
              cause      none   nothing you pinned changed, and the verdict did
        "#]],
    );
}

#[test]
fn several_leaves_stand_in_the_order_of_the_links() {
    let change = |it: &mut Explanation| {
        fails(it);
        let digests = || {
            [
                LeafValue::Digest(digest(0x3d)),
                LeafValue::Digest(digest(0xa0)),
            ]
        };
        differs(
            it,
            "limits.maxCases",
            [LeafValue::Number(9), LeafValue::Number(8)],
            None,
        );
        differs(
            it,
            "application.source[0]",
            digests(),
            Some("cases/pick.edict"),
        );
        differs(
            it,
            "application.coordinate",
            [LeafValue::Text("a@1".into()), LeafValue::Text("a@2".into())],
            None,
        );
        differs(it, "toolchain.host", digests(), None);
        it.to.core = Some(digest(0xe4));
        it.causes = vec![
            Cause::Toolchain(Role::Host),
            Cause::Limits,
            Cause::SourceSemantic,
        ];
        it.proof = Some(Proof::Found {
            changes: vec![1],
            necessary: Some(true),
            executions: 5,
        });
    };
    check(
        change,
        &expect![[r#"
            pick: passed -> assertion_failed   (run 41 -> run 42)

              suite      changed     1 of 9 inputs differs
                           limits.maxCases   9 -> 8
              build      reused      2 of 9 inputs differ
                           source     cases/pick.edict   3d3d.. -> a0a0..   semantic (Core 9191.. -> e4e4..)
                           coordinate                    "a@1" -> "a@2"
              verify     reused      the package changed
              execute    executed    always: context 0000.. is new; executions are never reused; 1 of 9 inputs differ
                           toolchain.host   3d3d.. -> a0a0..
              verdict    changed     status 0 -> 1, message "left was 3"

              unchanged  lawpacks (1), input, expectation, setup, skip, order
              cause      toolchain.host   among 4 differing leaves
              cause      limits   among 4 differing leaves
              cause      source.semantic   among 4 differing leaves
              proof      application.source[0] alone is sufficient and necessary   (5 diagnostic executions, counted nowhere)
        "#]],
    );
}

#[test]
fn order_alone_is_reported_as_a_defect() {
    let change = |it: &mut Explanation| {
        fails(it);
        it.causes = vec![Cause::SuiteOrder];
    };
    check(
        change,
        &expect![[r#"
            pick: passed -> assertion_failed   (run 41 -> run 42)

              build      reused      none of 9 inputs differs
              verify     reused      nothing it reads changed
              execute    executed    always: context 0000.. is new; executions are never reused
              verdict    changed     status 0 -> 1, message "left was 3"

              unchanged  toolchain (1 role), source, lawpacks (1), input, expectation, setup, skip, limits
              cause      suite.order   order alone must change no verdict: this is a defect of the runner or the host
        "#]],
    );
}

#[test]
fn infrastructure_and_a_broken_store_are_told_apart_from_changes() {
    let change = |it: &mut Explanation| {
        it.to = Side {
            run: 42,
            ending: ending(Verdict::RuntimeFailed, Stage::Host, FailureKind::HostLost),
            outcome: Vec::new(),
            context: None,
            core: Some(digest(0xe4)),
        };
        it.steps[4].decision = "notExecuted";
        it.causes = vec![
            Cause::CacheIntegrity,
            Cause::Infrastructure(Stage::Host, FailureKind::HostLost),
            Cause::Unverified,
        ];
        it.unverified = vec!["Core of run 41: its build is not in the store".to_owned()];
    };
    check(
        change,
        &expect![[r#"
            pick: passed -> runtime_failed   (run 41 -> run 42)

              build      reused      none of 9 inputs differs
              verify     reused      the package changed
              execute    notExecuted ended before: stage host, HostLost
              verdict    unchanged   no status, which was 0, host: HostLost

              unchanged  toolchain (1 role), source, lawpacks (1), input, expectation, setup, skip, limits, order
              cause      cache.integrity   equal inputs gave another Core; run with --verify-cache
              cause      infrastructure   stage host, HostLost
              cause      unverified   something printed could not be verified again
              unverified Core of run 41: its build is not in the store
        "#]],
    );
}

#[test]
fn a_case_that_came_or_was_not_reached_says_so() {
    let added = |it: &mut Explanation| {
        it.from.ending = None;
        it.from.core = None;
        it.from.outcome.clear();
        it.causes = vec![Cause::CaseAdded];
    };
    check(
        added,
        &expect![[r#"
            pick: absent -> passed   (run 41 -> run 42)

              build      reused      none of 9 inputs differs
              verify     reused      the package changed
              execute    executed    always: context 0000.. is new; executions are never reused
              verdict    unchanged   status 0

              unchanged  toolchain (1 role), source, lawpacks (1), input, expectation, setup, skip, limits, order
              cause      case.added   the earlier run has no such case
        "#]],
    );
    let lost = |it: &mut Explanation| {
        it.to.ending = None;
        it.to.outcome.clear();
        it.steps[4].decision = "notExecuted";
        it.causes = vec![Cause::Infrastructure(
            Stage::Interrupt,
            FailureKind::Interrupted,
        )];
    };
    check(
        lost,
        &expect![[r#"
            pick: passed -> notRun   (run 41 -> run 42)

              build      reused      none of 9 inputs differs
              verify     reused      nothing it reads changed
              execute    notExecuted not reached
              verdict    unchanged   no status, which was 0

              unchanged  toolchain (1 role), source, lawpacks (1), input, expectation, setup, skip, limits, order
              cause      infrastructure   stage interrupt, Interrupted
        "#]],
    );
}

fn found(changes: &[usize], necessary: Option<bool>) -> Proof {
    Proof::Found {
        changes: changes.to_vec(),
        necessary,
        executions: 4,
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one expected text an ending")]
fn every_end_of_a_proof_has_its_sentence() {
    let mut explanation = calm();
    fails(&mut explanation);
    let digests = || [LeafValue::Digest(digest(1)), LeafValue::Digest(digest(2))];
    differs(&mut explanation, "input", digests(), None);
    differs(&mut explanation, "application.source[0]", digests(), None);
    let proofs = [
        found(&[0], Some(true)),
        found(&[0], Some(false)),
        found(&[0], None),
        found(&[0, 1], Some(true)),
        found(&[0, 1], Some(false)),
        found(&[0, 1], None),
        Proof::Nondeterministic { executions: 1 },
        Proof::Held { executions: 1 },
        Proof::LimitReached {
            changes: vec![0, 1],
            executions: 16,
        },
        Proof::LimitReached {
            changes: Vec::new(),
            executions: 1,
        },
    ];
    let names = [RunName::Number(1), RunName::Report("b.json".to_owned())];
    let mut text = String::new();
    for proof in proofs {
        explanation.proof = Some(proof);
        let whole = write(&explanation, [&names[0], &names[1]]);
        let line = whole.lines().find(|it| it.starts_with("  proof")).unwrap();
        // The common indentation of an expected text is not part of it.
        text.push_str(line.trim_start());
        text.push('\n');
    }
    expect![[r#"
          proof      input alone is sufficient and necessary   (4 diagnostic executions, counted nowhere)
          proof      input alone is sufficient; the other changes are without it too   (4 diagnostic executions, counted nowhere)
          proof      input alone is sufficient; the limit of executions was reached before it was seen whether it is necessary   (4 diagnostic executions, counted nowhere)
          proof      input, application.source[0] are sufficient together and each is necessary   (4 diagnostic executions, counted nowhere)
          proof      input, application.source[0] are sufficient together and no fewer of them; other changes are sufficient too   (4 diagnostic executions, counted nowhere)
          proof      input, application.source[0] are sufficient together and no fewer of them; the limit of executions was reached before it was seen whether each is necessary   (4 diagnostic executions, counted nowhere)
          proof      nondeterministic: the same inputs did not give the same verdict again   (1 diagnostic execution, counted nowhere)
          proof      no change that can be swapped is necessary: the old inputs end like the new ones under the present toolchain   (1 diagnostic execution, counted nowhere)
          proof      input, application.source[0] are sufficient; the limit of executions was reached   (16 diagnostic executions, counted nowhere)
          proof      the limit of executions was reached before anything was confirmed   (1 diagnostic execution, counted nowhere)
    "#]].assert_eq(&text);
    let json = document(&explanation, [&names[0], &names[1]]);
    expect![[r#"
        {
          "schema": "edict.test.why/v1",
          "case": "pick",
          "from": 1,
          "to": "b.json",
          "verdicts": {
            "from": {
              "verdict": "passed",
              "stage": "compare",
              "kind": "Passed"
            },
            "to": {
              "verdict": "assertion_failed",
              "stage": "compare",
              "kind": "AssertionFailed"
            }
          },
          "steps": [
            {
              "name": "suite",
              "decision": "unchanged",
              "differing": []
            },
            {
              "name": "case",
              "decision": "changed",
              "differing": [
                {
                  "label": "input",
                  "from": {
                    "domain": "d/v1",
                    "algorithm": "blake3",
                    "bytes": "0101010101010101010101010101010101010101010101010101010101010101"
                  },
                  "to": {
                    "domain": "d/v1",
                    "algorithm": "blake3",
                    "bytes": "0202020202020202020202020202020202020202020202020202020202020202"
                  },
                  "locators": [
                    null,
                    null
                  ]
                }
              ]
            },
            {
              "name": "build",
              "decision": "reused",
              "differing": [
                {
                  "label": "application.source[0]",
                  "from": {
                    "domain": "d/v1",
                    "algorithm": "blake3",
                    "bytes": "0101010101010101010101010101010101010101010101010101010101010101"
                  },
                  "to": {
                    "domain": "d/v1",
                    "algorithm": "blake3",
                    "bytes": "0202020202020202020202020202020202020202020202020202020202020202"
                  },
                  "locators": [
                    null,
                    null
                  ]
                }
              ]
            },
            {
              "name": "verify",
              "decision": "reused",
              "differing": []
            },
            {
              "name": "execute",
              "decision": "executed",
              "differing": []
            },
            {
              "name": "verdict",
              "decision": "changed",
              "differing": []
            }
          ],
          "unchanged": [
            "limits.maxCases",
            "toolchain.host",
            "application.lawpack[0].exports",
            "expectation.kind",
            "skip"
          ],
          "causes": [
            "none"
          ],
          "proof": {
            "result": "limitReached",
            "changes": [],
            "necessary": null,
            "executions": 1
          },
          "unverified": []
        }
    "#]]
    .assert_eq(&edict_codec::json::write_document(&json));
}
