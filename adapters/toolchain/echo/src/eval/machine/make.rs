// SPDX-License-Identifier: Apache-2.0
//! Values made of what is on the stack. Each is charged before it is made.

use super::{BROKEN, Machine, Stop, field};
use crate::eval::value::{Symbol, Value};

impl Machine<'_> {
    /// Replaces a record on the stack by a field of it.
    pub(super) fn field(&mut self, name: Symbol) -> Result<(), Stop> {
        let record = self.pop()?;
        let value = field(self.code, &record, name)?.clone();
        self.stack.push(value);
        Ok(())
    }

    /// Makes a case with the payload on the stack.
    pub(super) fn case(&mut self, name: Symbol) -> Result<(), Stop> {
        self.meter.charge(0, 32)?;
        let payload = self.pop()?;
        self.stack.push(Value::case(name, Some(payload))?);
        Ok(())
    }

    /// Makes a record of the fields on the stack.
    pub(super) fn record(&mut self, form: u32) -> Result<(), Stop> {
        let form = self.code.records.get(form as usize).ok_or(BROKEN)?;
        let count = form.count as u64;
        self.meter
            .charge(0, count.saturating_mul(16).saturating_add(32))?;
        let first = self.stack.len().checked_sub(form.count).ok_or(BROKEN)?;
        let fields = match &form.order {
            None => self.stack.drain(first..).collect(),
            Some(order) => {
                let mut written: Vec<Value> = self.stack.drain(first..).collect();
                let mut fields = Vec::with_capacity(order.len());
                for place in order {
                    let value = written.get_mut(*place).ok_or(BROKEN)?;
                    fields.push(std::mem::replace(value, Value::None));
                }
                fields
            }
        };
        self.stack.push(Value::record(form.shape, fields)?);
        Ok(())
    }

    /// Makes a list of the items on the stack.
    pub(super) fn list(&mut self, count: u32) -> Result<(), Stop> {
        let length = u64::from(count);
        self.meter
            .charge(length, length.saturating_mul(16).saturating_add(32))?;
        let first = self.stack.len().checked_sub(count as usize).ok_or(BROKEN)?;
        let items = self.stack.drain(first..).collect();
        self.stack.push(Value::list(items)?);
        Ok(())
    }
}
