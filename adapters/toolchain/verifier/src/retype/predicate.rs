// SPDX-License-Identifier: Apache-2.0
//! Predicates: what they compare, what their parts may assume, and their dearest cost.

use super::expression::Judge;
use crate::cost::Cost;
use crate::decode::expression::{Expression, Operator, Predicate};
use crate::decode::reader::{Defect, Under};
use crate::decode::types::Type;

impl Judge<'_> {
    /// Judges a predicate; returns its dearest cost.
    pub(crate) fn predicate(&mut self, condition: &Predicate) -> Result<Cost, Defect> {
        let parts = match condition {
            Predicate::Compare {
                operator,
                left,
                right,
            } => self.comparison(*operator, left, right)?,
            Predicate::All(parts) => self.parts(parts, true).under("parts")?,
            Predicate::Any(parts) => self.parts(parts, false).under("parts")?,
            Predicate::Not(part) => self.predicate(part).under("part")?,
            Predicate::Literal(_) => Cost::FREE,
        };
        Ok(parts.and(Cost::VISIT))
    }

    /// Each part sees that those to its left were `truth`.
    fn parts(&mut self, parts: &[Predicate], truth: bool) -> Result<Cost, Defect> {
        let mark = self.environment.mark();
        let mut cost = Cost::FREE;
        let mut outcome = Ok(());
        for (index, part) in parts.iter().enumerate() {
            match self.predicate(part).under(index) {
                Ok(part) => cost = cost.and(part),
                Err(defect) => {
                    outcome = Err(defect);
                    break;
                }
            }
            self.environment.assume(part, truth);
        }
        self.environment.reset(mark);
        outcome.map(|()| cost)
    }

    fn comparison(
        &mut self,
        operator: Operator,
        left: &Expression,
        right: &Expression,
    ) -> Result<Cost, Defect> {
        let left = self.expression(left).under("left")?;
        let right = self.expression(right).under("right")?;
        let table = self.environment.table();
        let fits = match operator {
            Operator::Equal | Operator::Unequal => table.join(&left.ty, &right.ty).is_some(),
            Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => {
                let ty = table.resolve(&left.ty);
                matches!(ty, Type::Integer(_)) && ty == table.resolve(&right.ty)
            }
        };
        if !fits {
            let message = format!("cannot compare {} with {}", left.ty, right.ty);
            return Err(Defect::new(message).under("right"));
        }
        let compared = Cost::compare(table.weight(&left.ty), table.weight(&right.ty));
        Ok(left.cost.and(right.cost).and(compared))
    }
}
