// SPDX-License-Identifier: Apache-2.0
//! Exports that are generated from helper sources: every type and every function in them.

use super::Sources;
use crate::{
    core::tree::{BudgetLimits, StaticBound},
    core_artifact::function,
    diagnostic::{Diagnostic, Finding, Kind, MAX_DIAGNOSTICS, Span, Stage},
    failure::Failure,
    lawpack::definition::{Definition, HelperSource},
    syntax::{
        self,
        ast::{Ast, Declaration},
        semantic::check_semantic,
    },
    types::{Compiled, compile_module, ty::Type},
};
use edict_codec::cbor::Value;

/// Kind of the summary after diagnostics of helper sources.
const KIND: &str = "LawpackCompilationFailed";

/// Entries for the lists of exports.
#[derive(Debug, Default)]
pub(super) struct Generated {
    pub(super) types: Vec<Value>,
    pub(super) helpers: Vec<Value>,
}

/// Compiles every helper source of a definition.
pub(super) fn helpers(
    definition: &Definition,
    sources: Sources<'_>,
) -> Result<Generated, Box<Failure>> {
    let mut generated = Generated::default();
    for source in &definition.helper_sources {
        let bytes = sources(&source.path)?;
        let refuse = |diagnostics: &[Diagnostic]| Failure::source(KIND, &source.path, diagnostics);
        let ast = syntax::parse(&bytes).map_err(|diagnostic| refuse(&[diagnostic]))?;
        check_semantic(&ast).map_err(|diagnostics| refuse(&diagnostics))?;
        shape(&ast, &definition.coordinate())
            .map_err(|finding| refuse(&[ast.lines.diagnostic(Stage::Resolve, finding)]))?;
        let compiled = compile_module(&ast, &[]).map_err(|diagnostics| refuse(&diagnostics))?;
        let expensive = expensive(&ast, &compiled, definition, source);
        if !expensive.is_empty() {
            return Err(refuse(&expensive));
        }
        add(&ast, &compiled, &mut generated);
    }
    Ok(generated)
}

/// The package is that of the lawpack; there are neither imports nor intents.
fn shape(ast: &Ast, coordinate: &str) -> Result<(), Finding> {
    let unsupported = |span: Span, message: String, help: &str| {
        Err(Finding::new(Kind::UnsupportedSourceShape, span, message).help(help))
    };
    if ast.package.coordinate != coordinate {
        let message = format!("helpers of this lawpack are of package `{coordinate}`");
        return unsupported(ast.package.span, message, coordinate);
    }
    if let Some(import) = ast.imports.first() {
        let message = "helper sources import nothing".to_owned();
        return unsupported(import.package.span, message, "remove the import");
    }
    let intent = ast
        .declarations
        .iter()
        .find_map(|declaration| match declaration {
            Declaration::Intent(intent) => Some(intent.name.span),
            Declaration::Type(_) | Declaration::Function(_) => None,
        });
    match intent {
        Some(span) => {
            let message = "helper sources declare no intent".to_owned();
            unsupported(span, message, "declare a `fn`")
        }
        None => Ok(()),
    }
}

/// Functions whose bound does not fit the cost template, if the adapter declares that budget.
fn expensive(
    ast: &Ast,
    compiled: &Compiled,
    definition: &Definition,
    source: &HelperSource,
) -> Vec<Diagnostic> {
    let Some(template) = budget(definition, &source.cost_template) else {
        return Vec::new();
    };
    let declared = ast.declarations.iter().filter_map(|it| match it {
        Declaration::Function(function) => Some(&function.name),
        Declaration::Type(_) | Declaration::Intent(_) => None,
    });
    let mut found = Vec::new();
    for name in declared {
        let bound = compiled.function_bounds.get(&name.text);
        if let Some(excess) = bound.and_then(|bound| excess(*bound, template)) {
            let message = format!("`{}` {excess} of `{}`", name.text, source.cost_template);
            let finding = Finding::new(Kind::InvalidBound, name.span, message)
                .help("choose a larger budget or smaller bounds");
            found.push(ast.lines.diagnostic(Stage::TypeCheck, finding));
        }
    }
    found.truncate(MAX_DIAGNOSTICS);
    found
}

/// A budget of the adapter that is being authored.
fn budget(definition: &Definition, coordinate: &str) -> Option<BudgetLimits> {
    let budgets = definition.adapter.as_ref()?.value.get("budgets")?;
    let budget = budgets.get(coordinate)?;
    let limit = |name| budget.get(name)?.as_u64();
    Some(BudgetLimits {
        max_steps: limit("maxSteps")?,
        max_allocated_bytes: limit("maxAllocatedBytes")?,
        max_output_bytes: limit("maxOutputBytes")?,
    })
}

/// What of a bound exceeds a budget, in words.
fn excess(bound: StaticBound, budget: BudgetLimits) -> Option<String> {
    let pairs = [
        ("steps", bound.steps, budget.max_steps),
        (
            "allocated bytes",
            bound.allocated_bytes,
            budget.max_allocated_bytes,
        ),
        ("output bytes", bound.output_bytes, budget.max_output_bytes),
    ];
    pairs
        .into_iter()
        .find(|(_, needed, has)| needed > has)
        .map(|(what, needed, has)| format!("needs {needed} {what}, which exceeds the {has}"))
}

fn add(ast: &Ast, compiled: &Compiled, generated: &mut Generated) {
    let package = &compiled.module.coordinate;
    for declaration in &ast.declarations {
        let name = &declaration.name().text;
        let coordinate = Value::text(format!("{package}.{name}"));
        match declaration {
            Declaration::Type(_) => {
                if let Some(ty) = compiled.types.get(name) {
                    generated.types.push(Value::text_map([
                        ("coordinate", coordinate),
                        (
                            "definition",
                            Value::text(definition_text(ty, package, name)),
                        ),
                    ]));
                }
            }
            Declaration::Function(_) => {
                if let Some(body) = compiled.module.functions.get(name) {
                    generated.helpers.push(Value::text_map([
                        ("coordinate", coordinate),
                        ("typeParameters", Value::Array(Vec::new())),
                        ("determinismClass", Value::text("total")),
                        ("source", Value::text("edict")),
                        ("body", function(body)),
                    ]));
                }
            }
            Declaration::Intent(_) => {}
        }
    }
}

/// The definition of `package.name`: its own parts if it is the record or variant of that
/// coordinate, the type that it is an alias of otherwise.
fn definition_text(ty: &Type, package: &str, name: &str) -> String {
    let own = |coordinate: &str| {
        coordinate
            .strip_prefix(package)
            .and_then(|rest| rest.strip_prefix('.'))
            == Some(name)
    };
    match ty {
        Type::Record(record) if record.coordinate.as_deref().is_some_and(own) => {
            let fields = record.fields.iter();
            let fields: Vec<String> = fields.map(|(name, ty)| format!("{name}:{ty}")).collect();
            format!("Record<{}>", fields.join(","))
        }
        Type::Variant(variant) if own(&variant.coordinate) => {
            let cases = variant.cases.iter().map(|(case, payload)| match payload {
                Some(payload) => format!("{case}({payload})"),
                None => case.clone(),
            });
            format!("Variant<{}>", cases.collect::<Vec<String>>().join(","))
        }
        ty => ty.to_string(),
    }
}
