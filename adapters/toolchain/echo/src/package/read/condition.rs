// SPDX-License-Identifier: Apache-2.0
//! Reads conditions and obstructions.

use super::Reader;
use crate::package::{
    tree::{Comparison, Expr, Predicate, Raise},
    types::shorten,
};
use edict_codec::cbor::Value as Cbor;

impl<'a> Reader<'a, '_> {
    /// A condition under `key`.
    pub(crate) fn predicate(&mut self, key: &'static str, value: &'a Cbor) -> Predicate {
        self.at(key, |it| it.predicate_here(value))
    }

    /// A condition at the current item.
    pub(crate) fn predicate_here(&mut self, value: &'a Cbor) -> Predicate {
        self.nodes = self.nodes.saturating_add(1);
        let read = match value.get("kind").and_then(Cbor::as_text) {
            Some("compare") => self.comparison(value),
            Some("all") => self.parts(value).map(Predicate::All),
            Some("any") => self.parts(value).map(Predicate::Any),
            Some("not") => self
                .map(value, ["kind", "part"])
                .map(|[_, part]| Predicate::Not(Box::new(self.predicate("part", part)))),
            Some("true") => self.map(value, ["kind"]).map(|_| Predicate::Literal(true)),
            Some("false") => self.map(value, ["kind"]).map(|_| Predicate::Literal(false)),
            Some(kind) => {
                self.unsupported(&format!("no condition has the kind `{}`", shorten(kind)));
                None
            }
            None => {
                self.at("kind", |it| it.malformed("a kind must stand here"));
                None
            }
        };
        read.unwrap_or(Predicate::Literal(false))
    }

    fn comparison(&mut self, value: &'a Cbor) -> Option<Predicate> {
        let [_, left, op, right] = self.map(value, ["kind", "left", "op", "right"])?;
        let comparison = match self.text("op", op)? {
            "==" => Some(Comparison::Equal),
            "!=" => Some(Comparison::Different),
            "<" => Some(Comparison::Less),
            "<=" => Some(Comparison::AtMost),
            ">" => Some(Comparison::Greater),
            ">=" => Some(Comparison::AtLeast),
            _ => None,
        };
        let (left, right) = (self.expr("left", left), self.expr("right", right));
        if comparison.is_none() {
            self.at("op", |it| it.unsupported("no comparison is spelled so"));
        }
        Some(Predicate::Compare {
            op: comparison?,
            left,
            right,
        })
    }

    fn parts(&mut self, value: &'a Cbor) -> Option<Vec<Predicate>> {
        let [_, parts] = self.map(value, ["kind", "parts"])?;
        let parts = self.each("parts", parts, Self::predicate_here);
        if parts.len() < 2 {
            self.malformed("two or more parts must stand here");
            return None;
        }
        Some(parts)
    }

    /// An obstruction that is raised, under `key`.
    pub(crate) fn raise(&mut self, key: &'static str, value: &'a Cbor) -> Raise {
        self.at(key, |it| it.raise_here(value))
    }

    fn raise_here(&mut self, value: &'a Cbor) -> Raise {
        let path = self.path.text();
        let (coordinate, payload) = self.raised(value).unwrap_or_default();
        Raise {
            coordinate,
            payload,
            path,
        }
    }

    fn raised(&mut self, value: &'a Cbor) -> Option<(String, Option<Expr>)> {
        match value.get("kind").and_then(Cbor::as_text) {
            Some("call") => {}
            Some(kind) => {
                self.unsupported(&format!("no obstruction has the kind `{}`", shorten(kind)));
                return None;
            }
            None => {
                self.at("kind", |it| it.malformed("a kind must stand here"));
                return None;
            }
        }
        let [args, callee, _, type_args] =
            self.map(value, ["args", "callee", "kind", "typeArgs"])?;
        let callee = self.text("callee", callee)?;
        let mut payload = self.each("args", args, Self::expr_here);
        let bare = type_args.as_array().is_some_and(<[Cbor]>::is_empty);
        let records = payload.iter().all(|it| matches!(it, Expr::Record(_)));
        if !bare || !records || payload.len() > 1 {
            self.malformed("an obstruction takes at most one record");
            return None;
        }
        Some((callee.to_owned(), payload.pop()))
    }
}
