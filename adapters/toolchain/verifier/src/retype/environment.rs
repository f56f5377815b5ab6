// SPDX-License-Identifier: Apache-2.0
//! What is known at a point of a program: locals, aliases, intervals and facts.

use super::facts::{Fact, Facts};
use crate::decode::expression::{Binder, Expression, Local, Operator, Predicate};
use crate::decode::reader::{Defect, refuse};
use crate::decode::types::{Type, Width};
use crate::table::TypeTable;
use edict_codec::cbor::Value;
use std::collections::BTreeMap;

/// Least and greatest value of an integer expression.
pub(crate) type Range = (i128, i128);

/// A local, then fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    local: Local,
    fields: Vec<String>,
}

/// What facts speak of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Term {
    Literal(i128),
    Place(Place),
    Length(Place),
}

#[derive(Clone, Debug)]
struct Known {
    ty: Type,
    range: Option<Range>,
    alias: Option<Term>,
}

/// A point to return to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    locals: usize,
    facts: usize,
}

/// Everything in scope.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    table: &'a TypeTable,
    known: BTreeMap<Local, Known>,
    order: Vec<Local>,
    facts: Facts,
}

/// An integer operand as a proof sees it.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    pub(crate) term: Option<Term>,
    pub(crate) range: Range,
}

impl<'a> Environment<'a> {
    /// Nothing in scope.
    pub(crate) fn new(table: &'a TypeTable) -> Self {
        Self {
            table,
            known: BTreeMap::new(),
            order: Vec::new(),
            facts: Facts::default(),
        }
    }

    /// The types.
    pub(crate) fn table(&self) -> &'a TypeTable {
        self.table
    }

    /// Where the scope stands now.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            locals: self.order.len(),
            facts: self.facts.count(),
        }
    }

    /// Forgets what came after `mark`.
    pub(crate) fn reset(&mut self, mark: Mark) {
        for local in self.order.drain(mark.locals..) {
            self.known.remove(&local);
        }
        self.facts.truncate(mark.facts);
    }

    /// Brings a binder into scope.
    pub(crate) fn declare(&mut self, binder: &Binder, range: Option<Range>) -> Result<(), Defect> {
        self.insert(binder, range, None)
    }

    /// Brings the binder of a `let` into scope.
    pub(crate) fn bind(
        &mut self,
        binder: &Binder,
        range: Option<Range>,
        value: &Expression,
    ) -> Result<(), Defect> {
        let alias = self.term(value);
        self.insert(binder, range, alias)
    }

    fn insert(
        &mut self,
        binder: &Binder,
        range: Option<Range>,
        alias: Option<Term>,
    ) -> Result<(), Defect> {
        let known = Known {
            ty: binder.ty.clone(),
            range,
            alias,
        };
        if self.known.insert(binder.local, known).is_some() {
            return refuse(format!("`{}` is bound twice", binder.local));
        }
        self.order.push(binder.local);
        Ok(())
    }

    /// The type of a local in scope.
    pub(crate) fn local(&self, local: Local) -> Option<&Type> {
        self.known.get(&local).map(|known| &known.ty)
    }

    /// The place that an expression names, aliases resolved.
    pub(crate) fn place(&self, value: &Expression) -> Option<Place> {
        match self.term(value)? {
            Term::Place(place) => Some(place),
            Term::Literal(_) | Term::Length(_) => None,
        }
    }

    /// The term that an expression is, aliases resolved.
    pub(crate) fn term(&self, value: &Expression) -> Option<Term> {
        match value {
            Expression::Constant {
                value: Value::Integer(integer),
                ..
            } => Some(Term::Literal(integer.get())),
            Expression::Local(local) => {
                Some(self.known.get(local)?.alias.clone().unwrap_or_else(|| {
                    Term::Place(Place {
                        local: *local,
                        fields: Vec::new(),
                    })
                }))
            }
            Expression::Field { base, field } => {
                let mut place = self.place(base)?;
                place.fields.push(field.clone());
                Some(Term::Place(place))
            }
            Expression::Call {
                callee, arguments, ..
            } if is_length(callee) => match &**arguments {
                [argument] => self.place(argument).map(Term::Length),
                _ => None,
            },
            _ => None,
        }
    }

    fn type_of(&self, place: &Place) -> Option<&Type> {
        let mut ty = self.local(place.local)?;
        for field in &place.fields {
            ty = self.table.fields(ty)?.get(field)?;
        }
        Some(self.table.resolve(ty))
    }

    /// The interval of a term from its type and definition alone.
    fn base(&self, term: &Term) -> Option<Range> {
        match term {
            Term::Literal(value) => Some((*value, *value)),
            Term::Length(place) => length_range(self.type_of(place)?),
            Term::Place(place) => {
                let stated = match &*place.fields {
                    [] => self.known.get(&place.local)?.range,
                    _ => None,
                };
                stated.or_else(|| match self.type_of(place)? {
                    Type::Integer(width) => Some(width.range()),
                    _ => None,
                })
            }
        }
    }

    /// The interval of a term, tightened along chains of facts. Facts that contradict one another
    /// leave no value and tighten nothing: that place is never reached.
    pub(crate) fn range(&self, term: &Term) -> Option<Range> {
        let base = self.base(term)?;
        let (mut least, mut greatest) = base;
        for other in self.facts.chain(term, true) {
            if let Some((_, bound)) = other.base {
                greatest = greatest.min(bound.saturating_sub(i128::from(other.strict)));
            }
        }
        for other in self.facts.chain(term, false) {
            if let Some((bound, _)) = other.base {
                least = least.max(bound.saturating_add(i128::from(other.strict)));
            }
        }
        Some(if least <= greatest {
            (least, greatest)
        } else {
            base
        })
    }

    /// Whether `left <= right` is shown.
    pub(crate) fn proves(&self, left: &Operand, right: &Operand) -> bool {
        if left.range.1 <= right.range.0 {
            return true;
        }
        match (&left.term, &right.term) {
            (Some(left), Some(right)) => left == right || self.facts.leads(left, right),
            _ => false,
        }
    }

    /// Whether `isSome` of the place is a fact.
    pub(crate) fn has_some(&self, place: &Place) -> bool {
        self.facts.has_some(place)
    }

    /// Learns that `condition` is `truth`.
    pub(crate) fn assume(&mut self, condition: &Predicate, truth: bool) {
        match (condition, truth) {
            (
                Predicate::Compare {
                    operator,
                    left,
                    right,
                },
                _,
            ) => {
                self.assume_comparison(*operator, left, right, truth);
            }
            (Predicate::All(parts), true) | (Predicate::Any(parts), false) => {
                for part in parts {
                    self.assume(part, truth);
                }
            }
            (Predicate::Not(part), _) => self.assume(part, !truth),
            (Predicate::All(_), false) | (Predicate::Any(_), true) | (Predicate::Literal(_), _) => {
            }
        }
    }

    fn assume_comparison(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        truth: bool,
    ) {
        if let Some(place) = self.tested(operator, left, right, truth) {
            return self.learn(Fact::Some(place));
        }
        let (Some(left), Some(right)) = (self.term(left), self.term(right)) else {
            return;
        };
        let order = |left, right, strict| Fact::Order {
            left,
            right,
            strict,
        };
        match (operator, truth) {
            (Operator::Equal, true) | (Operator::Unequal, false) => {
                self.learn(Fact::Equal(left, right));
            }
            (Operator::Equal, false) | (Operator::Unequal, true) => {}
            (Operator::Less, true) | (Operator::AtLeast, false) => {
                self.learn(order(left, right, true));
            }
            (Operator::AtMost, true) | (Operator::Greater, false) => {
                self.learn(order(left, right, false));
            }
            (Operator::Greater, true) | (Operator::AtMost, false) => {
                self.learn(order(right, left, true));
            }
            (Operator::AtLeast, true) | (Operator::Less, false) => {
                self.learn(order(right, left, false));
            }
        }
    }

    /// The place of `isSome(place) == true`.
    fn tested(
        &self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
        truth: bool,
    ) -> Option<Place> {
        let Expression::Constant {
            value: Value::Bool(expected),
            ..
        } = right
        else {
            return None;
        };
        let positive = match operator {
            Operator::Equal => *expected == truth,
            Operator::Unequal => *expected != truth,
            Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => false,
        };
        match left {
            Expression::Call {
                callee, arguments, ..
            } if positive && callee == "core.option.isSome" => match &**arguments {
                [argument] => self.place(argument),
                _ => None,
            },
            _ => None,
        }
    }

    fn learn(&mut self, fact: Fact) {
        let mut facts = std::mem::take(&mut self.facts);
        facts.learn(fact, |term| self.base(term));
        self.facts = facts;
    }
}

fn is_length(callee: &str) -> bool {
    matches!(
        callee,
        "core.bytes.length" | "core.string.length" | "core.list.length"
    )
}

/// The range of lengths of a type.
pub(crate) fn length_range(ty: &Type) -> Option<Range> {
    match ty {
        Type::String { max } | Type::List { max, .. } => Some((0, (*max).into())),
        Type::Bytes { min, max } => Some(((*min).into(), (*max).into())),
        Type::Bool | Type::Integer(_) | Type::Option(_) | Type::Record(_) | Type::Named(_) => None,
    }
}

/// The part of `range` that a width can hold; a proof shows that nothing else can occur.
pub(crate) fn clamp(range: Range, width: Width) -> Range {
    let (least, greatest) = width.range();
    (range.0.max(least), range.1.min(greatest))
}
