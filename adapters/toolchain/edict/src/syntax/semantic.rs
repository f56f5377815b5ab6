// SPDX-License-Identifier: Apache-2.0
//! Stage `semantic`: what can be judged without any other document.

use super::ast::{
    Ast, ClauseKind, Declaration, IntentDecl, Name, TypeBody, TypeExpr, TypeExprKind,
};
use super::token::{BUILT_INS, PRELUDE};
use super::walk::{Visitor, walk_function, walk_intent, walk_type};
use crate::diagnostic::{Diagnostic, Finding, Kind, LineIndex, Sink, Span, Stage};
use std::collections::BTreeMap;

/// Judges names, clauses and the bounds of text and bytes.
///
/// # Errors
/// All findings of the stage, sorted.
pub fn check_semantic(ast: &Ast) -> Result<(), Vec<Diagnostic>> {
    let mut pass = Semantic {
        lines: &ast.lines,
        sink: Sink::default(),
        names: BTreeMap::new(),
        undo: Vec::new(),
    };
    pass.declare(ast);
    for declaration in &ast.declarations {
        match declaration {
            Declaration::Type(it) => match &it.body {
                TypeBody::Alias(ty) => walk_type(&mut pass, ty),
                TypeBody::Record(fields) => {
                    for (_, ty) in fields {
                        walk_type(&mut pass, ty);
                    }
                }
                TypeBody::Variant(cases) => {
                    for ty in cases.iter().filter_map(|(_, payload)| payload.as_ref()) {
                        walk_type(&mut pass, ty);
                    }
                }
            },
            Declaration::Function(it) => walk_function(&mut pass, it),
            Declaration::Intent(it) => {
                pass.clauses(it);
                walk_intent(&mut pass, it);
            }
        }
    }
    pass.sink.finish(Stage::Semantic, &ast.lines)
}

struct Semantic<'a> {
    lines: &'a LineIndex,
    sink: Sink,
    /// Every name in scope and where it was declared or bound.
    names: BTreeMap<String, Span>,
    /// Names bound since each scope opened.
    undo: Vec<Vec<String>>,
}

impl Semantic<'_> {
    /// Import aliases and declarations share one namespace.
    fn declare(&mut self, ast: &Ast) {
        let aliases = ast.imports.iter().map(|it| (&it.alias, false));
        let declared = ast
            .declarations
            .iter()
            .map(|it| (it.name(), matches!(it, Declaration::Function(_))));
        for (name, is_function) in aliases.chain(declared) {
            let built_in = is_function && BUILT_INS.contains(&name.text.as_str());
            if built_in || PRELUDE.contains(&name.text.as_str()) {
                self.shadowed(name, "it is a name of the language");
            } else if let Some(first) = self.names.get(&name.text) {
                let line = self.lines.line(first.start);
                self.sink.report(
                    Finding::new(
                        Kind::DuplicateName,
                        name.span,
                        format!("`{}` is already declared at line {line}", name.text),
                    )
                    .help("rename one of them"),
                );
            } else {
                self.names.insert(name.text.clone(), name.span);
            }
        }
    }

    fn shadowed(&mut self, name: &Name, why: &str) {
        self.sink.report(
            Finding::new(
                Kind::ShadowedName,
                name.span,
                format!("`{}` cannot be bound here: {why}", name.text),
            )
            .help("rename it"),
        );
    }

    fn clauses(&mut self, intent: &IntentDecl) {
        let mut seen = [false; 3];
        for clause in &intent.clauses {
            let (slot, word) = match clause.kind {
                ClauseKind::Profile(_) => (0, "profile"),
                ClauseKind::Basis(_) => (1, "basis"),
                ClauseKind::Budget(_) => (2, "budget"),
                ClauseKind::Where(_) => continue,
            };
            if let Some(slot) = seen.get_mut(slot)
                && std::mem::replace(slot, true)
            {
                self.sink.report(
                    Finding::new(
                        Kind::DuplicateIntentClause,
                        clause.keyword,
                        format!("`{word}` is repeated"),
                    )
                    .help("remove one of them"),
                );
            }
        }
        let rules = [
            (
                Kind::MissingOperationMode,
                "profile",
                "add `profile alias.name`",
            ),
            (
                Kind::MissingBasis,
                "basis",
                "add `basis none` or `basis` and an expression",
            ),
            (Kind::MissingBudget, "budget", "add `budget <= alias.name`"),
        ];
        for ((kind, word, help), seen) in rules.into_iter().zip(seen) {
            if !seen {
                let message = format!("intent `{}` has no `{word}`", intent.name.text);
                self.sink
                    .report(Finding::new(kind, intent.name.span, message).help(help));
            }
        }
    }
}

impl Visitor for Semantic<'_> {
    fn type_expr(&mut self, ty: &TypeExpr) {
        if matches!(ty.kind, TypeExprKind::Unbounded) {
            self.sink.report(
                Finding::new(
                    Kind::UnboundedScalar,
                    ty.span,
                    "text and bytes need a bound",
                )
                .help("write `<max=…>`"),
            );
        }
    }

    fn bind(&mut self, name: &Name) {
        if PRELUDE.contains(&name.text.as_str()) {
            self.shadowed(name, "it is a name of the language");
        } else if let Some(first) = self.names.get(&name.text) {
            let line = self.lines.line(first.start);
            self.shadowed(name, &format!("it is already in scope from line {line}"));
        } else {
            self.names.insert(name.text.clone(), name.span);
            if let Some(scope) = self.undo.last_mut() {
                scope.push(name.text.clone());
            }
        }
    }

    fn open(&mut self) {
        self.undo.push(Vec::new());
    }

    fn close(&mut self) {
        for name in self.undo.pop().unwrap_or_default() {
            self.names.remove(&name);
        }
    }
}
