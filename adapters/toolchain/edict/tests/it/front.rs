// SPDX-License-Identifier: Apache-2.0
//! From source to Core through the library: diagnostics, shapes and bounds.

mod core;
mod judgement;
mod mistakes;
mod parse;
mod proofs;
mod resolution;
mod robustness;

use crate::support::contract;
use edict::diagnostic::Diagnostic;
use edict::lawpack::authoring::author_from;
use edict::lawpack::context::LawpackContext;
use edict::syntax;
use edict::syntax::semantic::check_semantic;
use edict::types::{Compiled, compile_module};
use serde_json::Value;

/// What importers see of every lawpack of the case file; `budget` replaces `case.kit@1.exact`.
fn contexts(budget: Option<&Value>) -> Vec<LawpackContext> {
    let file = contract("language-cases.json");
    let packs = file["lawpacks"].as_object().unwrap();
    packs
        .values()
        .map(|pack| {
            let mut pack = pack.clone();
            let adapters = pack["lawpack"]["targetAdapters"].as_array_mut().unwrap();
            for adapter in adapters {
                let slot = adapter["budgets"].get_mut("case.kit@1.exact");
                if let (Some(slot), Some(budget)) = (slot, budget) {
                    *slot = budget.clone();
                }
            }
            let bytes = serde_json::to_vec(&pack).unwrap();
            let mut sources = |name: &str| {
                let text = file["files"][name].as_str()?;
                Some(text.as_bytes().to_vec())
            };
            author_from(&bytes, &mut sources).unwrap().lawpack.context
        })
        .collect()
}

/// Every stage up to `lowerCore`.
fn compile(source: &[u8], contexts: &[LawpackContext]) -> Result<Compiled, Vec<Diagnostic>> {
    let ast = syntax::parse(source).map_err(|diagnostic| vec![diagnostic])?;
    check_semantic(&ast)?;
    compile_module(&ast, contexts)
}

/// Diagnostics as `stage/kind at line:column`, or `accepted`.
fn show(result: &Result<Compiled, Vec<Diagnostic>>) -> String {
    let Err(diagnostics) = result else {
        return "accepted".to_owned();
    };
    let lines: Vec<String> = diagnostics
        .iter()
        .map(|it| {
            let (stage, kind) = (it.stage.as_str(), it.kind.as_str());
            format!("{stage}/{kind} at {}:{}", it.line, it.column)
        })
        .collect();
    lines.join(", ")
}

const DIGEST: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// A module that imports `case.kit@1` on its second line, `body` starting on the third.
fn module(body: &str) -> String {
    format!("package case.x@1;\nuse lawpack case.kit@1 digest \"{DIGEST}\" as kit;\n{body}")
}

/// An intent `run` over `input`, its body starting on the fourth line.
fn program(input: &str, output: &str, body: &str) -> String {
    module(&format!(
        "type In = {input}; type Out = {output}; intent run(input: In) returns Out \
         profile kit.writing basis none budget <= kit.roomy {{\n{body}\n}}"
    ))
}

/// What the compiler says about a source.
fn judge(source: &str) -> String {
    show(&compile(source.as_bytes(), &contexts(None)))
}

/// Asserts what the compiler says about many sources at once.
fn check(rows: &[(&str, String, &str)]) {
    let contexts = contexts(None);
    let mut wrong = Vec::new();
    for (name, source, expected) in rows {
        let result = compile(source.as_bytes(), &contexts);
        let found = show(&result);
        if found != *expected {
            let messages: Vec<String> = result
                .err()
                .into_iter()
                .flatten()
                .map(|it| it.message)
                .collect();
            wrong.push(format!(
                "{name}: expected {expected}, found {found} {messages:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_language_case_compiles_or_is_refused_as_stated() {
    let file = contract("language-cases.json");
    let all = contexts(None);
    let mut wrong = Vec::new();
    for case in file["cases"].as_array().unwrap() {
        let source = case["source"].as_str().unwrap();
        let own = case.get("budget").map(|it| contexts(Some(it)));
        let imported: Vec<LawpackContext> = own
            .as_ref()
            .unwrap_or(&all)
            .iter()
            .filter(|it| source.contains(&format!("use lawpack {}", it.coordinate)))
            .cloned()
            .collect();
        let expected = match case["expect"].get("diagnostics") {
            None => "accepted".to_owned(),
            Some(list) => {
                let list = list.as_array().unwrap().iter();
                let lines: Vec<String> = list
                    .map(|it| {
                        let text = |key: &str| it[key].as_str().unwrap().to_owned();
                        let (stage, kind) = (text("stage"), text("kind"));
                        format!("{stage}/{kind} at {}:{}", it["line"], it["column"])
                    })
                    .collect();
                lines.join(", ")
            }
        };
        let result = compile(source.as_bytes(), &imported);
        let found = show(&result);
        if found != expected {
            let id = &case["id"];
            wrong.push(format!("{id}: expected {expected}, found {found}"));
        }
        if let Err(diagnostics) = &result {
            assert!(diagnostics.iter().all(|it| !it.message.is_empty()));
        }
        // The exact costs of the case file are never above the static bound.
        if let (Some(cost), Ok(compiled)) = (case.get("cost"), &result) {
            let bound = compiled.facts.values().next().unwrap().static_bound;
            assert!(cost["steps"].as_u64().unwrap() <= bound.steps);
            assert!(cost["allocatedBytes"].as_u64().unwrap() <= bound.allocated_bytes);
            assert!(cost["outputBytes"].as_u64().unwrap() <= bound.output_bytes);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
