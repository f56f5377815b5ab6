// SPDX-License-Identifier: Apache-2.0
//! The type checker: a syntax tree goes in, Core comes out, every mistake is reported once.

mod aggregate;
mod body;
mod builtin;
mod call;
mod choice;
mod condition;
mod effect;
mod expression;
mod operator;
mod result;
mod statement;

pub(crate) use body::{Cut, Pass};

use super::environment::{Alias, Environment};
use super::facts::{Facts, Operand, Range, Term, Truth};
use super::size;
use super::ty::Type;
use crate::core::extent::MAX_ARTIFACT;
use crate::core::tree::{Comparison, Expr as CoreExpr, Local, Predicate};
use crate::diagnostic::{Finding, Kind, Sink, Span};
use crate::lawpack::context::{LawpackContext, Profile};
use edict_codec::cbor::Value as Data;
use std::collections::BTreeMap;

/// Most parts of the text of a type.
const MAX_TYPE_PARTS: u64 = 4096;

/// What the place of an expression asks for.
#[derive(Debug, Clone, Copy)]
enum Want<'w> {
    /// Nothing is known.
    Nothing,
    /// Literals take this type, anything else may differ.
    Hint(&'w Type),
    /// The value must be assignable to this type.
    Must(&'w Type),
}

impl<'w> Want<'w> {
    fn ty(self) -> Option<&'w Type> {
        match self {
            Self::Nothing => None,
            Self::Hint(ty) | Self::Must(ty) => Some(ty),
        }
    }
}

/// A local in scope.
#[derive(Debug, Clone)]
struct Variable {
    local: Local,
    ty: Type,
    /// The term that a `let` gave another name.
    alias: Option<Term>,
    range: Option<Range>,
}

/// Core of an expression; conditions become values only where one is needed.
#[derive(Debug)]
enum Value {
    Expr(CoreExpr),
    Predicate(Predicate),
    Bool(bool),
}

/// What is known about an expression.
#[derive(Debug)]
struct Typed {
    ty: Type,
    value: Value,
    /// Range without the facts about its own term; `None` is that of the width.
    range: Option<Range>,
    term: Option<Term>,
    truth: Truth,
}

fn bool_const(value: bool) -> CoreExpr {
    CoreExpr::Const {
        ty: Type::Bool,
        value: Data::Bool(value),
    }
}

impl Typed {
    fn new(ty: Type, value: CoreExpr) -> Self {
        Self {
            ty,
            value: Value::Expr(value),
            range: None,
            term: None,
            truth: Truth::default(),
        }
    }

    fn condition(predicate: Predicate, truth: Truth) -> Self {
        Self {
            ty: Type::Bool,
            value: Value::Predicate(predicate),
            range: None,
            term: None,
            truth,
        }
    }

    /// What stands for an expression with a mistake.
    fn error() -> Self {
        Self {
            ty: Type::Error,
            value: Value::Bool(false),
            range: None,
            term: None,
            truth: Truth::default(),
        }
    }

    fn is_error(&self) -> bool {
        matches!(self.ty, Type::Error)
    }

    /// The Core value.
    fn expr(self) -> CoreExpr {
        match self.value {
            Value::Expr(value) => value,
            Value::Bool(value) => bool_const(value),
            Value::Predicate(condition) => CoreExpr::If {
                condition: Box::new(condition),
                then: Box::new(bool_const(true)),
                otherwise: Box::new(bool_const(false)),
            },
        }
    }

    /// The Core condition.
    fn predicate(self) -> Predicate {
        match self.value {
            Value::Predicate(condition) => condition,
            Value::Bool(true) => Predicate::True,
            Value::Bool(false) => Predicate::False,
            Value::Expr(value) => Predicate::Compare {
                operator: Comparison::Equal,
                left: Box::new(value),
                right: Box::new(bool_const(true)),
            },
        }
    }

    /// As an operand of a comparison or a proof.
    fn operand(&self) -> Operand {
        let width = match self.ty {
            Type::Integer(width) => width.range(),
            _ => (0, 0),
        };
        Operand {
            term: self.term.clone(),
            range: self.range.unwrap_or(width),
        }
    }
}

/// State of one function or intent.
struct Checker<'c, 'a> {
    environment: &'c Environment<'a>,
    sink: &'c mut Sink,
    names: BTreeMap<String, Variable>,
    /// Names bound and facts known when each scope opened.
    scopes: Vec<(Vec<String>, usize)>,
    facts: Facts,
    locals: u32,
    obstructions: u32,
    /// The profile that effects are judged by; `None` in functions.
    profile: Option<&'a Profile>,
    /// Whether a part was left out because Core could not hold it.
    too_deep: bool,
    /// Bytes of coordinates and constants that Core holds copies of.
    copied: u64,
}

impl<'c, 'a> Checker<'c, 'a> {
    fn new(environment: &'c Environment<'a>, sink: &'c mut Sink) -> Self {
        Self {
            environment,
            sink,
            names: BTreeMap::new(),
            scopes: Vec::new(),
            facts: Facts::default(),
            locals: 0,
            obstructions: 0,
            profile: None,
            too_deep: false,
            copied: 0,
        }
    }

    fn open(&mut self) {
        self.scopes.push((Vec::new(), self.facts.mark()));
    }

    fn close(&mut self) {
        if let Some((names, facts)) = self.scopes.pop() {
            for name in names {
                self.names.remove(&name);
            }
            self.facts.reset(facts);
        }
    }

    fn bind(&mut self, name: &str, variable: Variable) {
        self.names.insert(name.to_owned(), variable);
        if let Some((names, _)) = self.scopes.last_mut() {
            names.push(name.to_owned());
        }
    }

    /// Binds a local about which only its type is known.
    fn bind_plain(&mut self, name: &str, local: Local, ty: Type) {
        self.bind(
            name,
            Variable {
                local,
                ty,
                alias: None,
                range: None,
            },
        );
    }

    /// The next number of a binder, in source order.
    fn fresh(&mut self) -> Local {
        let local = Local::Local(self.locals);
        self.locals = self.locals.saturating_add(1);
        local
    }

    /// Whether Core may hold another copy of so many bytes. A name is written once and met often:
    /// what is too large for an artifact must not be made in memory either.
    fn may_copy(&mut self, bytes: u64) -> bool {
        self.copied = self.copied.saturating_add(bytes);
        self.copied <= MAX_ARTIFACT
    }

    /// The lawpack behind an alias that no local hides.
    fn lawpack(&self, alias: &str) -> Option<&'a LawpackContext> {
        if self.names.contains_key(alias) {
            return None;
        }
        match self.environment.aliases.get(alias)? {
            Alias::Lawpack(context) => Some(context),
            Alias::Target | Alias::Missing => None,
        }
    }

    fn report(&mut self, kind: Kind, span: Span, message: impl Into<String>, help: &str) {
        let finding = Finding::new(kind, span, message);
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.sink.report(Finding { help, ..finding });
    }

    fn mismatch(&mut self, span: Span, expected: &str, found: &Type) {
        if matches!(found, Type::Error) {
            return;
        }
        let message = format!("expected {expected}, found {}", short(found));
        self.report(Kind::TypeMismatch, span, message, advice(expected, found));
    }

    /// Refuses a type whose text grows without measure.
    fn bounded(&mut self, ty: Type, span: Span) -> Type {
        let (parts, depth) = size::extent(&ty);
        if parts <= MAX_TYPE_PARTS && depth <= size::MAX_DEPTH {
            return ty;
        }
        let message = format!(
            "the type of this value has more than {MAX_TYPE_PARTS} parts or nests deeper than {}",
            size::MAX_DEPTH
        );
        self.report(
            Kind::LimitExceeded,
            span,
            message,
            "declare a named record type",
        );
        Type::Error
    }
}

fn advice(expected: &str, found: &Type) -> &'static str {
    let bounded = ["String<", "Bytes<", "List<"];
    match found {
        Type::Option(_) if expected.starts_with("Option<") => {
            "change the value or the declared type"
        }
        _ if expected.starts_with("Option<") => "make it an Option with `some`",
        Type::Integer(_) if expected.starts_with(['U', 'I']) => {
            "convert it with `toU64` or `narrow<T>`"
        }
        Type::Text { .. } | Type::Bytes { .. } | Type::List { .. }
            if bounded
                .iter()
                .any(|it| expected.starts_with(it) && found.to_string().starts_with(it)) =>
        {
            "widen the bound of its place, or use `narrow<T>`"
        }
        Type::Nominal(_) => "`raw` gives the representation, `wrap<T>` the nominal type",
        Type::Option(_) => "use `match`, `default`, or `unwrap` after `isSome`",
        _ => "change the value or the declared type",
    }
}

/// The text of a type, cut to a readable length.
fn short(ty: &Type) -> String {
    let text = ty.to_string();
    if text.chars().count() <= 120 {
        return text;
    }
    let mut cut: String = text.chars().take(119).collect();
    cut.push('…');
    cut
}
