// SPDX-License-Identifier: Apache-2.0
//! Atoms before and after a case. They are made by programs of a lawpack of their own, as nothing
//! else can make one.

use super::typed_json::typed;
use crate::support::programs;
use edict_codec::cbor::{Value, encode};
use serde_json::{Value as Json, json};
use xtask::chain::{Atoms as Rows, Host, Workshop, host::Context};

/// Effect, space, key type and value type.
const SPACES: [[&str; 4]; 3] = [
    [
        "putNote",
        "case.kit.note/v1",
        "Bytes<exact=4>",
        "Record<count:U64,text:Bytes<max=64>>",
    ],
    [
        "putHead",
        "case.kit.head/v1",
        "Bytes<exact=4>",
        "Bytes<exact=4>",
    ],
    [
        "putBuffer",
        "text.store.buffer/v1",
        "Bytes<exact=32>",
        "Record<sequence:U64,text:Bytes<max=65536>,version:U64>",
    ],
];

/// One installed program for each space.
pub(crate) struct Atoms(Vec<Value>);

impl Atoms {
    /// Builds and installs the programs.
    pub(crate) fn new(host: &mut Host) -> Self {
        let mut workshop = Workshop::new(&programs()).unwrap();
        workshop.lawpack(&lawpack()).unwrap();
        let installed = SPACES.map(|[effect, ..]| {
            let source = format!(
                "package case.seed.program@1;
use lawpack case.seed@1 digest \"sha256:…\" as seed;
type Output = {{ done: Bool }};
intent put(input: seed.{effect}Input) returns Output
  profile seed.creating basis none budget <= seed.roomy
{{
  seed.{effect}(input) else seed.Taken;
  return {{ done: true }};
}}
"
            );
            let mut built = workshop.compile(&source).unwrap().unwrap();
            workshop.verify(&mut built).unwrap();
            host.install(&built.package, &built.report).unwrap()
        });
        Self(installed.to_vec())
    }

    pub(crate) fn installations(&self) -> impl Iterator<Item = &Value> {
        self.0.iter()
    }

    /// Makes the atom of a row.
    pub(crate) fn create(&self, host: &mut Host, context: &mut Context, row: &Json) {
        let at = place(row);
        let [_, _, key, value] = SPACES[at];
        let none = Value::Map(Vec::new());
        let input = Value::text_map([
            ("key", typed(&row["key"], key, &none)),
            ("value", typed(&row["value"], value, &none)),
        ]);
        let outcome = host.invoke(context, (&self.0[at], true), &encode(&input));
        assert_eq!(outcome.unwrap().unwrap().coordinate, None, "{row}");
    }
}

/// Every atom of the three spaces.
pub(crate) fn all(host: &mut Host, context: &Context) -> Rows {
    host.atoms(context, &SPACES.map(|[_, space, ..]| space))
        .unwrap()
}

/// Atoms as a case lists them.
pub(crate) fn rows(listed: &Json) -> Rows {
    let rows = listed.as_array().unwrap().iter().map(|row| {
        let [_, space, key, value] = SPACES[place(row)];
        let none = Value::Map(Vec::new());
        let key = typed(&row["key"], key, &none);
        let key = key.as_bytes().unwrap().to_vec();
        let value = encode(&typed(&row["value"], value, &none));
        ((space.to_owned(), key), value)
    });
    rows.collect()
}

fn place(row: &Json) -> usize {
    let space = row["space"].as_str().unwrap();
    SPACES.iter().position(|it| it[1] == space).unwrap()
}

/// A lawpack with one effect for each space, after the model of the lawpack of the cases.
fn lawpack() -> Json {
    let path = crate::support::root().join("testdata/contracts/language-cases.json");
    let cases: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let text = cases["lawpacks"]["case.kit@1"].to_string();
    let text = text
        .replace("case.kit@1", "case.seed@1")
        .replace("case.kit.", "case.seed.");
    let text = text
        .replace("case-kit", "case-seed")
        .replace("\"case.kit\"", "\"case.seed\"");
    let mut document: Json = serde_json::from_str(&text).unwrap();
    let pack = &mut document["lawpack"];
    pack.as_object_mut().unwrap().remove("helperSources");
    let (mut types, mut effects) = (Vec::new(), Vec::new());
    let (mut implementations, mut configurations) = (json!({}), json!({}));
    let names: Vec<String> = SPACES
        .iter()
        .map(|it| format!("case.seed@1.{}", it[0]))
        .collect();
    for ([_, space, key, value], name) in SPACES.iter().zip(&names) {
        types.push(json!({
            "coordinate": format!("{name}Input"), "definition": format!("Record<key:{key},value:{value}>"),
        }));
        effects.push(json!({
            "coordinate": name, "typeParameters": [], "inputType": format!("{name}Input"),
            "outputType": "Record<>", "executionClass": "runtime", "effectKindHint": "create",
            "footprintObligation": "case.seed@1.footprint", "costObligation": "case.seed@1.roomy",
            "effectFailures": {
                "exists": {"authorityClass": "domainMappable", "payloadType": "Record<>"},
            },
            "guardSupport": true,
        }));
        implementations[name] = json!({
            "targetIntrinsic": "echo.dpo@1.atom.create", "targetConfiguration": {"local": "atoms"},
            "writeClass": "create", "footprintObligation": "case.seed@1.footprint",
            "costObligation": "case.seed@1.roomy",
            "failureMappings": {"exists": "echo.atom-exists/v1"},
        });
        configurations[name] = json!({
            "space": space, "atomType": value, "key": ["key"], "value": ["value"], "output": {},
        });
    }
    let profile = |of: &Json| json!({"case.seed@1.creating": of["case.seed@1.creating"]});
    let exports = &mut pack["exports"];
    exports["types"] = types.into();
    exports["constants"] = json!([]);
    exports["effects"] = effects.into();
    exports["obstructions"] = json!([
        {"coordinate": "case.seed@1.Taken", "authorityClass": "domainMappable", "payloadSchema": "Record<>"},
    ]);
    exports["operationProfiles"] = profile(&exports["operationProfiles"]);
    let adapter = &mut pack["targetAdapters"][0];
    adapter["operationProfiles"] = profile(&adapter["operationProfiles"]);
    let creating = &mut adapter["operationProfiles"]["case.seed@1.creating"];
    creating["semanticEffects"] = names.into();
    creating["budgetObligation"] = "case.seed@1.roomy".into();
    adapter["effectImplementations"] = implementations;
    adapter["budgets"] = json!({"case.seed@1.roomy": adapter["budgets"]["case.seed@1.roomy"]});
    pack["localResources"][0]["value"]["effects"] = configurations;
    document
}
