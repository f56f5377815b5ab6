// SPDX-License-Identifier: Apache-2.0
//! Building applications: documents, closures, output directories, artifacts.

use crate::support::{BUILD, Run, TestSpace, workspace};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use std::fs;

const SOURCE: &str = r#"package example.a@1;
use lawpack case.kit@1 digest "sha256:0000000000000000000000000000000000000000000000000000000000000000" as kit;
use lawpack edict.test@1 digest "sha256:0000000000000000000000000000000000000000000000000000000000000000" as test;
type Input = { key: kit.Key, bump: Bool }; type Out = { count: U64 };
intent edit(input: Input) returns Out profile kit.writing basis input.key budget <= kit.roomy {
  let old = kit.readNote(input.key) else { missing(key) => kit.NoteMissing({ key }) };
  require old.note.count < 1000 else kit.Rejected;
  let count = if input.bump { let next = old.note.count + 1; yield next; } else { yield old.note.count; };
  kit.replaceNote({ key: input.key, note: { text: old.note.text, count }, expected: old.version })
    else { missing(key) => kit.Conflict, conflict(key) => kit.Conflict };
  return { count };
}
"#;
const DOCUMENT: &str = "edict.application.json";

fn space() -> TestSpace {
    let space = TestSpace::new();
    space.vendor(None);
    space.application(SOURCE);
    space
}

type Edit<'a> = &'a dyn Fn(&mut Value);

fn edit_document(space: &TestSpace, edit: impl FnOnce(&mut Value)) {
    let mut document: Value = serde_json::from_slice(&space.read(DOCUMENT)).unwrap();
    edit(&mut document);
    space.write(DOCUMENT, document.to_string());
}

fn refused(space: &TestSpace, expected: &Expect) -> Run {
    let run = space.build();
    assert_eq!((run.exit_code, run.stdout.as_str()), (2, ""), "{run:?}");
    expected.assert_eq(&run.refusal());
    assert!(!space.path().join("out").exists(), "nothing is written");
    run
}

#[test]
fn a_build_writes_four_artifacts_and_says_which() {
    let space = space();
    let run = space.build();
    assert_eq!((run.exit_code, run.stderr.as_str()), (0, ""), "{run:?}");
    let names = [
        "core.cbor",
        "executable-operation-package.cbor",
        "result-projection.cbor",
        "target-ir.cbor",
    ];
    assert_eq!(space.names("out"), names);
    let records = run.records();
    assert_eq!(records[0]["operation"], "example.a@1.edit");
    assert_eq!(records[1]["event"], "completed");
    for (row, name) in records[0]["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .zip(names)
    {
        let bytes = space.read(&format!("out/{name}"));
        let domain = row["domain"].as_str().unwrap();
        let digest = edict_codec::hex::encode(&edict_codec::digest::frame(domain, &bytes));
        assert_eq!(row["name"], name);
        assert_eq!(row["bytes"], bytes.len());
        assert_eq!(row["digest"], format!("sha256:{digest}"));
        edict_codec::cbor::decode(&bytes).unwrap();
    }
}

#[test]
fn the_same_program_gives_the_same_bytes_anywhere() {
    let (first, second) = (space(), space());
    assert_eq!(first.build().stdout, second.build().stdout);
    for name in first.names("out") {
        let name = format!("out/{name}");
        assert_eq!(first.read(&name), second.read(&name), "{name}");
    }
}

#[test]
fn the_artifacts_have_the_shapes_of_the_contract() {
    let space = space();
    assert_eq!(space.build().exit_code, 0);
    let request = BUILD.replace("\"build\"", "\"project\"");
    fs::remove_dir_all(space.path().join("out")).unwrap();
    let run = space.edict(&request);
    assert_eq!(run.exit_code, 0, "{run:?}");
    let records = run.records();
    assert_eq!(records.len(), 5);
    assert!(!space.path().join("out").exists(), "project writes nothing");
    let core = &records[0]["value"]["intents"]["edit"];
    expect![[r#"{"basis":{"base":{"id":"arg.0","kind":"local"},"field":"key","kind":"field"},"body":{"nodes":[{"arms":{"missing":{"binding":{"id":"obstruction.0","name":"$obstruction0","type":"Bytes<exact=4>"},"raise":{"args":[{"fields":[{"name":"key","value":{"id":"obstruction.0","kind":"local"}}],"kind":"record"}],"callee":"case.kit@1.NoteMissing","kind":"call","typeArgs":[]}}},"binding":{"id":"local.0","name":"$local0","type":"case.kit@1.Snapshot"},"effect":"case.kit@1.readNote","input":{"base":{"id":"arg.0","kind":"local"},"field":"key","kind":"field"},"kind":"effect"},{"kind":"require","onFailure":{"args":[],"callee":"case.kit@1.Rejected","kind":"call","typeArgs":[]},"predicate":{"kind":"compare","left":{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"count","kind":"field"},"op":"<","right":{"kind":"const","type":"U64","value":1000}}},{"binding":{"id":"local.1","name":"$local1","type":"U64"},"condition":{"kind":"compare","left":{"base":{"id":"arg.0","kind":"local"},"field":"bump","kind":"field"},"op":"==","right":{"kind":"const","type":"Bool","value":true}},"else":{"nodes":[],"result":{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"count","kind":"field"}},"kind":"branch","then":{"nodes":[{"binding":{"id":"local.2","name":"$local2","type":"U64"},"kind":"let","value":{"args":[{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"count","kind":"field"},{"kind":"const","type":"U64","value":1}],"callee":"core.integer.add","kind":"call","typeArgs":["U64","U64"]}}],"result":{"id":"local.2","kind":"local"}}},{"arms":{"conflict":{"binding":{"id":"obstruction.1","name":"$obstruction1","type":"Bytes<exact=4>"},"raise":{"args":[],"callee":"case.kit@1.Conflict","kind":"call","typeArgs":[]}},"missing":{"binding":{"id":"obstruction.2","name":"$obstruction2","type":"Bytes<exact=4>"},"raise":{"args":[],"callee":"case.kit@1.Conflict","kind":"call","typeArgs":[]}}},"binding":{"id":"local.3","name":"$local3","type":"case.kit@1.Receipt"},"effect":"case.kit@1.replaceNote","input":{"fields":[{"name":"key","value":{"base":{"id":"arg.0","kind":"local"},"field":"key","kind":"field"}},{"name":"note","value":{"fields":[{"name":"text","value":{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"text","kind":"field"}},{"name":"count","value":{"id":"local.1","kind":"local"}}],"kind":"record"}},{"name":"expected","value":{"base":{"id":"local.0","kind":"local"},"field":"version","kind":"field"}}],"kind":"record"},"kind":"effect"}],"result":{"fields":[{"name":"count","value":{"id":"local.1","kind":"local"}}],"kind":"record"}},"budget":{"coordinate":"case.kit@1.roomy","maxAllocatedBytes":16777216,"maxOutputBytes":65536,"maxSteps":1048576},"constraints":[],"coreProfile":"continuum.profile.read-write/v1","operationProfile":"case.kit@1.writing","parameter":{"id":"arg.0","name":"$arg0","type":"example.a@1.Input"},"result":"example.a@1.Out"}"#]].assert_eq(&core.to_string());
    expect![[r#"{"basis":{"base":{"id":"arg.0","kind":"local"},"field":"key","kind":"field"},"coreEvaluationBudget":{"maxAllocatedBytes":16777216,"maxOutputBytes":65536,"maxSteps":1048576},"executionOrder":["edit.step.0","edit.require.0","edit.region.0","edit.step.1"],"inputConstraints":[],"operationProfile":"case.kit@1.writing","outputType":"example.a@1.Out","parameter":{"id":"arg.0","name":"$arg0","type":"example.a@1.Input"},"pureBindings":[{"binding":{"id":"local.2","name":"$local2","type":"U64"},"id":"edit.binding.0","value":{"args":[{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"count","kind":"field"},{"kind":"const","type":"U64","value":1}],"callee":"core.integer.add","kind":"call","typeArgs":["U64","U64"]}}],"regions":[{"binding":{"id":"local.1","name":"$local1","type":"U64"},"condition":{"kind":"compare","left":{"base":{"id":"arg.0","kind":"local"},"field":"bump","kind":"field"},"op":"==","right":{"kind":"const","type":"Bool","value":true}},"else":{"executionOrder":[],"result":{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"count","kind":"field"}},"id":"edit.region.0","kind":"branch","then":{"executionOrder":["edit.binding.0"],"result":{"id":"local.2","kind":"local"}}}],"requirements":[{"id":"edit.require.0","onFailure":{"args":[],"callee":"case.kit@1.Rejected","kind":"call","typeArgs":[]},"predicate":{"kind":"compare","left":{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"count","kind":"field"},"op":"<","right":{"kind":"const","type":"U64","value":1000}}}],"result":{"fields":[{"name":"count","value":{"id":"local.1","kind":"local"}}],"kind":"record"},"steps":[{"binding":{"id":"local.0","name":"$local0","type":"case.kit@1.Snapshot"},"configuration":{"atomType":"case.kit@1.Note","key":[],"keyType":"Bytes<exact=4>","output":{"value":"note","version":"version"},"space":"case.kit.note/v1"},"effect":"case.kit@1.readNote","id":"edit.step.0","input":{"base":{"id":"arg.0","kind":"local"},"field":"key","kind":"field"},"obstructionArms":{"missing":{"binding":{"id":"obstruction.0","name":"$obstruction0","type":"Bytes<exact=4>"},"raise":{"args":[{"fields":[{"name":"key","value":{"id":"obstruction.0","kind":"local"}}],"kind":"record"}],"callee":"case.kit@1.NoteMissing","kind":"call","typeArgs":[]}}},"obstructionFailures":{"missing":{"payloadType":"Bytes<exact=4>","target":"echo.atom-missing/v1"}},"targetIntrinsic":"echo.dpo@1.atom.read"},{"binding":{"id":"local.3","name":"$local3","type":"case.kit@1.Receipt"},"configuration":{"atomType":"case.kit@1.Note","expected":["expected"],"key":["key"],"keyType":"Bytes<exact=4>","output":{"version":"version"},"space":"case.kit.note/v1","value":["note"]},"effect":"case.kit@1.replaceNote","id":"edit.step.1","input":{"fields":[{"name":"key","value":{"base":{"id":"arg.0","kind":"local"},"field":"key","kind":"field"}},{"name":"note","value":{"fields":[{"name":"text","value":{"base":{"base":{"id":"local.0","kind":"local"},"field":"note","kind":"field"},"field":"text","kind":"field"}},{"name":"count","value":{"id":"local.1","kind":"local"}}],"kind":"record"}},{"name":"expected","value":{"base":{"id":"local.0","kind":"local"},"field":"version","kind":"field"}}],"kind":"record"},"obstructionArms":{"conflict":{"binding":{"id":"obstruction.1","name":"$obstruction1","type":"Bytes<exact=4>"},"raise":{"args":[],"callee":"case.kit@1.Conflict","kind":"call","typeArgs":[]}},"missing":{"binding":{"id":"obstruction.2","name":"$obstruction2","type":"Bytes<exact=4>"},"raise":{"args":[],"callee":"case.kit@1.Conflict","kind":"call","typeArgs":[]}}},"obstructionFailures":{"conflict":{"payloadType":"Bytes<exact=4>","target":"echo.atom-version-mismatch/v1"},"missing":{"payloadType":"Bytes<exact=4>","target":"echo.atom-missing/v1"}},"targetIntrinsic":"echo.dpo@1.atom.replace"}]}"#]].assert_eq(&records[1]["value"]["intents"]["edit"].to_string());
    expect![[r#"{"expression":{"fields":{"count":{"kind":"source","path":[],"source":{"bindingId":"edit.region.0","kind":"pureBinding"}}},"kind":"record"},"maxOutputBytes":65536,"operationCoordinate":"example.a@1.edit","outputType":"example.a@1.Out","schema":"edict.result-projection/v1"}"#]].assert_eq(&records[2]["value"].to_string());
}

#[test]
fn project_takes_unsaved_text_and_shows_its_mistakes_on_stdout() {
    let space = space();
    let request = BUILD.replace("\"build\"", "\"project\"");
    let source = String::from_utf8(space.read("src/m.edict")).unwrap();
    let unsaved = |text: String| {
        let input = json!({"schema": "edict.compiler.input/v1", "kind": "source", "name": "now.edict", "text": text});
        space.edict(&format!("{request}\n{input}"))
    };
    let run = unsaved(source.replace("return { count };", "return { count: count.x };"));
    assert_eq!((run.exit_code, run.stderr.as_str()), (0, ""));
    assert_eq!(run.kinds(), ["typeCheck/UnknownField"]);
    assert_eq!(run.records()[0]["file"], "now.edict");
    assert_eq!(unsaved(source).kinds(), Vec::<String>::new());
}

#[test]
fn documents_are_closed() {
    let cases: [(&str, Edit<'_>, Expect); 9] = [
        (
            "unknown member",
            &|it| it["color"] = 1.into(),
            expect!["InvalidApplicationConfig: /color: unknown member `color`"],
        ),
        (
            "another schema",
            &|it| it["schema"] = "edict.application/v2".into(),
            expect!["InvalidApplicationConfig: /schema: expected `edict.application/v1`"],
        ),
        (
            "two sources",
            &|it| it["sources"] = json!(["a", "b"]),
            expect!["InvalidApplicationConfig: /sources: expected exactly one source"],
        ),
        (
            "another build kind",
            &|it| it["buildKind"] = "library".into(),
            expect!["InvalidApplicationConfig: /buildKind: expected `executableOperation`"],
        ),
        (
            "external resources",
            &|it| it["externalActionResources"] = json!([]),
            expect![
                "InvalidApplicationConfig: /externalActionResources: unknown member `externalActionResources`"
            ],
        ),
        (
            "half an adapter",
            &|it| it["lawpacks"][0]["adapter"] = Value::Null,
            expect!["InvalidApplicationConfig: /lawpacks/0/adapter: expected a text"],
        ),
        (
            "path outside",
            &|it| it["sources"] = json!(["../m.edict"]),
            expect![
                "ApplicationPathEscape: /sources/0: the path leaves the directory of the document"
            ],
        ),
        (
            "absolute output",
            &|it| it["outputDirectory"] = "/out".into(),
            expect![
                "ApplicationPathEscape: /outputDirectory: the path leaves the directory of the document"
            ],
        ),
        (
            "another target",
            &|it| it["target"]["profile"] = "other@1".into(),
            expect![
                "InvalidApplicationConfig: target profile `other@1` is not that of the bundled target, `echo.dpo@1`"
            ],
        ),
    ];
    for (name, edit, expected) in cases {
        let space = space();
        edit_document(&space, edit);
        eprintln!("{name}");
        refused(&space, &expected);
    }
    let space = space();
    space.edit(
        DOCUMENT,
        "{\"coordinate\"",
        "{\"schema\":\"\",\"coordinate\"",
    );
    let run = refused(
        &space,
        &expect!["InvalidApplicationConfig: read the document: duplicate member name"],
    );
    assert_eq!(run.summary()["line"], 1);
}

#[test]
fn a_source_of_another_package_is_refused() {
    let space = space();
    edit_document(&space, |it| it["coordinate"] = "example.b@1".into());
    refused(
        &space,
        &expect![
            "ApplicationCoordinateMismatch: `src/m.edict` is of package `example.a@1`, the document says `example.b@1`"
        ],
    );
}

#[test]
fn a_stale_pin_is_refused_where_it_stands() {
    let space = space();
    space.application(SOURCE);
    let digest = "0".repeat(64);
    let source = String::from_utf8(space.read("src/m.edict")).unwrap();
    let start = source.find("sha256:").unwrap() + 7;
    let pinned = source.get(start..start + 64).unwrap().to_owned();
    space.edit("src/m.edict", &pinned, &digest);
    let run = space.build();
    assert_eq!(run.kinds(), ["cli/InvalidApplicationClosure"]);
    let summary = run.summary();
    assert_eq!(
        (&summary["line"], &summary["column"]),
        (&json!(2), &json!(31))
    );
    assert_eq!(summary["help"], format!("sha256:{pinned}"));
}

#[test]
fn closures_are_exact() {
    let edit = |edit: &dyn Fn(&mut Vec<Value>)| {
        let space = space();
        edit_document(&space, |it| edit(it["lawpacks"].as_array_mut().unwrap()));
        space
    };
    refused(
        &edit(&|it| it.reverse()),
        &expect![
            "InvalidApplicationClosure: the first lawpack of the application is `edict.test@1`"
        ],
    );
    refused(
        &edit(&|it| it.push(it[1].clone())),
        &expect!["InvalidApplicationClosure: lawpack `edict.test` stands twice in the closure"],
    );
    let text = json!({
        "manifest": "vendor/text-store/manifest.cbor", "exports": "vendor/text-store/exports.cbor",
        "adapter": "vendor/text-store/adapter.cbor",
        "targetConfiguration": "vendor/text-store/configuration.cbor"
    });
    refused(
        &edit(&|it| it.push(text.clone())),
        &expect!["InvalidApplicationClosure: `text.store@1` is listed, but nothing imports it"],
    );
    refused(
        &edit(&Vec::clear),
        &expect![
            "InvalidApplicationClosure: the application lists no lawpack; the first one is that of the profile"
        ],
    );
    refused(
        &edit(&|it| it[0]["manifest"] = "vendor/none.cbor".into()),
        &expect![
            "ApplicationReadFailed: read `vendor/none.cbor`: No such file or directory (os error 2)"
        ],
    );
    refused(
        &edit(&|it| it[0]["exports"] = text["exports"].clone()),
        &expect![
            "InvalidApplicationClosure: read `vendor/case-kit/manifest.cbor`: the exports are not those that the manifest names"
        ],
    );
    refused(
        &edit(&|it| it[0]["adapter"] = text["adapter"].clone()),
        &expect![
            "InvalidApplicationClosure: read `vendor/case-kit/manifest.cbor`: /targetAdapters: the adapter is none that the manifest names"
        ],
    );
    let configuration = text["targetConfiguration"].clone();
    refused(
        &edit(&|it| it[0]["targetConfiguration"] = configuration.clone()),
        &expect![
            "InvalidApplicationClosure: read `vendor/case-kit/adapter.cbor`: `echo.atoms.configuration/v1` is not the configuration that is given"
        ],
    );
    let space = edit(&|it| {
        it.pop();
    });
    assert_eq!(
        space.build().kinds(),
        [
            "resolve/MissingContextFact",
            "cli/ApplicationCompilationFailed"
        ]
    );
}

#[test]
fn a_use_target_pins_the_profile() {
    let pinned = |digest: &str| {
        let space = space();
        let line =
            format!("use target echo.dpo@1 digest \"sha256:{digest}\" as target;\ntype Input");
        space.edit("src/m.edict", "type Input", &line);
        space
    };
    let bundled = "debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b";
    assert_eq!(pinned(bundled).build().exit_code, 0);
    refused(
        &pinned(&"1".repeat(64)),
        &expect![
            "InvalidApplicationClosure: the lawpacks accept another `echo.dpo@1`: sha256:debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b"
        ],
    );
}

#[test]
fn source_stages_decide_the_summary() {
    let space = space();
    space.edit("src/m.edict", "return { count };", "return { count }");
    assert_eq!(
        space.build().kinds(),
        ["parse/ExpectedToken", "cli/InvalidApplicationSource"]
    );
    let space = self::space();
    space.edit(
        "src/m.edict",
        "return { count };",
        "return { count: true };",
    );
    assert_eq!(
        space.build().kinds(),
        ["typeCheck/TypeMismatch", "cli/ApplicationCompilationFailed"]
    );
}

#[test]
fn an_application_has_exactly_one_intent() {
    let space = space();
    let source = String::from_utf8(space.read("src/m.edict")).unwrap();
    let start = source.find("intent").unwrap();
    let (head, intent) = source.split_at(start);
    let second = intent.replace("intent edit", "intent again");
    space.write("src/m.edict", format!("{source}{second}"));
    let run = space.build();
    let kinds = [
        "projection/ResultProjectionUnavailable",
        "cli/ApplicationCompilationFailed",
    ];
    assert_eq!(run.kinds(), kinds);
    assert_eq!(run.records()[0]["line"], 13);
    space.write("src/m.edict", head);
    let run = space.build();
    assert_eq!(run.kinds(), kinds);
    assert_eq!(run.records()[0]["span"], json!({"start": 0, "end": 0}));
}

#[test]
fn the_output_directory_must_be_absent_or_empty() {
    let space = space();
    fs::create_dir(space.path().join("out")).unwrap();
    assert_eq!(space.build().exit_code, 0);
    expect![
        "ApplicationOutputWriteFailed: write `out`: it is not empty; remove it or choose another"
    ]
    .assert_eq(&space.build().refusal());
    fs::remove_dir_all(space.path().join("out")).unwrap();
    space.write("out", "a file");
    expect!["ApplicationOutputWriteFailed: write `out`: not a directory"]
        .assert_eq(&space.build().refusal());
    assert_eq!(space.read("out"), b"a file");
}

#[test]
fn a_symbolic_link_is_not_followed() {
    let space = space();
    space.write("elsewhere/m.edict", space.read("src/m.edict"));
    fs::remove_dir_all(space.path().join("src")).unwrap();
    std::os::unix::fs::symlink("elsewhere", space.path().join("src")).unwrap();
    refused(
        &space,
        &expect!["ApplicationPathEscape: read `src/m.edict`: `src` is a symbolic link"],
    );
}

#[test]
fn a_published_lawpack_with_an_unknown_intrinsic_is_refused() {
    let space = TestSpace::new();
    let published = workspace().join("testdata/upstream-applications/kv-put");
    let files = ["manifest", "exports", "adapter", "configuration"];
    for name in files.map(|it| format!("vendor/kv/{it}.cbor")) {
        space.write(&name, fs::read(published.join(&name)).unwrap());
    }
    for name in ["src/m.edict", DOCUMENT] {
        space.write(name, fs::read(published.join(name)).unwrap());
    }
    refused(
        &space,
        &expect![
            "InvalidLawpackAdapter: UnsupportedTargetIntrinsic: `demo.kv@1.put` uses `echo.dpo@1.anchored-node-attachment-create-if-absent`, which the bundled target has not"
        ],
    );
}
