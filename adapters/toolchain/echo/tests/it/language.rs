// SPDX-License-Identifier: Apache-2.0
//! H31: every case of the language that runs, through compiler, verifier, admission and evaluation.

use crate::support::{
    atoms::MapView,
    program::Sealed,
    toolchain::{Built, Workshop, cases},
    typed_json::typed,
};
use echo_host::executable::{Decision, Executable as _, Kind};
use edict_codec::cbor::{Value, decode, encode};
use serde_json::Value as Json;

/// What differs from the case; empty if it passes.
fn differences(case: &Json, built: &Built, workshop: &mut Workshop) -> Vec<String> {
    let package = decode(&built.package).unwrap();
    let types = package.get("types").unwrap();
    let text = |key: &str| package.get(key).unwrap().as_text().unwrap();
    let mut sealed = Sealed::of(built.package.clone(), built.report.clone());
    sealed.policy.operation = text("operation").to_owned();
    let installation = match sealed.admit() {
        Ok(installation) => installation,
        Err(refusal) => return vec![format!("not admitted: {refusal} {:?}", refusal.path)],
    };
    let expect = &case["expect"];
    let input = encode(&typed(&case["input"], text("inputType"), types));
    let decoded = match installation.decode_input(&input) {
        Ok(decoded) if expect.get("refused").is_some() => {
            return vec![format!("the input was accepted: {decoded:?}")];
        }
        Ok(decoded) => decoded,
        Err(_) if expect.get("refused").is_some() => return Vec::new(),
        Err(refusal) => return vec![format!("input refused: {refusal} {:?}", refusal.path)],
    };
    let before = atoms(&case["state"]);
    let mut view = MapView {
        atoms: before.clone(),
        calls: 0,
    };
    let facts = installation.facts();
    let second = (facts.kind == Kind::Pure)
        .then(|| workshop.evaluate(built, facts.operation.rsplit('.').next().unwrap(), &input));
    let budget = facts.budget;
    let evaluated = match installation.run(decoded, budget, &mut view) {
        Ok(evaluated) => evaluated,
        Err(refusal) => return vec![format!("not decided: {refusal}")],
    };
    let mut found = Vec::new();
    let (ending, after) = match evaluated.decision {
        Decision::Result { body } => (("result".to_owned(), body), view.atoms),
        // An obstruction discards every write.
        Decision::Obstruction {
            coordinate, body, ..
        } => ((coordinate, body), before),
    };
    let expected = expected(expect, &package, types);
    if ending != expected {
        found.push(format!("ended {ending:?} instead of {expected:?}"));
    }
    let used = evaluated.consumed;
    let cost = serde_json::json!([used.steps, used.allocated_bytes, used.output_bytes]);
    if let Some(expected) = case.get("cost").map(in_order)
        && cost != expected
    {
        found.push(format!("cost {cost} instead of {expected}"));
    }
    let bound = installation.facts().static_bound;
    if used.steps > bound.steps || used.allocated_bytes > bound.allocated_bytes {
        found.push(format!("cost {cost} above the static bound {bound:?}"));
    }
    if let Some(second) = second {
        let consumed = [used.steps, used.allocated_bytes, used.output_bytes];
        let theirs = second.coordinate.unwrap_or_else(|| "result".to_owned());
        if (theirs, second.body) != ending || second.consumed != consumed {
            found.push(format!("Core costs {:?}, here {cost}", second.consumed));
        }
    }
    if let Some(expected) = case.get("stateAfter").map(atoms)
        && after != expected
    {
        found.push(format!("left {after:?} instead of {expected:?}"));
    }
    found
}

fn in_order(cost: &Json) -> Json {
    match cost {
        Json::Object(map) => {
            serde_json::json!([map["steps"], map["allocatedBytes"], map["outputBytes"]])
        }
        other => other.clone(),
    }
}

/// How a case ends: `result` or a coordinate, and the canonical body.
fn expected(expect: &Json, package: &Value, types: &Value) -> (String, Vec<u8>) {
    if let Some(result) = expect.get("ok") {
        let ty = package.get("outputType").unwrap().as_text().unwrap();
        return ("result".to_owned(), encode(&typed(result, ty, types)));
    }
    let coordinate = expect["obstruction"].as_str().unwrap();
    let rows = package.get("obstructions").unwrap().as_array().unwrap();
    let payload = &expect["payload"];
    let declared = rows
        .iter()
        .filter(|row| row.get("coordinate").unwrap().as_text() == Some(coordinate))
        .map(|row| row.get("payloadType").unwrap().as_text().unwrap())
        .rfind(|ty| {
            (*ty == "Record<>") == payload.as_object().is_some_and(serde_json::Map::is_empty)
        });
    let ty = declared.unwrap_or("Record<limit:U64>");
    (coordinate.to_owned(), encode(&typed(payload, ty, types)))
}

type Atoms = std::collections::BTreeMap<(String, Vec<u8>), Vec<u8>>;

/// Atoms as listed, typed by their space.
fn atoms(json: &Json) -> Atoms {
    let rows = json.as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter()
        .map(|row| {
            let space = row["space"].as_str().unwrap();
            let ty = match space {
                "case.kit.note/v1" => "Record<count:U64,text:Bytes<max=64>>",
                "case.kit.head/v1" => "Bytes<exact=4>",
                _ => "Record<sequence:U64,text:Bytes<max=65536>,version:U64>",
            };
            let none = Value::Map(Vec::new());
            let key = typed(&row["key"], "Bytes<max=256>", &none);
            (
                (space.to_owned(), key.as_bytes().unwrap().to_vec()),
                encode(&typed(&row["value"], ty, &none)),
            )
        })
        .collect()
}

fn run(cases: &Json) -> (usize, Vec<String>) {
    let mut plain = Workshop::new(cases, None);
    let mut failures = Vec::new();
    let mut count = 0;
    for case in cases["cases"].as_array().unwrap() {
        if case["expect"].get("diagnostics").is_some() || case.get("input").is_none() {
            continue;
        }
        count += 1;
        let source = case["source"].as_str().unwrap();
        let mut special = case
            .get("budget")
            .map(|exact| Workshop::new(cases, Some(exact)));
        let workshop = special.as_mut().unwrap_or(&mut plain);
        let built = workshop.build(source);
        for difference in differences(case, &built, workshop) {
            failures.push(format!("{}: {difference}", case["id"]));
        }
    }
    (count, failures)
}

#[test]
fn h31_every_case_that_runs_gives_its_result_cost_and_state_and_agrees_with_core() {
    let (count, failures) = run(&cases());
    assert!(
        failures.is_empty(),
        "{count} cases:\n{}",
        failures.join("\n")
    );
    assert_eq!(count, 141);
}
