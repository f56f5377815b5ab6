// SPDX-License-Identifier: Apache-2.0
//! Walking Core: expressions, predicates and statements, each charged on entry.
//!
//! Recursion follows the nesting of the artifact, at most 128, and calls, at most 128 deep.

use super::builtin;
use super::datum::Datum;
use super::effect::{Call, World};
use super::meter::{Exhausted, Meter};
use crate::cost::Cost;
use crate::decode::core::{Block, Fold, Function, Node, Raise};
use crate::decode::expression::{Arm, Binder, Expression, Local, Operator, Predicate};
use crate::decode::types::Type;
use crate::table::{TypeTable, length};
use std::collections::BTreeMap;
use std::rc::Rc;

const MAX_CALL_DEPTH: usize = 128;

/// Why evaluation ended before a result.
#[derive(Debug)]
pub(crate) enum Stop {
    /// An authored obstruction.
    Raised { obstruction: String, payload: Datum },
    /// A constraint on the input was false.
    Constraint(usize),
    /// A charge did not fit.
    Exhausted(Exhausted),
    /// The program breaks a promise that typing makes.
    Fault(String),
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

/// A failing evaluation for a program that is not well-typed.
pub(crate) fn fault<T>(message: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fault(message.into()))
}

/// Values of the locals of one function or intent.
pub(crate) type Frame = BTreeMap<Local, Datum>;

/// Evaluation of one invocation.
#[derive(Debug)]
pub(crate) struct Machine<'a> {
    pub(crate) meter: Meter,
    pub(crate) table: &'a TypeTable,
    pub(crate) functions: &'a BTreeMap<String, &'a Function>,
    pub(crate) depth: usize,
    /// The atoms of a program with effects.
    pub(crate) world: Option<World<'a>>,
}

impl Machine<'_> {
    /// Evaluates an expression.
    pub(crate) fn expression(
        &mut self,
        value: &Expression,
        frame: &mut Frame,
    ) -> Result<Datum, Stop> {
        self.meter.charge(Cost::VISIT)?;
        match value {
            Expression::Constant { ty, value } => Datum::read(value, ty, self.table)
                .or_else(|defect| fault(format!("constant: {}", defect.message()))),
            Expression::Local(local) => match frame.get(local) {
                Some(value) => Ok(value.clone()),
                None => fault(format!("`{local}` has no value")),
            },
            Expression::Field { base, field } => match self.expression(base, frame)? {
                Datum::Record(fields) => match fields.get(field) {
                    Some(value) => Ok(value.clone()),
                    None => fault(format!("no field `{field}`")),
                },
                _ => fault(format!("no record with a field `{field}`")),
            },
            Expression::Record(fields) => self.record(fields, frame),
            Expression::List { items, .. } => {
                let items = self.all(items, frame)?;
                self.meter.charge(Cost::list(length(items.len())))?;
                Ok(Datum::List(items.into()))
            }
            Expression::Case { case, payload, .. } => {
                let payload = match payload {
                    None => None,
                    Some(payload) => {
                        let payload = self.expression(payload, frame)?;
                        self.meter.charge(Cost::CELL)?;
                        Some(Rc::new(payload))
                    }
                };
                Ok(Datum::Case(case.as_str().into(), payload))
            }
            Expression::Match { value, arms } => self.choice(value, arms, frame),
            Expression::Call {
                callee,
                type_arguments,
                arguments,
            } => self.call(callee, type_arguments, arguments, frame),
            Expression::If {
                condition,
                then,
                otherwise,
            } => {
                let chosen = if self.predicate(condition, frame)? {
                    then
                } else {
                    otherwise
                };
                self.expression(chosen, frame)
            }
        }
    }

    fn all(&mut self, values: &[Expression], frame: &mut Frame) -> Result<Vec<Datum>, Stop> {
        values
            .iter()
            .map(|value| self.expression(value, frame))
            .collect()
    }

    fn record(
        &mut self,
        fields: &[(String, Expression)],
        frame: &mut Frame,
    ) -> Result<Datum, Stop> {
        let mut record = BTreeMap::new();
        for (name, value) in fields {
            let value = self.expression(value, frame)?;
            record.insert(name.clone(), value);
        }
        self.meter.charge(Cost::record(length(fields.len())))?;
        Ok(Datum::Record(Rc::new(record)))
    }

    fn choice(
        &mut self,
        value: &Expression,
        arms: &[Arm],
        frame: &mut Frame,
    ) -> Result<Datum, Stop> {
        let (case, payload): (Rc<str>, _) = match self.expression(value, frame)? {
            Datum::None => ("None".into(), None),
            Datum::Some(value) => ("Some".into(), Some(value)),
            Datum::Case(case, payload) => (case, payload),
            _ => return fault("a match on neither variant nor Option"),
        };
        let Some(arm) = arms.iter().find(|arm| *arm.case == *case) else {
            return fault(format!("no arm for `{case}`"));
        };
        match (&arm.binding, payload) {
            (None, _) => {}
            (Some(binding), Some(payload)) => bind(frame, binding, (*payload).clone()),
            (Some(_), None) => return fault(format!("`{case}` has no payload")),
        }
        self.expression(&arm.value, frame)
    }

    fn call(
        &mut self,
        callee: &str,
        type_arguments: &[Type],
        arguments: &[Expression],
        frame: &mut Frame,
    ) -> Result<Datum, Stop> {
        let arguments = self.all(arguments, frame)?;
        if !callee.contains('@') {
            return builtin::apply(self, callee, type_arguments, &arguments);
        }
        let functions = self.functions;
        let Some(function) = functions.get(callee) else {
            return fault(format!("no function `{callee}`; its lawpack is not given"));
        };
        if function.parameters.len() != arguments.len() {
            return fault(format!("`{callee}` takes another number of arguments"));
        }
        if self.depth >= MAX_CALL_DEPTH {
            return fault("functions call more than 128 deep");
        }
        let mut inner = Frame::new();
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            bind(&mut inner, parameter, argument);
        }
        self.depth = self.depth.saturating_add(1);
        self.statements(&function.bindings, &mut inner)?;
        let value = self.expression(&function.value, &mut inner)?;
        self.depth = self.depth.saturating_sub(1);
        Ok(value)
    }

    /// Evaluates a predicate; parts after the deciding one are not evaluated.
    pub(crate) fn predicate(
        &mut self,
        condition: &Predicate,
        frame: &mut Frame,
    ) -> Result<bool, Stop> {
        self.meter.charge(Cost::VISIT)?;
        match condition {
            Predicate::Compare {
                operator,
                left,
                right,
            } => {
                let left = self.expression(left, frame)?;
                let right = self.expression(right, frame)?;
                self.meter.charge(left.comparison(&right))?;
                compared(*operator, &left, &right)
            }
            Predicate::All(parts) => self.until(parts, false, frame),
            Predicate::Any(parts) => self.until(parts, true, frame),
            Predicate::Not(part) => Ok(!self.predicate(part, frame)?),
            Predicate::Literal(truth) => Ok(*truth),
        }
    }

    /// `decisive` as soon as a part is that, else its opposite.
    fn until(
        &mut self,
        parts: &[Predicate],
        decisive: bool,
        frame: &mut Frame,
    ) -> Result<bool, Stop> {
        for part in parts {
            if self.predicate(part, frame)? == decisive {
                return Ok(decisive);
            }
        }
        Ok(!decisive)
    }

    /// Executes statements in order.
    pub(crate) fn statements(&mut self, nodes: &[Node], frame: &mut Frame) -> Result<(), Stop> {
        for node in nodes {
            self.meter.charge(Cost::VISIT)?;
            match node {
                Node::Let { binding, value } => {
                    let value = self.expression(value, frame)?;
                    bind(frame, binding, value);
                }
                Node::Require { predicate, raise } => {
                    if !self.predicate(predicate, frame)? {
                        return self.raise(raise, frame);
                    }
                }
                Node::Effect {
                    binding,
                    effect,
                    input,
                    arms,
                } => {
                    let call = Call {
                        binding,
                        effect,
                        input,
                        arms,
                    };
                    self.effect(call, frame)?;
                }
                Node::Branch {
                    condition,
                    binding,
                    then,
                    otherwise,
                } => {
                    let chosen = if self.predicate(condition, frame)? {
                        then
                    } else {
                        otherwise
                    };
                    self.block(chosen, binding.as_ref(), frame)?;
                }
                Node::For {
                    item,
                    collection,
                    fold,
                    body,
                    ..
                } => self.repeat(item, collection, fold.as_ref(), body, frame)?,
            }
        }
        Ok(())
    }

    pub(crate) fn raise(&mut self, raise: &Raise, frame: &mut Frame) -> Result<(), Stop> {
        let payload = match &raise.payload {
            None => Datum::Record(Rc::new(BTreeMap::new())),
            Some(payload) => self.expression(payload, frame)?,
        };
        Err(Stop::Raised {
            obstruction: raise.obstruction.clone(),
            payload,
        })
    }

    fn block(
        &mut self,
        block: &Block,
        binding: Option<&Binder>,
        frame: &mut Frame,
    ) -> Result<(), Stop> {
        self.statements(&block.nodes, frame)?;
        if let Some(binding) = binding {
            let value = self.expression(&block.result, frame)?;
            bind(frame, binding, value);
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        item: &Binder,
        collection: &Expression,
        fold: Option<&Fold>,
        body: &Block,
        frame: &mut Frame,
    ) -> Result<(), Stop> {
        let items = match self.expression(collection, frame)? {
            Datum::List(items) => items,
            Datum::Bytes(bytes) => bytes
                .iter()
                .map(|byte| Datum::Integer((*byte).into()))
                .collect(),
            _ => return fault("a loop over neither List nor Bytes"),
        };
        if let Some(fold) = fold {
            let initial = self.expression(&fold.initial, frame)?;
            bind(frame, &fold.accumulator, initial);
        }
        let accumulator = fold.map(|fold| &fold.accumulator);
        for value in items.iter() {
            self.meter.charge(Cost::VISIT)?;
            bind(frame, item, value.clone());
            self.block(body, accumulator, frame)?;
        }
        if let Some(fold) = fold {
            match frame.get(&fold.accumulator.local).cloned() {
                Some(last) => bind(frame, &fold.binding, last),
                None => return fault("a loop lost its accumulator"),
            }
        }
        Ok(())
    }
}

fn bind(frame: &mut Frame, binder: &Binder, value: Datum) {
    frame.insert(binder.local, value);
}

fn compared(operator: Operator, left: &Datum, right: &Datum) -> Result<bool, Stop> {
    let order = match (left, right) {
        (Datum::Integer(left), Datum::Integer(right)) => Some(left.cmp(right)),
        _ => None,
    };
    match (operator, order) {
        (Operator::Equal, _) => Ok(left == right),
        (Operator::Unequal, _) => Ok(left != right),
        (Operator::Less, Some(order)) => Ok(order.is_lt()),
        (Operator::AtMost, Some(order)) => Ok(order.is_le()),
        (Operator::Greater, Some(order)) => Ok(order.is_gt()),
        (Operator::AtLeast, Some(order)) => Ok(order.is_ge()),
        (Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast, None) => {
            fault("an order of values that are no integers")
        }
    }
}
