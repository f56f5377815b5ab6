// SPDX-License-Identifier: Apache-2.0
//! Every case of the language through the whole chain, each link its own process: compiled,
//! verified, evaluated from Core, executed by the host, and the atoms read back.

mod atoms;
mod typed_json;

use self::{atoms::Atoms, typed_json::typed};
use crate::support::{programs, root};
use edict_codec::cbor::{Value, decode, encode};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use xtask::chain::{Built, Host, Workshop};

fn cases() -> Json {
    let path = root().join("testdata/contracts/language-cases.json");
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The lawpacks of the cases, with `exact` as the budget `case.kit@1.exact` if it is given.
fn workshop(cases: &Json, exact: Option<&Json>) -> Workshop {
    let workshop = Workshop::new(&programs()).unwrap();
    for (name, text) in cases["files"].as_object().unwrap() {
        workshop
            .write(name, text.as_str().unwrap().as_bytes())
            .unwrap();
    }
    for (coordinate, definition) in cases["lawpacks"].as_object().unwrap() {
        let mut definition = definition.clone();
        if let (Some(exact), "case.kit@1") = (exact, coordinate.as_str()) {
            definition["lawpack"]["targetAdapters"][0]["budgets"]["case.kit@1.exact"] =
                exact.clone();
        }
        workshop.lawpack(&definition).unwrap();
    }
    workshop
}

/// The chain and what it was seen to do.
struct Run {
    host: Host,
    atoms: Atoms,
    contexts: usize,
    seen: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

impl Run {
    fn note(&mut self, ending: &'static str) {
        *self.seen.entry(ending).or_default() += 1;
    }

    fn same<T: PartialEq + std::fmt::Debug>(
        &mut self,
        case: &Json,
        what: &str,
        is: &T,
        wanted: &T,
    ) {
        if is != wanted {
            let id = &case["id"];
            self.failures
                .push(format!("{id}: {what} is {is:?} instead of {wanted:?}"));
        }
    }

    fn case(&mut self, case: &Json, workshop: &mut Workshop) {
        let source = case["source"].as_str().unwrap();
        match (
            workshop.compile(source).unwrap(),
            case["expect"].get("diagnostics"),
        ) {
            (Err(found), Some(expected)) => {
                let found: Vec<Json> = found
                    .into_iter()
                    .map(|(stage, kind, line, column)| {
                        json!({"stage": stage, "kind": kind, "line": line, "column": column})
                    })
                    .collect();
                self.same(case, "the refusal", &Json::Array(found), expected);
                self.note("diagnostics");
            }
            (Ok(mut built), None) => {
                workshop.verify(&mut built).unwrap();
                self.executed(case, workshop, &built);
                workshop.discard(&built).unwrap();
            }
            (compiled, _) => self.failures.push(format!("{}: {compiled:?}", case["id"])),
        }
    }

    fn executed(&mut self, case: &Json, workshop: &mut Workshop, built: &Built) {
        let package = decode(&built.package).unwrap();
        let types = package.get("types").unwrap();
        let input_type = package.get("inputType").unwrap().as_text().unwrap();
        let input = encode(&typed(&case["input"], input_type, types));
        let is_effectful = package.get("kind").unwrap().as_text() == Some("effectful");
        let installation = self.host.install(&built.package, &built.report).unwrap();
        let mut grants = vec![installation.clone()];
        grants.extend(self.atoms.installations().cloned());
        self.contexts += 1;
        let name = format!("case-{}", self.contexts);
        let durable = (is_effectful || case.get("state").is_some()).then_some(name.as_str());
        let pure = std::slice::from_ref(&installation);
        let grants = if durable.is_some() { &grants } else { pure };
        let mut context = self.host.open(grants, durable).unwrap();
        for row in case["state"].as_array().into_iter().flatten() {
            self.atoms.create(&mut self.host, &mut context, row);
        }
        let before = is_effectful.then(|| atoms::all(&mut self.host, &context));
        let invoked = self
            .host
            .invoke(&mut context, (&installation, is_effectful), &input);
        let outcome = match (invoked.unwrap(), case["expect"].get("refused")) {
            (Err(refusal), Some(_)) => {
                self.same(case, "the refusal", &refusal.kind.as_str(), &"input-type");
                self.note("refused");
                return self.host.close(&context).unwrap();
            }
            (Ok(outcome), None) => outcome,
            (invoked, _) => return self.failures.push(format!("{}: {invoked:?}", case["id"])),
        };
        let expected = expected(&case["expect"], &package, types);
        let ending = (outcome.coordinate.clone(), outcome.body.clone());
        self.same(case, "the ending", &ending, &expected);
        self.note(if outcome.coordinate.is_some() {
            "obstruction"
        } else {
            "ok"
        });
        if let Some(cost) = case.get("cost") {
            self.same(case, "the cost", &outcome.consumed, &in_order(cost));
            self.note("cost");
        }
        let second = workshop.evaluate(built, &input, before.as_ref()).unwrap();
        let found = is_effectful.then(|| atoms::all(&mut self.host, &context));
        self.same(case, "the atoms of Core", &second.atoms, &found);
        let second = (second.coordinate, second.body, second.consumed);
        let first = (outcome.coordinate, outcome.body, outcome.consumed);
        self.same(case, "the evaluation of Core", &second, &first);
        self.note("evaluated");
        if let Some(after) = case.get("stateAfter") {
            let found = atoms::all(&mut self.host, &context);
            self.same(case, "the state", &found, &atoms::rows(after));
            self.note("stateAfter");
        }
        self.host.close(&context).unwrap();
        self.host.uninstall(&installation).unwrap();
    }
}

fn in_order(cost: &Json) -> [u64; 3] {
    let number = |value: &Json| value.as_u64().unwrap();
    match cost {
        Json::Array(numbers) => [&numbers[0], &numbers[1], &numbers[2]].map(number),
        map => ["steps", "allocatedBytes", "outputBytes"].map(|name| number(&map[name])),
    }
}

/// How a case ends: the coordinate of an obstruction, and the canonical body.
fn expected(expect: &Json, package: &Value, types: &Value) -> (Option<String>, Vec<u8>) {
    if let Some(result) = expect.get("ok") {
        let ty = package.get("outputType").unwrap().as_text().unwrap();
        return (None, encode(&typed(result, ty, types)));
    }
    let coordinate = expect["obstruction"].as_str().unwrap();
    let rows = package.get("obstructions").unwrap().as_array().unwrap();
    let payload = &expect["payload"];
    let is_empty = payload.as_object().is_some_and(serde_json::Map::is_empty);
    let declared = rows
        .iter()
        .filter(|row| row.get("coordinate").unwrap().as_text() == Some(coordinate))
        .map(|row| row.get("payloadType").unwrap().as_text().unwrap())
        .find(|ty| (*ty == "Record<>") == is_empty);
    // The two obstructions of the host are declared by nobody.
    let ty = declared.unwrap_or("Record<limit:U64>");
    (
        Some(coordinate.to_owned()),
        encode(&typed(payload, ty, types)),
    )
}

#[test]
fn every_language_case_holds_through_compiler_verifier_evaluator_and_host() {
    let cases = cases();
    let mut plain = workshop(&cases, None);
    let state = tempfile::tempdir().unwrap();
    let mut host = Host::serve(&programs(), Some(state.path())).unwrap();
    let atoms = Atoms::new(&mut host);
    let mut run = Run {
        host,
        atoms,
        contexts: 0,
        seen: BTreeMap::new(),
        failures: Vec::new(),
    };
    for case in cases["cases"].as_array().unwrap() {
        match case.get("budget") {
            Some(exact) => run.case(case, &mut workshop(&cases, Some(exact))),
            None => run.case(case, &mut plain),
        }
    }
    assert!(run.failures.is_empty(), "{}", run.failures.join("\n"));
    let seen = BTreeMap::from([
        ("cost", 4),
        ("diagnostics", 114),
        ("evaluated", 140),
        ("obstruction", 32),
        ("ok", 108),
        ("refused", 1),
        ("stateAfter", 18),
    ]);
    assert_eq!(run.seen, seen);
}
