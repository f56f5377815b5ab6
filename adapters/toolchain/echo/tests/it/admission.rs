// SPDX-License-Identifier: Apache-2.0
//! Every check of admission: its kind, its place, and its order.

use crate::support::program::{
    Build, Program, ROOMY, Sealed, binder, binding, budget, bytes, call, compare, conditional,
    constant, input, local, raise, record,
};
use echo_host::{
    executable::{Executable as _, Kind},
    pin::Authority,
};
use edict_codec::{
    cbor::{Value, encode},
    digest::{derive_typed, frame_typed},
};
use serde_json::{Value as Json, json};

fn copy() -> Program {
    Program::pure(
        "Record<a:U64>",
        "Record<r:U64>",
        &record(&[("r", input("a"))]),
    )
}

/// A program whose result is one bound expression.
fn bound(ty: &str, value: &Json) -> Program {
    Program::pure(
        "Record<a:U64>",
        &format!("Record<r:{ty}>"),
        &record(&[("r", local("local.0"))]),
    )
    .then("pureBindings", binding(0, ty, value))
}

fn refusal(sealed: &Sealed) -> (&'static str, Option<String>) {
    let refusal = sealed.admit().unwrap_err();
    (refusal.kind, refusal.path)
}

fn refused(build: Build) -> (&'static str, String) {
    let (kind, path) = refusal(&build.seal());
    (kind, path.unwrap())
}

fn kind_of(program: &Program) -> &'static str {
    program.admit().unwrap_err().kind
}

fn place(kind: &'static str, path: &str) -> (&'static str, String) {
    (kind, path.to_owned())
}

#[test]
fn an_installation_says_what_it_is() {
    let sealed = copy().build().seal();
    let installation = sealed.admit().unwrap();
    let facts = installation.facts();
    assert_eq!(facts.operation, "m@1.run");
    assert_eq!(facts.kind, Kind::Pure);
    assert_eq!(facts.budget.max_steps, ROOMY[0]);
    assert_eq!(facts.static_bound.allocated_bytes, 2);
    assert_eq!(facts.input_type, "Record<a:U64>");
    assert_eq!(facts.output_type, "Record<r:U64>");
    assert_eq!(facts.footprint_bytes, vec![0x80]);
    let size = sealed.package.len() + sealed.report.len();
    assert_eq!(facts.size, u64::try_from(size).unwrap());
    let package = frame_typed("echo.program-package/v1", &sealed.package);
    let report = frame_typed("edict.verification-report/v1", &sealed.report);
    let content = Value::text_map([
        ("package", package.to_value()),
        ("report", report.to_value()),
        ("policy", sealed.policy.to_value()),
        ("interpreter", Value::text("echo.interpreter/v1")),
        ("costLaw", Value::text("echo.cost/v1")),
    ]);
    assert_eq!(
        facts.installation,
        derive_typed("echo/installation/v1", &encode(&content))
    );
    let mut other = sealed.clone();
    other.policy.max_budget.max_steps = ROOMY[0];
    assert_ne!(
        other.admit().unwrap().facts().installation,
        facts.installation
    );
}

#[test]
fn a1_sizes_come_first() {
    let mut sealed = copy().build().seal();
    sealed.package = vec![0; 4_194_305];
    sealed.report = vec![0; 262_145];
    assert_eq!(refusal(&sealed).0, "package-too-large");
    sealed.package.pop();
    assert_eq!(refusal(&sealed).0, "report-too-large");
    sealed.report.pop();
    assert_eq!(refusal(&sealed).0, "package-digest-mismatch");
}

#[test]
fn a2_pins_are_of_the_right_domain_and_algorithm() {
    for (domain, algorithm) in [
        ("echo.operation-package/v1", "sha256"),
        ("echo.program-package/v1", "blake3"),
    ] {
        let mut sealed = copy().build().seal();
        sealed.package_pin.domain = domain.to_owned();
        sealed.package_pin.algorithm = algorithm.to_owned();
        sealed.package[0] ^= 1;
        assert_eq!(
            refusal(&sealed),
            ("digest-domain", Some(".packageDigest".to_owned()))
        );
    }
    let mut sealed = copy().build().seal();
    sealed.report_pin.domain = "other".to_owned();
    assert_eq!(
        refusal(&sealed),
        ("digest-domain", Some(".reportDigest".to_owned()))
    );
}

#[test]
fn h17_identity_comes_before_decoding() {
    let good = copy().build().seal();
    for at in [0, good.package.len() / 2, good.package.len() - 1] {
        let mut sealed = good.clone();
        sealed.package[at] ^= 1;
        sealed.report[0] ^= 1;
        assert_eq!(refusal(&sealed).0, "package-digest-mismatch");
    }
    for at in [0, good.report.len() / 2, good.report.len() - 1] {
        let mut sealed = good.clone();
        sealed.report[at] ^= 1;
        assert_eq!(refusal(&sealed).0, "report-digest-mismatch");
    }
}

#[test]
fn a4_the_package_is_decoded_before_the_report() {
    let good = copy().build().seal();
    let long = |bytes: &[u8]| [bytes, &[0]].concat();
    let both = Sealed::of(long(&good.package), long(&good.report));
    assert_eq!(refusal(&both).0, "package-noncanonical");
    let report = Sealed::of(good.package, long(&good.report));
    assert_eq!(refusal(&report).0, "report-noncanonical");
}

#[test]
fn h27_another_schema_is_unsupported_whatever_else_is_wrong() {
    let mut build = copy().build();
    build.package = json!({"schema": "echo.operation-package/v1", "other": 1});
    build.report = json!({"package": 3});
    assert_eq!(refused(build), place("profile-unsupported", ".schema"));
    let mut build = copy().build();
    build.package["schema"] = json!(3);
    assert_eq!(refused(build), place("package-malformed", ".schema"));
    let mut build = copy().build();
    build.package["kind"] = json!("other");
    assert_eq!(refused(build), place("package-malformed", ".kind"));
}

#[test]
fn a5_every_key_of_package_and_report_is_required_and_no_other() {
    let good = copy().build();
    for (document, kind) in [
        ("package", "package-malformed"),
        ("report", "report-malformed"),
    ] {
        let map = if document == "package" {
            &good.package
        } else {
            &good.report
        };
        for key in map.as_object().unwrap().keys() {
            let mut build = good.clone();
            let changed = if document == "package" {
                &mut build.package
            } else {
                &mut build.report
            };
            changed.as_object_mut().unwrap().remove(key);
            if key == "package" {
                continue;
            }
            assert_eq!(refused(build), place(kind, &format!(".{key}")));
        }
        let mut build = good.clone();
        let changed = if document == "package" {
            &mut build.package
        } else {
            &mut build.report
        };
        changed["more"] = json!(1);
        assert_eq!(refused(build), place(kind, ".more"));
    }
}

#[test]
fn a5_types_and_orders_are_judged() {
    let digest =
        |domain: &str, algorithm: &str| json!([domain, algorithm, {"$bytes": "11".repeat(32)}]);
    let effect = |name: &str| {
        json!({
            "effect": name, "intrinsic": "echo.dpo@1.atom.read", "space": "s", "keyType": "U64",
            "valueType": null, "failures": {},
        })
    };
    let obstruction =
        |name: &str, ty: &str| json!({"coordinate": name, "payloadType": ty, "class": "c"});
    let pair = |space: &str| json!({"space": space, "intrinsic": "i", "maxCalls": 1});
    let long = "s".repeat(257);
    for (key, value, path) in [
        ("operation", json!(""), ".operation"),
        ("operation", json!("x".repeat(1025)), ".operation"),
        (
            "source",
            digest("edict.core.module/v1", "sha256"),
            ".source",
        ),
        ("source", digest("edict.source/v1", "blake3"), ".source"),
        ("budget", budget([0, 1, 1]), ".budget.maxSteps"),
        (
            "staticBound",
            json!({"steps": 1}),
            ".staticBound.allocatedBytes",
        ),
        ("constraints", json!(["where.1"]), ".constraints[0]"),
        ("effects", json!([effect("b"), effect("a")]), ".effects[1]"),
        ("effects", json!([effect("a"), effect("a")]), ".effects[1]"),
        (
            "obstructions",
            json!([obstruction("a", "U64"), obstruction("a", "U32")]),
            ".obstructions[1]",
        ),
        ("footprint", json!([pair("b"), pair("a")]), ".footprint[1]"),
        ("footprint", json!([pair(&long)]), ".footprint[0].space"),
        ("types", json!([]), ".types"),
        ("core", json!({"bytes": {"$bytes": ""}}), ".core.digest"),
    ] {
        let mut build = copy().build();
        build.package[key] = value;
        assert_eq!(refused(build), place("package-malformed", path), "{key}");
    }
    for (key, value, path) in [
        ("outcome", json!("unsure"), ".outcome"),
        (
            "apiVersion",
            json!("edict.verification-report/v2"),
            ".apiVersion",
        ),
        ("notChecked", json!([]), ".notChecked"),
        ("checked", json!(["b", "a"]), ".checked[1]"),
        (
            "diagnostics",
            json!([{"code": "c", "message": "m", "path": null}]),
            ".diagnostics",
        ),
        ("verifier", json!({"name": "n"}), ".verifier.version"),
    ] {
        let mut build = copy().build();
        build.report[key] = value;
        assert_eq!(refused(build), place("report-malformed", path), "{key}");
    }
}

#[test]
fn a6_only_the_profiles_of_this_host_are_supported() {
    for key in ["interpreter", "costLaw", "codec"] {
        let mut build = copy().build();
        build.package[key] = json!("other/v1");
        assert_eq!(
            refused(build),
            place("profile-unsupported", &format!(".{key}"))
        );
    }
    let mut build = copy().build();
    build.package["targetProfile"][2] = json!({"$bytes": "00".repeat(32)});
    assert_eq!(
        refused(build),
        place("profile-unsupported", ".targetProfile")
    );
}

#[test]
fn h19_embedded_artifacts_are_what_their_digests_say() {
    let good = copy().build();
    for key in ["core", "targetIr", "projection"] {
        let mut build = good.clone();
        build.package[key]["bytes"] = json!({"$bytes": "a0"});
        assert_eq!(
            refused(build),
            place("artifact-digest-mismatch", &format!(".{key}.digest"))
        );
        let mut build = good.clone();
        build.package[key]["digest"][0] = json!("edict.other/v1");
        assert_eq!(
            refused(build),
            place("package-malformed", &format!(".{key}.digest"))
        );
    }
    let noncanonical = frame_typed("edict.core.module/v1", &[0x18, 1]);
    let mut build = good.clone();
    build.package["core"] = json!({
        "bytes": {"$bytes": "1801"},
        "digest": ["edict.core.module/v1", "sha256", {"$bytes": noncanonical.hex()}],
    });
    assert_eq!(
        refused(build),
        place("artifact-noncanonical", ".core.bytes")
    );
    let mut build = good;
    build.package["lawpacks"][0]["exports"]["bytes"] = json!({"$bytes": "a0"});
    assert_eq!(
        refused(build),
        place("artifact-digest-mismatch", ".lawpacks[0].exports.digest")
    );
}

#[test]
fn a7_target_ir_names_this_core_and_these_manifests() {
    let digest = |domain: &str| json!([domain, "sha256", {"$bytes": "33".repeat(32)}]);
    let manifest = json!(["edict.lawpack/v1", "sha256", {"$bytes": "11".repeat(32)}]);
    let mut program = copy();
    program.target_ir["semanticClosure"] =
        json!({"sourceCore": digest("edict.core.module/v1"), "lawpacks": []});
    let root = ".targetIr.bytes.semanticClosure";
    assert_eq!(
        refused(program.build()),
        place("artifact-digest-mismatch", &format!("{root}.sourceCore"))
    );
    let core = copy().build().package["core"]["digest"].clone();
    for (lawpacks, path) in [
        (json!([]), ".lawpacks"),
        (
            json!([{"coordinate": "k@1", "manifest": digest("edict.lawpack/v1")}]),
            ".lawpacks[0].manifest",
        ),
        (
            json!([{"coordinate": "k@2", "manifest": manifest}]),
            ".lawpacks[0].coordinate",
        ),
    ] {
        program.target_ir["semanticClosure"] = json!({"sourceCore": core, "lawpacks": lawpacks});
        assert_eq!(
            refused(program.build()),
            place("artifact-digest-mismatch", &format!("{root}{path}"))
        );
    }
}

#[test]
fn h18_the_report_must_be_an_acceptance_of_exactly_this_package() {
    let good = copy().build();
    let mut build = good.clone();
    build.report["outcome"] = json!("rejected");
    build.report["diagnostics"] = json!([{"code": "c", "message": "m", "path": ".core"}]);
    assert_eq!(refused(build), place("report-rejected", ".outcome"));
    let mut build = good.clone();
    build.report["package"] =
        json!(["echo.program-package/v1", "sha256", {"$bytes": "44".repeat(32)}]);
    assert_eq!(refused(build), place("report-package-mismatch", ".package"));
    for key in ["core", "targetIr", "projection", "source", "targetProfile"] {
        let mut build = good.clone();
        build.report[key][2] = json!({"$bytes": "44".repeat(32)});
        assert_eq!(
            refused(build),
            place("report-artifact-mismatch", &format!(".{key}"))
        );
    }
    for (key, value) in [("manifest", "44"), ("exports", "55")] {
        let mut build = good.clone();
        build.report["lawpacks"][0][key][2] = json!({"$bytes": value.repeat(32)});
        assert_eq!(
            refused(build),
            place("report-artifact-mismatch", &format!(".lawpacks[0].{key}"))
        );
    }
    for (key, member) in [("budget", "maxSteps"), ("staticBound", "steps")] {
        let mut build = good.clone();
        build.report[key][member] = json!(9);
        assert_eq!(
            refused(build),
            place("report-artifact-mismatch", &format!(".{key}"))
        );
    }
}

#[test]
fn h20_the_policy_decides_operation_authority_and_budget() {
    let mut sealed = copy().build().seal();
    sealed.policy.operation = "m@1.other".to_owned();
    assert_eq!(refusal(&sealed).0, "operation-mismatch");
    let mut program = copy();
    program.kind = "effectful";
    let mut sealed = program.build().seal();
    sealed.policy.authority = Authority::Pure;
    assert_eq!(refusal(&sealed).0, "authority-mismatch");
    sealed.policy.authority = Authority::Atoms;
    assert_eq!(refusal(&sealed).0, "kind-mismatch");
    let mut sealed = copy().limited([9, 8, 7]).build().seal();
    let most = &mut sealed.policy.max_budget;
    (
        most.max_steps,
        most.max_allocated_bytes,
        most.max_output_bytes,
    ) = (9, 8, 7);
    sealed.admit().unwrap();
    for member in 0..3 {
        let mut short = sealed.clone();
        let most = &mut short.policy.max_budget;
        match member {
            0 => most.max_steps -= 1,
            1 => most.max_allocated_bytes -= 1,
            _ => most.max_output_bytes -= 1,
        }
        assert_eq!(refusal(&short).0, "budget-above-policy");
    }
}

#[test]
fn h21_the_budget_is_one_and_within_the_host() {
    let mut program = copy();
    program.intent()["coreEvaluationBudget"]["maxSteps"] = json!(1);
    assert_eq!(kind_of(&program), "budget-mismatch");
    let mut program = copy();
    program.core["intents"]["run"]["budget"]["maxOutputBytes"] = json!(1);
    assert_eq!(kind_of(&program), "budget-mismatch");
    let most = [1_000_000_000, 268_435_456, 8_388_608];
    copy().limited(most).admit().unwrap();
    for member in 0..3 {
        let mut limits = most;
        limits[member] += 1;
        assert_eq!(kind_of(&copy().limited(limits)), "budget-above-host");
    }
}

#[test]
fn h22_types_are_bounded_closed_and_acyclic() {
    let typed = |types: Json, input: &str| {
        let mut program = copy();
        program.types = types;
        program.intent()["parameter"]["type"] = json!(input);
        program.input = input.to_owned();
        program
    };
    let record_of = |ty: &str| json!({"kind": "Record", "fields": {"a": ty}});
    typed(json!({"m@1.T": record_of("U64")}), "m@1.T")
        .admit()
        .unwrap();
    for (types, input) in [
        (json!({}), "String"),
        (json!({}), "Bytes"),
        (json!({}), "Bytes<min=3,max=2>"),
        (json!({}), "List<U64>"),
        (json!({}), "F64"),
        (json!({}), "Option<Option<U64>>"),
        (json!({}), "Record<b:U64,a:U64>"),
        (json!({}), "Record<a:U64,a:U64>"),
        (json!({}), "U64 "),
        (json!({}), "m@1.Absent"),
        (json!({"m@1.T": record_of("m@1.Absent")}), "m@1.T"),
        (json!({"m@1.T": record_of("m@1.T")}), "m@1.T"),
        (
            json!({"m@1.T": record_of("List<m@1.S,max=1>"), "m@1.S": record_of("m@1.T")}),
            "U64",
        ),
        (
            json!({"m@1.T": {"kind": "Nominal", "representation": "m@1.T"}}),
            "U64",
        ),
        (json!({"m@1.T": {"kind": "F64"}}), "U64"),
        (
            json!({"m@1.T": {"kind": "String", "canonical": "raw-utf8"}}),
            "U64",
        ),
        (
            json!({"m@1.T": {"kind": "String", "max": 3, "canonical": "nfc"}}),
            "U64",
        ),
        (
            json!({"m@1.T": {"kind": "Bytes", "min": 4, "max": 3}}),
            "U64",
        ),
        (json!({"m@1.T": {"kind": "Variant", "cases": []}}), "U64"),
        (json!({"m@1.T": {"kind": "Bool", "max": 1}}), "U64"),
    ] {
        assert_eq!(
            kind_of(&typed(types.clone(), input)),
            "type-malformed",
            "{types} {input}"
        );
    }
    // In the program too, before anything else of it is judged.
    let mut program = bound("U64", &json!({"kind": "unheard"}));
    program.intent()["pureBindings"][0]["binding"]["type"] = json!("String");
    assert_eq!(kind_of(&program), "type-malformed");
}

#[test]
fn type_nesting_is_accepted_at_the_limit_and_refused_one_deeper() {
    let nested = |levels: usize| {
        let mut ty = "U64".to_owned();
        for _ in 0..levels {
            ty = format!("List<{ty},max=1>");
        }
        let mut program = copy();
        program.types = json!({"m@1.T": {"kind": "Nominal", "representation": ty}});
        program
    };
    // The nominal type is a level of its own.
    nested(127).admit().unwrap();
    assert_eq!(kind_of(&nested(128)), "type-malformed");
    assert_eq!(kind_of(&nested(100_000)), "type-malformed");
}

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
