// SPDX-License-Identifier: Apache-2.0
//! Core written by hand: what every construct is charged, and when.

use edict_codec::cbor::{Value, encode};
use edict_verifier::evaluate::{EvaluateError, Evaluation, Inputs, evaluate};

pub(crate) fn text(text: &str) -> Value {
    Value::text(text)
}

pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::text_map(entries)
}

fn constant(ty: &str, value: Value) -> Value {
    map([
        ("kind", text("const")),
        ("type", text(ty)),
        ("value", value),
    ])
}

fn number(value: u64) -> Value {
    constant("U64", Value::unsigned(value))
}

pub(crate) fn field(name: &str) -> Value {
    map([
        ("kind", text("field")),
        (
            "base",
            map([("kind", text("local")), ("id", text("arg.0"))]),
        ),
        ("field", text(name)),
    ])
}

fn compare(op: &str, left: Value, right: Value) -> Value {
    map([
        ("kind", text("compare")),
        ("op", text(op)),
        ("left", left),
        ("right", right),
    ])
}

fn parts(kind: &str, parts: Vec<Value>) -> Value {
    map([("kind", text(kind)), ("parts", Value::Array(parts))])
}

fn call(callee: &str, types: &[&str], arguments: Vec<Value>) -> Value {
    map([
        ("kind", text("call")),
        ("callee", text(callee)),
        (
            "typeArgs",
            Value::Array(types.iter().map(|ty| text(ty)).collect()),
        ),
        ("args", Value::Array(arguments)),
    ])
}

fn either(condition: Value) -> Value {
    map([
        ("kind", text("if")),
        ("condition", condition),
        ("then", number(1)),
        ("else", number(0)),
    ])
}

/// A program whose input is `{a: U64, s: Bytes, t: String}`; `nodes` and `result` are its body.
pub(crate) fn program(nodes: Vec<Value>, result: Value, output: &str, budget: [u64; 3]) -> Vec<u8> {
    let [steps, bytes, output_bytes] = budget;
    let input = map([
        ("kind", text("Record")),
        (
            "fields",
            map([
                ("a", text("U64")),
                ("s", text("Bytes<max=512>")),
                ("t", text("String<max=64>")),
            ]),
        ),
    ]);
    let intent = map([
        ("parameter", binder("arg.0", "$arg0", "example.a@1.In")),
        ("result", text(output)),
        ("operationProfile", text("case.kit@1.pure")),
        ("coreProfile", text("continuum.profile.pure/v1")),
        ("basis", Value::Null),
        ("constraints", Value::Array(Vec::new())),
        (
            "budget",
            map([
                ("coordinate", text("case.kit@1.exact")),
                ("maxSteps", Value::unsigned(steps)),
                ("maxAllocatedBytes", Value::unsigned(bytes)),
                ("maxOutputBytes", Value::unsigned(output_bytes)),
            ]),
        ),
        (
            "body",
            map([("nodes", Value::Array(nodes)), ("result", result)]),
        ),
    ]);
    encode(&map([
        ("apiVersion", text("edict.core/v1")),
        ("coordinate", text("example.a@1")),
        ("imports", Value::Array(Vec::new())),
        ("requiredCoreCapabilities", Value::Array(Vec::new())),
        ("types", map([("example.a@1.In", input)])),
        ("functions", Value::Map(Vec::new())),
        ("intents", map([("run", intent)])),
    ]))
}

/// A program as deep as Core can be: 128 functions, each nested to the limit of the encoding.
pub(crate) fn deepest() -> Vec<u8> {
    const LEVELS: usize = 60;
    let types = ["U64", "U64"];
    let functions = (0..128).map(|index: usize| {
        let mut value = map([("kind", text("local")), ("id", text("arg.0"))]);
        if index > 0 {
            let callee = format!("example.a@1.f{}", index - 1);
            value = call(&callee, &[], vec![value]);
        }
        for _ in 0..LEVELS {
            let checked = call("core.integer.checkedAdd", &types, vec![value, number(1)]);
            value = call(
                "core.option.default",
                &["Option<U64>", "U64"],
                vec![checked, number(0)],
            );
            if edict_codec::cbor::decode(&encode(&nested(&value))).is_err() {
                break;
            }
        }
        (format!("f{index}"), function(value))
    });
    let functions = Value::text_map(functions.collect::<Vec<_>>());
    let result = call("example.a@1.f127", &[], vec![field("a")]);
    let core = program(Vec::new(), result, "U64", [1_000_000, 100_000_000, 1_000]);
    let core = edict_codec::cbor::decode(&core).unwrap();
    let entries = core.as_map().unwrap().iter().map(|(key, value)| {
        let functions = (key.as_text() == Some("functions")).then(|| functions.clone());
        (key.clone(), functions.unwrap_or_else(|| value.clone()))
    });
    encode(&Value::map(entries.collect()))
}

fn function(value: Value) -> Value {
    map([
        (
            "parameters",
            Value::Array(vec![binder("arg.0", "$arg0", "U64")]),
        ),
        ("result", text("U64")),
        ("bindings", Value::Array(Vec::new())),
        ("value", value),
    ])
}

/// As deep as `value` stands in Core, and one level deeper.
fn nested(value: &Value) -> Value {
    (0..8).fold(value.clone(), |value, _| Value::Array(vec![value]))
}

pub(crate) fn input() -> Vec<u8> {
    encode(&map([
        ("a", Value::unsigned(3)),
        ("s", Value::bytes(vec![b'a'; 300])),
        ("t", text("a\u{20ac}")),
    ]))
}

fn binder(id: &str, name: &str, ty: &str) -> Value {
    map([("id", text(id)), ("name", text(name)), ("type", text(ty))])
}

fn evaluated(core: Vec<u8>) -> Result<Evaluation, EvaluateError> {
    evaluate(&Inputs {
        core,
        lawpacks: Vec::new(),
        input: input(),
        intent: "run".to_owned(),
        atoms: None,
    })
}

pub(crate) const ROOMY: [u64; 3] = [1_000, 100_000, 1_000];

/// Steps and bytes of one expression of type U64, beyond the start of the invocation.
fn charged(result: Value, output: &str) -> (u64, u64) {
    let evaluation = evaluated(program(Vec::new(), result, output, ROOMY)).unwrap();
    assert_eq!(evaluation.obstruction, None);
    (evaluation.steps - 1, evaluation.allocated_bytes)
}

#[test]
fn the_anchor_of_the_cost_law_is_met_exactly() {
    let result = || {
        map([
            ("kind", text("record")),
            (
                "fields",
                Value::Array(vec![map([("name", text("r")), ("value", field("a"))])]),
            ),
        ])
    };
    let run = |budget| evaluated(program(Vec::new(), result(), "Record<r:U64>", budget)).unwrap();
    let exact = run([4, 48, 4]);
    assert_eq!(exact.obstruction, None);
    assert_eq!(
        (exact.steps, exact.allocated_bytes, exact.output_bytes),
        (4, 48, 4)
    );
    assert_eq!(exact.body, [0xa1, 0x61, b'r', 3]);
    for (budget, resource, limit) in [
        ([3, 48, 4], "steps", 3),
        ([4, 47, 4], "allocated-bytes", 47),
        ([4, 48, 3], "output-bytes", 3),
    ] {
        let short = run(budget);
        let payload = map([
            ("limit", Value::unsigned(limit)),
            ("resource", text(resource)),
        ]);
        assert_eq!(
            short.obstruction.as_deref(),
            Some("echo.obstruction.budget-exhausted/v1")
        );
        assert_eq!(short.body, encode(&payload));
        assert_eq!(short.output_bytes, 0);
    }
}

#[test]
fn a_part_after_the_deciding_one_is_not_charged() {
    let no = || compare("==", field("a"), number(9));
    let yes = || compare("==", field("a"), number(3));
    // if 1, all or any 1, each comparison 4, constant 1.
    assert_eq!(
        charged(either(parts("all", vec![no(), yes()])), "U64"),
        (7, 0)
    );
    assert_eq!(
        charged(either(parts("all", vec![yes(), no()])), "U64"),
        (11, 0)
    );
    assert_eq!(
        charged(either(parts("any", vec![yes(), no()])), "U64"),
        (7, 0)
    );
    assert_eq!(
        charged(either(parts("any", vec![no(), no()])), "U64"),
        (11, 0)
    );
}

#[test]
fn a_comparison_is_charged_by_the_heavier_operand() {
    // 300 bytes weigh 6: if 1, compare 1 + 5, two operands 2 each beyond, constant 1.
    let same = compare(
        "==",
        field("s"),
        constant("Bytes<exact=1>", Value::bytes(vec![b'b'])),
    );
    assert_eq!(charged(either(same), "U64"), (1 + 1 + 2 + 1 + 5 + 1, 0));
    let numbers = compare("<", field("a"), number(4));
    assert_eq!(charged(either(numbers), "U64"), (1 + 1 + 2 + 1 + 1, 0));
}

#[test]
fn built_ins_are_charged_after_their_operands_and_before_the_work() {
    let bytes = "Bytes<max=512>";
    let string = "String<max=64>";
    let u64s = ["U64", "U64"];
    let slice = |end| {
        call(
            "core.bytes.checkedSlice",
            &[bytes, "U64", "U64"],
            vec![field("s"), number(0), number(end)],
        )
    };
    let optional = "Option<Bytes<max=512>>";
    assert_eq!(
        charged(slice(65), optional),
        (1 + 2 + 1 + 1 + 2, 32 + 65 + 32)
    );
    assert_eq!(charged(slice(301), optional), (1 + 2 + 1 + 1, 32));
    let length = call("core.bytes.length", &[bytes], vec![field("s")]);
    assert_eq!(charged(length, "U64"), (1 + 2, 0));
    let scalars = call("core.string.length", &[string], vec![field("t")]);
    assert_eq!(charged(scalars, "U64"), (1 + 2 + 1, 0));
    let sum = call(
        "core.integer.checkedAdd",
        &u64s,
        vec![field("a"), number(1)],
    );
    assert_eq!(charged(sum, "Option<U64>"), (1 + 2 + 1, 32));
    let decode = call("core.utf8.decode", &[bytes], vec![field("s")]);
    assert_eq!(
        charged(decode, "Option<String<max=512>>"),
        (1 + 2 + 5 + 5, 32 + 32 + 300)
    );
    let encoded = call("core.utf8.encode", &[string], vec![field("t")]);
    assert_eq!(charged(encoded, "Bytes<max=256>"), (1 + 2 + 1, 32 + 4));
    let narrow = call(
        "core.narrow",
        &[string, "Option<String<max=1>>"],
        vec![field("t")],
    );
    assert_eq!(charged(narrow, "Option<String<max=1>>"), (1 + 2 + 1, 32));
    let decimal = call("core.integer.decimal", &["U64"], vec![field("a")]);
    assert_eq!(charged(decimal, "String<max=20>"), (1 + 2 + 1, 33));
    let valid = call("core.utf8.valid", &[bytes], vec![field("s")]);
    assert_eq!(charged(valid, "Bool"), (1 + 2 + 5, 0));
}

#[test]
fn steps_are_tested_before_bytes_and_a_failing_charge_is_not_added() {
    let concat = call(
        "core.bytes.concat",
        &["Bytes<max=512>", "Bytes<max=512>"],
        vec![field("s"), field("s")],
    );
    let run = |budget| {
        evaluated(program(
            Vec::new(),
            concat.clone(),
            "Bytes<max=1024>",
            budget,
        ))
        .unwrap()
    };
    // Start 1, call 1, operands 2 each; then 10 steps and 632 bytes in one charge.
    let both = run([15, 631, 1_000]);
    let steps = map([("limit", Value::unsigned(15)), ("resource", text("steps"))]);
    assert_eq!(both.body, encode(&steps));
    assert_eq!((both.steps, both.allocated_bytes), (6, 0));
    let bytes = run([16, 631, 1_000]);
    let payload = map([
        ("limit", Value::unsigned(631)),
        ("resource", text("allocated-bytes")),
    ]);
    assert_eq!(bytes.body, encode(&payload));
    assert_eq!((bytes.steps, bytes.allocated_bytes), (6, 0));
    assert_eq!(run([16, 632, 1_000]).obstruction, None);
}

#[test]
fn a_program_with_an_effect_or_a_broken_promise_has_no_outcome() {
    let effect = map([
        ("kind", text("effect")),
        ("binding", binder("local.0", "$local0", "U64")),
        ("effect", text("case.kit@1.readNote")),
        ("input", field("s")),
        ("arms", Value::Map(Vec::new())),
    ]);
    let core = program(vec![effect], field("a"), "U64", ROOMY);
    assert_eq!(evaluated(core).unwrap_err().kind(), "EffectsUnsupported");
    let difference = call(
        "core.integer.subtract",
        &["U64", "U64"],
        vec![field("a"), number(4)],
    );
    let core = program(Vec::new(), difference, "U64", ROOMY);
    assert_eq!(evaluated(core).unwrap_err().kind(), "EvaluationFault");
    let mut core = program(Vec::new(), field("a"), "U64", ROOMY);
    core.push(0);
    assert_eq!(evaluated(core).unwrap_err().kind(), "InvalidArtifact");
}

#[test]
fn an_input_of_another_type_is_refused() {
    let input = encode(&map([("a", Value::unsigned(3))]));
    let inputs = Inputs {
        core: program(Vec::new(), field("a"), "U64", ROOMY),
        lawpacks: Vec::new(),
        input,
        intent: "run".to_owned(),
        atoms: None,
    };
    assert_eq!(evaluate(&inputs).unwrap_err().kind(), "InputRefused");
    let unknown = Inputs {
        intent: "walk".to_owned(),
        ..inputs
    };
    assert_eq!(evaluate(&unknown).unwrap_err().kind(), "UnknownIntent");
}
