// SPDX-License-Identifier: Apache-2.0
//! Lawpacks written by hand: types that never end, or grow without measure.

use crate::hand::{ROOMY, field, input, map, program, text};
use edict_codec::cbor::{Value, encode};
use edict_codec::digest::frame;
use edict_verifier::LawpackFiles;
use edict_verifier::evaluate::{EvaluateError, Evaluation, Inputs, evaluate};

fn reference(id: &str, digest: [u8; 32]) -> Value {
    let digest = Value::Array(vec![text("sha256"), Value::bytes(digest)]);
    map([("id", text(id)), ("digest", digest)])
}

/// A lawpack that only exports types.
fn lawpack(types: Vec<(String, String)>) -> LawpackFiles {
    let none = || Value::Array(Vec::new());
    let types = types.into_iter().map(|(name, definition)| {
        map([
            ("coordinate", Value::Text(name)),
            ("definition", Value::Text(definition)),
        ])
    });
    let exports = encode(&map([
        ("types", Value::Array(types.collect())),
        ("constants", none()),
        ("pureFunctions", none()),
        ("effects", none()),
        ("obstructions", none()),
        ("operationProfiles", Value::Map(Vec::new())),
    ]));
    let other = || reference("p.other/v1", [1; 32]);
    let manifest = map([
        ("apiVersion", text("edict.lawpack/v1")),
        ("id", text("p")),
        ("version", text("1")),
        ("acceptedCoreAbi", Value::Array(vec![text("edict.core/v1")])),
        ("dependencies", none()),
        (
            "exports",
            reference("p.exports/v1", frame("p.exports/v1", &exports)),
        ),
        ("targetAdapters", none()),
        (
            "verifier",
            map([("class", text("declarative")), ("ruleset", other())]),
        ),
        ("compatibility", other()),
        ("conformanceFixtureCorpus", other()),
    ]);
    LawpackFiles {
        manifest: encode(&manifest),
        exports,
        adapter: None,
        configuration: None,
    }
}

fn with_types(types: Vec<(String, String)>) -> Result<Evaluation, EvaluateError> {
    evaluate(&Inputs {
        core: program(Vec::new(), field("a"), "U64", ROOMY),
        lawpacks: vec![lawpack(types)],
        input: input(),
        intent: "run".to_owned(),
        atoms: None,
    })
}

#[test]
fn types_that_never_end_or_grow_without_measure_are_refused() {
    let row = |name: &str, definition: &str| (name.to_owned(), definition.to_owned());
    assert!(with_types(vec![row("p@1.A", "Option<U64>")]).is_ok());
    for types in [
        vec![
            row("p@1.A", "Option<p@1.B>"),
            row("p@1.B", "List<p@1.A,max=1>"),
        ],
        vec![row("p@1.A", "Record<a:p@1.A>")],
        vec![
            row("p@1.A", "Variant<Leaf,Node(p@1.B)>"),
            row("p@1.B", "Record<a:p@1.A>"),
        ],
        vec![row("p@1.A", "Option<Option<U64>>")],
        vec![row("p@1.A", "Option<p@1.B>"), row("p@1.B", "Option<U64>")],
        vec![row("p@1.A", "Bytes<min=3,max=2>")],
        vec![row("p@1.A", "Record<a:p@1.Absent>")],
        vec![row("p@1.A", "Variant<Same,Same>")],
    ] {
        let error = with_types(types.clone()).unwrap_err();
        assert_eq!(error.kind(), "InvalidArtifact", "{types:?}");
    }
    // Sixty doublings from sixty short lines.
    let doubling = (0..60).map(|level| {
        let next = format!("p@1.A{}", level + 1);
        let definition = format!("List<Record<x:{next},y:{next}>,max=1>");
        (format!("p@1.A{level}"), definition)
    });
    let types = doubling.chain([row("p@1.A60", "U64")]).collect();
    assert_eq!(with_types(types).unwrap_err().kind(), "InvalidArtifact");
    // The same growth through names that are kept costs nothing.
    let kept = (0..100).map(|level| {
        let next = format!("p@1.A{}", level + 1);
        (
            format!("p@1.A{level}"),
            format!("Record<x:{next},y:{next}>"),
        )
    });
    let types = kept.chain([row("p@1.A100", "U64")]).collect();
    assert!(with_types(types).is_ok());
}
