// SPDX-License-Identifier: Apache-2.0
//! Expressions, references, orders, helpers and the projection of a program.

use super::{bound, copy, kind_of, place, refusal, refused};
use crate::support::program::{
    Program, ROOMY, binder, binding, bytes, call, compare, conditional, constant, input, local,
    raise, record,
};
use echo_host::executable::Executable as _;
use serde_json::{Value as Json, json};

#[test]
fn h22_what_this_host_does_not_know_is_refused_in_branches_never_taken() {
    let truth = constant("Bool", true);
    let never = |value: &Json| {
        bound(
            "U64",
            &conditional(&compare("==", &truth, &truth), &constant("U64", 1), value),
        )
    };
    never(&constant("U64", 2)).admit().unwrap();
    for value in [
        json!({"kind": "unheard"}),
        call("m@1.absent", &[], &[]),
        call(
            "core.integer.power",
            &["U64", "U64"],
            &[input("a"), input("a")],
        ),
        json!({"kind": "compare", "op": "==", "left": input("a"), "right": input("a")}),
        conditional(
            &json!({"kind": "local", "id": "arg.0"}),
            &input("a"),
            &input("a"),
        ),
        conditional(
            &json!({"kind": "compare", "op": "~", "left": input("a"), "right": input("a")}),
            &input("a"),
            &input("a"),
        ),
    ] {
        assert_eq!(kind_of(&never(&value)), "operation-unsupported", "{value}");
    }
    let mut program = copy();
    program.intent()["regions"] = json!([{"id": "run.region.0", "kind": "while"}]);
    assert_eq!(kind_of(&program), "operation-unsupported");
    // An unknown kind outranks a reference that dangles before it.
    let mut both = never(&json!({"kind": "unheard"}));
    both.intent()["result"] = local("local.9");
    assert_eq!(kind_of(&both), "operation-unsupported");
}

#[test]
fn target_ir_is_of_this_target_and_of_this_core() {
    for (key, value, path) in [
        ("kind", json!("targetIrArtifact"), ".kind"),
        ("domain", json!("echo.other-ir/v1"), ".domain"),
        (
            "sourceCoreCoordinate",
            json!("m@2"),
            ".sourceCoreCoordinate",
        ),
        (
            "targetProfile",
            json!({"id": "echo.other@1", "digest": null}),
            ".targetProfile.id",
        ),
        ("more", json!(1), ".more"),
    ] {
        let mut program = copy();
        program.target_ir[key] = value;
        assert_eq!(
            refused(program.build()),
            place("program-malformed", &format!(".targetIr.bytes{path}"))
        );
    }
}

#[test]
fn h22_references_resolve_and_ids_stand_once_in_one_order() {
    let malformed = |program: &Program| assert_eq!(kind_of(program), "program-malformed");
    for value in [
        local("local.7"),
        local("arg.1"),
        local("local.00"),
        local("local.0"),
        constant("U64", "text"),
        constant("U32", 4_294_967_296u64),
        call("core.integer.add", &["U64", "U64"], &[input("a")]),
        call(
            "core.integer.add",
            &["Bool", "Bool"],
            &[input("a"), input("a")],
        ),
        json!({"kind": "local"}),
        json!({"kind": "local", "id": "arg.0", "more": 1}),
        json!({"kind": "variant", "type": "U64", "case": "C", "payload": null}),
        record(&[("x", input("a")), ("x", input("a"))]),
    ] {
        let program = bound("U64", &value);
        assert_eq!(kind_of(&program), "program-malformed", "{value}");
    }
    let good = bound("U64", &input("a"));
    for order in [
        json!([]),
        json!(["run.binding.0", "run.binding.0"]),
        json!(["run.binding.0", "run.binding.1"]),
        json!("run.binding.0"),
    ] {
        let mut program = good.clone();
        program.intent()["executionOrder"] = order;
        malformed(&program);
    }
    let mut twice = good.clone();
    let entry = twice.intent()["pureBindings"][0].clone();
    twice.intent()["pureBindings"]
        .as_array_mut()
        .unwrap()
        .push(entry);
    malformed(&twice);
    // A local of a block is not in scope behind it; a region cannot hold itself.
    let block = |order: &[&str]| json!({"executionOrder": order, "result": {"kind": "const", "type": "Bool", "value": null}});
    let region = |id: &str, order: &[&str]| {
        json!({
            "id": id, "kind": "branch", "binding": null, "then": block(order), "else": block(&[]),
            "condition": {"kind": "true"},
        })
    };
    let hidden = copy()
        .inner("pureBindings", binding(0, "U64", &input("a")))
        .then("regions", region("run.region.0", &["run.binding.0"]));
    hidden.admit().unwrap();
    let mut escaping = hidden;
    escaping.output = "Record<r:U64>".to_owned();
    escaping.intent()["result"] = record(&[("r", local("local.0"))]);
    malformed(&escaping);
    let selfish = copy().inner("regions", region("run.region.0", &["run.region.0"]));
    malformed(&selfish);
    // Constraints of Target IR and package are the same.
    let mut program = copy().constrained(&[json!({"kind": "true"})]);
    program.constraints = 2;
    malformed(&program);
    // An obstruction is declared with the payload that is raised.
    let raising = |payload: Option<Json>| {
        copy().then(
            "requirements",
            json!({
                "id": "run.require.0", "predicate": {"kind": "true"},
                "onFailure": raise("k@1.No", payload),
            }),
        )
    };
    malformed(&raising(None));
    malformed(&raising(Some(record(&[("x", input("a"))]))).obstructed("k@1.No", "Record<>"));
    raising(None)
        .obstructed("k@1.No", "Record<>")
        .admit()
        .unwrap();
}

#[test]
fn h24_the_projection_is_that_of_the_result() {
    let good = copy().build().package;
    let mut program = copy();
    let projection = json!({
        "schema": "edict.result-projection/v1",
        "operationCoordinate": "m@1.run",
        "outputType": "Record<r:U64>",
        "maxOutputBytes": ROOMY[2],
        "expression": {"kind": "record", "fields": {"r": {
            "kind": "source", "source": {"kind": "applicationInput"}, "path": ["a"],
        }}},
    });
    program.projection = Some(projection.clone());
    assert_eq!(program.build().package, good);
    for (pointer, value) in [
        ("/expression/fields/r/path", json!(["b"])),
        ("/expression/fields/r/path", json!([])),
        (
            "/expression/fields/r/source",
            json!({"kind": "pureBinding", "bindingId": "run.binding.0"}),
        ),
        (
            "/expression/fields",
            json!({"s": projection["expression"]["fields"]["r"]}),
        ),
        ("/outputType", json!("U64")),
        ("/maxOutputBytes", json!(1)),
        ("/operationCoordinate", json!("m@1.other")),
    ] {
        let mut changed = projection.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        program.projection = Some(changed);
        assert_eq!(
            refused(program.build()),
            place("projection-mismatch", ".projection.bytes"),
            "{pointer}"
        );
    }
}

#[test]
fn helpers_of_lawpacks_are_called_and_use_exported_names() {
    let mut program = bound("U64", &call("k@1.longer", &[], &[input("a")]));
    let body = json!({
        "parameters": [binder("arg.0", "k@1.Count")], "result": "k@1.Count", "bindings": [],
        "value": call("core.integer.add", &["k@1.Count", "k@1.Count"], &[local("arg.0"), constant("k@1.Count", 1)]),
    });
    let helper = json!({
        "coordinate": "k@1.longer", "typeParameters": [], "determinismClass": "total",
        "source": "edict", "body": body,
    });
    program.exports = json!({
        "types": [{"coordinate": "k@1.Count", "definition": "k@1.Number"}, {"coordinate": "k@1.Number", "definition": "U64"}],
        "pureFunctions": [helper],
    });
    program.admit().unwrap();
    // The names of lawpacks are not those of the package.
    let mut leaking = program.clone();
    leaking.intent()["pureBindings"][0]["binding"]["type"] = json!("k@1.Count");
    assert_eq!(kind_of(&leaking), "type-malformed");
    let mut cyclic = program;
    cyclic.exports["types"][1]["definition"] = json!("k@1.Count");
    assert_eq!(kind_of(&cyclic), "type-malformed");
}

#[test]
fn h69_other_names_of_equal_length_change_nothing_but_names() {
    let named = |from: &str, to: &str| {
        let program = Program::pure(
            &format!("Record<{from}:U64>"),
            &format!("Record<{to}:U64>"),
            &record(&[(to, input(from))]),
        );
        let installation = program.admit().unwrap();
        let input = bytes(&json!({from: 5}));
        let decoded = installation.decode_input(&input).unwrap();
        let mut view = crate::support::atoms::MapView::default();
        let budget = installation.facts().budget;
        (
            installation.run(decoded, budget, &mut view).unwrap(),
            bytes(&json!({to: 5})),
        )
    };
    let (one, one_body) = named("alpha", "gamma");
    let (other, other_body) = named("delta", "omega");
    assert_eq!(one.consumed, other.consumed);
    let body = |evaluated: &echo_host::executable::Evaluated| match &evaluated.decision {
        echo_host::executable::Decision::Result { body } => body.clone(),
        echo_host::executable::Decision::Obstruction { .. } => panic!("obstructed"),
    };
    assert_eq!(body(&one), one_body);
    assert_eq!(body(&other), other_body);
}

#[test]
fn a_finding_leads_to_the_statement() {
    let intent = ".targetIr.bytes.intents.run";
    let two =
        || bound("U64", &input("a")).then("pureBindings", binding(1, "U64", &local("local.0")));
    two().admit().unwrap();
    let found = |program: &Program| refusal(&program.build().seal());
    let at = |path: &str| ("program-malformed", Some(format!("{intent}{path}")));
    let mut dangling = two();
    dangling.intent()["pureBindings"][1]["value"] = local("local.7");
    assert_eq!(found(&dangling), at(".pureBindings[1]"));
    let mut rebound = two();
    rebound.intent()["pureBindings"][1]["binding"]["id"] = json!("local.0");
    assert_eq!(found(&rebound), at(".pureBindings[1]"));
    let mut unordered = two();
    unordered.intent()["executionOrder"]
        .as_array_mut()
        .unwrap()
        .pop();
    assert_eq!(found(&unordered), at(".pureBindings[1]"));
    let mut repeated = two();
    let first = repeated.intent()["executionOrder"][0].clone();
    repeated.intent()["executionOrder"]
        .as_array_mut()
        .unwrap()
        .push(first);
    assert_eq!(found(&repeated), at(".pureBindings[0]"));
    let mut superfluous = two();
    superfluous.intent()["pureBindings"][0]["more"] = json!(1);
    assert_eq!(found(&superfluous), at(".pureBindings[0].more"));
}
