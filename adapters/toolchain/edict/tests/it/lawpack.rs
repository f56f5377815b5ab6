// SPDX-License-Identifier: Apache-2.0
//! Authoring lawpacks: what is written, and what is refused where.

use crate::support::{TestSpace, workspace};
use expect_test::{Expect, expect};
use std::fs;

/// A space with a shipped lawpack definition as `edict.lawpack.json`.
fn shipped(name: &str) -> TestSpace {
    let space = TestSpace::new();
    let directory = workspace().join("testdata/lawpacks").join(name);
    for file in ["edict.lawpack.json", "src/assert.edict"] {
        if let Ok(bytes) = fs::read(directory.join(file)) {
            space.write(file, bytes);
        }
    }
    space
}

const DEFINITION: &str = "edict.lawpack.json";

#[test]
fn the_text_store_is_written_whole() {
    let space = shipped("text-store");
    let run = space.lawpack(DEFINITION);
    assert_eq!((run.exit_code, run.stderr.as_str()), (0, ""));
    assert_eq!(
        space.names("out"),
        [
            "adapter.cbor",
            "adapter.sha256",
            "configuration.cbor",
            "configuration.sha256",
            "edict.lawpack-output.json",
            "exports.cbor",
            "exports.sha256",
            "manifest.cbor",
            "manifest.sha256",
        ]
    );
    assert_eq!(space.names("."), ["edict.lawpack.json", "out"]);
    expect![[r"
        sha256:7ddce0c70f1b46e5cb2ff4c1bf1888ca9b0560456af9072b3b7b1bb61ad56b7c
    "]]
    .assert_eq(&String::from_utf8(space.read("out/manifest.sha256")).unwrap());
}

#[test]
fn the_assertions_are_exported_from_their_source() {
    let space = shipped("edict-test");
    assert_eq!(space.lawpack(DEFINITION).exit_code, 0);
    assert_eq!(space.names("out").len(), 5, "neither adapter nor resources");
    let exports = edict_codec::cbor::decode(&space.read("out/exports.cbor")).unwrap();
    let names: Vec<&str> = exports
        .get("pureFunctions")
        .and_then(|it| it.as_array())
        .unwrap()
        .iter()
        .map(|it| it.get("coordinate").and_then(|it| it.as_text()).unwrap())
        .collect();
    expect![[r#"
        [
            "edict.test@1.both",
            "edict.test@1.differU64",
            "edict.test@1.equalBool",
            "edict.test@1.equalBytes",
            "edict.test@1.equalString",
            "edict.test@1.equalU32",
            "edict.test@1.equalU64",
            "edict.test@1.fail",
            "edict.test@1.isFalse",
            "edict.test@1.isTrue",
            "edict.test@1.pass",
        ]
    "#]]
    .assert_debug_eq(&names);
    let types = exports.get("types").unwrap();
    expect![[r#"
        Array([Map([(Text("coordinate"), Text("edict.test@1.CaseResult")), (Text("definition"), Text("Record<assertions:U32,message:String<max=256>,status:U32>"))])])"#]]
    .assert_eq(&format!("{types:?}"));
}

#[test]
fn a_former_build_is_replaced_and_compared() {
    let space = shipped("text-store");
    let check_only = format!(
        r#"{{"schema":"edict.compiler.settings/v1","operation":"build","lawpack":"{DEFINITION}","checkOnly":true}}"#
    );
    let missing = space.edict(&check_only);
    assert_eq!(
        (missing.exit_code, missing.kinds()),
        (2, vec!["cli/LawpackOutputMismatch".to_owned()])
    );
    assert_eq!(space.names("."), [DEFINITION], "checkOnly writes nothing");

    assert_eq!(space.lawpack(DEFINITION).exit_code, 0);
    assert_eq!(space.edict(&check_only).exit_code, 0);
    space.write("out/stale.cbor", "x");
    expect!["LawpackOutputMismatch: `out` differs from its definition: `stale.cbor` does not belong to it"]
        .assert_eq(&space.edict(&check_only).refusal());
    assert_eq!(space.lawpack(DEFINITION).exit_code, 0);
    assert_eq!(space.names("out").len(), 9, "the stale file is gone");
    space.write("out/exports.cbor", "x");
    expect![
        "LawpackOutputMismatch: `out` differs from its definition: `exports.cbor` has other bytes"
    ]
    .assert_eq(&space.edict(&check_only).refusal());
}

#[test]
fn other_files_are_never_replaced() {
    let space = shipped("text-store");
    space.write("out/mine.txt", "x");
    expect!["LawpackOutputWriteFailed: write `out`: it holds files that no lawpack build wrote"]
        .assert_eq(&space.lawpack(DEFINITION).refusal());
    space.write(
        "out/edict.lawpack-output.json",
        r#"{"schema":"edict.lawpack-output/v1","id":"text.store","version":"2","artifacts":[]}"#,
    );
    expect!["LawpackOutputWriteFailed: write `out`: it holds `text.store@2`; choose another output directory"]
        .assert_eq(&space.lawpack(DEFINITION).refusal());
    assert_eq!(
        space.names("out"),
        ["edict.lawpack-output.json", "mine.txt"]
    );
}

/// Refusal of the text store with one edit: `line:column kind: message`.
fn refused(from: &str, to: &str, expected: &Expect) {
    let space = shipped("text-store");
    space.edit(DEFINITION, from, to);
    let run = space.lawpack(DEFINITION);
    assert_eq!((run.exit_code, run.stdout.as_str()), (2, ""), "{run:?}");
    let summary = run.summary();
    expected.assert_eq(&format!(
        "{}:{} {}",
        summary["line"],
        summary["column"],
        run.refusal()
    ));
    assert_eq!(space.names("."), [DEFINITION], "nothing is written");
}

#[test]
fn definitions_are_closed_and_typed() {
    refused(
        r#""outputDirectory": "out""#,
        r#""outputDirectory": "../out""#,
        &expect![
            "3:22 LawpackPathEscape: /outputDirectory: the path leaves the directory of the document"
        ],
    );
    refused(
        r#""outputDirectory": "out""#,
        r#""outputDirectory": "out", "extra": 1"#,
        &expect!["3:29 InvalidLawpackDefinition: /extra: unknown member `extra`"],
    );
    refused(
        r#""outputDirectory": "out""#,
        r#""outputDirectory": "out", "outputDirectory": "o""#,
        &expect!["3:29 InvalidLawpackDefinition: read the document: duplicate member name"],
    );
    refused(
        r#""definition": "Bytes<max=65536>""#,
        r#""definition": "Bytes<max=>""#,
        &expect![
            "30:25 InvalidLawpackDefinition: /lawpack/exports/types/3/definition: type `Bytes<max=>`: `` is no bound"
        ],
    );
    refused(
        r#""definition": "Nominal<text.store@1.Digest32>""#,
        r#""definition": "Nominal<text.store@1.HeadId>""#,
        &expect![
            "26:25 InvalidLawpackDefinition: /lawpack/exports/types/2/definition: type `Nominal<text.store@1.HeadId>`: `text.store@1.HeadId` contains itself"
        ],
    );
    refused(
        r#""type": "U64""#,
        r#""type": "Bytes<max=4>""#,
        &expect![
            "61:20 InvalidLawpackDefinition: /lawpack/exports/constants/0/value: the value is no `Bytes<max=4>`"
        ],
    );
    refused(
        r#""executionClass": "runtime""#,
        r#""executionClass": "proofOnly""#,
        &expect![
            "71:29 InvalidLawpackDefinition: /lawpack/exports/effects/0/executionClass: expected `runtime`"
        ],
    );
    refused(
        r#""reference": "text.store@1.footprint""#,
        r#""ref": "text.store@1.footprint""#,
        &expect![
            "234:15 InvalidLawpackDefinition: /lawpack/exports/operationProfiles/text.store@1.edit/opticTemplate/apertureRequirement/ref: unknown member `ref`"
        ],
    );
    refused(
        r#""local": "atoms""#,
        r#""local": "atom""#,
        &expect![
            "282:24 InvalidLawpackDefinition: /lawpack/targetAdapters/0/operationProfiles/text.store@1.edit/targetConfiguration/local: there is no local resource `atom`"
        ],
    );
    refused(
        r#""acceptedCoreAbi": ["#,
        r#""acceptedCoreAbi": ["x"], "unused": ["#,
        &expect!["9:31 InvalidLawpackDefinition: /lawpack/unused: unknown member `unused`"],
    );
}

#[test]
fn adapters_are_complete_and_fit_the_target() {
    let profile = "debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b";
    let target_ir = "ffc8f9cb8d68de642cc709e819ab28b4ba6e7054994b71586efb437cc990c45f";
    refused(
        target_ir,
        &profile.replace('d', "e"),
        &expect![
            "241:23 InvalidLawpackAdapter: UnsupportedTargetProfile: the bundled profile takes Target IR `echo.atoms-ir/v1` of sha256:ffc8f9cb8d68de642cc709e819ab28b4ba6e7054994b71586efb437cc990c45f"
        ],
    );
    refused(
        "echo.dpo@1.atom.read",
        "echo.dpo@1.atom.peek",
        &expect![
            "288:32 InvalidLawpackAdapter: UnsupportedTargetIntrinsic: the bundled profile has no intrinsic `echo.dpo@1.atom.peek`"
        ],
    );
    refused(
        "echo.dpo@1.atom.read",
        "other@1.atom.read",
        &expect![
            "288:32 InvalidLawpackAdapter: UnsupportedTargetIntrinsic: intrinsics of this profile start with `echo.dpo@1.`"
        ],
    );
    refused(
        r#""writeClass": "read""#,
        r#""writeClass": "create""#,
        &expect![
            "292:27 InvalidLawpackAdapter: WriteClassMismatch: `echo.dpo@1.atom.read` is of write class `read`"
        ],
    );
    refused(
        r#""malformed": "echo.atom-type-mismatch/v1""#,
        r#""malformed": "echo.atom-missing/v1""#,
        &expect![
            "295:32 InvalidLawpackAdapter: FailureMappingMismatch: two failures map to one target failure"
        ],
    );
    refused(
        r#""exists": "echo.atom-exists/v1""#,
        r#""exists": "echo.atom-missing/v1""#,
        &expect![
            "308:32 InvalidLawpackAdapter: FailureMappingMismatch: `exists`: `echo.atom-missing/v1` is no failure of atom create"
        ],
    );
    refused(
        r#""exists": "echo.atom-exists/v1""#,
        r#""there": "echo.atom-exists/v1""#,
        &expect![[
            r#"308:32 InvalidLawpackAdapter: FailureMappingMismatch: expected exactly the declared failures ["exists"]"#
        ]],
    );
    refused(
        r#""space": "text.store.buffer/v1""#,
        r#""space": """#,
        &expect![
            "372:24 InvalidLawpackDefinition: /lawpack/localResources/0/value/effects/text.store@1.readBuffer/space: a space has 1 to 256 bytes"
        ],
    );
    refused(
        r#""value": "buffer""#,
        r#""value": "head""#,
        &expect![
            "375:25 InvalidLawpackAdapter: InvalidTargetConfiguration: value and version stand in one field"
        ],
    );
    refused(
        r#""output": {}"#,
        r#""output": "version""#,
        &expect![
            "418:25 InvalidLawpackAdapter: InvalidTargetConfiguration: a version is `Bytes<exact=32>` or nominal over it, not `Record<>`"
        ],
    );
    refused(
        r#""maxOutputBytes": 262144"#,
        r#""maxOutputBytes": -1"#,
        &expect![
            "343:31 InvalidLawpackDefinition: /lawpack/targetAdapters/0/budgets/text.store@1.editBudget/maxOutputBytes: expected an unsigned integer of 64 bits"
        ],
    );
    refused(
        r#""text.store@1.editBudget": {"#,
        r#""text.store@1.otherBudget": {"#,
        &expect![
            "339:20 InvalidLawpackAdapter: IncompleteAdapter: `text.store@1.editBudget` missing"
        ],
    );
}

#[test]
fn helper_sources_are_judged_like_any_source() {
    let space = shipped("edict-test");
    space.edit(
        "src/assert.edict",
        "status: 0u32, assertions: 1u32",
        "status: 0u64, assertions: 1u32",
    );
    let run = space.lawpack(DEFINITION);
    assert_eq!(run.exit_code, 2);
    assert_eq!(
        run.kinds(),
        ["typeCheck/TypeMismatch", "cli/LawpackCompilationFailed"]
    );

    let space = shipped("edict-test");
    space.edit(
        "src/assert.edict",
        "package edict.test@1",
        "package edict.test@2",
    );
    assert_eq!(
        space.lawpack(DEFINITION).kinds(),
        [
            "resolve/UnsupportedSourceShape",
            "cli/LawpackCompilationFailed"
        ]
    );

    let space = shipped("edict-test");
    space.write("src/assert.edict", "");
    assert_eq!(
        space.lawpack(DEFINITION).kinds(),
        ["parse/ExpectedKeyword", "cli/LawpackCompilationFailed"]
    );
}

#[test]
fn a_helper_must_fit_its_cost_template() {
    let space = TestSpace::new();
    space.vendor(None);
    space.edit(
        "case.kit@1.json",
        r#""costTemplate":"case.kit@1.roomy""#,
        r#""costTemplate":"case.kit@1.exact""#,
    );
    space.edit(
        "case.kit@1.json",
        r#""case.kit@1.exact":{"maxAllocatedBytes":16777216,"maxOutputBytes":65536,"maxSteps":1048576}"#,
        r#""case.kit@1.exact":{"maxAllocatedBytes":16777216,"maxOutputBytes":65536,"maxSteps":5}"#,
    );
    let run = space.lawpack("case.kit@1.json");
    assert_eq!(
        run.kinds(),
        [
            "typeCheck/InvalidBound",
            "typeCheck/InvalidBound",
            "cli/LawpackCompilationFailed"
        ]
    );
}

#[test]
fn the_bundled_target_has_the_digests_of_the_contract() {
    use edict::lawpack::target::{profile_digest, target_ir_digest};
    assert_eq!(
        edict_codec::hex::encode(&profile_digest()),
        "debace378973d1cbe66ebaebc1a326b1fffc17e0c2628d42f2b8ca5098da821b"
    );
    assert_eq!(
        edict_codec::hex::encode(&target_ir_digest()),
        "ffc8f9cb8d68de642cc709e819ab28b4ba6e7054994b71586efb437cc990c45f"
    );
}
