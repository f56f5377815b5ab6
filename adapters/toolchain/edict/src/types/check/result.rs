// SPDX-License-Identifier: Apache-2.0
//! Binds the leaves of an intent's result that are no locals or field paths.

use super::Checker;
use crate::core::tree::{Binder, Expr, Node};
use crate::types::ty::Type;

impl Checker<'_, '_> {
    /// Appends one `let` a leaf, left to right, and returns the result over locals and paths.
    pub(super) fn bind_leaves(&mut self, value: Expr, ty: &Type, nodes: &mut Vec<Node>) -> Expr {
        match (value, ty) {
            (Expr::Record(fields), Type::Record(record)) => {
                let mut bound = Vec::new();
                for (name, value) in fields {
                    let ty = record.fields.get(&name).unwrap_or(&Type::Error);
                    let value = self.bind_leaves(value, ty, nodes);
                    bound.push((name, value));
                }
                Expr::Record(bound)
            }
            (value, _) if is_path(&value) => value,
            (value, ty) => {
                let local = self.fresh();
                let ty = ty.clone();
                nodes.push(Node::Let {
                    binding: Binder { local, ty },
                    value,
                });
                Expr::Local(local)
            }
        }
    }
}

fn is_path(value: &Expr) -> bool {
    match value {
        Expr::Local(_) => true,
        Expr::Field { base, .. } => is_path(base),
        Expr::Const { .. }
        | Expr::Record(_)
        | Expr::List { .. }
        | Expr::Variant { .. }
        | Expr::Match { .. }
        | Expr::Call { .. }
        | Expr::If { .. } => false,
    }
}
