// SPDX-License-Identifier: Apache-2.0
//! The interpreter: one loop over flat code with stacks of its own, so nothing of a program can
//! grow the stack of the host.

mod ends;
mod make;
mod number;

use super::{
    builtins,
    code::{Code, Op, Operand, Slot},
    effects,
    value::{Symbol, TooDeep, Value},
};
use crate::{
    executable::Decision,
    meter::{Exhausted, Meter},
    refusal::Refusal,
    state::view::AtomView,
};
use std::sync::Arc;

/// Why an evaluation stops before its result.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A charge did not fit.
    Exhausted(Exhausted),
    /// A promise of the program was broken; it is said which.
    Fault(&'static str),
    /// The state, or a limit of values, refused.
    Refused(Box<Refusal>),
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

impl From<TooDeep> for Stop {
    fn from(_: TooDeep) -> Self {
        Self::Fault("a value nests deeper than any type")
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

/// What a loop still has to visit.
#[derive(Debug)]
struct Loop {
    collection: Value,
    next: usize,
}

#[derive(Debug)]
struct Call {
    back: usize,
    base: usize,
}

/// One evaluation.
pub(crate) struct Machine<'a> {
    pub(crate) code: &'a Code,
    pub(crate) meter: Meter,
    pub(crate) view: &'a mut dyn AtomView,
    pub(crate) stack: Vec<Value>,
    /// Canonical bytes of the basis value, once it exists.
    pub(crate) basis: Option<Vec<u8>>,
    locals: Vec<Value>,
    base: usize,
    loops: Vec<Loop>,
    calls: Vec<Call>,
}

impl<'a> Machine<'a> {
    /// A machine about to run `code` on `input`.
    pub(crate) fn new(
        code: &'a Code,
        input: Value,
        meter: Meter,
        view: &'a mut dyn AtomView,
    ) -> Self {
        Self {
            code,
            meter,
            view,
            stack: Vec::new(),
            basis: None,
            locals: vec![input],
            base: 0,
            loops: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// Runs to the decision of the program.
    pub(crate) fn run(&mut self) -> Result<Decision, Stop> {
        let code = self.code;
        let mut at = 0usize;
        loop {
            let Some(op) = code.ops.get(at) else {
                return Err(Stop::Fault("the code ended"));
            };
            at = at.wrapping_add(1);
            match *op {
                Op::Units(units) => self.meter.units(units)?,
                Op::Const(constant) => {
                    let value = code.constants.get(constant as usize).cloned();
                    self.stack.push(value.ok_or(BROKEN)?);
                }
                Op::Local(slot) => {
                    let value = self.local(slot)?.clone();
                    self.stack.push(value);
                }
                Op::Path { slot, first, count } => {
                    let value = self.path(slot, first, count)?;
                    self.stack.push(value);
                }
                Op::Field(name) => self.field(name)?,
                Op::Store(slot) => {
                    let value = self.pop()?;
                    self.store(slot, value)?;
                }
                Op::Integer {
                    op,
                    width,
                    checked,
                    left,
                    right,
                } => {
                    self.integer((op, width, checked), left, right)?;
                }
                Op::Compare {
                    op,
                    when,
                    units,
                    left,
                    right,
                    target,
                } => {
                    self.meter.units(units)?;
                    if self.compare(op, left, right)? == when {
                        at = target as usize;
                    }
                }
                Op::Jump(target) => at = target as usize,
                Op::Match(table) => at = self.choose(table)?,
                Op::Call(function) => at = self.call(function, at)?,
                Op::Return => at = self.give_back()?,
                Op::LoopStart { item, bound, exit } => {
                    if !self.loop_start(item, bound)? {
                        at = exit as usize;
                    }
                }
                Op::LoopNext {
                    item,
                    accumulator,
                    start,
                } => {
                    if let Some(accumulator) = accumulator
                        && self.store_unsigned(accumulator).is_none()
                    {
                        let value = self.pop()?;
                        self.store(accumulator, value)?;
                    }
                    if self.next_byte(item)?.is_some() || self.loop_next(item)? {
                        at = start as usize;
                    }
                }
                Op::Record(form) => self.record(form)?,
                Op::List(count) => self.list(count)?,
                Op::Case(name) => self.case(name)?,
                Op::Builtin(builtin) => builtins::run(self, builtin)?,
                Op::Default(other) => {
                    if self.unsigned_held(other).is_none() {
                        let other = self.operand(other)?;
                        let value = builtins::or(&self.pop()?, other)?;
                        self.stack.push(value);
                    }
                }
                Op::Effect(form) => {
                    if let Some((slot, payload, target)) = effects::run(self, form)? {
                        self.store(slot, payload)?;
                        at = target as usize;
                    }
                }
                Op::Raise(form) => return self.raise(form),
                Op::ConstraintFailed(number) => return Ok(ends::constraint_failed(number)),
                Op::Basis => self.keep_basis()?,
                Op::End => return self.end(),
            }
        }
    }

    /// Takes the value on top of the stack.
    #[inline]
    pub(crate) fn pop(&mut self) -> Result<Value, Stop> {
        self.stack.pop().ok_or(BROKEN)
    }

    #[inline]
    fn local(&self, slot: Slot) -> Result<&Value, Stop> {
        self.locals
            .get(self.base.wrapping_add(slot as usize))
            .ok_or(BROKEN)
    }

    /// Slots are taken as a stack, so a new one is directly above the others.
    #[inline]
    fn store(&mut self, slot: Slot, value: Value) -> Result<(), Stop> {
        let at = self.base.wrapping_add(slot as usize);
        if at == self.locals.len() {
            self.locals.push(value);
        } else {
            *self.locals.get_mut(at).ok_or(BROKEN)? = value;
        }
        Ok(())
    }

    #[inline]
    fn operand(&mut self, operand: Operand) -> Result<Value, Stop> {
        match operand {
            Operand::Stack => self.pop(),
            Operand::Local(slot) => self.local(slot).cloned(),
            Operand::Const(constant) => self
                .code
                .constants
                .get(constant as usize)
                .cloned()
                .ok_or(BROKEN),
        }
    }

    fn path(&self, slot: Slot, first: u32, count: u32) -> Result<Value, Stop> {
        let first = first as usize;
        let names = self
            .code
            .fields
            .get(first..first.saturating_add(count as usize))
            .ok_or(BROKEN)?;
        let mut value = self.local(slot)?;
        for name in names {
            value = field(self.code, value, *name)?;
        }
        Ok(value.clone())
    }

    fn choose(&mut self, table: u32) -> Result<usize, Stop> {
        let code = self.code;
        let value = self.pop()?;
        let (case, payload) = match &value {
            Value::Case(name) => (*name, None),
            Value::CaseWith(payload) => (payload.tag(), payload.parts().first().cloned()),
            other => match other.held() {
                Some(None) => (code.none, None),
                Some(held) => (code.some, held),
                None => return Err(Stop::Fault("only a case or an Option has arms")),
            },
        };
        let arms = code.matches.get(table as usize).ok_or(BROKEN)?;
        let arm = arms
            .binary_search_by_key(&case, |arm| arm.case)
            .ok()
            .and_then(|found| arms.get(found))
            .ok_or(Stop::Fault("a match has no arm for its value"))?;
        if let Some(slot) = arm.binding {
            let payload = payload.ok_or(Stop::Fault("a case without payload was bound"))?;
            self.store(slot, payload)?;
        }
        Ok(arm.target as usize)
    }

    fn call(&mut self, function: u32, back: usize) -> Result<usize, Stop> {
        let entry = self.code.functions.get(function as usize).ok_or(BROKEN)?;
        let first = self.stack.len().checked_sub(entry.arity).ok_or(BROKEN)?;
        self.calls.push(Call {
            back,
            base: self.base,
        });
        self.base = self.locals.len();
        self.locals.extend(self.stack.drain(first..));
        Ok(entry.target as usize)
    }

    fn give_back(&mut self) -> Result<usize, Stop> {
        let call = self.calls.pop().ok_or(BROKEN)?;
        self.locals.truncate(self.base);
        self.base = call.base;
        Ok(call.back)
    }

    fn loop_start(&mut self, item: Slot, bound: u32) -> Result<bool, Stop> {
        let collection = self.pop()?;
        let length = match &collection {
            Value::List(items) => items.parts().len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => return Err(Stop::Fault("a loop goes over a list or bytes")),
        };
        if length > bound as usize {
            return Err(Stop::Fault("a list is longer than the bound of its loop"));
        }
        self.loops.push(Loop {
            collection,
            next: 0,
        });
        self.loop_next(item)
    }

    /// Binds the next item; `false`, and the loop left, if there is none.
    #[inline]
    fn loop_next(&mut self, item: Slot) -> Result<bool, Stop> {
        let current = self.loops.last_mut().ok_or(BROKEN)?;
        let value = match &current.collection {
            Value::Bytes(bytes) => bytes
                .get(current.next)
                .map(|byte| Value::Unsigned(u64::from(*byte))),
            Value::List(items) => items.parts().get(current.next).cloned(),
            _ => None,
        };
        current.next = current.next.wrapping_add(1);
        if let Some(value) = value {
            self.store(item, value)?;
            Ok(true)
        } else {
            self.loops.pop();
            Ok(false)
        }
    }
}

/// The code is made by this host; if it does not fit together, nothing may be concluded from it.
pub(crate) const BROKEN: Stop = Stop::Fault("the code does not fit together");

/// A field of a record.
#[inline]
pub(crate) fn field<'v>(code: &Code, value: &'v Value, name: Symbol) -> Result<&'v Value, Stop> {
    let Value::Record(record) = value else {
        return Err(Stop::Fault("only a record has fields"));
    };
    let place = code.names.position(record.tag(), name);
    place
        .and_then(|place| record.parts().get(place))
        .ok_or(Stop::Fault("the record has no such field"))
}

/// The bytes of a value.
pub(crate) fn bytes_of(value: &Value) -> Result<&Arc<Vec<u8>>, Stop> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(Stop::Fault("expected bytes")),
    }
}

/// The text of a value.
pub(crate) fn text_of(value: &Value) -> Result<&Arc<String>, Stop> {
    match value {
        Value::Text(text) => Ok(text),
        _ => Err(Stop::Fault("expected a text")),
    }
}

/// The unsigned integer of a value.
pub(crate) fn unsigned_of(value: &Value) -> Result<u64, Stop> {
    match value {
        Value::Unsigned(value) => Ok(*value),
        _ => Err(Stop::Fault("expected an unsigned integer")),
    }
}
