// SPDX-License-Identifier: Apache-2.0
//! From a syntax tree and its lawpacks to Core with its static bounds.

use super::check::{Cut, Pass};
use super::environment::Environment;
use super::resolve::resolve;
use super::ty::Type;
use crate::core::cost::Costs;
use crate::core::depth;
use crate::core::extent::{Extent, MAX_ARTIFACT};
use crate::core::tree::{BudgetLimits, Facts, Function, Module, StaticBound};
use crate::deep_stack::on_deep_stack;
use crate::diagnostic::{Diagnostic, Finding, Kind, Sink, Span, Stage};
use crate::lawpack::context::LawpackContext;
use crate::syntax::ast::{
    Ast, Block, ClauseKind, Declaration, ImportKind, IntentDecl, LetValue, Name, Statement,
    StatementKind,
};
use std::collections::BTreeMap;

/// What a module becomes.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// Its Core.
    pub module: Module,
    /// What follows for each intent, by name.
    pub facts: BTreeMap<String, Facts>,
    /// The bound of each function's body, by name.
    pub function_bounds: BTreeMap<String, StaticBound>,
    /// Declared types by name, aliases expanded.
    pub types: BTreeMap<String, Type>,
    /// Variants and enums that the module can name, by coordinate.
    pub variants: BTreeMap<String, Type>,
}

/// Judges a module that has passed `check_semantic`, with the lawpacks it may import.
///
/// # Errors
/// All findings of the first stage that has any: `resolve`, `typeCheck` or `lowerCore`.
pub fn compile_module(ast: &Ast, contexts: &[LawpackContext]) -> Result<Compiled, Vec<Diagnostic>> {
    on_deep_stack(|| judge(ast, contexts)).unwrap_or_else(|| Err(Vec::new()))
}

fn judge(ast: &Ast, contexts: &[LawpackContext]) -> Result<Compiled, Vec<Diagnostic>> {
    let mut sink = Sink::default();
    let environment = resolve(ast, contexts, &mut sink);
    sink.finish(Stage::Resolve, &ast.lines)?;

    let mut sink = Sink::default();
    let mut deep = Sink::default();
    let mut extent = Extent::new(contexts);
    let module = check(ast, &environment, &mut extent, (&mut sink, &mut deep));
    let types: BTreeMap<String, Type> = environment
        .types
        .into_iter()
        .filter_map(|(name, ty)| Some((name, ty?)))
        .collect();
    let mut compiled = Compiled {
        module,
        facts: BTreeMap::new(),
        function_bounds: BTreeMap::new(),
        variants: variants(&types, contexts),
        types,
    };
    if sink.is_empty() && deep.is_empty() {
        bounds(ast, contexts, &mut compiled, &mut sink);
    }
    sink.finish(Stage::TypeCheck, &ast.lines)?;
    deep.finish(Stage::LowerCore, &ast.lines)?;
    Ok(compiled)
}

fn variants(types: &BTreeMap<String, Type>, contexts: &[LawpackContext]) -> BTreeMap<String, Type> {
    let exported = contexts.iter().flat_map(|it| it.types.values());
    types
        .values()
        .chain(exported)
        .filter_map(|ty| match ty {
            Type::Variant(variant) => Some((variant.coordinate.clone(), ty.clone())),
            _ => None,
        })
        .collect()
}

/// Checks all bodies; what Core cannot hold goes to the second sink.
fn check(
    ast: &Ast,
    environment: &Environment<'_>,
    extent: &mut Extent<'_>,
    (sink, limits): (&mut Sink, &mut Sink),
) -> Module {
    let imports = ast
        .imports
        .iter()
        .filter(|it| it.kind == ImportKind::Lawpack)
        .filter_map(|it| Some((it.package.coordinate.clone(), it.digest?.0)));
    let mut module = Module {
        coordinate: ast.package.coordinate.clone(),
        imports: imports.collect(),
        functions: BTreeMap::new(),
        intents: BTreeMap::new(),
    };
    let mut pass = Pass {
        environment,
        sink,
        copied: 0,
    };
    let mut too_large = false;
    for declaration in &ast.declarations {
        let name = declaration.name();
        let cut = match declaration {
            Declaration::Type(_) => continue,
            Declaration::Function(it) => {
                let (function, cut) = pass.function(it);
                extent.function(&function);
                let deep = cut.deep || depth::function(&function) > depth::MAX_CONTAINERS;
                module.functions.insert(name.text.clone(), function);
                Cut { deep, ..cut }
            }
            Declaration::Intent(it) => {
                let (intent, cut) = pass.intent(it);
                extent.intent(&name.text, &intent);
                let deep = cut.deep || depth::intent(&intent) > depth::MAX_CONTAINERS;
                module.intents.insert(name.text.clone(), intent);
                Cut { deep, ..cut }
            }
        };
        // What follows the declaration that is one too many is no mistake of its own.
        if (cut.large || extent.is_exceeded()) && !too_large {
            too_large = true;
            limits.report(oversized(name));
        }
        if cut.deep {
            let message = format!(
                "Core of `{}` nests more than {} containers",
                name.text,
                depth::MAX_CONTAINERS
            );
            let finding = Finding::new(Kind::NestingTooDeep, name.span, message);
            limits.report(finding.help("split it with `let` or `fn`"));
        }
    }
    module
}

/// An artifact that no verifier reads, found where `name` is declared.
pub(crate) fn oversized(name: &Name) -> Finding {
    let message = format!(
        "with `{}` an artifact of the program is larger than {MAX_ARTIFACT} bytes",
        short(&name.text)
    );
    Finding::new(Kind::LimitExceeded, name.span, message)
        .help("split the program, or shorten the names and types that it repeats")
}

fn short(name: &str) -> String {
    match name.char_indices().nth(64) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
    }
}

/// Computes the static bounds and compares them with the budgets where the contract asks it.
fn bounds(ast: &Ast, contexts: &[LawpackContext], compiled: &mut Compiled, sink: &mut Sink) {
    let mut costs = Costs::new(&compiled.variants, contexts);
    let coordinate = compiled.module.coordinate.clone();
    let functions = compiled.module.functions.iter();
    costs.add(
        functions.map(|(name, it): (&String, &Function)| (format!("{coordinate}.{name}"), it)),
    );
    for name in compiled.module.functions.keys() {
        if let Some(bound) = costs.bound(&format!("{coordinate}.{name}")) {
            compiled.function_bounds.insert(name.clone(), bound);
        }
    }
    let judged = has_function_or_loop(ast);
    for declaration in &ast.declarations {
        let Declaration::Intent(declared) = declaration else {
            continue;
        };
        let Some(intent) = compiled.module.intents.get(&declared.name.text) else {
            continue;
        };
        let facts = costs.intent(intent);
        if judged {
            judge_budget(declared, facts.static_bound, intent.limits, sink);
        }
        compiled.facts.insert(declared.name.text.clone(), facts);
    }
}

fn judge_budget(declared: &IntentDecl, bound: StaticBound, limits: BudgetLimits, sink: &mut Sink) {
    let path = declared.clauses.iter().find_map(|it| match &it.kind {
        ClauseKind::Budget(path) => Some(path),
        ClauseKind::Profile(_) | ClauseKind::Basis(_) | ClauseKind::Where(_) => None,
    });
    let span = path.map_or(Span::default(), |it| it.span);
    let parts = [
        ("steps", bound.steps, limits.max_steps),
        (
            "allocated bytes",
            bound.allocated_bytes,
            limits.max_allocated_bytes,
        ),
        ("output bytes", bound.output_bytes, limits.max_output_bytes),
    ];
    let over: Vec<String> = parts
        .into_iter()
        .filter(|(_, needs, has)| needs > has)
        .map(|(what, needs, has)| format!("needs {needs} {what}, has {has}"))
        .collect();
    if !over.is_empty() {
        sink.report(
            Finding::new(Kind::InvalidBound, span, over.join("; "))
                .help("choose a larger budget or smaller bounds"),
        );
    }
}

fn has_function_or_loop(ast: &Ast) -> bool {
    ast.declarations.iter().any(|it| match it {
        Declaration::Type(_) => false,
        Declaration::Function(_) => true,
        Declaration::Intent(it) => has_loop(&it.body.statements),
    })
}

fn has_loop(statements: &[Statement]) -> bool {
    let in_block = |it: &Block| has_loop(&it.statements);
    statements.iter().any(|it| match &it.kind {
        StatementKind::For(..) => true,
        StatementKind::If(parts, otherwise) => {
            parts.iter().any(|(_, block)| in_block(block))
                || otherwise.as_ref().is_some_and(in_block)
        }
        StatementKind::Let { value, .. } => match value {
            LetValue::Fold(_) => true,
            LetValue::Branch(_, then, otherwise) => {
                has_loop(&then.statements) || has_loop(&otherwise.statements)
            }
            LetValue::Expr(..) => false,
        },
        StatementKind::Return(_) | StatementKind::Require(..) | StatementKind::Call(..) => false,
    })
}
