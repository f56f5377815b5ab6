// SPDX-License-Identifier: Apache-2.0
//! Checks record and list literals.

use super::choice::{Join, natural};
use super::expression::is_bare;
use super::{Checker, Typed, Want, short};
use crate::core::tree::Expr as CoreExpr;
use crate::diagnostic::{Kind, Span, listed};
use crate::syntax::ast::{Expr, Name};
use crate::types::ty::{RecordType, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

impl Checker<'_, '_> {
    pub(super) fn record(
        &mut self,
        expr: &Expr,
        fields: &[(Name, Option<Expr>)],
        want: Want<'_>,
    ) -> Typed {
        let expected = match want.ty() {
            Some(Type::Record(record)) => Some(record.clone()),
            _ => None,
        };
        let mut types = BTreeMap::new();
        let mut core = Vec::new();
        for (name, value) in fields {
            let place = match (&expected, want) {
                (Some(record), _) => record.fields.get(&name.text).unwrap_or(&Type::Error),
                (None, Want::Nothing) => &Type::Bool,
                (None, Want::Hint(_) | Want::Must(_)) => &Type::Error,
            };
            let place = match want {
                Want::Nothing => Want::Nothing,
                Want::Hint(_) => Want::Hint(place),
                Want::Must(_) => Want::Must(place),
            };
            let typed = if let Some(value) = value {
                self.expr(value, place)
            } else {
                let typed = self.name(name.span, &name.text);
                self.settle(name.span, typed, place)
            };
            types.insert(name.text.clone(), typed.ty.clone());
            core.push((name.text.clone(), typed.expr()));
        }
        let fits = match want {
            Want::Must(ty) => self.same_fields(expr.span, fields, ty),
            Want::Hint(_) | Want::Nothing => true,
        };
        if !fits {
            return Typed::error();
        }
        let ty = Type::Record(Arc::new(RecordType {
            coordinate: None,
            fields: types,
        }));
        Typed::new(self.bounded(ty, expr.span), CoreExpr::Record(core))
    }

    fn same_fields(&mut self, span: Span, fields: &[(Name, Option<Expr>)], ty: &Type) -> bool {
        let Type::Record(record) = ty else {
            if !matches!(ty, Type::Error) {
                let message = format!("expected {}, found a record", short(ty));
                self.report(Kind::TypeMismatch, span, message, "change the value");
            }
            return false;
        };
        let written: BTreeSet<&str> = fields.iter().map(|(it, _)| it.text.as_str()).collect();
        let missing: Vec<&str> = record
            .fields
            .keys()
            .filter(|it| !written.contains(it.as_str()))
            .map(String::as_str)
            .collect();
        let unexpected: Vec<&str> = fields
            .iter()
            .map(|(it, _)| it.text.as_str())
            .filter(|it| !record.fields.contains_key(*it))
            .collect();
        if missing.is_empty() && unexpected.is_empty() {
            return true;
        }
        let mut parts = Vec::new();
        let mut help = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("missing {}", listed(&missing)));
            help.push(format!("add {}", listed(&missing)));
        }
        if !unexpected.is_empty() {
            parts.push(format!("unexpected {}", listed(&unexpected)));
            help.push(format!("remove {}", listed(&unexpected)));
        }
        self.report(Kind::TypeMismatch, span, parts.join("; "), &help.join("; "));
        false
    }

    pub(super) fn list(&mut self, expr: &Expr, items: &[Expr], want: Want<'_>) -> Typed {
        let max = u64::try_from(items.len()).unwrap_or(u64::MAX);
        let item_want = match want {
            Want::Must(Type::List { item, .. }) => Want::Must(item),
            Want::Hint(Type::List { item, .. }) => Want::Hint(item),
            // Reported below, or where the error came from.
            Want::Must(_) | Want::Hint(Type::Error) => Want::Hint(&Type::Error),
            Want::Hint(_) | Want::Nothing => Want::Nothing,
        };
        let mut join = Join::new(item_want);
        let mut typed: Vec<Option<Typed>> = items.iter().map(|_| None).collect();
        for bare in [false, true] {
            for (item, slot) in items.iter().zip(&mut typed) {
                if is_bare(item) == bare {
                    *slot = Some(join.part(self, item));
                }
            }
        }
        let fits = match want {
            Want::Must(Type::List { max: most, .. }) => max <= *most,
            Want::Must(ty) => matches!(ty, Type::Error),
            Want::Hint(_) | Want::Nothing => true,
        };
        if !fits && let Some(ty) = want.ty() {
            let message = format!("expected {}, found a list of {max} items", short(ty));
            self.report(
                Kind::TypeMismatch,
                expr.span,
                message,
                "remove items or widen the bound",
            );
            return Typed::error();
        }
        let types = typed.iter().flatten().map(|it| &it.ty);
        let item = match (natural(types), item_want.ty()) {
            (Some(ty), _) => ty,
            (None, Some(ty)) => ty.clone(),
            (None, None) => {
                let message = "the empty list has no item type here";
                self.report(Kind::TypeMismatch, expr.span, message, "annotate the `let`");
                Type::Error
            }
        };
        if matches!(item, Type::Error) {
            return Typed::error();
        }
        let core = CoreExpr::List {
            item: item.clone(),
            items: typed.into_iter().flatten().map(Typed::expr).collect(),
        };
        let item = Arc::new(item);
        Typed::new(self.bounded(Type::List { item, max }, expr.span), core)
    }
}
