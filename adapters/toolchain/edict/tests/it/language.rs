// SPDX-License-Identifier: Apache-2.0
//! Every language case compiles or is refused exactly as it says.

use crate::support::{cases, compile, contexts, show};
use edict::lawpack::context::LawpackContext;

#[test]
fn every_language_case_compiles_or_is_refused_as_stated() {
    let file = cases();
    let all = contexts(&file, None);
    let mut wrong = Vec::new();
    for case in file["cases"].as_array().unwrap() {
        let source = case["source"].as_str().unwrap();
        let own = case.get("budget").map(|it| contexts(&file, Some(it)));
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
            let messages: Vec<String> = result
                .err()
                .into_iter()
                .flatten()
                .map(|it| it.message)
                .collect();
            let id = &case["id"];
            wrong.push(format!("{id}: expected {expected}, found {found} {messages:?}"));
        }
        // The exact costs of the case file are never above the static bound.
        if let (Some(cost), Ok(compiled)) = (case.get("cost"), compile(source.as_bytes(), &imported))
        {
            let bound = compiled.facts.values().next().unwrap().static_bound;
            assert!(cost["steps"].as_u64().unwrap() <= bound.steps);
            assert!(cost["allocatedBytes"].as_u64().unwrap() <= bound.allocated_bytes);
            assert!(cost["outputBytes"].as_u64().unwrap() <= bound.output_bytes);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
