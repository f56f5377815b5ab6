// SPDX-License-Identifier: Apache-2.0
//! Checks comparisons, concatenation and proven arithmetic (sections 2.2 and 2.5).

use super::expression::is_bare;
use super::{Checker, Typed, Want, short};
use crate::core::tree::{Comparison, Expr as CoreExpr, Predicate};
use crate::diagnostic::{Kind, Span};
use crate::syntax::ast::{Expr, Operator};
use crate::types::facts::{Range, Truth};
use crate::types::ty::{Type, Width};
use crate::types::{builtin, relate};

/// What an operator accepts.
type Accepts = fn(&Type) -> bool;

fn is_integer(ty: &Type) -> bool {
    matches!(ty, Type::Integer(_))
}

fn is_addable(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Integer(_) | Type::Text { .. } | Type::Bytes { .. }
    )
}

impl Checker<'_, '_> {
    /// Checks two operands: the one that is no bare literal first, else the left one; literals of
    /// the first take the integer that the place wants. `None` if either has a mistake.
    pub(super) fn operands(
        &mut self,
        left: &Expr,
        right: &Expr,
        want: Want<'_>,
        accepts: Accepts,
        accepted: &str,
    ) -> Option<(Typed, Typed)> {
        let (bare_left, bare_right) = (is_bare(left), is_bare(right));
        let swap = bare_left && !bare_right;
        let (first, second) = if swap { (right, left) } else { (left, right) };
        let place = match want.ty() {
            Some(ty @ (Type::Integer(_) | Type::Error)) => Want::Hint(ty),
            _ => Want::Nothing,
        };
        let one = self.operand(first, place, accepts, accepted);
        let (hint, accepts): (&Type, Accepts) = match &one {
            Some(one) => (&one.ty, accepts),
            // One mistake is enough for both.
            None => (&Type::Error, |_| true),
        };
        let two = self.operand(second, Want::Hint(hint), accepts, accepted);
        let (one, two) = (one?, two?);
        Some(if swap { (two, one) } else { (one, two) })
    }

    fn operand(
        &mut self,
        expr: &Expr,
        want: Want<'_>,
        accepts: Accepts,
        accepted: &str,
    ) -> Option<Typed> {
        let typed = self.expr(expr, want);
        if typed.is_error() {
            return None;
        }
        if !accepts(&typed.ty) {
            self.mismatch(expr.span, accepted, &typed.ty);
            return None;
        }
        Some(typed)
    }

    pub(super) fn binary(
        &mut self,
        expr: &Expr,
        operator: Operator,
        left: &Expr,
        right: &Expr,
        want: Want<'_>,
    ) -> Typed {
        let (accepts, accepted): (Accepts, &str) = match operator {
            Operator::Compare(Comparison::Equal | Comparison::NotEqual) => (|_| true, ""),
            Operator::Compare(_) => (is_integer, "an integer"),
            Operator::Add => (is_addable, "an integer, text or bytes"),
            Operator::Subtract | Operator::Multiply | Operator::Divide | Operator::Remainder => {
                (is_integer, "an integer")
            }
        };
        let want = match operator {
            Operator::Compare(_) => Want::Nothing,
            _ => want,
        };
        let Some((one, two)) = self.operands(left, right, want, accepts, accepted) else {
            return Typed::error();
        };
        match operator {
            Operator::Compare(operator) => self.comparison(operator, one, two, right.span),
            _ => self.arithmetic(expr.span, operator, one, two, right.span),
        }
    }

    fn comparison(&mut self, operator: Comparison, one: Typed, two: Typed, right: Span) -> Typed {
        let agrees = match (&one.ty, &two.ty) {
            (Type::Integer(a), Type::Integer(b)) => a == b,
            (a, b) => relate::join(a, b).is_some(),
        };
        if !agrees {
            self.mismatch(right, &short(&one.ty), &two.ty);
            return Typed::error();
        }
        let truth = if is_integer(&one.ty) {
            Truth::of(operator, one.operand(), two.operand())
        } else {
            Truth::default()
        };
        let predicate = Predicate::Compare {
            operator,
            left: Box::new(one.expr()),
            right: Box::new(two.expr()),
        };
        Typed::condition(predicate, truth)
    }

    fn arithmetic(
        &mut self,
        span: Span,
        operator: Operator,
        one: Typed,
        two: Typed,
        right: Span,
    ) -> Typed {
        let callee = match (operator, &one.ty) {
            (Operator::Add, Type::Text { .. }) => "core.string.concat",
            (Operator::Add, Type::Bytes { .. }) => "core.bytes.concat",
            (Operator::Add, _) => "core.integer.add",
            (Operator::Subtract, _) => "core.integer.subtract",
            (Operator::Multiply, _) => "core.integer.multiply",
            (Operator::Divide, _) => "core.integer.divide",
            (Operator::Remainder | Operator::Compare(_), _) => "core.integer.remainder",
        };
        let agrees = match (&one.ty, &two.ty) {
            (Type::Integer(a), Type::Integer(b)) => a == b,
            (Type::Text { .. }, Type::Text { .. }) | (Type::Bytes { .. }, Type::Bytes { .. }) => {
                true
            }
            _ => false,
        };
        if !agrees {
            self.mismatch(right, &short(&one.ty), &two.ty);
            return Typed::error();
        }
        let range = match &one.ty {
            Type::Integer(width) => match self.prove(operator, *width, &one, &two) {
                Ok(range) => Some(range),
                Err((what, total)) => {
                    let help = format!("add a `require`, or use `{total}`");
                    self.report(Kind::UnsupportedSourceShape, span, what, &help);
                    return Typed::error();
                }
            },
            _ => None,
        };
        let typed = self.built(span, callee, vec![one, two], None);
        Typed { range, ..typed }
    }

    /// The range of proven arithmetic, or what could not be shown and the total form.
    fn prove(
        &self,
        operator: Operator,
        width: Width,
        one: &Typed,
        two: &Typed,
    ) -> Result<Range, (String, &'static str)> {
        let (left, right) = (one.operand(), two.operand());
        let (a, b) = (self.facts.tighten(&left), self.facts.tighten(&right));
        let (least, greatest) = width.range();
        let fits = |range: Range| least <= range.0 && range.1 <= greatest;
        let outside = |range: Range, sign: &str| {
            format!(
                "cannot show that the result of `{sign}` fits {}: it may be {} to {}",
                width.name(),
                range.0,
                range.1
            )
        };
        match operator {
            Operator::Add => {
                let range = (a.0.saturating_add(b.0), a.1.saturating_add(b.1));
                let refused = (outside(range, "+"), "checkedAdd");
                fits(range).then_some(range).ok_or(refused)
            }
            Operator::Subtract => {
                let range = (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0));
                if fits(range) {
                    return Ok(range);
                }
                if least == 0 && self.facts.at_most(&right, &left) {
                    let low = range.0.max(0);
                    // A fact that never holds proves a difference that is never computed.
                    return Ok((low, range.1.max(low)));
                }
                if least < 0 {
                    return Err((outside(range, "-"), "checkedSub"));
                }
                Err((
                    "cannot show that the right operand is at most the left one".to_owned(),
                    "checkedSub",
                ))
            }
            Operator::Multiply => {
                let range = corners(a, b, i128::saturating_mul);
                let refused = (outside(range, "*"), "checkedMul");
                fits(range).then_some(range).ok_or(refused)
            }
            Operator::Divide | Operator::Remainder | Operator::Compare(_) => {
                let total = if operator == Operator::Divide {
                    "checkedDiv"
                } else {
                    "checkedRem"
                };
                if b.0 <= 0 && 0 <= b.1 {
                    return Err(("cannot show that the divisor is not 0".to_owned(), total));
                }
                if least < 0 && a.0 <= least && b.0 <= -1 && -1 <= b.1 {
                    let what = "cannot show that the least value is not divided by -1";
                    return Err((what.to_owned(), total));
                }
                Ok(if operator == Operator::Divide {
                    corners(a, b, |a, b| a.checked_div(b).unwrap_or(0))
                } else {
                    remainder(a, b)
                })
            }
        }
    }

    pub(super) fn negate(&mut self, expr: &Expr, part: &Expr, want: Want<'_>) -> Typed {
        let place = match want.ty() {
            Some(ty @ (Type::Integer(_) | Type::Error)) => Want::Hint(ty),
            _ => Want::Nothing,
        };
        let Some(typed) = self.operand(part, place, is_integer, "an integer") else {
            return Typed::error();
        };
        let (least, greatest) = match typed.ty {
            Type::Integer(width) => width.range(),
            _ => (0, 0),
        };
        let (low, high) = self.facts.tighten(&typed.operand());
        let range = (high.saturating_neg(), low.saturating_neg());
        if range.0 < least || greatest < range.1 {
            let message = format!(
                "cannot show that the result of `-` fits {}",
                short(&typed.ty)
            );
            let help = "add a `require`, or use `checkedSub(0, …)`";
            self.report(Kind::UnsupportedSourceShape, expr.span, message, help);
            return Typed::error();
        }
        let typed = self.built(expr.span, "core.integer.negate", vec![typed], None);
        Typed {
            range: Some(range),
            ..typed
        }
    }

    /// A call of a built-in on these operands; `named` is the type that its type argument gives.
    pub(super) fn built(
        &mut self,
        span: Span,
        callee: &str,
        operands: Vec<Typed>,
        named: Option<Type>,
    ) -> Typed {
        let mut types: Vec<Type> = operands.iter().map(|it| it.ty.clone()).collect();
        types.extend(named);
        let Some(ty) = builtin::result(callee, &types) else {
            let message = "the greatest length of the result does not fit U64";
            self.report(
                Kind::InvalidBound,
                span,
                message,
                "`narrow` the operands first",
            );
            return Typed::error();
        };
        let core = CoreExpr::Call {
            callee: callee.to_owned(),
            type_arguments: types,
            arguments: operands.into_iter().map(Typed::expr).collect(),
        };
        Typed::new(ty, core)
    }
}

/// Least and greatest result over the corners of two ranges.
fn corners(a: Range, b: Range, of: impl Fn(i128, i128) -> i128) -> Range {
    let all = [of(a.0, b.0), of(a.0, b.1), of(a.1, b.0), of(a.1, b.1)];
    all.into_iter()
        .fold((all[0], all[0]), |(least, greatest), it| {
            (least.min(it), greatest.max(it))
        })
}

/// The remainder is below the divisor in magnitude and has the sign of the dividend.
fn remainder(a: Range, b: Range) -> Range {
    let most =
        b.0.saturating_abs()
            .max(b.1.saturating_abs())
            .saturating_sub(1);
    let least = if a.0 < 0 { a.0.max(-most) } else { 0 };
    let greatest = if a.1 > 0 { a.1.min(most) } else { 0 };
    (least, greatest)
}
