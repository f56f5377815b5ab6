// SPDX-License-Identifier: Apache-2.0
//! Stage `resolve`: imports, declared types, signatures, clauses and the call graph (3.2).

use super::calls;
use super::environment::{Alias, Environment, Signature};
use super::graph::{self, Edge};
use super::size::MAX_DEPTH;
use super::ty::{RecordType, Type, VariantType};
use crate::diagnostic::{Finding, Kind, Sink, listed};
use crate::lawpack::context::LawpackContext;
use crate::syntax::ast::{
    Ast, ClauseKind, Declaration, ImportKind, IntentDecl, Param, TypeBody, TypeDecl, TypeExpr,
    TypeExprKind,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The one target profile.
const TARGET: &str = "echo.dpo@1";

/// Gives every name of a module its meaning and reports those without one.
pub(crate) fn resolve<'a>(
    ast: &Ast,
    contexts: &'a [LawpackContext],
    sink: &mut Sink,
) -> Environment<'a> {
    let mut environment = Environment {
        coordinate: ast.package.coordinate.clone(),
        aliases: aliases(ast, contexts, sink),
        types: BTreeMap::new(),
        functions: BTreeMap::new(),
    };
    declared_types(ast, &mut environment, sink);
    let (mut functions, mut intents) = (Vec::new(), Vec::new());
    for declaration in &ast.declarations {
        match declaration {
            Declaration::Type(_) => {}
            Declaration::Function(it) => {
                let params = params(&environment, &it.params, sink);
                let result = environment.resolve(&it.result, sink);
                let signature = Signature { params, result };
                environment
                    .functions
                    .insert(it.name.text.clone(), signature);
                functions.push(it);
            }
            Declaration::Intent(it) => {
                intent(&environment, it, sink);
                intents.push(it);
            }
        }
    }
    calls::judge(&functions, &intents, &environment, contexts, sink);
    environment
}

fn params(environment: &Environment<'_>, params: &[Param], sink: &mut Sink) -> Vec<Type> {
    let resolve = |param: &Param| environment.resolve(&param.ty, sink);
    params.iter().map(resolve).collect()
}

fn aliases<'a>(
    ast: &Ast,
    contexts: &'a [LawpackContext],
    sink: &mut Sink,
) -> BTreeMap<String, Alias<'a>> {
    let mut aliases = BTreeMap::new();
    for import in &ast.imports {
        let coordinate = &import.package.coordinate;
        if import.digest.is_none() {
            sink.report(
                Finding::new(
                    Kind::UndigestedImport,
                    import.package.span,
                    format!("import of `{coordinate}` is not locked"),
                )
                .help("paste `digest \"sha256:…\"` from the manifest sidecar"),
            );
        }
        let found = contexts.iter().find(|it| it.coordinate == *coordinate);
        let is_known = match import.kind {
            ImportKind::Lawpack => found.is_some(),
            ImportKind::Target => coordinate == TARGET,
        };
        if !is_known {
            let known: Vec<&str> = contexts.iter().map(|it| it.coordinate.as_str()).collect();
            sink.report(
                Finding::new(
                    Kind::MissingContextFact,
                    import.package.span,
                    format!("`{coordinate}` is not part of the application"),
                )
                .help(format!("provided are: {}", listed(&known))),
            );
        }
        let alias = match (import.kind, found) {
            (ImportKind::Target, _) => Alias::Target,
            (ImportKind::Lawpack, Some(context)) => Alias::Lawpack(context),
            (ImportKind::Lawpack, None) => Alias::Missing,
        };
        aliases.insert(import.alias.text.clone(), alias);
    }
    aliases
}

fn intent(environment: &Environment<'_>, intent: &IntentDecl, sink: &mut Sink) {
    if intent.params.len() != 1 {
        sink.report(
            Finding::new(
                Kind::UnsupportedSourceShape,
                intent.name.span,
                format!("an intent takes one parameter, not {}", intent.params.len()),
            )
            .help("declare one record with all inputs"),
        );
    }
    params(environment, &intent.params, sink);
    environment.resolve(&intent.result, sink);
    for clause in &intent.clauses {
        match &clause.kind {
            ClauseKind::Profile(path) if environment.profile(path).is_none() => {
                environment.report_missing(path, "profile", sink);
            }
            ClauseKind::Budget(path) if environment.budget(path).is_none() => {
                environment.report_missing(path, "budget", sink);
            }
            ClauseKind::Profile(_)
            | ClauseKind::Budget(_)
            | ClauseKind::Basis(_)
            | ClauseKind::Where(_) => {}
        }
    }
}

fn parts(body: &TypeBody) -> Vec<&TypeExpr> {
    match body {
        TypeBody::Alias(ty) => vec![ty],
        TypeBody::Record(fields) => fields.iter().map(|(_, ty)| ty).collect(),
        TypeBody::Variant(cases) => cases.iter().filter_map(|(_, ty)| ty.as_ref()).collect(),
    }
}

/// The declared type a written type refers to, inside any Option and List.
fn reference(ty: &TypeExpr, index: &BTreeMap<&str, usize>) -> Option<Edge> {
    match &ty.kind {
        TypeExprKind::Option(item) | TypeExprKind::List(item, _) => reference(item, index),
        TypeExprKind::Named(path) => match path.segments.as_slice() {
            [name] => Some(Edge {
                target: *index.get(name.text.as_str())?,
                span: name.span,
            }),
            _ => None,
        },
        TypeExprKind::Unbounded | TypeExprKind::Text(..) | TypeExprKind::Bytes(..) => None,
    }
}

/// Resolves declared types so that each stands after those it refers to.
fn declared_types(ast: &Ast, environment: &mut Environment<'_>, sink: &mut Sink) {
    let types: Vec<&TypeDecl> = ast
        .declarations
        .iter()
        .filter_map(|it| match it {
            Declaration::Type(it) => Some(it),
            Declaration::Function(_) | Declaration::Intent(_) => None,
        })
        .collect();
    let names = types.iter().map(|it| it.name.text.as_str());
    let index: BTreeMap<&str, usize> = names.zip(0..).collect();
    let edges: Vec<Vec<Edge>> = types
        .iter()
        .map(|it| {
            let parts = parts(&it.body);
            parts
                .into_iter()
                .filter_map(|ty| reference(ty, &index))
                .collect()
        })
        .collect();
    let order = graph::order(&edges);
    report_cycles(
        &order.cycles,
        |it| types.get(it).map_or("", |it| &it.name.text),
        sink,
    );
    for declared in &types {
        environment.types.insert(declared.name.text.clone(), None);
    }
    let mut depths = super::size::Depths::default();
    for declared in order.sequence.iter().filter_map(|it| types.get(*it)) {
        let ty = declare(environment, declared, sink);
        let ty = if depths.depth(&ty) > MAX_DEPTH {
            let message = format!(
                "values of `{}` nest more than {MAX_DEPTH} levels",
                declared.name.text
            );
            let finding = Finding::new(Kind::NestingTooDeep, declared.name.span, message);
            sink.report(finding.help("flatten the type"));
            Type::Error
        } else {
            ty
        };
        environment
            .types
            .insert(declared.name.text.clone(), Some(ty));
    }
}

fn declare(environment: &Environment<'_>, declared: &TypeDecl, sink: &mut Sink) -> Type {
    let coordinate = format!("{}.{}", environment.coordinate, declared.name.text);
    match &declared.body {
        TypeBody::Alias(ty) => environment.resolve(ty, sink),
        TypeBody::Record(fields) => {
            let fields = fields
                .iter()
                .map(|(name, ty)| (name.text.clone(), environment.resolve(ty, sink)))
                .collect();
            Type::Record(Arc::new(RecordType {
                coordinate: Some(coordinate),
                fields,
            }))
        }
        TypeBody::Variant(cases) => {
            let cases = cases
                .iter()
                .map(|(name, ty)| {
                    let payload = ty.as_ref().map(|ty| environment.resolve(ty, sink));
                    (name.text.clone(), payload)
                })
                .collect();
            Type::Variant(Arc::new(VariantType::new(coordinate, cases)))
        }
    }
}

pub(super) fn report_cycles<'n>(
    cycles: &[(Edge, Vec<usize>)],
    name: impl Fn(usize) -> &'n str,
    sink: &mut Sink,
) {
    for (edge, cycle) in cycles {
        let through: Vec<&str> = cycle.iter().take(8).map(|it| name(*it)).collect();
        sink.report(
            Finding::new(
                Kind::RecursiveDefinition,
                edge.span,
                format!(
                    "`{}` refers to itself through {}",
                    name(edge.target),
                    through.join(", ")
                ),
            )
            .help("use a list with a bound and a bounded loop"),
        );
    }
}
