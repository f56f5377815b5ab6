// SPDX-License-Identifier: Apache-2.0
//! What the names of a module mean: imports, types, bounds, profiles and budgets.

use super::ty::{Type, Width};
use crate::core::tree::BudgetLimits;
use crate::diagnostic::{Finding, Kind, Sink, Span, listed};
use crate::lawpack::context::{LawpackContext, Profile};
use crate::syntax::ast::{Bound, Path, TypeExpr, TypeExprKind};
use edict_codec::cbor::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Parameters and result of a function of the module or of a helper.
#[derive(Debug, Clone)]
pub(crate) struct Signature {
    pub(crate) params: Vec<Type>,
    pub(crate) result: Type,
}

/// What an import alias stands for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Alias<'a> {
    Lawpack(&'a LawpackContext),
    /// A target pin; it names nothing.
    Target,
    /// An import that is reported as missing.
    Missing,
}

/// Names of a module.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    pub(crate) coordinate: String,
    pub(crate) aliases: BTreeMap<String, Alias<'a>>,
    /// Every declared type name; `None` until it is resolved.
    pub(crate) types: BTreeMap<String, Option<Type>>,
    pub(crate) functions: BTreeMap<String, Signature>,
}

impl<'a> Environment<'a> {
    /// The lawpack and the name of `alias.name`.
    pub(crate) fn member<'p>(&self, path: &'p Path) -> Option<(&'a LawpackContext, &'p str)> {
        let (alias, name) = path.qualified()?;
        match self.aliases.get(alias)? {
            Alias::Lawpack(context) => Some((context, name)),
            Alias::Target | Alias::Missing => None,
        }
    }

    /// Whether the path starts with an import that is already reported as missing.
    fn is_reported(&self, path: &Path) -> bool {
        let first = path.segments.first();
        first.is_some_and(|it| matches!(self.aliases.get(&it.text), Some(Alias::Missing)))
    }

    /// The type that was written; mistakes are reported and give [`Type::Error`].
    pub(crate) fn resolve(&self, ty: &TypeExpr, sink: &mut Sink) -> Type {
        match &ty.kind {
            // Reported by `semantic`.
            TypeExprKind::Unbounded => Type::Error,
            TypeExprKind::Text(bound, policy) => {
                if let Some(policy) = policy {
                    sink.report(
                        Finding::new(
                            Kind::UnsupportedSourceShape,
                            ty.span,
                            format!("canonical policy `{policy}` is not supported"),
                        )
                        .help("leave it out; raw-utf8 is the only policy"),
                    );
                    return Type::Error;
                }
                let max = self.bound(bound, ty.span, sink);
                max.map_or(Type::Error, |max| Type::Text { max })
            }
            TypeExprKind::Bytes(min, max) => {
                let least = min.as_ref().map(|it| self.bound(it, ty.span, sink));
                let max = self.bound(max, ty.span, sink);
                bytes(least.unwrap_or(Some(0)), max, ty.span, sink)
            }
            TypeExprKind::Option(item) => {
                let item = self.resolve(item, sink);
                if is_nullable(&item) {
                    sink.report(nested_option(ty.span));
                    return Type::Error;
                }
                wrap(item, Type::Option)
            }
            TypeExprKind::List(item, bound) => {
                let item = self.resolve(item, sink);
                let max = self.bound(bound, bound.span(), sink);
                match max {
                    Some(max) => wrap(item, |item| Type::List { item, max }),
                    None => Type::Error,
                }
            }
            TypeExprKind::Named(path) => self.named(path, sink),
        }
    }

    /// A written length; too large ones are reported at `span`.
    pub(crate) fn bound(&self, bound: &Bound, span: Span, sink: &mut Sink) -> Option<u64> {
        match bound {
            Bound::Integer(value, _) => {
                let fits = u64::try_from(*value).ok();
                if fits.is_none() {
                    let message = "bound does not fit U64";
                    sink.report(
                        Finding::new(Kind::InvalidBound, span, message)
                            .help("choose a smaller one"),
                    );
                }
                fits
            }
            Bound::Constant(path) => self.constant_bound(path, sink),
        }
    }

    fn constant_bound(&self, path: &Path, sink: &mut Sink) -> Option<u64> {
        let member = self.member(path);
        let found = member.and_then(|(context, name)| context.constants.get(name));
        let Some((_, value)) = found else {
            if !self.is_reported(path) {
                let known = member.map(|(context, _)| context.constants.keys());
                sink.report(missing(path, "constant", known.into_iter().flatten()));
            }
            return None;
        };
        let bound = match value {
            Value::Integer(value) => u64::try_from(value.get()).ok(),
            _ => None,
        };
        if bound.is_none() {
            let message = format!("constant `{}` is no length", path.text());
            sink.report(
                Finding::new(Kind::InvalidBound, path.span, message).help("use a U32 or U64"),
            );
        }
        bound
    }

    /// The type of a name, if there is one; [`Type::Error`] for one that is already reported.
    pub(crate) fn named_type(&self, path: &Path) -> Option<Type> {
        if let [name] = path.segments.as_slice() {
            return match name.text.as_str() {
                "Bool" => Some(Type::Bool),
                "U32" => Some(Type::Integer(Width::U32)),
                "U64" => Some(Type::Integer(Width::U64)),
                "I32" => Some(Type::Integer(Width::I32)),
                "I64" => Some(Type::Integer(Width::I64)),
                other => {
                    let declared = self.types.get(other)?;
                    Some(declared.clone().unwrap_or(Type::Error))
                }
            };
        }
        let (alias, name) = path.qualified()?;
        match self.aliases.get(alias)? {
            Alias::Lawpack(context) => context.types.get(name).cloned(),
            Alias::Target => None,
            Alias::Missing => Some(Type::Error),
        }
    }

    fn named(&self, path: &Path, sink: &mut Sink) -> Type {
        if let Some(ty) = self.named_type(path) {
            return ty;
        }
        let wanted = path.segments.last().map_or("", |it| it.text.as_str());
        let built_in = ["Bool", "U32", "U64", "I32", "I64"];
        let close = match self.member(path) {
            Some((context, _)) => sink.nearest(wanted, context.types.keys().map(String::as_str)),
            None => sink.nearest(
                wanted,
                self.types.keys().map(String::as_str).chain(built_in),
            ),
        };
        sink.report(unresolved(path.span, &path.text(), "type", close));
        Type::Error
    }

    /// The profile that an intent names.
    pub(crate) fn profile(&self, path: &Path) -> Option<&'a Profile> {
        let (context, name) = self.member(path)?;
        context.profiles.get(name)
    }

    /// The budget that an intent names and its coordinate.
    pub(crate) fn budget(&self, path: &Path) -> Option<(String, BudgetLimits)> {
        let (context, name) = self.member(path)?;
        let limits = context.budgets.get(name)?;
        Some((format!("{}.{name}", context.coordinate), *limits))
    }

    /// Reports a profile or budget that nothing declares.
    pub(crate) fn report_missing(&self, path: &Path, what: &str, sink: &mut Sink) {
        if self.is_reported(path) {
            return;
        }
        let context = self.member(path).map(|(context, _)| context);
        let known: Vec<&String> = match (context, what) {
            (Some(context), "profile") => context.profiles.keys().collect(),
            (Some(context), _) => context.budgets.keys().collect(),
            (None, _) => Vec::new(),
        };
        sink.report(missing(path, what, known));
    }
}

/// `Bytes` of a range of lengths.
fn bytes(min: Option<u64>, max: Option<u64>, span: Span, sink: &mut Sink) -> Type {
    let (Some(min), Some(max)) = (min, max) else {
        return Type::Error;
    };
    if min > max {
        let message = format!("empty range of lengths: min {min} is above max {max}");
        sink.report(Finding::new(Kind::InvalidBound, span, message).help("swap them"));
        return Type::Error;
    }
    Type::Bytes { min, max }
}

fn wrap(item: Type, make: impl Fn(Arc<Type>) -> Type) -> Type {
    if matches!(item, Type::Error) {
        return Type::Error;
    }
    make(Arc::new(item))
}

/// Whether a value of the type can be encoded as null.
pub(crate) fn is_nullable(ty: &Type) -> bool {
    match ty {
        Type::Option(_) => true,
        Type::Nominal(nominal) => is_nullable(&nominal.representation),
        _ => false,
    }
}

/// An Option whose item is an Option.
pub(crate) fn nested_option(span: Span) -> Finding {
    Finding::new(
        Kind::UnsupportedSourceShape,
        span,
        "an Option of an Option has two empty values with one encoding",
    )
    .help("declare a variant with a case for each")
}

/// A name that means nothing.
pub(crate) fn unresolved(span: Span, name: &str, what: &str, close: Option<&str>) -> Finding {
    let finding = Finding::new(
        Kind::UnresolvedType,
        span,
        format!("there is no {what} `{name}`"),
    );
    match close {
        Some(close) => finding.help(format!("did you mean `{close}`?")),
        None => finding.help("declare it, or import it with an alias"),
    }
}

fn missing<'n>(path: &Path, what: &str, known: impl IntoIterator<Item = &'n String>) -> Finding {
    let known: Vec<&str> = known.into_iter().map(String::as_str).take(12).collect();
    let help = if known.is_empty() {
        "import a lawpack that exports it".to_owned()
    } else {
        format!("exported are: {}", listed(&known))
    };
    Finding::new(
        Kind::MissingContextFact,
        path.span,
        format!("no imported lawpack provides {what} `{}`", path.text()),
    )
    .help(help)
}
