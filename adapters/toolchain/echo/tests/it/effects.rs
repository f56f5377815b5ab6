// SPDX-License-Identifier: Apache-2.0
//! Effects on atoms: what the program sees, and what is charged.

use crate::support::{
    atoms::{MapView, version},
    program::{
        Program, binder, bytes, cbor, compare, constant, declared, field, input, local, raise,
        record,
    },
};
use echo_host::{
    executable::{Decision, Evaluated, Executable as _},
    refusal::{Refusal, Scope},
};
use edict_codec::{cbor::decode, hex};
use serde_json::{Value as Json, json};

const SPACE: &str = "k.note/v1";
const NOTE: &str = "Record<count:U64>";
const INPUT: &str = "Record<expected:Bytes<exact=32>,key:Bytes<exact=4>,note:Record<count:U64>>";
const KEY: &[u8] = b"note";

/// A step of intrinsic `name` with its roles; failures map to arms that raise `k@1.<failure>`.
fn step(number: usize, name: &str, failures: &[(&str, &str, &str)]) -> Json {
    let mut configuration = json!({
        "space": SPACE, "atomType": NOTE, "keyType": "Bytes<exact=4>", "key": ["key"],
        "output": {"version": "version"},
    });
    if matches!(name, "create" | "replace") {
        configuration["value"] = json!(["note"]);
    }
    if matches!(name, "delete" | "replace") {
        configuration["expected"] = json!(["expected"]);
    }
    if name == "read" {
        configuration["output"] = json!({"value": "note", "version": "version"});
    }
    let mut mapped = json!({});
    let mut arms = json!({});
    for (index, (failure, target, payload)) in failures.iter().enumerate() {
        let id = format!("obstruction.{}", number * 10 + index);
        mapped[*failure] = json!({"target": target, "payloadType": payload});
        let bound = if *payload == "Bytes<exact=4>" {
            record(&[("key", local(&id))])
        } else {
            record(&[("version", field(&local(&id), "version"))])
        };
        let raised = (*payload != "Record<>").then_some(bound);
        arms[*failure] = json!({
            "binding": binder(&id, payload),
            "raise": raise(&format!("k@1.{failure}"), raised),
        });
    }
    json!({
        "id": format!("run.step.{number}"),
        "binding": binder(&format!("local.{number}"), "Record<version:Bytes<exact=32>>"),
        "effect": format!("k@1.{name}Note"),
        "targetIntrinsic": format!("echo.dpo@1.atom.{name}"),
        "configuration": configuration,
        "input": local("arg.0"),
        "obstructionFailures": mapped,
        "obstructionArms": arms,
    })
}

fn missing() -> (&'static str, &'static str, &'static str) {
    ("missing", "echo.atom-missing/v1", "Bytes<exact=4>")
}

fn exists() -> (&'static str, &'static str, &'static str) {
    (
        "exists",
        "echo.atom-exists/v1",
        "Record<version:Bytes<exact=32>>",
    )
}

fn stale() -> (&'static str, &'static str, &'static str) {
    ("stale", "echo.atom-version-mismatch/v1", "Record<>")
}

fn malformed() -> (&'static str, &'static str, &'static str) {
    (
        "malformed",
        "echo.atom-type-mismatch/v1",
        "Record<version:Bytes<exact=32>>",
    )
}

/// A program of these steps; its result is `result`.
pub(crate) fn program(steps: &[Json], output: &str, result: &Json) -> Program {
    let mut program = Program::pure(INPUT, output, result)
        .obstructed("k@1.exists", "Record<version:Bytes<exact=32>>")
        .obstructed("k@1.malformed", "Record<version:Bytes<exact=32>>")
        .obstructed("k@1.missing", "Record<key:Bytes<exact=4>>")
        .obstructed("k@1.stale", "Record<>");
    program.kind = "effectful";
    let mut effects = Vec::new();
    let mut pairs = Vec::new();
    for step in steps {
        let intrinsic = &step["targetIntrinsic"];
        let failures: serde_json::Map<String, Json> = step["obstructionFailures"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, it)| (name.clone(), it["target"].clone()))
            .collect();
        let deletes = intrinsic == "echo.dpo@1.atom.delete";
        effects.push(json!({
            "effect": step["effect"], "intrinsic": intrinsic, "space": SPACE,
            "keyType": "Bytes<exact=4>", "failures": failures,
            "valueType": if deletes { Json::Null } else { json!(NOTE) },
        }));
        pairs.push(json!({"space": SPACE, "intrinsic": intrinsic, "maxCalls": 9}));
        program = program.then("steps", step.clone());
    }
    effects.sort_by_key(|row| row["effect"].to_string());
    effects.dedup();
    pairs.sort_by_key(|row| row["intrinsic"].to_string());
    pairs.dedup();
    program.effects = json!(effects);
    program.footprint = json!(pairs);
    program
}

fn note(count: u64) -> Vec<u8> {
    bytes(&json!({"count": count}))
}

fn view(stored: Option<&[u8]>) -> MapView {
    let mut view = MapView::default();
    if let Some(value) = stored {
        view.atoms
            .insert((SPACE.to_owned(), KEY.to_vec()), value.to_vec());
    }
    view
}

fn request(expected: [u8; 32], count: u64) -> Json {
    json!({
        "expected": {"$bytes": hex::encode(&expected)},
        "key": {"$bytes": hex::encode(KEY)},
        "note": {"count": count},
    })
}

fn run(program: &Program, input: &Json, view: &mut MapView) -> Result<Evaluated, Refusal> {
    let installation = program.admit().unwrap();
    let decoded = installation.decode_input(&bytes(input)).unwrap();
    installation.run(decoded, declared(&installation), view)
}

/// How an invocation ended: `result` or the coordinate of its obstruction, and the body.
fn ending(evaluated: &Evaluated) -> (String, Json) {
    let show = |body: &[u8]| {
        let value = decode(body).unwrap();
        json!(format!("{value:?}"))
    };
    match &evaluated.decision {
        Decision::Result { body } => ("result".to_owned(), show(body)),
        Decision::Obstruction {
            coordinate, body, ..
        } => (coordinate.clone(), show(body)),
    }
}

fn shown(json: &Json) -> Json {
    json!(format!("{:?}", cbor(json)))
}

fn version_of(value: &[u8]) -> [u8; 32] {
    version(SPACE, KEY, value)
}

fn versioned(value: &[u8]) -> Json {
    json!({"version": {"$bytes": hex::encode(&version_of(value))}})
}

#[test]
fn h45_a_program_sees_its_own_write() {
    let result = record(&[
        ("count", field(&field(&local("local.1"), "note"), "count")),
        ("version", field(&local("local.0"), "version")),
    ]);
    let steps = [
        step(0, "create", &[exists()]),
        step(1, "read", &[missing()]),
    ];
    let program = program(&steps, "Record<count:U64,version:Bytes<exact=32>>", &result);
    let mut state = view(None);
    let evaluated = run(&program, &request([0; 32], 7), &mut state).unwrap();
    let mut expected = versioned(&note(7));
    expected["count"] = json!(7);
    assert_eq!(ending(&evaluated), ("result".to_owned(), shown(&expected)));
    assert_eq!(state.atoms.len(), 1);
    // Start; twice node, input and 8 + u(4) + u(8) steps; record, two paths of 3 and 2 nodes.
    assert_eq!(
        evaluated.consumed.steps,
        1 + 2 * (1 + 1 + 8 + 1 + 1) + 1 + 3 + 2
    );
    assert_eq!(evaluated.consumed.allocated_bytes, 2 * (64 + 8) + 64);
}

#[test]
fn h45_a_second_create_ends_in_the_exists_arm() {
    let steps = [
        step(0, "create", &[exists()]),
        step(1, "create", &[exists()]),
    ];
    let program = program(
        &steps,
        "Record<version:Bytes<exact=32>>",
        &record(&[("version", field(&local("local.0"), "version"))]),
    );
    let evaluated = run(&program, &request([0; 32], 7), &mut view(None)).unwrap();
    assert_eq!(
        ending(&evaluated),
        ("k@1.exists".to_owned(), shown(&versioned(&note(7))))
    );
    // The failing one costs 8 + u(4) steps and 32 bytes; its payload is a record of two nodes.
    assert_eq!(evaluated.consumed.steps, 1 + (2 + 10) + (2 + 9) + 3);
    assert_eq!(evaluated.consumed.allocated_bytes, 72 + 32 + 48);
}

#[test]
fn h46_replace_and_delete_compare_versions() {
    let old = note(1);
    let output = "Record<version:Bytes<exact=32>>";
    let result = record(&[("version", field(&local("local.0"), "version"))]);
    for (name, done, steps, allocated) in
        [("replace", note(5), 10, 72), ("delete", old.clone(), 9, 32)]
    {
        let program = program(&[step(0, name, &[missing(), stale()])], output, &result);
        let mut state = view(Some(&old));
        let evaluated = run(&program, &request(version_of(&old), 5), &mut state).unwrap();
        assert_eq!(
            ending(&evaluated),
            ("result".to_owned(), shown(&versioned(&done)))
        );
        assert_eq!(evaluated.consumed.steps, 1 + 2 + steps + 3);
        assert_eq!(evaluated.consumed.allocated_bytes, allocated + 48);
        assert_eq!(state.atoms.is_empty(), name == "delete");

        let mut state = view(Some(&old));
        let evaluated = run(&program, &request([9; 32], 5), &mut state).unwrap();
        assert_eq!(
            ending(&evaluated),
            ("k@1.stale".to_owned(), shown(&json!({})))
        );
        assert_eq!(evaluated.consumed.allocated_bytes, 32);
        assert_eq!(state.calls, 1);

        let evaluated = run(&program, &request([9; 32], 5), &mut view(None)).unwrap();
        let key = json!({"key": {"$bytes": hex::encode(KEY)}});
        assert_eq!(ending(&evaluated), ("k@1.missing".to_owned(), shown(&key)));
    }
}

#[test]
fn h46_a_failure_that_is_not_mapped_is_a_fault() {
    let program = program(
        &[step(0, "replace", &[missing()])],
        "Record<version:Bytes<exact=32>>",
        &record(&[("version", field(&local("local.0"), "version"))]),
    );
    let refusal = run(&program, &request([9; 32], 5), &mut view(Some(&note(1)))).unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.scope),
        ("evaluation-fault", Scope::Context)
    );
}

#[test]
fn h49_a_stored_value_of_another_type_ends_in_the_malformed_arm() {
    let program = program(
        &[step(0, "read", &[malformed(), missing()])],
        "Record<count:U64>",
        &record(&[("count", field(&field(&local("local.0"), "note"), "count"))]),
    );
    for stored in [
        bytes(&json!({"count": -1})),
        bytes(&json!({"count": 1, "more": 2})),
        b"\xff".to_vec(),
        [note(1), vec![0]].concat(),
    ] {
        let mut state = view(Some(&stored));
        let evaluated = run(&program, &request([0; 32], 5), &mut state).unwrap();
        assert_eq!(
            ending(&evaluated),
            ("k@1.malformed".to_owned(), shown(&versioned(&stored)))
        );
        assert_eq!(state.calls, 1);
    }
    let evaluated = run(&program, &request([0; 32], 5), &mut view(Some(&note(3)))).unwrap();
    assert_eq!(
        ending(&evaluated),
        ("result".to_owned(), shown(&json!({"count": 3})))
    );
}

#[test]
fn a_charge_that_does_not_fit_leaves_the_atom_untouched() {
    let program = program(
        &[step(0, "create", &[exists()])],
        "Record<version:Bytes<exact=32>>",
        &record(&[("version", field(&local("local.0"), "version"))]),
    )
    .limited([12, 1000, 1000]);
    let mut state = view(None);
    let evaluated = run(&program, &request([0; 32], 7), &mut state).unwrap();
    assert_eq!(
        ending(&evaluated).0,
        "echo.obstruction.budget-exhausted/v1".to_owned()
    );
    assert_eq!(evaluated.consumed.steps, 3);
    assert_eq!((state.calls, state.atoms.len()), (0, 0));
}

#[test]
fn h48_a_requirement_after_a_write_still_obstructs() {
    let program = program(
        &[step(0, "create", &[exists()])],
        "Record<version:Bytes<exact=32>>",
        &record(&[("version", field(&local("local.0"), "version"))]),
    )
    .then(
        "requirements",
        json!({
            "id": "run.require.0",
            "predicate": compare("==", &field(&input("note"), "count"), &constant("U64", 1)),
            "onFailure": raise("k@1.stale", None),
        }),
    );
    let mut state = view(None);
    let evaluated = run(&program, &request([0; 32], 7), &mut state).unwrap();
    assert_eq!(ending(&evaluated).0, "k@1.stale");
    assert_eq!(state.calls, 1);
    assert_eq!(
        ending(&run(&program, &request([0; 32], 1), &mut view(None)).unwrap()).0,
        "result"
    );
}

#[test]
fn h25_rows_kind_and_footprint_are_those_of_the_steps() {
    let output = "Record<version:Bytes<exact=32>>";
    let result = record(&[("version", field(&local("local.0"), "version"))]);
    let good = program(&[step(0, "create", &[exists()])], output, &result);
    good.admit().unwrap();
    let refused = |program: &Program| {
        let refusal = program.admit().unwrap_err();
        (refusal.kind, refusal.path.unwrap())
    };
    let case = |change: &dyn Fn(&mut Program), kind: &'static str, path: &str| {
        let mut program = good.clone();
        change(&mut program);
        assert_eq!(refused(&program), (kind, path.to_owned()));
    };
    case(&|it| it.effects = json!([]), "effect-mismatch", ".effects");
    case(
        &|it| {
            let mut row = it.effects[0].clone();
            row["effect"] = json!("k@1.zNote");
            it.effects.as_array_mut().unwrap().push(row);
        },
        "effect-mismatch",
        ".effects[1]",
    );
    for (key, value) in [
        ("space", json!("other/v1")),
        ("keyType", json!("Bytes<max=4>")),
        ("valueType", Json::Null),
        ("intrinsic", json!("echo.dpo@1.atom.read")),
        ("failures", json!({"exists": "echo.atom-missing/v1"})),
    ] {
        case(
            &|it| it.effects[0][key] = value.clone(),
            "effect-mismatch",
            &format!(".effects[0].{key}"),
        );
    }
    let at = ".targetIr.bytes.intents.run.steps[0]";
    case(
        &|it| it.intent()["steps"][0]["obstructionArms"] = json!({}),
        "effect-mismatch",
        &format!("{at}.obstructionArms"),
    );
    case(
        &|it| it.intent()["steps"][0]["targetIntrinsic"] = json!("echo.dpo@1.atom.list"),
        "effect-mismatch",
        &format!("{at}.targetIntrinsic"),
    );
    case(&|it| it.kind = "pure", "kind-mismatch", ".kind");
    case(
        &|it| it.footprint = json!([]),
        "footprint-mismatch",
        ".footprint",
    );
    case(
        &|it| it.footprint[0]["space"] = json!("other/v1"),
        "footprint-mismatch",
        ".footprint[0]",
    );
}
