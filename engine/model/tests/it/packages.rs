// SPDX-License-Identifier: Apache-2.0
//! Packages and reports: strict views, recomputed digests, one refusal for each breach.

use crate::golden::{blake3, file, set};
use edict_codec::cbor::{Value, decode, encode};
use edict_test_model::declared_type::{from_json, to_json};
use edict_test_model::obstruction::payload_possible;
use edict_test_model::package::upstream::{OperationPackage, OperationReport, UpstreamMismatch};
use edict_test_model::package::{
    MAX_PACKAGE_BYTES, PackageError, ProgramKind, ProgramPackage, VerificationReport,
};

const PACKAGE: &str = "golden-report/report.json.artifacts/blake3/56/2f14e6c8e128e98b4ba312e1a7dbe857fc6a6d5d9e06d17a4f8c3f8c68cdbd";
const REPORT: &str = "golden-report/report.json.artifacts/blake3/42/ceeadf180ee2fa64eec11011f8b15eaddd83f35097dec0e8f24c8543aa0f62";

fn edited(path: &str, member: &str, value: Value) -> Vec<u8> {
    let mut document = decode(&file(path)).unwrap();
    set(&mut document, member, value);
    encode(&document)
}

/// The kind of a refusal and the path it names.
fn refusal(error: &PackageError) -> (&'static str, String) {
    match error {
        PackageError::TooLarge { .. } => ("tooLarge", String::new()),
        PackageError::NotCanonical(_) => ("notCanonical", String::new()),
        PackageError::UnsupportedSchema { .. } => ("schema", String::new()),
        PackageError::Malformed(malformed) => ("malformed", malformed.path.clone()),
        PackageError::TypeMalformed(malformed) => ("type", malformed.path.clone()),
        PackageError::ArtifactDigestMismatch { path, .. } => ("digest", path.clone()),
        PackageError::ArtifactNotCanonical { path, .. } => ("artifact", path.clone()),
    }
}

#[test]
fn the_golden_package_and_report_agree() {
    let package = ProgramPackage::decode(&file(PACKAGE)).unwrap();
    let report = VerificationReport::decode(&file(REPORT)).unwrap();
    assert_eq!(package.kind, ProgramKind::Pure);
    assert_eq!(package.operation, "demo.choose@1.pick");
    assert!(report.accepted);
    assert_eq!(report.package, package.digest);
    assert_eq!(report.core, package.core.digest);
    assert_eq!(
        report.lawpacks[0].exports,
        package.lawpacks[0].exports.digest
    );
    assert_eq!(package.constraints, ["where.0"]);
}

#[test]
fn every_breach_of_a_package_is_refused_at_its_place() {
    let text = |text: &str| Value::text(text);
    let named = |kind: &str, member: &str| {
        Value::text_map([(
            "demo.choose@1.Input",
            Value::text_map([("kind", text(kind)), (member, text("demo.choose@1.Input"))]),
        )])
    };
    let foreign = blake3("edict.core.module/v1", b"x");
    let rows = [
        ("schema", text("echo.other-package/v1"), "schema", ""),
        (
            "schema",
            text("echo.operation-package/v1"),
            "malformed",
            ".semantic_closure",
        ),
        ("kind", text("impure"), "malformed", ".kind"),
        ("operation", text(""), "malformed", ".operation"),
        ("source", foreign.clone(), "malformed", ".source"),
        ("core.digest", foreign, "malformed", ".core.digest"),
        (
            "core.bytes",
            Value::bytes(b"\xa0".to_vec()),
            "digest",
            ".core",
        ),
        (
            "projection.bytes",
            Value::bytes(b"\xa0".to_vec()),
            "digest",
            ".projection",
        ),
        (
            "lawpacks.#0.exports.bytes",
            Value::bytes(b"\xa0".to_vec()),
            "digest",
            ".lawpacks[0].exports",
        ),
        (
            "lawpacks.#0.manifest",
            Value::Null,
            "malformed",
            ".lawpacks[0].manifest",
        ),
        (
            "budget.maxSteps",
            Value::unsigned(0),
            "malformed",
            ".budget.maxSteps",
        ),
        (
            "staticBound.steps",
            text("1"),
            "malformed",
            ".staticBound.steps",
        ),
        (
            "inputType",
            text("demo.choose@1.Missing"),
            "type",
            ".inputType",
        ),
        ("outputType", text("Record<a:U128>"), "type", ".outputType"),
        (
            "types",
            named("Nominal", "representation"),
            "type",
            ".types",
        ),
        (
            "types",
            named("Float", "item"),
            "type",
            ".types.demo.choose@1.Input.kind",
        ),
        (
            "constraints",
            Value::Array(vec![text("where.1")]),
            "malformed",
            ".constraints[0]",
        ),
        (
            "obstructions.#0.payloadType",
            text("Bytes"),
            "type",
            ".obstructions[0].payloadType",
        ),
        ("footprint", Value::Null, "malformed", ".footprint"),
    ];
    for (member, value, kind, path) in rows {
        let error = ProgramPackage::decode(&edited(PACKAGE, member, value)).unwrap_err();
        assert_eq!(refusal(&error), (kind, path.to_owned()), "{member}");
    }
}

#[test]
fn a_package_is_bounded_and_canonical() {
    let huge = vec![0; MAX_PACKAGE_BYTES + 1];
    assert_eq!(
        refusal(&ProgramPackage::decode(&huge).unwrap_err()).0,
        "tooLarge"
    );
    let trailing = [file(PACKAGE).as_slice(), b"\xf6"].concat();
    assert_eq!(
        refusal(&ProgramPackage::decode(&trailing).unwrap_err()).0,
        "notCanonical"
    );
    let other = VerificationReport::decode(&file(PACKAGE)).unwrap_err();
    assert_eq!(refusal(&other).0, "schema");
}

#[test]
fn every_breach_of_a_report_is_refused_at_its_place() {
    let finding = Value::text_map([
        ("code", Value::text("c")),
        ("message", Value::text("m")),
        ("path", Value::Null),
    ]);
    let rows = [
        (
            "apiVersion",
            Value::text("edict.verification-report/v2"),
            "schema",
            "",
        ),
        ("outcome", Value::text("maybe"), "malformed", ".outcome"),
        (
            "package",
            blake3("echo.program-package/v1", b""),
            "malformed",
            ".package",
        ),
        (
            "checked",
            Value::Array(vec![Value::text("b"), Value::text("a")]),
            "malformed",
            ".checked",
        ),
        (
            "notChecked",
            Value::Array(vec![]),
            "malformed",
            ".notChecked",
        ),
        (
            "diagnostics",
            Value::Array(vec![finding.clone()]),
            "malformed",
            ".diagnostics",
        ),
        (
            "diagnostics",
            Value::Array(vec![finding; 65]),
            "malformed",
            ".diagnostics",
        ),
        ("verifier", Value::text("v"), "malformed", ".verifier"),
    ];
    for (member, value, kind, path) in rows {
        let error = VerificationReport::decode(&edited(REPORT, member, value)).unwrap_err();
        assert_eq!(refusal(&error), (kind, path.to_owned()), "{member}");
    }
}

#[test]
fn an_expected_payload_is_possible_or_not() {
    let package = ProgramPackage::decode(&file(PACKAGE)).unwrap();
    let rows: [(&str, &[u8], bool); 6] = [
        (
            "demo.kit@1.OutOfRange",
            b"\xa2\x65limit\x04\x66actual\x09",
            true,
        ),
        ("demo.kit@1.OutOfRange", b"\xa0", true),
        ("demo.kit@1.OutOfRange", b"\xa1\x65limit\x04", false),
        ("demo.kit@1.OutOfRange", b"\xff", false),
        ("demo.kit@1.Other", b"\xff", true),
        ("echo.obstruction.budget-exhausted/v1", b"\xff", true),
    ];
    for (coordinate, payload, possible) in rows {
        assert_eq!(
            payload_possible(&package, coordinate, payload),
            possible,
            "{coordinate}"
        );
    }
}

#[test]
fn named_types_resolve_and_spell() {
    let text = |text: &str| Value::text(text);
    let case =
        |name: &str, payload: Value| Value::text_map([("name", text(name)), ("payload", payload)]);
    let types = Value::text_map([
        (
            "demo@1.Token",
            Value::text_map([
                ("kind", text("Variant")),
                (
                    "cases",
                    Value::Array(vec![
                        case("Digit", text("U64")),
                        case("Key", text("demo@1.Key")),
                        case("End", Value::Null),
                    ]),
                ),
            ]),
        ),
        (
            "demo@1.Key",
            Value::text_map([
                ("kind", text("Nominal")),
                ("representation", text("Bytes<exact=1>")),
            ]),
        ),
        (
            "demo.choose@1.Input",
            Value::text_map([
                ("kind", text("Record")),
                (
                    "fields",
                    Value::text_map([("next", text("Option<demo@1.Token>"))]),
                ),
            ]),
        ),
        (
            "demo.choose@1.CaseResult",
            Value::text_map([("kind", text("U32"))]),
        ),
    ]);
    let package = ProgramPackage::decode(&edited(PACKAGE, "types", types)).unwrap();
    let limits = edict_codec::json::JsonLimits::document(1000);
    for (json, canonical) in [
        ("{\"next\":null}", "a1646e657874f6"),
        (
            "{\"next\":{\"$case\":\"Digit\",\"payload\":8}}",
            "a1646e65787482654469676974 08",
        ),
        ("{\"next\":{\"$case\":\"End\"}}", "a1646e6578748163456e64"),
        (
            "{\"next\":{\"$case\":\"Key\",\"payload\":{\"$edictBytes\":\"aa\"}}}",
            "a1646e65787482634b657941aa",
        ),
    ] {
        let node = edict_codec::json::parse(json.as_bytes(), limits).unwrap();
        let value = from_json(&package.input, &node).unwrap();
        let bytes = encode(&value);
        assert_eq!(edict_codec::hex::encode(&bytes), canonical.replace(' ', ""));
        assert_eq!(package.input.decode(&bytes).as_ref(), Ok(&value));
        let written = edict_codec::json::write_record(&to_json(&package.input, &value).unwrap());
        assert_eq!(written.trim_end(), json);
    }
    for (json, pointer, kind) in [
        (
            "{\"next\":{\"$case\":\"Sign\"}}",
            "/next/$case",
            "UnknownCase",
        ),
        (
            "{\"next\":{\"$case\":\"Digit\"}}",
            "/next/payload",
            "MissingField",
        ),
        (
            "{\"next\":{\"$case\":\"End\",\"payload\":1}}",
            "/next/payload",
            "UnknownField",
        ),
        ("{\"next\":{\"payload\":1}}", "/next", "MissingField"),
    ] {
        let node = edict_codec::json::parse(json.as_bytes(), limits).unwrap();
        let error = from_json(&package.input, &node).unwrap_err();
        assert_eq!(
            (error.pointer.as_str(), error.kind.name()),
            (pointer, kind),
            "{json}"
        );
    }
}

#[test]
fn upstream_reports_bind_their_packages() {
    let load = |name: &str| {
        let out = format!("upstream-applications/{name}/out");
        let package = file(&format!("{out}/executable-operation-package.cbor"));
        let report = file(&format!("{out}/verification-report.cbor"));
        (
            OperationPackage::decode(&package).unwrap(),
            OperationReport::decode(&report).unwrap(),
        )
    };
    let (put, put_report) = load("kv-put");
    let (two, two_report) = load("kv-two-effects");
    assert_eq!(
        put.digest.hex(),
        "3c1e35830a03500d6cb494e7e387acc2ca9be7601840348740484bcc16439a49"
    );
    assert_eq!(put.operation, "demo.app@1.put");
    assert_eq!(put_report.check(&put), Ok(()));
    assert_eq!(two_report.check(&two), Ok(()));
    assert_eq!(put_report.check(&two), Err(UpstreamMismatch::Package));
    assert_eq!(two_report.check(&put), Err(UpstreamMismatch::Package));
    let projection =
        edict_codec::digest::frame("edict.result-projection.artifact/v1", &put.projection_bytes);
    assert_eq!(projection, put.projection);

    let mut lie = put_report.clone();
    lie.accepted = false;
    assert_eq!(lie.check(&put), Err(UpstreamMismatch::Rejected));
    let mut lie = put_report.clone();
    lie.target_ir = [0; 32];
    assert_eq!(lie.check(&put), Err(UpstreamMismatch::TargetIr));
    let mut lie = put_report;
    lie.projection_operation = "demo.app@1.other".to_owned();
    assert_eq!(lie.check(&put), Err(UpstreamMismatch::Projection));
}
