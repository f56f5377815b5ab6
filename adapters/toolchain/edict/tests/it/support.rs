// SPDX-License-Identifier: Apache-2.0
//! The language cases and their lawpacks, and one way to compile a source.
#![cfg(test)]

use edict::diagnostic::Diagnostic;
use edict::lawpack::authoring::author_from;
use edict::lawpack::context::LawpackContext;
use edict::syntax;
use edict::syntax::semantic::check_semantic;
use edict::types::{Compiled, compile_module};
use serde_json::Value;

const CASES: &str = include_str!("../../../../../testdata/contracts/language-cases.json");

/// The whole case file.
pub(crate) fn cases() -> Value {
    serde_json::from_str(CASES).unwrap()
}

/// What importers see of every lawpack of the case file; `budget` replaces `case.kit@1.exact`.
pub(crate) fn contexts(cases: &Value, budget: Option<&Value>) -> Vec<LawpackContext> {
    let packs = cases["lawpacks"].as_object().unwrap();
    packs
        .values()
        .map(|pack| {
            let mut pack = pack.clone();
            if let Some(budget) = budget {
                let adapters = pack["lawpack"]["targetAdapters"].as_array_mut().unwrap();
                for adapter in adapters {
                    if let Some(slot) = adapter["budgets"].get_mut("case.kit@1.exact") {
                        *slot = budget.clone();
                    }
                }
            }
            let bytes = serde_json::to_vec(&pack).unwrap();
            let mut sources = |name: &str| {
                let text = cases["files"][name].as_str()?;
                Some(text.as_bytes().to_vec())
            };
            author_from(&bytes, &mut sources).unwrap().lawpack.context
        })
        .collect()
}

/// Every stage up to `lowerCore`.
pub(crate) fn compile(
    source: &[u8],
    contexts: &[LawpackContext],
) -> Result<Compiled, Vec<Diagnostic>> {
    let ast = syntax::parse(source).map_err(|diagnostic| vec![diagnostic])?;
    check_semantic(&ast)?;
    compile_module(&ast, contexts)
}

/// Diagnostics as `stage/kind at line:column`.
pub(crate) fn show(result: &Result<Compiled, Vec<Diagnostic>>) -> String {
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
