// SPDX-License-Identifier: Apache-2.0
//! Checks literals, names, fields, cases, records and lists.

use super::{Checker, Typed, Want, short};
use crate::core::extent;
use crate::core::tree::Expr as CoreExpr;
use crate::diagnostic::{Kind, Span, first_of, listed};
use crate::syntax::ast::{Expr, ExprKind, Name, Path, Suffix};
use crate::types::environment::unresolved;
use crate::types::facts::{Place, Term};
use crate::types::relate;
use crate::types::ty::{Type, VariantType, Width};
use edict_codec::cbor::{Integer, Value as Data};
use std::sync::Arc;

/// Whether an operand takes its type from its place.
pub(super) fn is_bare(expr: &Expr) -> bool {
    match &expr.bare().kind {
        ExprKind::Integer { suffix, .. } => suffix.is_none(),
        ExprKind::List(items) => items.is_empty(),
        _ => false,
    }
}

impl Checker<'_, '_> {
    /// Checks one expression against what its place wants.
    pub(super) fn expr(&mut self, expr: &Expr, want: Want<'_>) -> Typed {
        let typed = match &expr.kind {
            ExprKind::Paren(inner) => return self.expr(inner, want),
            ExprKind::If(parts, otherwise) => {
                return self.conditional(expr, parts, otherwise, want);
            }
            ExprKind::Match(value, arms) => return self.match_expr(value, arms, want),
            ExprKind::Record(fields) => return self.record(expr, fields, want),
            ExprKind::List(items) => return self.list(expr, items, want),
            ExprKind::Integer {
                magnitude,
                negative,
                suffix,
            } => {
                let magnitude = i128::try_from(*magnitude).unwrap_or(i128::MAX);
                let value = if *negative { -magnitude } else { magnitude };
                self.integer(expr.span, value, *suffix, want)
            }
            ExprKind::Text(text) => {
                let max = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                constant(Type::Text { max }, Data::text(text.as_str()))
            }
            ExprKind::Bytes(bytes) => {
                let max = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                constant(Type::Bytes { min: max, max }, Data::Bytes(bytes.clone()))
            }
            ExprKind::Bool(value) => Typed {
                ty: Type::Bool,
                value: super::Value::Bool(*value),
                ..Typed::error()
            },
            ExprKind::Name(name) => self.name(expr.span, name),
            ExprKind::Field(base, name) => self.field(expr, base, name),
            ExprKind::Case(owner, case, payload) => {
                self.case(expr, owner, case, payload.as_deref())
            }
            ExprKind::Call(call) => self.call(expr, call, want),
            ExprKind::Not(part) => self.not(part),
            ExprKind::Negate(part) => self.negate(expr, part, want),
            ExprKind::Binary(operator, left, right) => {
                self.binary(expr, *operator, left, right, want)
            }
            ExprKind::All(parts) => self.chain(parts, true),
            ExprKind::Any(parts) => self.chain(parts, false),
        };
        self.settle(expr.span, typed, want)
    }

    /// Reports a value that does not fit its place.
    pub(super) fn settle(&mut self, span: Span, typed: Typed, want: Want<'_>) -> Typed {
        match want {
            Want::Must(ty) if !relate::assignable(&typed.ty, ty) => {
                self.mismatch(span, &short(ty), &typed.ty);
                Typed::error()
            }
            Want::Must(_) | Want::Hint(_) | Want::Nothing => typed,
        }
    }

    fn integer(
        &mut self,
        span: Span,
        value: i128,
        suffix: Option<Suffix>,
        want: Want<'_>,
    ) -> Typed {
        let width = match (suffix, want.ty()) {
            (Some(Suffix::U32), _) => Width::U32,
            (Some(Suffix::U64), _) => Width::U64,
            (Some(Suffix::I32), _) => Width::I32,
            (Some(Suffix::I64), _) => Width::I64,
            (None, Some(Type::Integer(width))) => *width,
            (None, Some(Type::Error)) => return Typed::error(),
            (None, Some(other)) => {
                let message = format!("expected {}, found an integer", short(other));
                self.report(Kind::TypeMismatch, span, message, "change the literal");
                return Typed::error();
            }
            (None, None) => {
                let message = "the literal has no width here";
                self.report(
                    Kind::TypeMismatch,
                    span,
                    message,
                    "add a suffix: u32 u64 i32 i64",
                );
                return Typed::error();
            }
        };
        let (least, greatest) = width.range();
        let data = Integer::new(value).filter(|_| (least..=greatest).contains(&value));
        let Some(data) = data else {
            let message = format!(
                "the literal is outside {}, which holds {least} to {greatest}",
                width.name()
            );
            self.report(
                Kind::TypeMismatch,
                span,
                message,
                "choose a value of that range",
            );
            return Typed::error();
        };
        let mut typed = constant(Type::Integer(width), Data::Integer(data));
        typed.range = Some((value, value));
        typed.term = Some(Term::Literal(value));
        typed
    }

    pub(super) fn name(&mut self, span: Span, name: &str) -> Typed {
        let Some(variable) = self.names.get(name) else {
            let close = self
                .sink
                .nearest(name, self.names.keys().map(String::as_str));
            self.sink.report(unresolved(span, name, "local", close));
            return Typed::error();
        };
        let place = Place {
            root: variable.local,
            fields: Vec::new(),
        };
        let mut typed = Typed::new(variable.ty.clone(), CoreExpr::Local(variable.local));
        typed.range = variable.range;
        typed.term = Some(variable.alias.clone().unwrap_or(Term::Place(place)));
        typed
    }

    fn field(&mut self, expr: &Expr, base: &Expr, name: &Name) -> Typed {
        if let Some(typed) = self.dotted(expr, base, name) {
            return typed;
        }
        let typed = self.expr(base, Want::Nothing);
        let found = match &typed.ty {
            Type::Error => return Typed::error(),
            Type::Record(record) => record.fields.get(&name.text).cloned(),
            _ => None,
        };
        let Some(ty) = found else {
            self.unknown_field(name, &typed.ty);
            return Typed::error();
        };
        let term = match &typed.term {
            Some(Term::Place(place)) => {
                let mut place = place.clone();
                place.fields.push(name.text.clone());
                Some(Term::Place(place))
            }
            Some(Term::Literal(_) | Term::Length(_)) | None => None,
        };
        let core = CoreExpr::Field {
            base: Box::new(typed.expr()),
            field: name.text.clone(),
        };
        Typed {
            term,
            ..Typed::new(ty, core)
        }
    }

    fn unknown_field(&mut self, name: &Name, ty: &Type) {
        let close = match ty {
            Type::Record(record) => {
                let fields = record.fields.keys().map(String::as_str);
                self.sink.nearest(&name.text, fields)
            }
            _ => None,
        };
        let help = match (close, ty) {
            (Some(close), _) => format!("did you mean `{close}`?"),
            (None, Type::Record(record)) => {
                let fields: Vec<&str> = record.fields.keys().map(String::as_str).collect();
                format!("its fields are: {}", listed(&fields))
            }
            (None, _) => "only records have fields".to_owned(),
        };
        let message = format!("no field `{}` in {}", name.text, short(ty));
        self.report(Kind::UnknownField, name.span, message, &help);
    }

    /// `alias.constant`, `Enum.Case` and `alias.Enum.Case`; `None` if the base is a value.
    fn dotted(&mut self, expr: &Expr, base: &Expr, name: &Name) -> Option<Typed> {
        if let Some(variant) = self.variant_of(base) {
            return Some(self.construct(expr, &variant, name, None));
        }
        let ExprKind::Name(root) = &base.kind else {
            return None;
        };
        if self.names.contains_key(root) || !self.environment.aliases.contains_key(root) {
            return None;
        }
        let context = self.lawpack(root);
        let found = context.and_then(|context| context.constants.get(&name.text));
        if let Some((ty, data)) = found {
            if !self.may_copy(extent::constant(data)) {
                return Some(Typed::error());
            }
            let mut typed = constant(ty.clone(), data.clone());
            if let (Type::Integer(_), Data::Integer(value)) = (ty, data) {
                typed.range = Some((value.get(), value.get()));
                typed.term = Some(Term::Literal(value.get()));
            }
            return Some(typed);
        }
        let constants = context.map(|it| it.constants.keys().map(String::as_str));
        let close = constants.and_then(|known| self.sink.nearest(&name.text, known));
        let full = format!("{root}.{}", name.text);
        self.sink
            .report(unresolved(expr.span, &full, "constant", close));
        Some(Typed::error())
    }

    /// The variant that an expression names as a type.
    fn variant_of(&self, owner: &Expr) -> Option<Arc<VariantType>> {
        match self.named(owner)? {
            Type::Variant(variant) => Some(variant),
            _ => None,
        }
    }

    fn named(&self, owner: &Expr) -> Option<Type> {
        let name = |text: &str, span| Name {
            text: text.to_owned(),
            span,
        };
        let segments = match &owner.kind {
            ExprKind::Name(text) if !self.names.contains_key(text) => {
                vec![name(text, owner.span)]
            }
            ExprKind::Field(base, last) => match &base.kind {
                ExprKind::Name(text) if !self.names.contains_key(text) => {
                    vec![name(text, base.span), last.clone()]
                }
                _ => return None,
            },
            _ => return None,
        };
        self.environment.named_type(&Path {
            segments,
            span: owner.span,
        })
    }

    fn case(&mut self, expr: &Expr, owner: &Expr, case: &Name, payload: Option<&Expr>) -> Typed {
        match self.named(owner) {
            Some(Type::Variant(variant)) => self.construct(expr, &variant, case, payload),
            Some(Type::Error) => Typed::error(),
            Some(other) => {
                let message = format!("{} has no cases", short(&other));
                self.report(
                    Kind::UnknownCase,
                    case.span,
                    message,
                    "use a variant or an enum",
                );
                Typed::error()
            }
            None => {
                self.sink
                    .report(unresolved(owner.span, "this", "variant", None));
                Typed::error()
            }
        }
    }

    fn construct(
        &mut self,
        expr: &Expr,
        variant: &Arc<VariantType>,
        case: &Name,
        payload: Option<&Expr>,
    ) -> Typed {
        let Some(declared) = variant.payload(&case.text) else {
            let names = variant.cases.iter().map(|(name, _)| name.as_str());
            let known = first_of(names.len(), names);
            self.unknown_case(case, &variant.coordinate, &known);
            return Typed::error();
        };
        let core = match (declared, payload) {
            (None, None) => None,
            (Some(ty), Some(payload)) => Some(Box::new(self.expr(payload, Want::Must(ty)).expr())),
            (declared, payload) => {
                if let Some(payload) = payload {
                    self.expr(payload, Want::Hint(&Type::Error));
                }
                let (message, help) = match declared {
                    Some(ty) => (
                        format!("case `{}` needs a payload", case.text),
                        format!("write `{}(value)` with a {}", case.text, short(ty)),
                    ),
                    None => (
                        format!("case `{}` has no payload", case.text),
                        "remove the payload".to_owned(),
                    ),
                };
                self.report(Kind::SignatureMismatch, expr.span, message, &help);
                return Typed::error();
            }
        };
        if !self.may_copy(extent::length(&variant.coordinate)) {
            return Typed::error();
        }
        let core = CoreExpr::Variant {
            ty: variant.coordinate.clone(),
            case: case.text.clone(),
            payload: core,
        };
        Typed::new(Type::Variant(variant.clone()), core)
    }

    pub(super) fn unknown_case(&mut self, case: &Name, owner: &str, known: &str) {
        let message = format!("no case `{}` in {owner}", case.text);
        let help = format!("its cases are: {known}");
        self.report(Kind::UnknownCase, case.span, message, &help);
    }
}

/// A constant of a type.
pub(super) fn constant(ty: Type, value: Data) -> Typed {
    Typed::new(ty.clone(), CoreExpr::Const { ty, value })
}
