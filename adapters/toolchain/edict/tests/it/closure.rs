// SPDX-License-Identifier: Apache-2.0
//! Lawpacks that depend on lawpacks, published lawpacks, and helpers that change.

use crate::support::{TestSpace, workspace};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::fs;

/// A lawpack without adapter: `types` by name and definition, and dependencies.
fn pure_lawpack(space: &TestSpace, id: &str, types: &[(&str, &str)], on: &[(&str, &str)]) {
    let filler = json!({"id": "x.y/v1", "digest": format!("sha256:{}", "1".repeat(64))});
    let types: Vec<Value> = types
        .iter()
        .map(|(name, definition)| {
            json!({"coordinate": format!("{id}@1.{name}"), "definition": definition})
        })
        .collect();
    let dependencies: Vec<Value> = on
        .iter()
        .map(|(id, digest)| json!({"id": id, "version": "1", "digest": digest}))
        .collect();
    let bundles: Vec<Value> = space
        .names(".")
        .iter()
        .filter(|name| !on.is_empty() && name.starts_with("pack-"))
        .map(|name| {
            json!({"manifest": format!("{name}/manifest.cbor"), "exports": format!("{name}/exports.cbor")})
        })
        .collect();
    let definition = json!({
        "schema": "edict.lawpack-build/v1", "outputDirectory": format!("pack-{id}"),
        "dependencyBundles": bundles,
        "lawpack": {
            "schema": "edict.lawpack-authoring/v1", "id": id, "version": "1",
            "acceptedCoreAbi": ["edict.core/v1"], "dependencies": dependencies,
            "exportsCoordinate": format!("{id}.exports/v1"),
            "exports": {
                "types": types, "constants": [], "pureFunctions": [], "effects": [],
                "obstructions": [], "operationProfiles": {}
            },
            "targetAdapters": [], "verifier": {"class": "declarative", "ruleset": filler},
            "compatibility": filler, "conformanceFixtureCorpus": filler, "localResources": []
        }
    });
    space.write(&format!("{id}.json"), definition.to_string());
}

fn digest(space: &TestSpace, id: &str) -> String {
    let sidecar = space.read(&format!("pack-{id}/manifest.sha256"));
    String::from_utf8(sidecar).unwrap().trim_end().to_owned()
}

/// `base` is needed by `middle`, which an application of `case.kit` imports.
fn chain() -> TestSpace {
    let space = TestSpace::new();
    space.vendor(None);
    pure_lawpack(
        &space,
        "base",
        &[("Name", "String<max=8>"), ("Tag", "Nominal<base@1.Name>")],
        &[],
    );
    assert_eq!(space.lawpack("base.json").exit_code, 0);
    let base = digest(&space, "base");
    pure_lawpack(
        &space,
        "middle",
        &[("Pair", "Record<tag:base@1.Tag,times:U32>")],
        &[("base", &base)],
    );
    let run = space.lawpack("middle.json");
    assert_eq!(run.exit_code, 0, "{run:?}");
    let source = "package case.x@1;\nuse lawpack case.kit@1 digest \"sha256:KIT\" as kit;\n\
        use lawpack middle@1 digest \"sha256:MIDDLE\" as middle;\n\
        type Input = { pair: middle.Pair }; type Out = { tag: String<max=8> };\n\
        intent run(input: Input) returns Out profile kit.pure basis none budget <= kit.roomy {\n\
        return { tag: raw(input.pair.tag) };\n}\n";
    let kit = String::from_utf8(space.read("vendor/case-kit/manifest.sha256")).unwrap();
    let source = source
        .replace("sha256:KIT", kit.trim_end())
        .replace("sha256:MIDDLE", &digest(&space, "middle"));
    space.write("src/m.edict", source);
    write_document(&space, &["middle", "base"]);
    space
}

fn write_document(space: &TestSpace, packs: &[&str]) {
    let kit = |name: &str| format!("vendor/case-kit/{name}.cbor");
    let mut entries = vec![json!({
        "manifest": kit("manifest"), "exports": kit("exports"), "adapter": kit("adapter"),
        "targetConfiguration": kit("configuration")
    })];
    for id in packs {
        let path = |name: &str| format!("pack-{id}/{name}.cbor");
        entries.push(json!({"manifest": path("manifest"), "exports": path("exports")}));
    }
    let document = json!({
        "schema": "edict.application/v1", "coordinate": "case.x@1", "sources": ["src/m.edict"],
        "lawpacks": entries, "target": {"profile": "echo.dpo@1"}, "outputDirectory": "out"
    });
    space.write("edict.application.json", document.to_string());
}

#[test]
fn a_dependency_of_an_import_belongs_to_the_closure() {
    let space = chain();
    let run = space.build();
    assert_eq!(run.exit_code, 0, "{run:?}");
    let package = space.read("out/executable-operation-package.cbor");
    let package = edict_codec::cbor::decode(&package).unwrap();
    let coordinates: Vec<&str> = package
        .get("lawpacks")
        .and_then(|it| it.as_array())
        .unwrap()
        .iter()
        .map(|it| it.get("coordinate").and_then(|it| it.as_text()).unwrap())
        .collect();
    assert_eq!(coordinates, ["case.kit@1", "middle@1", "base@1"]);
    let types: Vec<&str> = package
        .get("types")
        .and_then(|it| it.as_map())
        .unwrap()
        .iter()
        .map(|(name, _)| name.as_text().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "base@1.Tag",
            "case.x@1.Out",
            "middle@1.Pair",
            "case.x@1.Input"
        ]
    );
}

#[test]
fn a_dependency_must_be_listed_with_the_stated_manifest() {
    let refused = |space: &TestSpace, expected: &Expect| {
        let run = space.build();
        assert_eq!(run.exit_code, 2);
        expected.assert_eq(&run.refusal());
    };
    let space = chain();
    write_document(&space, &["middle"]);
    refused(
        &space,
        &expect!["InvalidApplicationClosure: `middle@1` depends on `base@1`, which is not listed"],
    );
    let space = chain();
    pure_lawpack(
        &space,
        "base",
        &[("Name", "String<max=9>"), ("Tag", "Nominal<base@1.Name>")],
        &[],
    );
    assert_eq!(space.lawpack("base.json").exit_code, 0);
    let message = space.build().refusal();
    let start = "InvalidApplicationClosure: `middle@1` depends on another manifest of `base@1`";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn bundles_are_exactly_the_dependencies() {
    let refused = |space: &TestSpace, expected: &Expect| {
        let run = space.lawpack("top.json");
        assert_eq!(run.exit_code, 2);
        expected.assert_eq(&run.refusal());
        assert!(!space.path().join("pack-top").exists());
    };
    let space = chain();
    let base = digest(&space, "base");
    pure_lawpack(&space, "top", &[], &[("base", &base)]);
    refused(
        &space,
        &expect!["InvalidLawpackDependency: nothing depends on the bundle of `middle@1`"],
    );
    pure_lawpack(&space, "top", &[], &[("other", &base)]);
    refused(
        &space,
        &expect!["InvalidLawpackDependency: there is no bundle of `other@1`"],
    );
    pure_lawpack(&space, "top", &[], &[("middle", &base)]);
    let middle = digest(&space, "middle");
    let message = space.lawpack("top.json").refusal();
    assert_eq!(
        message,
        format!("InvalidLawpackDependency: the bundle of `middle@1` has the manifest {middle}")
    );
}

#[test]
fn bt_021_a_changed_helper_makes_the_pin_stale_until_it_is_refreshed() {
    let space = TestSpace::new();
    space.vendor(None);
    let source = "package case.x@1;\n\
        use lawpack case.kit@1 digest \"sha256:ZEROS\" as kit;\n\
        use lawpack edict.test@1 digest \"sha256:ZEROS\" as test;\n\
        type Input = { a: U64 };\n\
        intent run(input: Input) returns test.CaseResult profile kit.pure basis none budget <= kit.roomy\n\
        { return test.equalU64(\"a\", 4, input.a); }\n";
    let source = source.replace("ZEROS", &"0".repeat(64));
    space.application(&source);
    let first = space.build();
    assert_eq!(first.exit_code, 0, "{first:?}");
    let package = space.read("out/executable-operation-package.cbor");

    space.edit(
        "src/assert.edict",
        "if expected == actual",
        "if expected != actual",
    );
    assert_eq!(space.lawpack("edict.test@1.json").exit_code, 0);
    fs::remove_dir_all(space.path().join("out")).unwrap();
    let stale = space.build();
    assert_eq!(stale.kinds(), ["cli/InvalidApplicationClosure"]);
    assert_eq!(stale.summary()["line"], 3);

    space.application(&source);
    let fresh = space.build();
    assert_eq!(fresh.exit_code, 0, "{fresh:?}");
    assert_ne!(space.read("out/executable-operation-package.cbor"), package);
}

/// The kit, republished for another target profile of the same coordinate, with a read that
/// means the bundled one.
fn foreign(intrinsic: &str) -> TestSpace {
    let space = TestSpace::new();
    space.vendor(None);
    let mut definition: Value = serde_json::from_slice(&space.read("case.kit@1.json")).unwrap();
    let lawpack = &mut definition["lawpack"];
    let effects = lawpack["exports"]["effects"].as_array_mut().unwrap();
    effects.retain(|it| it["coordinate"] == "case.kit@1.readHead");
    for name in ["creating", "writing"] {
        let coordinate = format!("case.kit@1.{name}");
        lawpack["exports"]["operationProfiles"]
            .as_object_mut()
            .unwrap()
            .remove(&coordinate);
        let adapter = lawpack["targetAdapters"][0].as_object_mut().unwrap();
        adapter["operationProfiles"]
            .as_object_mut()
            .unwrap()
            .remove(&coordinate);
    }
    let adapter = &mut lawpack["targetAdapters"][0];
    adapter["operationProfiles"]["case.kit@1.reading"]["semanticEffects"] =
        json!(["case.kit@1.readHead"]);
    let implementations = adapter["effectImplementations"].as_object_mut().unwrap();
    implementations.retain(|name, _| name == "case.kit@1.readHead");
    implementations["case.kit@1.readHead"]["targetIntrinsic"] = intrinsic.into();
    implementations["case.kit@1.readHead"]["failureMappings"]["missing"] =
        "echo.fact-missing/v1".into();
    adapter["budgets"]
        .as_object_mut()
        .unwrap()
        .remove("case.kit@1.small");
    adapter["acceptedTargetProfile"]["digest"] = format!("sha256:{}", "7".repeat(64)).into();
    adapter["acceptedTargetIr"] =
        json!({"id": "echo.span-ir/v1", "digest": format!("sha256:{}", "8".repeat(64))});
    lawpack["localResources"][0]["value"] = json!({"anything": true});
    space.write("case.kit@1.json", definition.to_string());
    let run = space.lawpack("case.kit@1.json");
    assert_eq!(run.exit_code, 0, "{run:?}");
    space
}

const HEAD: &str = "package case.x@1;\n\
    use lawpack case.kit@1 digest \"sha256:0000000000000000000000000000000000000000000000000000000000000000\" as kit;\n\
    type Input = { buffer: kit.Buffer };\n\
    intent run(input: Input) returns kit.Head profile kit.reading basis none budget <= kit.roomy\n\
    { let head = kit.readHead(input.buffer) else kit.Rejected; return head; }\n";

#[test]
fn reads_of_published_lawpacks_mean_the_bundled_read() {
    for intrinsic in [
        "echo.dpo@1.node-atom-read",
        "echo.dpo@1.snapshot-read-probe",
    ] {
        let space = foreign(intrinsic);
        space.application(HEAD);
        let run = space.build();
        assert_eq!(run.exit_code, 0, "{run:?}");
        let package = space.read("out/executable-operation-package.cbor");
        let package = edict_codec::cbor::decode(&package).unwrap();
        let effects = format!("{:?}", package.get("effects").unwrap());
        assert_eq!(
            effects,
            r#"Array([Map([(Text("space"), Text("case.kit@1.readHead")), (Text("effect"), Text("case.kit@1.readHead")), (Text("keyType"), Text("case.kit@1.Buffer")), (Text("failures"), Map([(Text("missing"), Text("echo.atom-missing/v1"))])), (Text("intrinsic"), Text("echo.dpo@1.atom.read")), (Text("valueType"), Text("case.kit@1.Head"))])])"#
        );
        let profile = package.get("targetProfile").unwrap().as_array().unwrap();
        assert_eq!(
            edict_codec::hex::encode(profile[2].as_bytes().unwrap()),
            "debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b"
        );
    }
}

#[test]
fn other_intrinsics_of_published_lawpacks_serve_only_profiles_without_effects() {
    let space = foreign("echo.dpo@1.atom.read");
    space.application(HEAD);
    expect!["InvalidLawpackAdapter: UnsupportedTargetIntrinsic: `case.kit@1.readHead` uses `echo.dpo@1.atom.read`, which the bundled target has not"].assert_eq(&space.build().refusal());
    let pure = HEAD
        .replace("kit.reading", "kit.pure")
        .replace("returns kit.Head", "returns Input")
        .replace(
            "let head = kit.readHead(input.buffer) else kit.Rejected; return head;",
            "return input;",
        );
    space.application(&pure);
    let run = space.build();
    assert_eq!(run.exit_code, 0, "{run:?}");
}

#[test]
fn all_adapters_of_a_closure_accept_one_profile() {
    let space = foreign("echo.dpo@1.node-atom-read");
    let both = HEAD.replace(
        "type Input",
        "use lawpack text.store@1 digest \"sha256:0000000000000000000000000000000000000000000000000000000000000000\" as text;\ntype Input",
    );
    space.application(&both);
    expect!["InvalidApplicationClosure: `text.store@1` accepts another target profile"]
        .assert_eq(&space.build().refusal());
}

#[test]
fn the_shipped_lawpacks_are_those_of_the_contract() {
    let space = TestSpace::new();
    space.vendor(None);
    for (name, vendored) in [("edict-test", "edict-test"), ("text-store", "text-store")] {
        let directory = workspace().join("testdata/lawpacks").join(name);
        let mut shipped: Value =
            serde_json::from_slice(&fs::read(directory.join("edict.lawpack.json")).unwrap())
                .unwrap();
        shipped["outputDirectory"] = "shipped".into();
        space.write("shipped.json", shipped.to_string());
        assert_eq!(space.lawpack("shipped.json").exit_code, 0);
        let of = |directory: &str| space.read(&format!("{directory}/manifest.sha256"));
        assert_eq!(of("shipped"), of(&format!("vendor/{vendored}")), "{name}");
        fs::remove_dir_all(space.path().join("shipped")).unwrap();
    }
}
