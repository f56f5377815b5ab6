// SPDX-License-Identifier: Apache-2.0
//! Reads expressions. Everything is read, branches never taken too;
//! what does not fit is found and replaced, and reading goes on.

mod condition;

use super::{
    builtins,
    findings::{Findings, Path},
    functions::Functions,
    tree::{Arm, Expr, Local},
    types::{Scope, TypeId, Types, shorten},
};
use crate::eval::{names::Names, read::read, value::Symbol, value::Value};
use edict_codec::cbor::Value as Cbor;

/// A reader of one unit: the intent or a function.
pub(crate) struct Reader<'a, 'b> {
    pub(crate) types: &'b mut Types,
    pub(crate) names: &'b mut Names,
    pub(crate) findings: &'b mut Findings,
    pub(crate) functions: &'b mut Functions<'a>,
    pub(crate) scope: Scope,
    pub(crate) path: Path<'a>,
    pub(crate) nodes: u64,
}

/// What stands in for something that was found wrong; such a program never runs.
fn stand_in() -> Expr {
    Expr::Const(Value::Bool(false))
}

impl<'a> Reader<'a, '_> {
    /// Records a wrong shape or reference at the current item.
    pub(crate) fn malformed(&mut self, message: &str) {
        self.findings.malformed(&self.path.text(), message);
    }

    fn unsupported(&mut self, message: &str) {
        self.findings.unsupported(&self.path.text(), message);
    }

    /// Reads the value under `key` with `read`.
    pub(crate) fn at<T>(&mut self, key: &'static str, read: impl FnOnce(&mut Self) -> T) -> T {
        self.path.key(key);
        let result = read(self);
        self.path.up();
        result
    }

    /// Reads each item under `key` with `read`.
    pub(crate) fn each<T>(
        &mut self,
        key: &'static str,
        value: &'a Cbor,
        mut read: impl FnMut(&mut Self, &'a Cbor) -> T,
    ) -> Vec<T> {
        self.path.key(key);
        let Some(items) = value.as_array() else {
            self.malformed("a list must stand here");
            self.path.up();
            return Vec::new();
        };
        let mut results = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            self.path.index(index);
            results.push(read(self, item));
            self.path.up();
        }
        self.path.up();
        results
    }

    /// The values of a map that has exactly `keys`.
    pub(crate) fn map<const N: usize>(
        &mut self,
        value: &'a Cbor,
        keys: [&'static str; N],
    ) -> Option<[&'a Cbor; N]> {
        let Some(entries) = value.as_map() else {
            self.malformed("a map must stand here");
            return None;
        };
        let mut values = [None; N];
        for (key, entry) in entries {
            let Some(key) = key.as_text() else {
                self.malformed("a key is no text");
                return None;
            };
            let place = keys.iter().position(|known| *known == key);
            let Some(slot) = place.and_then(|place| values.get_mut(place)) else {
                self.path.key(key);
                self.malformed(&format!("unknown key; the keys are {}", keys.join(", ")));
                self.path.up();
                return None;
            };
            *slot = Some(entry);
        }
        if let Some(place) = values.iter().position(Option::is_none) {
            let key = keys.get(place).copied().unwrap_or_default();
            self.at(key, |it| it.malformed("this key is missing"));
            return None;
        }
        Some(values.map(|found| found.unwrap_or(value)))
    }

    /// A text.
    pub(crate) fn text(&mut self, key: &'static str, value: &'a Cbor) -> Option<&'a str> {
        let text = value.as_text();
        if text.is_none() {
            self.at(key, |it| it.malformed("a text must stand here"));
        }
        text
    }

    /// A type text.
    pub(crate) fn ty(&mut self, key: &'static str, value: &'a Cbor) -> Option<TypeId> {
        self.at(key, |it| it.type_here(value))
    }

    fn type_here(&mut self, value: &'a Cbor) -> Option<TypeId> {
        let known = |text| self.types.known(text, self.scope);
        if let Some(id) = value.as_text().and_then(known) {
            return Some(id);
        }
        let path = self.path.text();
        let Some(text) = value.as_text() else {
            self.findings.bad_type(&path, "a type text must stand here");
            return None;
        };
        match self.types.text(text, self.scope, &path, self.names) {
            Ok(id) => Some(id),
            Err(error) => {
                self.findings.bad_type(&error.path, &error.message);
                None
            }
        }
    }

    /// A binder.
    pub(crate) fn binder(&mut self, key: &'static str, value: &'a Cbor) -> Local {
        self.at(key, |it| it.binder_here(value))
    }

    /// A binder at the current item.
    pub(crate) fn binder_here(&mut self, value: &'a Cbor) -> Local {
        let Some([id, name, ty]) = self.map(value, ["id", "name", "type"]) else {
            return Local::Binder(0);
        };
        self.ty("type", ty);
        self.text("name", name);
        self.at("id", |it| it.local(id))
    }

    /// A binder or null.
    pub(crate) fn optional_binder(&mut self, key: &'static str, value: &'a Cbor) -> Option<Local> {
        (!value.is_null()).then(|| self.binder(key, value))
    }

    fn local(&mut self, value: &'a Cbor) -> Local {
        value.as_text().and_then(parse_local).unwrap_or_else(|| {
            self.malformed("`arg.N`, `local.N` or `obstruction.N` must stand here");
            Local::Binder(0)
        })
    }

    /// A field or case name.
    pub(crate) fn symbol(&mut self, key: &'static str, value: &'a Cbor) -> Symbol {
        let text = self.text(key, value).unwrap_or_default();
        self.names.symbol(text)
    }

    /// An expression under `key`.
    pub(crate) fn expr(&mut self, key: &'static str, value: &'a Cbor) -> Expr {
        self.at(key, |it| it.expr_here(value))
    }

    /// An expression or null.
    pub(crate) fn optional_expr(&mut self, key: &'static str, value: &'a Cbor) -> Option<Expr> {
        (!value.is_null()).then(|| self.expr(key, value))
    }

    /// An expression at the current item. Recursion is bounded by the nesting of the encoding.
    pub(crate) fn expr_here(&mut self, value: &'a Cbor) -> Expr {
        self.nodes = self.nodes.saturating_add(1);
        let read = match value.get("kind").and_then(Cbor::as_text) {
            Some("const") => self.constant(value),
            Some("local") => self
                .map(value, ["id", "kind"])
                .map(|[id, _]| Expr::Local(self.at("id", |it| it.local(id)))),
            Some("field") => self.map(value, ["base", "field", "kind"]).map(|fields| {
                let [base, name, _] = fields;
                Expr::Field {
                    base: Box::new(self.expr("base", base)),
                    name: self.symbol("field", name),
                }
            }),
            Some("record") => self.record(value),
            Some("list") => self
                .map(value, ["item", "items", "kind"])
                .map(|[item, items, _]| {
                    self.ty("item", item);
                    Expr::List(self.each("items", items, Self::expr_here))
                }),
            Some("variant") => self.case(value),
            Some("match") => self.choice(value),
            Some("call") => self.call(value),
            Some("if") => self.map(value, ["condition", "else", "kind", "then"]).map(
                |[condition, otherwise, _, then]| Expr::If {
                    condition: Box::new(self.predicate("condition", condition)),
                    then: Box::new(self.expr("then", then)),
                    otherwise: Box::new(self.expr("else", otherwise)),
                },
            ),
            Some(kind) => {
                self.unsupported(&format!("no expression has the kind `{}`", shorten(kind)));
                None
            }
            None => {
                self.at("kind", |it| it.malformed("a kind must stand here"));
                None
            }
        };
        read.unwrap_or_else(stand_in)
    }

    fn constant(&mut self, value: &'a Cbor) -> Option<Expr> {
        let [_, ty, constant] = self.map(value, ["kind", "type", "value"])?;
        let id = self.ty("type", ty)?;
        match read(self.types, self.names, id, constant) {
            Ok(value) => Some(Expr::Const(value)),
            Err(mismatch) => {
                self.at("value", |it| {
                    it.malformed(&format!("{} at {}", mismatch.message, mismatch.path));
                });
                None
            }
        }
    }

    fn record(&mut self, value: &'a Cbor) -> Option<Expr> {
        let [fields, _] = self.map(value, ["fields", "kind"])?;
        let fields: Vec<(Symbol, Expr)> = self.each("fields", fields, |it, field| {
            match it.map(field, ["name", "value"]) {
                Some([name, value]) => (it.symbol("name", name), it.expr("value", value)),
                None => (0, stand_in()),
            }
        });
        let symbols: Vec<Symbol> = fields.iter().map(|field| field.0).collect();
        if self.names.shape(&symbols).is_none() {
            self.malformed("a field stands twice");
            return None;
        }
        Some(Expr::Record(fields))
    }

    fn case(&mut self, value: &'a Cbor) -> Option<Expr> {
        let [case, _, payload, ty] = self.map(value, ["case", "kind", "payload", "type"])?;
        let id = self.ty("type", ty);
        let name = self.symbol("case", case);
        let payload = self.optional_expr("payload", payload).map(Box::new);
        let known = id.is_none_or(|id| self.types.has_case(id, name, payload.is_some()));
        if !known {
            self.at("case", |it| it.malformed("the type has no such case"));
        }
        Some(Expr::Case { name, payload })
    }

    fn choice(&mut self, value: &'a Cbor) -> Option<Expr> {
        let [arms, _, matched] = self.map(value, ["arms", "kind", "value"])?;
        let matched = Box::new(self.expr("value", matched));
        let arms = self.each("arms", arms, |it, arm| {
            let (case, binding, value) = match it.map(arm, ["binding", "case", "value"]) {
                Some([binding, case, value]) => (
                    it.symbol("case", case),
                    it.optional_binder("binding", binding),
                    it.expr("value", value),
                ),
                None => (0, None, stand_in()),
            };
            Arm {
                case,
                binding,
                value,
            }
        });
        let mut cases: Vec<Symbol> = arms.iter().map(|arm| arm.case).collect();
        cases.sort_unstable();
        if cases.windows(2).any(|pair| pair.first() == pair.last()) {
            self.malformed("a case has two arms");
        }
        Some(Expr::Match {
            value: matched,
            arms,
        })
    }

    fn call(&mut self, value: &'a Cbor) -> Option<Expr> {
        let [args, callee, _, type_args] =
            self.map(value, ["args", "callee", "kind", "typeArgs"])?;
        let callee = self.text("callee", callee)?;
        let ids = self.each("typeArgs", type_args, Self::type_here);
        let args = self.each("args", args, Self::expr_here);
        if let Some(signature) = builtins::find(callee) {
            if args.len() != signature.arity || ids.len() != signature.type_arguments() {
                self.malformed("the built-in takes another number of arguments");
                return None;
            }
            let ids: Vec<TypeId> = ids.into_iter().collect::<Option<_>>()?;
            let builtin = signature.builtin(self.types, &ids);
            if builtin.is_none() {
                self.at("typeArgs", |it| {
                    it.malformed("the built-in does not take these types");
                });
            }
            return builtin.map(|builtin| Expr::Builtin { builtin, args });
        }
        let Some((function, arity)) = self.functions.reach(callee) else {
            self.at("callee", |it| {
                it.unsupported(&format!("nothing is called `{}`", shorten(callee)));
            });
            return None;
        };
        if args.len() != arity || !ids.is_empty() {
            self.malformed("the function takes another number of arguments");
            return None;
        }
        Some(Expr::Call { function, args })
    }
}

fn parse_local(text: &str) -> Option<Local> {
    let (class, number) = text.split_once('.')?;
    let canonical = number == "0" || !number.starts_with(['0', '+']);
    let number = number.parse().ok().filter(|_| canonical)?;
    match class {
        "arg" => Some(Local::Argument(number)),
        "local" => Some(Local::Binder(number)),
        "obstruction" => Some(Local::Obstruction(number)),
        _ => None,
    }
}
