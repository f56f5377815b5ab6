// SPDX-License-Identifier: Apache-2.0
//! V1 to V18 on the golden evidence: all pass, and each lie fails exactly its check (H58, H60,
//! BT-010).

use crate::golden::{Golden, GoldenCase, Liar, blake3, other};
use edict_codec::cbor::{Value, decode, encode};
use edict_test_model::FailureKind;
use edict_test_model::built::Body;
use edict_test_model::evidence::{BoundOperation, BoundOutcome, OperationEvidence, Program};
use edict_test_model::run::{Check, CheckResult};

/// Cases of the golden report: pure result, pure obstruction, two effectful operations.
const PICK: usize = 0;
const DENY: usize = 1;
const BUMP: usize = 2;

fn failed(bound: &BoundOperation) -> Vec<&'static str> {
    let failed = |check: &&Check| check.result == CheckResult::Failed;
    bound
        .checks
        .iter()
        .filter(failed)
        .map(|it| it.name)
        .collect()
}

#[test]
fn golden_evidence_passes_every_check_that_applies() {
    let golden = Golden::load();
    for position in [PICK, DENY, BUMP] {
        let case = golden.case(position);
        let mut binder = case.binder();
        for (program, input, operation) in &case.operations {
            let bound = binder.bind(program, input, operation);
            assert_eq!(bound.failure, None, "case {position}");
            for (number, check) in (1..).zip(&bound.checks) {
                let pure = position != BUMP && (12..=15).contains(&number);
                let expected = if pure {
                    CheckResult::NotApplicable
                } else {
                    CheckResult::Passed
                };
                assert_eq!(check.result, expected, "{} of case {position}", check.name);
            }
            assert!(bound.terminal.is_some());
            assert_eq!(bound.settlement.is_some(), position == BUMP);
        }
    }
}

#[test]
fn golden_outcomes_are_typed() {
    let golden = Golden::load();
    let case = golden.case(DENY);
    let (program, input, operation) = &case.operations[0];
    let terminal = case
        .binder()
        .bind(program, input, operation)
        .terminal
        .unwrap();
    let BoundOutcome::Obstruction {
        coordinate,
        payload,
        ..
    } = terminal.outcome
    else {
        panic!("the golden case is an obstruction")
    };
    assert_eq!(coordinate, "demo.kit@1.OutOfRange");
    assert_eq!(payload.get("actual").and_then(Value::as_u64), Some(9));
    assert_eq!(terminal.consumed.steps, 12);
}

/// One lie: the case it is told of, the check and kind it must fail, and the lie.
type Lie = (
    usize,
    &'static str,
    FailureKind,
    &'static str,
    fn(&mut Liar),
);

fn number(value: u64) -> Value {
    Value::unsigned(value)
}

fn patch_row(liar: &Liar) -> Value {
    decode(&liar.operation.patch.as_ref().unwrap().bytes).unwrap()
}

fn footprint_of(liar: &Liar) -> Value {
    decode(&liar.operation.footprint.as_ref().unwrap().bytes).unwrap()
}

fn edited_patch(liar: &mut Liar, path: &str, value: Value) {
    let mut patch = patch_row(liar);
    crate::golden::set(&mut patch, path, value);
    liar.patch(&patch);
}

fn edited_footprint(liar: &mut Liar, path: &str, value: Value) {
    let mut footprint = footprint_of(liar);
    crate::golden::set(&mut footprint, path, value);
    liar.footprint(&footprint);
}

#[rustfmt::skip]
fn lies() -> Vec<Lie> {
    use FailureKind as Kind;
    vec![
        (PICK, "V1", Kind::ReplayedContext, "recalled", |it| it.operation.frame.recalled = true),
        (PICK, "V1", Kind::OutcomeUnknown, "frame of another invocation", |it| it.operation.frame.invocation = [9; 32]),
        (PICK, "V2", Kind::EvidenceVersionUnsupported, "unknown record abi", |it| it.record("abi", Value::text("echo.pure-execution/v2"))),
        (PICK, "V2", Kind::EvidenceVersionUnsupported, "unknown receipt abi", |it| it.receipt("abi", Value::text("echo.receipt/v2"))),
        (PICK, "V2", Kind::EvidenceVersionUnsupported, "another interpreter", |it| it.record("interpreter", Value::text("echo.interpreter/v2"))),
        (PICK, "V2", Kind::EvidenceVersionUnsupported, "another cost law", |it| it.record("costLaw", Value::text("echo.cost/v2"))),
        (PICK, "V2", Kind::EvidenceMalformed, "record member of another type", |it| it.record("consumed.steps", Value::text("12"))),
        (PICK, "V2", Kind::EvidenceMalformed, "receipt member of another type", |it| it.receipt("ordinal", Value::Null)),
        (PICK, "V3", Kind::SemanticDigestMismatch, "receipt of another execution", |it| { it.rebind = false; it.receipt("execution", other("echo/pure-execution/v1")); }),
        (PICK, "V3", Kind::SemanticDigestMismatch, "semantic digest of another domain", |it| { it.rebind = false; it.receipt("execution", blake3("echo/effectful-execution/v1", &encode(&it.record))); }),
        (PICK, "V4", Kind::ForeignContext, "another nonce", |it| it.receipt("nonce", Value::bytes(vec![7; 32]))),
        (PICK, "V4", Kind::ForeignContext, "another worldline", |it| it.receipt("worldline", other("echo/worldline/v1"))),
        (PICK, "V4", Kind::ForeignInvocation, "another invocation", |it| it.receipt("invocation", Value::bytes(vec![7; 32]))),
        (PICK, "V4", Kind::ForeignInvocation, "another request", |it| it.receipt("request", other("echo/invocation/v1"))),
        (PICK, "V5", Kind::SubjectMismatch, "another package", |it| it.record("package.#2", Value::bytes(vec![7; 32]))),
        (PICK, "V5", Kind::SubjectMismatch, "another report", |it| it.record("report.#2", Value::bytes(vec![7; 32]))),
        (PICK, "V6", Kind::SubjectMismatch, "another installation", |it| it.record("installation", other("echo/installation/v1"))),
        (PICK, "V6", Kind::SubjectMismatch, "another operation", |it| it.record("operation", Value::text("demo.choose@1.other"))),
        (PICK, "V7", Kind::InputMismatch, "another input", |it| it.record("input", other("echo/input/v1"))),
        (PICK, "V7", Kind::BudgetMismatch, "a lower budget", |it| it.record("budget.maxSteps", number(999))),
        (PICK, "V7", Kind::BudgetMismatch, "more output than the budget", |it| it.record("consumed.outputBytes", number(257))),
        (PICK, "V7", Kind::BudgetMismatch, "no step", |it| it.record("consumed.steps", number(0))),
        (PICK, "V8", Kind::ResultBindingMismatch, "another body digest", |it| it.record("outcome.body", other("echo/body/v1"))),
        (PICK, "V8", Kind::ResultBindingMismatch, "another length", |it| it.record("outcome.length", number(31))),
        (PICK, "V8", Kind::ResultBindingMismatch, "another body", |it| it.operation.body = Body::new(b"\xf6".to_vec())),
        (PICK, "V8", Kind::ResultBindingMismatch, "frame says obstruction", |it| it.operation.frame.kind = edict_test_model::evidence::OutcomeKind::Obstruction),
        (PICK, "V9", Kind::ResultBindingMismatch, "value of another type", |it| it.body(&Value::text("ok"))),
        (PICK, "V9", Kind::ResultBindingMismatch, "value that is not canonical", |it| { let bytes = vec![0x18, 0x01]; it.record("outcome.body", blake3("echo/body/v1", &bytes)); it.record("outcome.length", number(2)); it.operation.body = Body::new(bytes); }),
        (PICK, "V9", Kind::ResultBindingMismatch, "undeclared obstruction", |it| it.obstruct("authored", "demo.kit@1.Other", &Value::Map(vec![]))),
        (PICK, "V9", Kind::ResultBindingMismatch, "constraint that does not exist", |it| it.obstruct("constraint", "echo.obstruction.input-constraint/v1", &Value::text_map([("constraint", Value::text("where.1"))]))),
        (PICK, "V9", Kind::ResultBindingMismatch, "origin and coordinate disagree", |it| it.obstruct("budget", "echo.obstruction.input-constraint/v1", &Value::text_map([("constraint", Value::text("where.0"))]))),
        (PICK, "V9", Kind::ResultBindingMismatch, "limit that is not the budget's", |it| it.obstruct("budget", "echo.obstruction.budget-exhausted/v1", &Value::text_map([("limit", number(999)), ("resource", Value::text("steps"))]))),
        (PICK, "V9", Kind::ResultBindingMismatch, "unknown resource", |it| it.obstruct("budget", "echo.obstruction.budget-exhausted/v1", &Value::text_map([("limit", number(1000)), ("resource", Value::text("time"))]))),
        (DENY, "V9", Kind::ResultBindingMismatch, "payload of another type", |it| it.body(&Value::text_map([("limit", number(4)), ("actual", Value::text("9"))]))),
        (PICK, "V10", Kind::ReplayedContext, "another ordinal", |it| it.receipt("ordinal", number(1))),
        (BUMP, "V10", Kind::ReplayedContext, "an earlier ordinal", |it| it.receipt("ordinal", number(0))),
        (BUMP, "V10", Kind::ReplayedContext, "another previous receipt", |it| it.receipt("previous", other("echo/receipt/v1"))),
        (BUMP, "V10", Kind::ReplayedContext, "no previous receipt", |it| it.receipt("previous", Value::Null)),
        (PICK, "V11", Kind::HostBuildMismatch, "another build", |it| it.receipt("build", other("echo/host-build/v1"))),
        (BUMP, "V12", Kind::BasisMismatch, "another tick before", |it| it.record("before.tick", number(0))),
        (BUMP, "V12", Kind::BasisMismatch, "another root before", |it| it.record("before.stateRoot", other("echo/state-root/v1"))),
        (BUMP, "V12", Kind::BasisMismatch, "two ticks at once", |it| it.record("after.tick", number(3))),
        (BUMP, "V12", Kind::BasisMismatch, "settled called unchanged", |it| it.record("posture", Value::text("unchanged"))),
        (BUMP, "V13", Kind::SettlementMismatch, "another patch digest", |it| it.record("patch", other("echo/patch/v1"))),
        (BUMP, "V13", Kind::SettlementMismatch, "another version before", |it| edited_patch(it, "#0.before", Value::bytes(vec![7; 32]))),
        (BUMP, "V13", Kind::SettlementMismatch, "another version after", |it| edited_patch(it, "#0.after", Value::bytes(vec![7; 32]))),
        (BUMP, "V13", Kind::SettlementMismatch, "another value", |it| edited_patch(it, "#0.value", Value::bytes(vec![0xa1, 0x61, 0x6e, 0x09]))),
        (BUMP, "V13", Kind::SettlementMismatch, "another key", |it| edited_patch(it, "#0.key", Value::bytes(vec![0x6c]))),
        (BUMP, "V13", Kind::SettlementMismatch, "a row twice", |it| { let row = patch_row(it).as_array().unwrap()[0].clone(); it.patch(&Value::Array(vec![row.clone(), row])); }),
        (BUMP, "V13", Kind::SettlementMismatch, "an empty patch", |it| it.patch(&Value::Array(vec![]))),
        (BUMP, "V14", Kind::SettlementMismatch, "another root after", |it| it.record("after.stateRoot", other("echo/state-root/v1"))),
        (BUMP, "V15", Kind::FootprintMismatch, "another footprint digest", |it| it.record("footprint", other("echo/footprint/v1"))),
        (BUMP, "V15", Kind::FootprintMismatch, "another declared footprint", |it| it.record("declaredFootprint", other("echo/footprint-declared/v1"))),
        (BUMP, "V15", Kind::FootprintMismatch, "another version seen", |it| edited_footprint(it, "reads.#0.seen", Value::Null)),
        (BUMP, "V15", Kind::FootprintMismatch, "an atom of another key", |it| edited_footprint(it, "reads.#0.key", Value::bytes(vec![0x6c]))),
        (BUMP, "V15", Kind::FootprintMismatch, "an undeclared space", |it| edited_footprint(it, "reads.#0.space", Value::text("demo.other/v1"))),
        (BUMP, "V15", Kind::FootprintMismatch, "an undeclared intrinsic", |it| edited_footprint(it, "writes.#0.intrinsics.#0", Value::text("echo.dpo@1.atom.delete"))),
        (BUMP, "V15", Kind::FootprintMismatch, "a write that touched nothing", |it| edited_footprint(it, "reads", Value::Array(vec![]))),
        (BUMP, "V16", Kind::SettlementMismatch, "a gap in the log", |it| it.receipt("wal.firstLsn", number(8))),
        (BUMP, "V16", Kind::SettlementMismatch, "no record before the commit", |it| it.receipt("wal.lastLsn", number(7))),
        (BUMP, "V16", Kind::SettlementMismatch, "another epoch", |it| it.receipt("wal.epoch", number(2))),
        (BUMP, "V16", Kind::SettlementMismatch, "no log", |it| it.receipt("wal", Value::Null)),
        (PICK, "V17", Kind::SettlementMismatch, "a pure outcome with a patch", |it| it.operation.patch = Some(Body::new(b"\x80".to_vec()))),
        (PICK, "V17", Kind::SettlementMismatch, "a pure outcome with a footprint", |it| it.operation.footprint = Some(Body::new(b"\xa0".to_vec()))),
        (BUMP, "V17", Kind::SettlementMismatch, "no footprint", |it| it.operation.footprint = None),
        (BUMP, "V17", Kind::SettlementMismatch, "no patch", |it| it.operation.patch = None),
        (PICK, "V18", Kind::BudgetMismatch, "more steps than the static bound", |it| it.record("consumed.steps", number(501))),
    ]
}

fn told(case: &GoldenCase, lie: fn(&mut Liar)) -> BoundOperation {
    let (program, input, operation) = case.operations.last().unwrap();
    let mut liar = Liar::new(operation);
    lie(&mut liar);
    case.live_binder().bind(program, input, &liar.sealed())
}

#[test]
fn bt_010_each_lie_fails_exactly_its_check() {
    let golden = Golden::load();
    let mut wrong = Vec::new();
    for (position, check, kind, what, lie) in lies() {
        let bound = told(&golden.case(position), lie);
        let got = bound.failure.as_ref().map(|it| (it.check, it.kind));
        if got != Some((check, kind)) || failed(&bound) != [check] || bound.terminal.is_some() {
            wrong.push(format!("{what}: {got:?} {:?}", failed(&bound)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_rebuilt_log_refuses_another_commit() {
    let case = Golden::load().case(BUMP);
    let mut binder = case.binder();
    let (program, input, operation) = &case.operations[0];
    let mut liar = Liar::new(operation);
    liar.receipt("wal.commit", other("echo/wal-record/v1"));
    let bound = binder.bind(program, input, &liar.sealed());
    assert_eq!(failed(&bound), ["V16"]);
}

#[test]
fn evidence_of_one_context_is_foreign_in_another() {
    // H58: the pure golden cases run the same program in two contexts.
    let golden = Golden::load();
    let (pick, deny) = (golden.case(PICK), golden.case(DENY));
    let (program, input, expected) = &pick.operations[0];
    let stolen: OperationEvidence = OperationEvidence {
        frame: expected.frame.clone(),
        request: expected.request.clone(),
        input: expected.input.clone(),
        invocation: expected.invocation,
        ..deny.operations[0].2.clone()
    };
    let bound = pick.binder().bind(program, input, &stolen);
    let failure = bound.failure.unwrap();
    assert_eq!(
        (failure.check, failure.kind),
        ("V4", FailureKind::ForeignContext)
    );
}

#[test]
fn an_outcome_offered_twice_stands_at_another_position() {
    let case = Golden::load().case(PICK);
    let mut binder = case.binder();
    let (program, input, operation) = &case.operations[0];
    assert_eq!(binder.bind(program, input, operation).failure, None);
    let failure = binder.bind(program, input, operation).failure.unwrap();
    assert_eq!(
        (failure.check, failure.kind),
        ("V10", FailureKind::ReplayedContext)
    );
}

#[test]
fn another_input_or_a_rejecting_report_is_no_evidence() {
    let case = Golden::load().case(PICK);
    let (program, input, operation) = &case.operations[0];
    let planned = Body::new(b"\xa2\x61l\x02\x61r\x01".to_vec());
    let failure = case
        .binder()
        .bind(program, &planned, operation)
        .failure
        .unwrap();
    assert_eq!(
        (failure.check, failure.kind),
        ("V7", FailureKind::InputMismatch)
    );

    let mut rejecting: Program = program.clone();
    rejecting.report.accepted = false;
    let bound = case.binder().bind(&rejecting, input, operation);
    assert_eq!(failed(&bound), ["V5"]);
}

#[test]
fn standard_obstructions_are_bound() {
    let case = Golden::load().case(PICK);
    let lies: [fn(&mut Liar); 3] = [
        |it| {
            let payload = Value::text_map([("constraint", Value::text("where.0"))]);
            it.obstruct(
                "constraint",
                "echo.obstruction.input-constraint/v1",
                &payload,
            );
        },
        |it| {
            let payload = Value::text_map([
                ("limit", number(4096)),
                ("resource", Value::text("allocated-bytes")),
            ]);
            it.obstruct("budget", "echo.obstruction.budget-exhausted/v1", &payload);
        },
        |it| {
            let payload = Value::text_map([("limit", number(1)), ("actual", number(2))]);
            it.obstruct("authored", "demo.kit@1.OutOfRange", &payload);
        },
    ];
    for lie in lies {
        assert_eq!(told(&case, lie).failure, None);
    }
}
