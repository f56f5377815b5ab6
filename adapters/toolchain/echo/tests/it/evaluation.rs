// SPDX-License-Identifier: Apache-2.0
//! Results, obstructions and counters of small programs.

use crate::support::{
    atoms::MapView,
    program::{
        Program, binder, binding, bytes, call, cbor, compare, conditional, constant, declared,
        field, input, local, raise, record,
    },
};
use echo_host::{
    executable::{Decision, Evaluated, Executable as _, Origin},
    refusal::{Refusal, Scope},
};
use edict_codec::cbor::{Value, decode};
use serde_json::{Value as Json, json};

fn run(program: &Program, input: &Json) -> Result<Evaluated, Refusal> {
    let installation = program.admit().unwrap();
    let decoded = installation.decode_input(&bytes(input))?;
    installation.run(decoded, declared(&installation), &mut MapView::default())
}

/// The result, and steps, allocated bytes and output bytes.
fn result(program: &Program, input: &Json) -> (Value, [u64; 3]) {
    let evaluated = run(program, input).unwrap();
    let used = evaluated.consumed;
    match evaluated.decision {
        Decision::Result { body } => (
            decode(&body).unwrap(),
            [used.steps, used.allocated_bytes, used.output_bytes],
        ),
        Decision::Obstruction { coordinate, .. } => panic!("obstructed: {coordinate}"),
    }
}

/// Origin, coordinate and payload of an obstruction, and the counters.
fn obstruction(program: &Program, input: &Json) -> (Origin, String, Value, [u64; 3]) {
    let evaluated = run(program, input).unwrap();
    let used = evaluated.consumed;
    match evaluated.decision {
        Decision::Obstruction {
            origin,
            coordinate,
            body,
        } => (
            origin,
            coordinate,
            decode(&body).unwrap(),
            [used.steps, used.allocated_bytes, used.output_bytes],
        ),
        Decision::Result { .. } => panic!("not obstructed"),
    }
}

fn fault(program: &Program, input: &Json) -> Refusal {
    let refusal = run(program, input).unwrap_err();
    assert_eq!(refusal.kind, "evaluation-fault");
    assert_eq!(refusal.scope, Scope::Context);
    refusal
}

fn copy() -> Program {
    Program::pure(
        "Record<a:U64>",
        "Record<r:U64>",
        &record(&[("r", input("a"))]),
    )
}

/// A program whose result `r` is one expression.
fn expression(input: &str, ty: &str, value: &Json) -> Program {
    Program::pure(
        input,
        &format!("Record<r:{ty}>"),
        &record(&[("r", local("local.0"))]),
    )
    .then("pureBindings", binding(0, ty, value))
}

/// What the frame of `expression` costs: start, let, record, local; the record; nothing else.
fn inside(cost: [u64; 3]) -> [u64; 2] {
    [cost[0] - 4, cost[1] - 48]
}

fn exhausted(limit: u64, resource: &str) -> Value {
    cbor(&json!({"limit": limit, "resource": resource}))
}

#[test]
fn the_anchor_of_the_cost_law_consumes_4_48_4() {
    let (value, cost) = result(&copy(), &json!({"a": 3}));
    assert_eq!(value, cbor(&json!({"r": 3})));
    assert_eq!(cost, [4, 48, 4]);
}

#[test]
fn h35_each_member_of_the_budget_decides_alone() {
    let exact = copy().limited([4, 48, 4]);
    assert_eq!(result(&exact, &json!({"a": 3})).1, [4, 48, 4]);
    for (limits, resource, limit, consumed) in [
        ([3, 48, 4], "steps", 3, [3, 0, 0]),
        ([4, 47, 4], "allocated-bytes", 47, [4, 0, 0]),
        ([4, 48, 3], "output-bytes", 3, [4, 48, 0]),
        ([3, 47, 3], "steps", 3, [3, 0, 0]),
    ] {
        let (origin, coordinate, payload, cost) =
            obstruction(&copy().limited(limits), &json!({"a": 3}));
        assert_eq!(origin, Origin::Budget);
        assert_eq!(coordinate, "echo.obstruction.budget-exhausted/v1");
        assert_eq!(payload, exhausted(limit, resource));
        assert_eq!(cost, consumed, "{limits:?}");
    }
}

#[test]
fn h35_steps_are_named_when_both_counters_are_short_at_one_charge() {
    // A list of three items charges three steps and 80 bytes at once.
    let item = || constant("U64", 1);
    let list = json!({"kind": "list", "item": "U64", "items": [item(), item(), item()]});
    let program = expression("Record<a:U64>", "List<U64,max=3>", &list);
    assert_eq!(inside(result(&program, &json!({"a": 1})).1), [7, 80]);
    let short = obstruction(&program.limited([8, 10, 99]), &json!({"a": 1}));
    assert_eq!((short.2, short.3), (exhausted(8, "steps"), [6, 0, 0]));
}

#[test]
fn h36_a_result_of_exactly_the_limit_is_accepted() {
    let text = |length: usize| json!({"a": "x".repeat(length)});
    let program = Program::pure(
        "Record<a:String<max=40>>",
        "Record<r:String<max=40>>",
        &record(&[("r", input("a"))]),
    )
    .limited([100, 100, 20]);
    // Map head, key `61 72`, text head, content.
    assert_eq!(result(&program, &text(16)).1[2], 20);
    assert_eq!(
        obstruction(&program, &text(17)).2,
        exhausted(20, "output-bytes")
    );
}

#[test]
fn h33_constraints_end_by_number() {
    let below = |limit: u64| compare("<", &input("a"), &constant("U64", limit));
    let two = copy().constrained(&[below(10), below(5)]);
    assert_eq!(result(&two, &json!({"a": 1})).0, cbor(&json!({"r": 1})));
    for (value, name, steps) in [(7, "where.1", 9), (12, "where.0", 5)] {
        let (origin, coordinate, payload, cost) = obstruction(&two, &json!({"a": value}));
        assert_eq!(origin, Origin::Constraint);
        assert_eq!(coordinate, "echo.obstruction.input-constraint/v1");
        assert_eq!(payload, cbor(&json!({"constraint": name})));
        assert_eq!(cost, [steps, 0, 0]);
    }
    let mut eleven = vec![below(100); 11];
    eleven[2] = below(1);
    eleven[10] = below(1);
    let payload = obstruction(&copy().constrained(&eleven), &json!({"a": 1})).2;
    assert_eq!(payload, cbor(&json!({"constraint": "where.2"})));
}

#[test]
fn h34_a_requirement_raises_its_coordinate_with_a_typed_payload() {
    let require = |raised: Json| {
        copy().then(
            "requirements",
            json!({
                "id": "run.require.0",
                "predicate": compare("<", &input("a"), &constant("U64", 5)),
                "onFailure": raised,
            }),
        )
    };
    let payload = record(&[("limit", constant("U64", 5)), ("actual", input("a"))]);
    let with = require(raise("k@1.TooMuch", Some(payload)))
        .obstructed("k@1.TooMuch", "Record<actual:U64,limit:U64>");
    let raised = obstruction(&with, &json!({"a": 9}));
    assert_eq!(
        (raised.0, raised.1.as_str()),
        (Origin::Authored, "k@1.TooMuch")
    );
    assert_eq!(raised.2, cbor(&json!({"limit": 5, "actual": 9})));
    // Start, require, compare, field, local, const; record, const, field, local.
    assert_eq!(raised.3, [10, 64, 16]);
    let bare = require(raise("k@1.TooMuch", None)).obstructed("k@1.TooMuch", "Record<>");
    let raised = obstruction(&bare, &json!({"a": 9}));
    assert_eq!((raised.2, raised.3), (cbor(&json!({})), [6, 0, 1]));
    assert_eq!(result(&bare, &json!({"a": 4})).0, cbor(&json!({"r": 4})));
}

#[test]
fn h39_only_what_is_selected_is_charged() {
    let truth = constant("Bool", true);
    let decided = compare("==", &truth, &truth);
    let costly = compare("==", &input("a"), &input("a"));
    for (condition, steps) in [
        (json!({"kind": "any", "parts": [decided, costly]}), 4),
        (
            json!({"kind": "all", "parts": [{"kind": "not", "part": decided}, costly]}),
            5,
        ),
        (
            json!({"kind": "not", "part": {"kind": "any", "parts": [decided, costly]}}),
            5,
        ),
        (
            json!({"kind": "all", "parts": [decided, {"kind": "true"}]}),
            5,
        ),
        (
            json!({"kind": "any", "parts": [{"kind": "false"}, decided]}),
            5,
        ),
    ] {
        let value = conditional(&condition, &constant("U64", 1), &constant("U64", 1));
        let (_, cost) = result(
            &expression("Record<a:U64>", "U64", &value),
            &json!({"a": 1}),
        );
        assert_eq!(inside(cost), [steps + 2, 0], "{condition}");
    }
}

#[test]
fn h40_a_comparison_costs_the_greater_weight_wherever_the_difference_is() {
    let same = conditional(
        &compare("==", &input("a"), &input("b")),
        &constant("U64", 1),
        &constant("U64", 0),
    );
    let program = expression("Record<a:Bytes<max=200>,b:Bytes<max=200>>", "U64", &same);
    let hex = |first: &str, length: usize| format!("{first}{}", "00".repeat(length - 1));
    for (a, b, equal, weight) in [
        (hex("01", 129), hex("02", 129), 0, 4),
        (hex("01", 129), format!("{}03", &hex("01", 128)), 0, 4),
        (hex("01", 129), hex("01", 129), 1, 4),
        (hex("01", 64), hex("01", 65), 0, 3),
        (String::new(), String::new(), 1, 1),
    ] {
        let (value, cost) = result(&program, &json!({"a": {"$bytes": a}, "b": {"$bytes": b}}));
        assert_eq!(value, cbor(&json!({"r": equal})));
        assert_eq!(inside(cost), [7 + weight - 1, 0]);
    }
}

#[test]
fn a_loop_over_bytes_folds_and_charges_each_item() {
    let count = conditional(
        &compare("==", &local("local.1"), &constant("U32", 10)),
        &call(
            "core.option.default",
            &["Option<U64>", "U64"],
            &[
                call(
                    "core.integer.checkedAdd",
                    &["U64", "U64"],
                    &[local("local.2"), constant("U64", 1)],
                ),
                local("local.2"),
            ],
        ),
        &local("local.2"),
    );
    let lines = json!({
        "parameters": [binder("arg.0", "Bytes<max=32>")],
        "result": "U64",
        "bindings": [{
            "kind": "for",
            "item": binder("local.1", "U32"),
            "collection": local("arg.0"),
            "bound": 32,
            "binding": binder("local.0", "U64"),
            "accumulator": binder("local.2", "U64"),
            "initial": constant("U64", 1),
            "body": {"nodes": [], "result": count},
        }],
        "value": local("local.0"),
    });
    let program = expression(
        "Record<a:Bytes<max=32>>",
        "U64",
        &call("m@1.lines", &[], &[input("a")]),
    )
    .function("lines", lines);
    let (value, cost) = result(&program, &json!({"a": {"$bytes": "610a620a"}}));
    assert_eq!(value, cbor(&json!({"r": 3})));
    // Call, field, local; loop, collection, initial, value; two items of 6 and two of 10 steps.
    assert_eq!(inside(cost), [7 + 2 * 6 + 2 * 10, 2 * 32]);
    let (value, cost) = result(&program, &json!({"a": {"$bytes": ""}}));
    assert_eq!((value, inside(cost)), (cbor(&json!({"r": 1})), [7, 0]));
}

#[test]
fn a_loop_longer_than_its_bound_is_a_fault() {
    let program = copy().inner("pureBindings", binding(0, "U64", &local("local.1")));
    let mut program = program.then(
        "regions",
        json!({
            "id": "run.region.0", "kind": "for", "item": binder("local.1", "U64"),
            "collection": {"kind": "list", "item": "U64", "items": [input("a"), input("a")]},
            "bound": 1, "binding": null, "accumulator": null, "initial": null,
            "body": {"executionOrder": ["run.binding.0"], "result": {"kind": "const", "type": "Bool", "value": null}},
        }),
    );
    fault(&program, &json!({"a": 1}));
    program.intent()["regions"][0]["bound"] = json!(2);
    // Start; loop, list, two fields with two locals and two steps; two items of 3; 4 - 1 at last.
    assert_eq!(result(&program, &json!({"a": 1})).1, [18, 64 + 48, 4]);
}

#[test]
fn a_branch_yields_the_value_of_the_part_that_is_taken() {
    let block = |id: &str, number: u64| json!({"executionOrder": [id], "result": call("core.integer.add", &["U64", "U64"], &[local(&format!("local.{number}")), constant("U64", 1)])});
    let program = Program::pure(
        "Record<a:U64>",
        "Record<r:U64>",
        &record(&[("r", local("local.2"))]),
    )
    .inner("pureBindings", binding(0, "U64", &input("a")))
    .inner("pureBindings", binding(1, "U64", &constant("U64", 100)))
    .then(
        "regions",
        json!({
            "id": "run.region.0", "kind": "branch", "binding": binder("local.2", "U64"),
            "condition": compare(">", &input("a"), &constant("U64", 3)),
            "then": block("run.binding.0", 0), "else": block("run.binding.1", 1),
        }),
    );
    assert_eq!(result(&program, &json!({"a": 7})).0, cbor(&json!({"r": 8})));
    assert_eq!(
        result(&program, &json!({"a": 3})).0,
        cbor(&json!({"r": 101}))
    );
}

#[test]
fn cases_and_options_are_matched() {
    let arms = json!([
        {"case": "End", "binding": null, "value": constant("U64", 0)},
        {"case": "Digit", "binding": binder("local.1", "U64"), "value": local("local.1")},
    ]);
    let mut program = expression(
        "Record<a:m@1.Token>",
        "U64",
        &json!({"kind": "match", "value": input("a"), "arms": arms}),
    );
    program.types = json!({"m@1.Token": {"kind": "Variant", "cases": [
        {"name": "Digit", "payload": "U64"}, {"name": "End", "payload": null},
    ]}});
    assert_eq!(
        result(&program, &json!({"a": ["Digit", 5]})).0,
        cbor(&json!({"r": 5}))
    );
    assert_eq!(
        result(&program, &json!({"a": ["End"]})).0,
        cbor(&json!({"r": 0}))
    );
    let arms = json!([
        {"case": "Some", "binding": binder("local.1", "U32"), "value": call("core.integer.toU64", &["U32"], &[local("local.1")])},
        {"case": "None", "binding": null, "value": constant("U64", 9)},
    ]);
    let program = expression(
        "Record<a:Option<U32>>",
        "U64",
        &json!({"kind": "match", "value": input("a"), "arms": arms}),
    );
    assert_eq!(result(&program, &json!({"a": 5})).0, cbor(&json!({"r": 5})));
    assert_eq!(
        result(&program, &json!({"a": null})).0,
        cbor(&json!({"r": 9}))
    );
}

#[test]
fn proven_operations_that_fail_are_faults() {
    let a = || input("a");
    let max = constant("U64", u64::MAX);
    for value in [
        call("core.integer.add", &["U64", "U64"], &[a(), max.clone()]),
        call(
            "core.integer.divide",
            &["U64", "U64"],
            &[a(), constant("U64", 0)],
        ),
        call(
            "core.option.unwrap",
            &["Option<U64>"],
            &[call("core.option.none", &["Option<U64>"], &[])],
        ),
        call(
            "core.bytes.slice",
            &["Bytes<max=1>", "U64", "U64"],
            &[
                constant("Bytes<max=1>", json!({"$bytes": "00"})),
                a(),
                constant("U64", 2),
            ],
        ),
        field(&local("arg.0"), "absent"),
    ] {
        fault(
            &expression("Record<a:U64>", "U64", &value),
            &json!({"a": 1}),
        );
    }
}

#[test]
fn h38_inputs_are_judged_with_the_path_of_what_does_not_fit() {
    let program = Program::pure(
        "Record<a:U32,l:List<Bytes<max=2>,max=2>>",
        "Record<r:U32>",
        &record(&[("r", input("a"))]),
    );
    let installation = program.admit().unwrap();
    let judged = |bytes: &[u8]| {
        let refusal = installation.decode_input(bytes).unwrap_err();
        assert_eq!(refusal.scope, Scope::Request);
        (refusal.kind, refusal.path)
    };
    let some = |path: &str| Some(path.to_owned());
    let good = bytes(&json!({"a": 1, "l": []}));
    installation.decode_input(&good).unwrap();
    assert_eq!(
        judged(&[&good[..], &[0]].concat()),
        ("input-noncanonical", None)
    );
    assert_eq!(judged(&good[..3]), ("input-noncanonical", None));
    for (input, path) in [
        (json!(3), "."),
        (json!({"a": 1}), ".l"),
        (json!({"a": 1, "l": [], "x": 1}), ".x"),
        (json!({"a": 4_294_967_296u64, "l": []}), ".a"),
        (json!({"a": -1, "l": []}), ".a"),
        (
            json!({"a": 1, "l": [{"$bytes": ""}, {"$bytes": "000000"}]}),
            ".l[1]",
        ),
        (
            json!({"a": 1, "l": [{"$bytes": ""}, {"$bytes": ""}, {"$bytes": ""}]}),
            ".l",
        ),
        (json!({"a": 1, "l": [null]}), ".l[0]"),
    ] {
        assert_eq!(
            judged(&bytes(&input)),
            ("input-type", some(path)),
            "{input}"
        );
    }
}

#[test]
fn the_basis_value_is_kept_once_it_exists() {
    let mut program = copy();
    program.intent()["basis"] = input("a");
    let evaluated = run(&program, &json!({"a": 7})).unwrap();
    assert_eq!(evaluated.basis, Some(vec![7]));
    assert_eq!(evaluated.consumed.steps, 6);
    let evaluated = run(&program.limited([2, 99, 99]), &json!({"a": 7})).unwrap();
    assert_eq!(evaluated.basis, None);
    assert_eq!(evaluated.consumed.steps, 2);
}

#[test]
fn h41_ten_million_steps_are_counted_exactly() {
    let inner = json!({
        "id": "run.region.1", "kind": "for", "item": binder("local.1", "U32"),
        "collection": input("a"), "bound": 4096, "binding": null, "accumulator": null,
        "initial": null,
        "body": {"executionOrder": ["run.binding.0"], "result": {"kind": "const", "type": "Bool", "value": null}},
    });
    let mut outer = inner.clone();
    outer["id"] = json!("run.region.0");
    outer["item"] = binder("local.2", "U32");
    outer["body"]["executionOrder"] = json!(["run.region.1"]);
    let program = Program::pure(
        "Record<a:Bytes<max=4096>>",
        "Record<r:Bytes<max=4096>>",
        &record(&[("r", input("a"))]),
    )
    .inner("pureBindings", binding(0, "U32", &local("local.1")))
    .then("regions", outer)
    .inner("regions", inner)
    .limited([20_000_000, 48, 5000]);
    let n: u64 = 1826;
    let input = json!({"a": {"$bytes": "00".repeat(1826)}});
    // Outer loop and collection, 1 and 3 per item, inner items of 3; then the result.
    assert_eq!(
        result(&program, &input).1,
        [1 + 3 + n * (1 + 3 + n * 3) + 3, 48, n + 6]
    );
}

/// `local.N` is a list that holds `local.N-1` twice, so its content doubles with every level.
fn doubled(levels: usize) -> Program {
    let mut ty = "U64".to_owned();
    let mut program = Program::pure("Record<a:U64>", "Record<r:U64>", &json!(null))
        .then("pureBindings", binding(0, "U64", &input("a")));
    for level in 1..=levels {
        let item = local(&format!("local.{}", level - 1));
        let list = json!({"kind": "list", "item": ty, "items": [item, item]});
        ty = format!("List<{ty},max=2>");
        program = program.then("pureBindings", binding(level, &ty, &list));
    }
    program.output = format!("Record<r:{ty}>");
    let output = program.output.clone();
    let intent = program.intent();
    intent["outputType"] = json!(output);
    intent["result"] = record(&[("r", local(&format!("local.{levels}")))]);
    program
}

#[test]
fn shared_parts_cost_what_they_hold_and_no_memory() {
    let payload = obstruction(&doubled(100), &json!({"a": 1})).2;
    assert_eq!(payload, exhausted(65_536, "output-bytes"));
    let (_, cost) = result(&doubled(10), &json!({"a": 1}));
    // 2^10 integers, 2^10 - 1 heads, the map of one key.
    assert_eq!(cost[2], 1024 + 1023 + 3);
    let compared = doubled(100);
    let top = local("local.100");
    let compared = compared.then(
        "requirements",
        json!({
            "id": "run.require.0", "predicate": compare("==", &top, &top),
            "onFailure": raise("k@1.No", None),
        }),
    );
    let payload = obstruction(&compared.obstructed("k@1.No", "Record<>"), &json!({"a": 1})).2;
    assert_eq!(payload, exhausted(1_000_000, "steps"));
}

#[test]
fn values_of_too_many_items_leave_the_invocation_undecided() {
    let program = doubled(16).limited([1_000_000, 1_000_000, 8_388_608]);
    let refusal = run(&program, &json!({"a": 1})).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.scope),
        ("state-limit", Scope::Request)
    );
    result(&doubled(14), &json!({"a": 1}));
}

#[test]
fn h41_nesting_at_the_limit_uses_no_stack_of_the_host() {
    // The levels that an artifact allows, as a chain of calls and of fields.
    let mut value = input("a");
    for _ in 0..55 {
        value = call("core.integer.toU64", &["U32"], &[value]);
    }
    let (_, cost) = result(
        &expression("Record<a:U64>", "U64", &value),
        &json!({"a": 1}),
    );
    assert_eq!(inside(cost), [57, 0]);
    let mut ty = "U64".to_owned();
    let (mut value, mut content) = (input("a"), json!(1));
    for _ in 0..110 {
        ty = format!("Record<n:{ty}>");
        content = json!({"n": content});
    }
    value["base"] = local("arg.0");
    for _ in 0..110 {
        value = field(&value, "n");
    }
    let program = expression(&format!("Record<a:{ty}>"), "U64", &value);
    let (value, cost) = result(&program, &json!({"a": content}));
    assert_eq!((value, inside(cost)), (cbor(&json!({"r": 1})), [112, 0]));
}

#[test]
fn a_value_nested_deeper_than_any_type_is_a_fault() {
    let wrapped = json!({"kind": "list", "item": "U64", "items": [local("local.1")]});
    let program = copy().then(
        "regions",
        json!({
            "id": "run.region.0", "kind": "for", "item": binder("local.0", "U32"),
            "collection": constant("Bytes<max=200>", json!({"$bytes": "00".repeat(200)})),
            "bound": 200, "binding": binder("local.2", "U64"),
            "accumulator": binder("local.1", "U64"), "initial": constant("U64", 1),
            "body": {"executionOrder": [], "result": wrapped},
        }),
    );
    fault(&program, &json!({"a": 1}));
}
