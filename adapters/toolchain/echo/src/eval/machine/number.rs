// SPDX-License-Identifier: Apache-2.0
//! Operations on integers, and unsigned integers where they stand: most of what loops do is done on
//! them, and a value that is moved as a whole right after its parts were written waits for both.

use super::{BROKEN, Machine, Stop};
use crate::{
    eval::{
        builtins::{self, unsigned},
        code::{Operand, Slot},
        value::Value,
    },
    package::{
        tree::{Comparison, IntegerOp},
        types::Width,
    },
};
use std::cmp::Ordering;

impl Machine<'_> {
    #[inline]
    pub(super) fn integer(
        &mut self,
        (op, width, checked): (IntegerOp, Width, bool),
        left: Operand,
        right: Operand,
    ) -> Result<(), Stop> {
        if checked {
            self.meter.charge(0, 32)?;
        }
        let operation = (op, width, checked);
        if self.unsigned_operation(operation, left, right).is_none() {
            let right = self.operand(right)?;
            let left = self.operand(left)?;
            let value = builtins::integer(op, width, checked, &left, &right)?;
            self.stack.push(value);
        }
        Ok(())
    }

    #[inline]
    pub(super) fn compare(
        &mut self,
        op: Comparison,
        left: Operand,
        right: Operand,
    ) -> Result<bool, Stop> {
        if let Some((first, second)) = self.both_unsigned(left, right) {
            self.drop_operands(left, right);
            return Ok(holds(op, first.cmp(&second)));
        }
        let right = self.operand(right)?;
        let left = self.operand(left)?;
        let extra = left.weight().max(right.weight()).saturating_sub(1);
        if extra > 0 {
            self.meter.charge(extra, 0)?;
        }
        let order = match (op, &left, &right) {
            (Comparison::Equal, left, right) => return Ok(left.same(right)),
            (Comparison::Different, left, right) => return Ok(!left.same(right)),
            (_, Value::Unsigned(left), Value::Unsigned(right)) => left.cmp(right),
            (_, Value::Signed(left), Value::Signed(right)) => left.cmp(right),
            _ => return Err(Stop::Fault("only two integers of one type have an order")),
        };
        Ok(holds(op, order))
    }

    /// The integer of an operand; `below` values of the stack stand above it.
    #[inline]
    fn unsigned(&self, operand: Operand, below: usize) -> Option<u64> {
        let value = match operand {
            Operand::Stack => {
                let at = self.stack.len().checked_sub(below.wrapping_add(1))?;
                self.stack.get(at)?
            }
            Operand::Local(slot) => self.locals.get(self.base.wrapping_add(slot as usize))?,
            Operand::Const(constant) => self.code.constants.get(constant as usize)?,
        };
        match value {
            Value::Unsigned(value) => Some(*value),
            _ => None,
        }
    }

    /// Both operands, still where they are.
    #[inline]
    fn both_unsigned(&self, left: Operand, right: Operand) -> Option<(u64, u64)> {
        let right_value = self.unsigned(right, 0)?;
        Some((self.unsigned(left, on_stack(right))?, right_value))
    }

    /// Takes two operands from the stack, as far as they stand there.
    #[inline]
    fn drop_operands(&mut self, left: Operand, right: Operand) {
        let taken = on_stack(left).wrapping_add(on_stack(right));
        self.stack.truncate(self.stack.len().saturating_sub(taken));
    }

    /// An integer operation on two unsigned integers; `None` if they are none, and nothing is done.
    #[inline]
    fn unsigned_operation(
        &mut self,
        (op, width, checked): (IntegerOp, Width, bool),
        left: Operand,
        right: Operand,
    ) -> Option<()> {
        if !matches!(width, Width::U32 | Width::U64) {
            return None;
        }
        let (first, second) = self.both_unsigned(left, right)?;
        let value = unsigned(op, width, first, second);
        if value.is_none() && !checked {
            return None;
        }
        self.drop_operands(left, right);
        self.stack.push(match (value, checked) {
            (Some(value), true) => Value::SomeUnsigned(value),
            (Some(value), false) => Value::Unsigned(value),
            (None, _) => Value::None,
        });
        Some(())
    }

    /// Turns an Option of an unsigned integer on the stack into the integer, and leaves `other`.
    #[inline]
    pub(super) fn unsigned_held(&mut self, other: Operand) -> Option<()> {
        if on_stack(other) > 0 {
            return None;
        }
        let top = self.stack.last_mut()?;
        let Value::SomeUnsigned(value) = *top else {
            return None;
        };
        *top = Value::Unsigned(value);
        Some(())
    }

    /// Takes an unsigned integer from the stack into a local that has a value already.
    #[inline]
    pub(super) fn store_unsigned(&mut self, slot: Slot) -> Option<()> {
        let value = self.unsigned(Operand::Stack, 0)?;
        let at = self.base.wrapping_add(slot as usize);
        *self.locals.get_mut(at)? = Value::Unsigned(value);
        self.stack.truncate(self.stack.len().saturating_sub(1));
        Some(())
    }

    /// Binds the next byte of the innermost loop; `None` if it does not go over bytes, or has none.
    #[inline]
    pub(super) fn next_byte(&mut self, item: Slot) -> Result<Option<()>, Stop> {
        let current = self.loops.last_mut().ok_or(BROKEN)?;
        let Value::Bytes(bytes) = &current.collection else {
            return Ok(None);
        };
        let Some(byte) = bytes.get(current.next) else {
            return Ok(None);
        };
        let value = Value::Unsigned(u64::from(*byte));
        let at = self.base.wrapping_add(item as usize);
        let Some(local) = self.locals.get_mut(at) else {
            return Ok(None);
        };
        *local = value;
        current.next = current.next.wrapping_add(1);
        Ok(Some(()))
    }
}

/// Whether a comparison holds of two values in this order.
#[inline]
fn holds(op: Comparison, order: Ordering) -> bool {
    match op {
        Comparison::Less => order.is_lt(),
        Comparison::AtMost => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::AtLeast => order.is_ge(),
        Comparison::Equal => order.is_eq(),
        Comparison::Different => order.is_ne(),
    }
}

/// Values that an operand takes from the stack.
#[inline]
fn on_stack(operand: Operand) -> usize {
    usize::from(matches!(operand, Operand::Stack))
}
