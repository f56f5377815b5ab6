// SPDX-License-Identifier: Apache-2.0
//! Checks calls of the built-ins (section 2.6).

use super::{Checker, Typed, Want, short};
use crate::diagnostic::Kind;
use crate::syntax::ast::{Call, Expr};
use crate::types::environment::{is_nullable, nested_option};
use crate::types::facts::{Operand, Range, Term};
use crate::types::relate;
use crate::types::ty::{Type, Width};
use std::sync::Arc;

const U64: Type = Type::Integer(Width::U64);
const U32: Type = Type::Integer(Width::U32);

fn is_bytes(ty: &Type) -> bool {
    matches!(ty, Type::Bytes { .. })
}

fn is_option(ty: &Type) -> bool {
    matches!(ty, Type::Option(_))
}

fn is_integer(ty: &Type) -> bool {
    matches!(ty, Type::Integer(_))
}

/// Number of arguments and the least and greatest number of type arguments.
fn arity(name: &str) -> (usize, usize, usize) {
    match name {
        "none" => (0, 1, 1),
        "narrow" | "wrap" => (1, 1, 1),
        "some" => (1, 0, 1),
        "slice" | "checkedSlice" => (3, 0, 0),
        "at" | "checkedAdd" | "checkedSub" | "checkedMul" | "checkedDiv" | "checkedRem"
        | "isUtf8Boundary" | "default" => (2, 0, 0),
        _ => (1, 0, 0),
    }
}

impl Checker<'_, '_> {
    pub(super) fn builtin(
        &mut self,
        expr: &Expr,
        call: &Call,
        name: &str,
        want: Want<'_>,
    ) -> Typed {
        let (n, least, most) = arity(name);
        if call.arguments.len() != n || !(least..=most).contains(&call.types.len()) {
            let takes = match most {
                0 => format!("takes {n} arguments and no type argument"),
                _ => format!("takes {n} arguments and one type argument"),
            };
            self.wrong_arity(expr.span, &takes);
            self.drain(call);
            return Typed::error();
        }
        let named = call
            .types
            .first()
            .map(|ty| self.environment.resolve(ty, self.sink));
        let typed = match (call.arguments.as_slice(), named) {
            ([], Some(item)) => self.none(expr, item),
            ([x], Some(ty)) => match name {
                "narrow" => self.narrow(expr, x, ty),
                "wrap" => self.wrap(expr, call, x, &ty),
                _ => self.some(expr, x, Want::Must(&ty), Some(&ty)),
            },
            ([x], None) => self.unary_builtin(expr, name, x, want),
            ([x, y], None) => self.binary_builtin(expr, name, x, y, want),
            ([x, start, end], None) => self.slice(expr, name, [x, start, end]),
            _ => None,
        };
        typed.unwrap_or_else(Typed::error)
    }

    /// An argument of a kind; `None` after a mistake.
    fn kind(
        &mut self,
        argument: &Expr,
        want: Want<'_>,
        accepts: fn(&Type) -> bool,
        what: &str,
    ) -> Option<Typed> {
        let typed = self.expr(argument, want);
        if !typed.is_error() && !accepts(&typed.ty) {
            self.mismatch(argument.span, what, &typed.ty);
            return None;
        }
        (!typed.is_error()).then_some(typed)
    }

    fn must(&mut self, argument: &Expr, ty: &Type) -> Option<Typed> {
        let typed = self.expr(argument, Want::Must(ty));
        (!typed.is_error()).then_some(typed)
    }

    fn unary_builtin(
        &mut self,
        expr: &Expr,
        name: &str,
        x: &Expr,
        want: Want<'_>,
    ) -> Option<Typed> {
        let bytes = |it: &mut Self| it.kind(x, Want::Nothing, is_bytes, "bytes");
        let option = |it: &mut Self| it.kind(x, Want::Nothing, is_option, "an Option");
        let (callee, x) = match name {
            "len" => return self.len(expr, x),
            "some" => {
                let item = match want.ty() {
                    Some(Type::Option(item)) => Want::Hint(item),
                    Some(Type::Error) => Want::Hint(&Type::Error),
                    _ => Want::Nothing,
                };
                return self.some(expr, x, item, None);
            }
            "toU64" => {
                let x = self.must(x, &U32)?;
                let range = self.facts.tighten(&x.operand());
                let typed = self.built(expr.span, "core.integer.toU64", vec![x], None);
                return Some(Typed {
                    range: Some(range),
                    ..typed
                });
            }
            "decimal" => {
                let x = self.kind(x, Want::Nothing, is_integer, "an integer")?;
                ("core.integer.decimal", x)
            }
            "hex" => ("core.bytes.hex", bytes(self)?),
            "validUtf8" => ("core.utf8.valid", bytes(self)?),
            "utf8Decode" => ("core.utf8.decode", bytes(self)?),
            "utf8Encode" => {
                let is_text = |ty: &Type| matches!(ty, Type::Text { .. });
                (
                    "core.utf8.encode",
                    self.kind(x, Want::Nothing, is_text, "text")?,
                )
            }
            "isSome" => {
                let x = option(self)?;
                let place = match &x.term {
                    Some(Term::Place(place)) => Some(place.clone()),
                    _ => None,
                };
                let mut typed = self.built(expr.span, "core.option.isSome", vec![x], None);
                let facts = place.into_iter().map(crate::types::facts::Fact::Some);
                typed.truth.holds = facts.collect();
                return Some(typed);
            }
            "unwrap" => {
                let x = option(self)?;
                let proven = match &x.term {
                    Some(Term::Place(place)) => self.facts.has_value(place),
                    _ => false,
                };
                if !proven {
                    let message = "cannot show that the Option has a value";
                    let help =
                        "`require isSome(…)` of the same path first, or use `default` or `match`";
                    self.report(Kind::UnsupportedSourceShape, expr.span, message, help);
                    return None;
                }
                ("core.option.unwrap", x)
            }
            "raw" => {
                let is_nominal = |ty: &Type| matches!(ty, Type::Nominal(_));
                let x = self.kind(x, Want::Nothing, is_nominal, "a nominal value")?;
                ("core.nominal.raw", x)
            }
            _ => return None,
        };
        Some(self.built(expr.span, callee, vec![x], None))
    }

    fn len(&mut self, expr: &Expr, x: &Expr) -> Option<Typed> {
        let accepts = |ty: &Type| {
            matches!(
                ty,
                Type::Text { .. } | Type::Bytes { .. } | Type::List { .. }
            )
        };
        let x = self.kind(x, Want::Nothing, accepts, "text, bytes or a list")?;
        let callee = match x.ty {
            Type::Text { .. } => "core.string.length",
            Type::Bytes { .. } => "core.bytes.length",
            _ => "core.list.length",
        };
        let operand = length_of(&x);
        let typed = self.built(expr.span, callee, vec![x], None);
        Some(Typed {
            range: Some(operand.range),
            term: operand.term,
            ..typed
        })
    }

    fn binary_builtin(
        &mut self,
        expr: &Expr,
        name: &str,
        x: &Expr,
        y: &Expr,
        want: Want<'_>,
    ) -> Option<Typed> {
        let (callee, x, y) = match name {
            "at" => {
                let accepts = |ty: &Type| matches!(ty, Type::Bytes { .. } | Type::List { .. });
                let one = self.kind(x, Want::Nothing, accepts, "bytes or a list");
                let y = self.must(y, &U64);
                let one = one?;
                if let Type::List { item, .. } = &one.ty
                    && is_nullable(item)
                {
                    self.sink.report(nested_option(expr.span));
                    return None;
                }
                let callee = match one.ty {
                    Type::Bytes { .. } => "core.bytes.at",
                    _ => "core.list.at",
                };
                (callee, one, y?)
            }
            "isUtf8Boundary" => {
                let x = self.kind(x, Want::Nothing, is_bytes, "bytes");
                let y = self.must(y, &U64);
                ("core.utf8.isBoundary", x?, y?)
            }
            "default" => return self.default(expr, x, y, want),
            _ => return self.checked(expr, name, x, y, want),
        };
        Some(self.built(expr.span, callee, vec![x, y], None))
    }

    fn default(&mut self, expr: &Expr, x: &Expr, y: &Expr, want: Want<'_>) -> Option<Typed> {
        let hint = want.ty().map(|ty| Type::Option(Arc::new(ty.clone())));
        let hint = hint.as_ref().map_or(Want::Nothing, Want::Hint);
        let x = self.kind(x, hint, is_option, "an Option");
        let item = match x.as_ref().map(|it| &it.ty) {
            Some(Type::Option(item)) => Some(item.clone()),
            _ => None,
        };
        let place = item
            .as_ref()
            .map_or(Want::Hint(&Type::Error), |it| Want::Must(it));
        let y = self.expr(y, place);
        let x = x?;
        if y.is_error() {
            return None;
        }
        Some(self.built(expr.span, "core.option.default", vec![x, y], None))
    }

    fn checked(
        &mut self,
        expr: &Expr,
        name: &str,
        x: &Expr,
        y: &Expr,
        want: Want<'_>,
    ) -> Option<Typed> {
        let want = match want.ty() {
            Some(Type::Option(item)) => Want::Hint(item),
            _ => Want::Nothing,
        };
        let (one, two) = self.operands(x, y, want, is_integer, "an integer")?;
        if !relate::same(&one.ty, &two.ty) {
            self.mismatch(y.span, &short(&one.ty), &two.ty);
            return None;
        }
        let callee = format!("core.integer.{name}");
        Some(self.built(expr.span, &callee, vec![one, two], None))
    }

    fn slice(&mut self, expr: &Expr, name: &str, arguments: [&Expr; 3]) -> Option<Typed> {
        let [x, start, end] = arguments;
        let x = self.kind(x, Want::Nothing, is_bytes, "bytes");
        let start = self.must(start, &U64);
        let end = self.must(end, &U64);
        let (x, start, end) = (x?, start?, end?);
        if name == "checkedSlice" {
            let operands = vec![x, start, end];
            return Some(self.built(expr.span, "core.bytes.checkedSlice", operands, None));
        }
        let (low, high) = (start.operand(), end.operand());
        let ordered = self.facts.at_most(&low, &high);
        let inside = self.facts.at_most(&high, &length_of(&x));
        if !ordered || !inside {
            let message = match (ordered, inside) {
                (false, false) => "cannot show that start <= end and end <= len",
                (false, true) => "cannot show that start <= end",
                _ => "cannot show that end <= len",
            };
            let help = "add a `require`, or use `checkedSlice`";
            self.report(Kind::UnsupportedSourceShape, expr.span, message, help);
            return None;
        }
        Some(self.built(expr.span, "core.bytes.slice", vec![x, start, end], None))
    }

    fn some(
        &mut self,
        expr: &Expr,
        x: &Expr,
        want: Want<'_>,
        item: Option<&Type>,
    ) -> Option<Typed> {
        let x = self.expr(x, want);
        let item = item.unwrap_or(&x.ty).clone();
        if is_nullable(&item) {
            self.sink.report(nested_option(expr.span));
            return None;
        }
        if x.is_error() || matches!(item, Type::Error) {
            return None;
        }
        let result = self.bounded(Type::Option(Arc::new(item)), expr.span);
        Some(self.built(expr.span, "core.option.some", vec![x], Some(result)))
    }

    fn none(&mut self, expr: &Expr, item: Type) -> Option<Typed> {
        if is_nullable(&item) {
            self.sink.report(nested_option(expr.span));
            return None;
        }
        if matches!(item, Type::Error) {
            return None;
        }
        let result = Type::Option(Arc::new(item));
        Some(self.built(expr.span, "core.option.none", Vec::new(), Some(result)))
    }

    fn narrow(&mut self, expr: &Expr, x: &Expr, to: Type) -> Option<Typed> {
        let from = self.expr(x, Want::Nothing);
        if from.is_error() || matches!(to, Type::Error) {
            return None;
        }
        let fits = match (&from.ty, &to) {
            (Type::Integer(_), Type::Integer(_))
            | (Type::Text { .. }, Type::Text { .. })
            | (Type::Bytes { .. }, Type::Bytes { .. }) => true,
            (Type::List { item: a, .. }, Type::List { item: b, .. }) => relate::assignable(a, b),
            _ => false,
        };
        if !fits {
            let what = format!("a value of the kind of {}", short(&to));
            self.mismatch(x.span, &what, &from.ty);
            return None;
        }
        let result = Type::Option(Arc::new(to));
        Some(self.built(expr.span, "core.narrow", vec![from], Some(result)))
    }

    fn wrap(&mut self, expr: &Expr, call: &Call, x: &Expr, to: &Type) -> Option<Typed> {
        let Type::Nominal(nominal) = to else {
            self.expr(x, Want::Hint(&Type::Error));
            if let Some(ty) = call.types.first() {
                self.mismatch(ty.span, "a nominal type", to);
            }
            return None;
        };
        let x = self.must(x, &nominal.representation)?;
        Some(self.built(expr.span, "core.nominal.wrap", vec![x], Some(to.clone())))
    }
}

/// The length of a value as an operand of a proof.
fn length_of(x: &Typed) -> Operand {
    let range: Range = match x.ty {
        Type::Bytes { min, max } => (min.into(), max.into()),
        Type::Text { max } | Type::List { max, .. } => (0, max.into()),
        _ => Width::U64.range(),
    };
    let term = match &x.term {
        Some(Term::Place(place)) => Some(Term::Length(place.clone())),
        Some(Term::Literal(_) | Term::Length(_)) | None => None,
    };
    Operand { term, range }
}
