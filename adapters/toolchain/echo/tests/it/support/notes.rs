// SPDX-License-Identifier: Apache-2.0
//! Programs of one effect each on notes, and a pure one.

use super::program::{Program, Sealed, binder, compare, field, input, local, raise, record};
use edict_codec::cbor::Value;
use serde_json::{Value as Json, json};

/// Space of all notes.
pub(crate) const SPACE: &str = "k.note/v1";

const KEY: &str = "Bytes<max=300>";
const VALUE: &str = "Bytes<max=1100000>";
const INPUT: &str = "Record<expected:Bytes<exact=32>,key:Bytes<max=300>,other:Bytes<max=300>,value:Bytes<max=1100000>>";
const OUTPUT: &str = "Record<version:Bytes<exact=32>>";

const ROOM: [u64; 3] = [10_000_000, 100_000_000, 8_388_608];

/// `{a}` becomes `{r}`.
pub(crate) fn pick() -> Sealed {
    let program = Program::pure(
        "Record<a:U64>",
        "Record<r:U64>",
        &record(&[("r", input("a"))]),
    );
    program.build().seal()
}

/// A pure program whose result has as many bytes as its input.
pub(crate) fn echo() -> Sealed {
    Program::pure(
        "Record<a:Bytes<max=8000000>>",
        "Record<r:Bytes<max=8000000>>",
        &record(&[("r", input("a"))]),
    )
    .limited(ROOM)
    .build()
    .seal()
}

fn require(predicate: &Json) -> Json {
    json!({"id": "run.require.0", "predicate": predicate, "onFailure": raise("k@1.small", None)})
}

/// The failures of an intrinsic with their targets, by name.
fn failures(name: &str) -> &'static [(&'static str, &'static str)] {
    const MISSING: (&str, &str) = ("missing", "echo.atom-missing/v1");
    const STALE: (&str, &str) = ("stale", "echo.atom-version-mismatch/v1");
    match name {
        "create" => &[("exists", "echo.atom-exists/v1")],
        "read" => &[MISSING],
        _ => &[MISSING, STALE],
    }
}

fn step(number: usize, name: &str, is_mapped: bool) -> Json {
    let key = if name.ends_with('\'') { "other" } else { "key" };
    let name = intrinsic(name);
    let mut configuration = json!({
        "space": SPACE, "atomType": VALUE, "keyType": KEY, "key": [key],
        "output": {"version": "version"},
    });
    if matches!(name, "create" | "replace") {
        configuration["value"] = json!(["value"]);
    }
    if matches!(name, "delete" | "replace") {
        configuration["expected"] = json!(["expected"]);
    }
    let (mut mapped, mut arms) = (json!({}), json!({}));
    for (index, (failure, target)) in failures(name).iter().enumerate().filter(|_| is_mapped) {
        let id = format!("obstruction.{}", number * 10 + index);
        mapped[*failure] = json!({"target": target, "payloadType": "Record<>"});
        arms[*failure] = json!({
            "binding": binder(&id, "Record<>"),
            "raise": raise(&format!("k@1.{failure}"), None),
        });
    }
    json!({
        "id": format!("run.step.{number}"),
        "binding": binder(&format!("local.{number}"), OUTPUT),
        "effect": format!("k@1.{name}Note"),
        "targetIntrinsic": format!("echo.dpo@1.atom.{name}"),
        "configuration": configuration,
        "input": local("arg.0"),
        "obstructionFailures": mapped,
        "obstructionArms": arms,
    })
}

/// The intrinsic of a step; one with a prime works on the other key.
fn intrinsic(name: &str) -> &str {
    name.trim_end_matches('\'')
}

/// A program of these intrinsics on the atoms of its input, in order; its result is the version
/// the last one gave.
pub(crate) fn steps(names: &[&str]) -> Program {
    steps_mapped(names, true)
}

/// As `steps`, optionally without any arm for a failure.
pub(crate) fn steps_mapped(names: &[&str], is_mapped: bool) -> Program {
    let last = format!("local.{}", names.len() - 1);
    let result = record(&[("version", field(&local(&last), "version"))]);
    let mut program = Program::pure(INPUT, OUTPUT, &result)
        .limited(ROOM)
        .obstructed("k@1.exists", "Record<>")
        .obstructed("k@1.missing", "Record<>")
        .obstructed("k@1.small", "Record<>")
        .obstructed("k@1.stale", "Record<>");
    program.kind = "effectful";
    let mut sorted: Vec<&str> = names.iter().map(|name| intrinsic(name)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let rows = sorted.iter().map(|name| {
        let mapped: serde_json::Map<String, Json> = failures(name)
            .iter()
            .filter(|_| is_mapped)
            .map(|(failure, target)| ((*failure).to_owned(), json!(target)))
            .collect();
        json!({
            "effect": format!("k@1.{name}Note"),
            "intrinsic": format!("echo.dpo@1.atom.{name}"),
            "space": SPACE, "keyType": KEY, "failures": mapped,
            "valueType": if *name == "delete" { Json::Null } else { json!(VALUE) },
        })
    });
    program.effects = rows.collect();
    let pairs = sorted.iter().map(|name| {
        let calls = names.iter().filter(|it| intrinsic(it) == *name).count();
        json!({
            "space": SPACE,
            "intrinsic": format!("echo.dpo@1.atom.{name}"),
            "maxCalls": calls,
        })
    });
    program.footprint = pairs.collect();
    for (number, name) in names.iter().enumerate() {
        program = program.then("steps", step(number, name, is_mapped));
    }
    program
}

/// Creates a note, then requires what is never true.
pub(crate) fn create_then_fail() -> Sealed {
    let never = compare(
        "==",
        &input("value"),
        &json!({
            "kind": "const", "type": VALUE, "value": {"$bytes": "ffffffffffffffffffffff"},
        }),
    );
    steps(&["create"])
        .then("requirements", require(&never))
        .build()
        .seal()
}

/// The input of the programs on notes.
pub(crate) fn note(key: &[u8], value: &[u8], expected: &[u8]) -> Value {
    let mut version = expected.to_vec();
    version.resize(32, 0);
    Value::text_map([
        ("key", Value::bytes(key)),
        ("other", Value::bytes([key, b"'"].concat())),
        ("value", Value::bytes(value)),
        ("expected", Value::bytes(version)),
    ])
}
