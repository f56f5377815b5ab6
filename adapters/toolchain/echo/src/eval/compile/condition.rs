// SPDX-License-Identifier: Apache-2.0
//! Code of conditions: jumps for one truth value, and goes on for the other.

use super::Compiler;
use crate::{eval::code::Op, package::tree::Predicate};

impl Compiler<'_> {
    /// Compiles `predicate` at nesting `depth`. The jumps returned are taken when it is `when`;
    /// otherwise the next instruction follows.
    pub(super) fn jumps(&mut self, predicate: &Predicate, when: bool, depth: u64) -> Vec<usize> {
        if !self.within(depth) {
            return Vec::new();
        }
        let inner = depth.saturating_add(1);
        self.unit();
        match predicate {
            Predicate::Compare { op, left, right } => {
                let left = self.operand(left, inner);
                let right = self.operand(right, inner);
                let units = std::mem::take(&mut self.pending);
                vec![self.emit(Op::Compare {
                    op: *op,
                    when,
                    units,
                    left,
                    right,
                    target: 0,
                })]
            }
            Predicate::Literal(value) if *value == when => {
                self.flush();
                vec![self.emit(Op::Jump(0))]
            }
            Predicate::Literal(_) => Vec::new(),
            Predicate::Not(part) => self.jumps(part, !when, inner),
            // A false part decides a conjunction, a true one a disjunction.
            Predicate::All(parts) => self.series(parts, false, when, inner),
            Predicate::Any(parts) => self.series(parts, true, when, inner),
        }
    }

    /// Parts of which the first one that is `decisive` decides.
    fn series(
        &mut self,
        parts: &[Predicate],
        decisive: bool,
        when: bool,
        inner: u64,
    ) -> Vec<usize> {
        let mut jumps = Vec::new();
        if decisive == when {
            for part in parts {
                jumps.extend(self.jumps(part, decisive, inner));
            }
            return jumps;
        }
        let Some((last, parts)) = parts.split_last() else {
            return jumps;
        };
        let mut decided = Vec::new();
        for part in parts {
            decided.extend(self.jumps(part, decisive, inner));
        }
        jumps = self.jumps(last, when, inner);
        self.bind(&decided);
        jumps
    }
}
