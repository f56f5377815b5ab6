// SPDX-License-Identifier: Apache-2.0
//! Checks conditionals and `match`, and joins the types of their parts.

use super::expression::is_bare;
use super::{Checker, Typed, Want, short};
use crate::core::depth;
use crate::core::tree::{Binder, Expr as CoreExpr, MatchArm as CoreArm, Predicate};
use crate::diagnostic::{Kind, Span, first_of};
use crate::syntax::ast::{Expr, MatchArm};
use crate::types::facts::Range;
use crate::types::relate;
use crate::types::ty::{Type, VariantType};
use std::collections::BTreeMap;

/// The type that the parts of a choice or a list agree on so far.
pub(super) struct Join<'w> {
    want: Want<'w>,
    ty: Option<Type>,
}

impl<'w> Join<'w> {
    pub(super) fn new(want: Want<'w>) -> Self {
        Self { want, ty: None }
    }

    /// Checks a part; bare literals come last and take the type of the others.
    pub(super) fn part(&mut self, checker: &mut Checker<'_, '_>, expr: &Expr) -> Typed {
        if let Want::Must(_) = self.want {
            return checker.expr(expr, self.want);
        }
        let typed = match &self.ty {
            Some(ty) => checker.expr(expr, Want::Hint(ty)),
            None => checker.expr(expr, self.want),
        };
        self.add(checker, expr.span, typed)
    }

    /// Joins a part that is checked already.
    fn add(&mut self, checker: &mut Checker<'_, '_>, span: Span, typed: Typed) -> Typed {
        let Some(before) = self.ty.take() else {
            self.ty = Some(typed.ty.clone());
            return typed;
        };
        if let Some(joined) = relate::join(&before, &typed.ty) {
            self.ty = Some(joined);
            return typed;
        }
        checker.mismatch(span, &short(&before), &typed.ty);
        self.ty = Some(before);
        Typed::error()
    }
}

/// The cases of a matched type. They are looked up and never copied: a `match` costs its arms.
#[derive(Clone, Copy)]
enum Cases<'t> {
    Variant(&'t VariantType),
    Option(&'t Type),
}

/// What a name is among the cases of a type.
enum Case<'t> {
    Unknown,
    Plain,
    Payload(&'t Type),
}

impl<'t> Cases<'t> {
    fn case(self, name: &str) -> Case<'t> {
        match (self, name) {
            (Self::Variant(variant), _) => match variant.payload(name) {
                Some(Some(payload)) => Case::Payload(payload),
                Some(None) => Case::Plain,
                None => Case::Unknown,
            },
            (Self::Option(item), "Some") => Case::Payload(item),
            (Self::Option(_), "None") => Case::Plain,
            (Self::Option(_), _) => Case::Unknown,
        }
    }

    fn count(self) -> usize {
        match self {
            Self::Variant(variant) => variant.cases.len(),
            Self::Option(_) => 2,
        }
    }

    /// The first names, ascending, of the `all` that `wanted` picks.
    fn first(self, all: usize, wanted: impl Fn(&str) -> bool) -> String {
        match self {
            Self::Variant(variant) => first_of(all, variant.names().filter(|it| wanted(it))),
            Self::Option(_) => first_of(all, ["None", "Some"].into_iter().filter(|it| wanted(it))),
        }
    }
}

/// The join of types in written order; `None` for no types.
pub(super) fn natural<'t>(types: impl Iterator<Item = &'t Type>) -> Option<Type> {
    let mut joined: Option<Type> = None;
    for ty in types {
        joined = Some(match joined {
            None => ty.clone(),
            Some(_) if matches!(ty, Type::Error) => Type::Error,
            Some(Type::Error) => Type::Error,
            Some(before) => relate::join(&before, ty).unwrap_or(Type::Error),
        });
    }
    joined
}

impl Checker<'_, '_> {
    pub(super) fn conditional(
        &mut self,
        expr: &Expr,
        parts: &[(Expr, Expr)],
        otherwise: &Expr,
        want: Want<'_>,
    ) -> Typed {
        let mut join = Join::new(want);
        let mut conditions = Vec::new();
        let mut values: Vec<Option<(Typed, Option<Range>)>> = Vec::new();
        let mark = self.facts.mark();
        for (condition, value) in parts {
            let (predicate, truth) = self.condition(condition);
            conditions.push(predicate);
            let inner = self.facts.mark();
            self.facts.learn(&truth.holds);
            values.push(self.unless_bare(&mut join, value));
            self.facts.reset(inner);
            self.facts.learn(&truth.fails);
        }
        values.push(self.unless_bare(&mut join, otherwise));
        self.facts.reset(mark);
        let exprs = parts.iter().map(|(_, value)| value).chain([otherwise]);
        for (value, slot) in exprs.zip(&mut values) {
            if slot.is_none() {
                *slot = Some(self.part_with_range(&mut join, value));
            }
        }
        let values: Vec<(Typed, Option<Range>)> = values.into_iter().flatten().collect();
        let ty = natural(values.iter().map(|(it, _)| &it.ty)).unwrap_or(Type::Error);
        let ty = self.bounded(ty, expr.span);
        let range = values
            .iter()
            .map(|(_, range)| *range)
            .reduce(hull)
            .flatten();
        let core = self.nest(conditions, values);
        Typed {
            range,
            ..Typed::new(ty, core)
        }
    }

    fn unless_bare(&mut self, join: &mut Join<'_>, value: &Expr) -> Option<(Typed, Option<Range>)> {
        (!is_bare(value)).then(|| self.part_with_range(join, value))
    }

    /// A part and, for integers, its range under the facts of its place.
    fn part_with_range(&mut self, join: &mut Join<'_>, value: &Expr) -> (Typed, Option<Range>) {
        let typed = join.part(self, value);
        let range =
            matches!(typed.ty, Type::Integer(_)).then(|| self.facts.tighten(&typed.operand()));
        (typed, range)
    }

    /// Conditionals inside the `else` of each other, as long as Core can hold them.
    fn nest(
        &mut self,
        conditions: Vec<Predicate>,
        values: Vec<(Typed, Option<Range>)>,
    ) -> CoreExpr {
        let mut values: Vec<CoreExpr> = values.into_iter().map(|(it, _)| it.expr()).collect();
        let mut core = values.pop().unwrap_or_else(|| super::bool_const(false));
        let arms = conditions.len();
        for (nested, (condition, then)) in conditions.into_iter().zip(values).rev().enumerate() {
            if nested > 128 {
                self.too_deep = true;
                return super::bool_const(false);
            }
            core = CoreExpr::If {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(core),
            };
        }
        if arms > 1 && depth::expr(&core) > depth::MAX_CONTAINERS {
            self.too_deep = true;
            return super::bool_const(false);
        }
        core
    }

    pub(super) fn match_expr(&mut self, value: &Expr, arms: &[MatchArm], want: Want<'_>) -> Typed {
        let subject = self.expr(value, Want::Nothing);
        let subject_type = subject.ty.clone();
        let cases = self.cases(value.span, &subject_type);
        if let Some(cases) = &cases {
            self.judge_arms(value.span, arms, *cases);
        }
        let mut join = Join::new(want);
        let mut typed: Vec<Option<Typed>> = Vec::new();
        let mut binders = Vec::new();
        for arm in arms {
            self.open();
            let binder = self.arm_binder(arm, cases);
            typed.push((!is_bare(&arm.value)).then(|| join.part(self, &arm.value)));
            binders.push(binder);
            self.close();
        }
        for (arm, slot) in arms.iter().zip(&mut typed) {
            if slot.is_none() {
                *slot = Some(join.part(self, &arm.value));
            }
        }
        let typed: Vec<Typed> = typed.into_iter().flatten().collect();
        let ty = natural(typed.iter().map(|it| &it.ty)).unwrap_or(Type::Error);
        if cases.is_none() {
            return Typed::error();
        }
        let parts = arms.iter().zip(binders).zip(typed);
        let core = CoreExpr::Match {
            value: Box::new(subject.expr()),
            arms: parts
                .map(|((arm, binding), typed)| CoreArm {
                    case: arm.case.text.clone(),
                    binding,
                    value: typed.expr(),
                })
                .collect(),
        };
        Typed::new(self.bounded(ty, value.span), core)
    }

    /// The cases of a matched type and their payloads.
    fn cases<'t>(&mut self, span: Span, ty: &'t Type) -> Option<Cases<'t>> {
        match ty {
            Type::Variant(variant) => Some(Cases::Variant(variant)),
            Type::Option(item) => Some(Cases::Option(item)),
            other => {
                self.mismatch(span, "a variant, an enum or an Option", other);
                None
            }
        }
    }

    /// Unknown, repeated and missing cases; a missing one is not reported beside an unknown one.
    fn judge_arms(&mut self, span: Span, arms: &[MatchArm], cases: Cases<'_>) {
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        let mut unknown = false;
        for arm in arms {
            if let Case::Unknown = cases.case(&arm.case.text) {
                unknown = true;
                let known = cases.first(cases.count(), |_| true);
                self.unknown_case(&arm.case, "the matched type", &known);
            } else if seen.contains_key(arm.case.text.as_str()) {
                let message = format!("case `{}` is handled already", arm.case.text);
                self.report(
                    Kind::DuplicateCase,
                    arm.case.span,
                    message,
                    "remove the arm",
                );
            } else {
                seen.insert(&arm.case.text, arm.case.span);
            }
        }
        let missing = cases.count().saturating_sub(seen.len());
        if missing > 0 && !unknown {
            let missing = cases.first(missing, |it| !seen.contains_key(it));
            let message = format!("missing {missing}");
            let help = format!("add arms for {missing}");
            self.report(Kind::NonExhaustiveMatch, span, message, &help);
        }
    }

    fn arm_binder(&mut self, arm: &MatchArm, cases: Option<Cases<'_>>) -> Option<Binder> {
        let name = arm.binder.as_ref()?;
        let local = self.fresh();
        let case = cases.map_or(Case::Unknown, |it| it.case(&arm.case.text));
        let ty = match case {
            Case::Payload(ty) => ty.clone(),
            Case::Plain => {
                let message = format!("case `{}` has no payload to bind", arm.case.text);
                let help = format!("write `{} => …`", arm.case.text);
                self.report(Kind::SignatureMismatch, name.span, message, &help);
                Type::Error
            }
            Case::Unknown => Type::Error,
        };
        self.bind_plain(&name.text, local, ty.clone());
        Some(Binder { local, ty })
    }
}

fn hull(left: Option<Range>, right: Option<Range>) -> Option<Range> {
    let (left, right) = (left?, right?);
    Some((left.0.min(right.0), left.1.max(right.1)))
}
