// SPDX-License-Identifier: Apache-2.0
//! Calls, nodes and nesting, each at its limit.

use super::{bound, copy, kind_of, refusal};
use crate::support::program::{Program, Sealed, binder, call, input, local};
use edict_codec::cbor::{Value, encode};
use serde_json::{Value as Json, json};

fn function(value: &Json) -> Json {
    json!({"parameters": [binder("arg.0", "U64")], "result": "U64", "bindings": [], "value": value})
}

/// `f0` calls `f1` and so on; the last of `count` returns its parameter.
fn chain(count: usize) -> Program {
    let mut program = bound("U64", &call("m@1.f0", &[], &[input("a")]));
    for number in 0..count {
        let next = if number + 1 == count {
            local("arg.0")
        } else {
            call(&format!("m@1.f{}", number + 1), &[], &[local("arg.0")])
        };
        program = program.function(&format!("f{number}"), function(&next));
    }
    program
}

#[test]
fn h23_calls_are_acyclic_and_of_bounded_depth() {
    chain(128).admit().unwrap();
    assert_eq!(kind_of(&chain(129)), "program-too-large");
    let itself = chain(1).function("f0", function(&call("m@1.f0", &[], &[local("arg.0")])));
    assert_eq!(kind_of(&itself), "program-recursive");
    let around = chain(3).function("f2", function(&call("m@1.f0", &[], &[local("arg.0")])));
    assert_eq!(kind_of(&around), "program-recursive");
    // What is not reached is not judged.
    copy().function("f", json!({"unheard": 1})).admit().unwrap();
}

#[test]
fn h23_nodes_are_counted_up_to_the_limit() {
    // Three nodes of the result, and the conjunction itself.
    let parts = |count: usize| {
        copy().constrained(&[json!({"kind": "all", "parts": vec![json!({"kind": "true"}); count]})])
    };
    parts(262_140).admit().unwrap();
    assert_eq!(kind_of(&parts(262_141)), "program-too-large");
}

#[test]
fn h23_nesting_is_counted_up_to_the_limit() {
    let nested = |levels: usize| {
        let mut program = copy();
        let count = levels;
        for number in 0..count {
            let inner: Vec<String> = (number + 1 < count)
                .then(|| format!("run.region.{}", number + 1))
                .into_iter()
                .collect();

            program = program.inner(
                "regions",
                json!({
                    "id": format!("run.region.{number}"), "kind": "branch", "binding": null,
                    "condition": {"kind": "true"},
                    "then": {"executionOrder": inner, "result": {"kind": "const", "type": "Bool", "value": null}},
                    "else": {"executionOrder": [], "result": {"kind": "const", "type": "Bool", "value": null}},
                }),
            );
        }
        program.intent()["executionOrder"] = json!(["run.region.0"]);
        program
    };
    // A region at level 127 has its condition at level 128.
    nested(127).admit().unwrap();
    assert_eq!(kind_of(&nested(128)), "program-too-large");
    assert_eq!(kind_of(&nested(20_000)), "program-too-large");
}

#[test]
fn deep_and_wide_packages_are_refused_without_harm() {
    let mut nested = Value::Null;
    for _ in 0..200 {
        nested = Value::Array(vec![nested]);
    }
    let report = copy().build().seal().report;
    let deep = Sealed::of(encode(&nested), report.clone());
    assert_eq!(refusal(&deep).0, "package-noncanonical");
    let wide = Value::Array(vec![Value::Null; 1_048_576]);
    let wide = Sealed::of(encode(&wide), report);
    assert_eq!(refusal(&wide).0, "package-noncanonical");
}
