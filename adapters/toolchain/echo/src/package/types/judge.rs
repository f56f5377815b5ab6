// SPDX-License-Identifier: Apache-2.0
//! Judges types as a graph: no cycle, and nesting up to the limit.

use super::{Type, TypeError, TypeId, Types};
use crate::limits::MAX_TYPE_DEPTH;

impl Types {
    /// Judges cycles and depth over everything that was read.
    pub(crate) fn judge(&self) -> Result<(), TypeError> {
        let mut depths: Vec<Option<u64>> = vec![None; self.table.len()];
        let mut open = vec![false; self.table.len()];
        for start in 0..self.table.len() {
            self.judge_from(start, &mut depths, &mut open)
                .map_err(|message| TypeError {
                    path: self.path_of(start),
                    message: message.to_owned(),
                })?;
        }
        Ok(())
    }

    fn judge_from(
        &self,
        start: usize,
        depths: &mut [Option<u64>],
        open: &mut [bool],
    ) -> Result<(), &'static str> {
        let mut stack = vec![start];
        while let Some(at) = stack.last().copied() {
            if depths.get(at).copied().flatten().is_some() {
                stack.pop();
                continue;
            }
            let parts = self.parts(at);
            let first_visit = !open.get(at).copied().unwrap_or(true);
            if let Some(flag) = open.get_mut(at) {
                *flag = true;
            }
            let mut deepest = 0;
            for part in &parts {
                match depths.get(part.0 as usize).copied().flatten() {
                    Some(depth) => deepest = deepest.max(depth),
                    None if !first_visit || open.get(part.0 as usize) == Some(&true) => {
                        return Err("the type contains itself");
                    }
                    None => stack.push(part.0 as usize),
                }
            }
            if stack.last() == Some(&at) {
                let depth = if parts.is_empty() && !self.holds(at) {
                    0
                } else {
                    u64::saturating_add(deepest, 1)
                };
                if depth > MAX_TYPE_DEPTH {
                    return Err("the type nests too deep");
                }
                if let Some(slot) = depths.get_mut(at) {
                    *slot = Some(depth);
                }
                stack.pop();
            }
        }
        Ok(())
    }

    /// Whether a type without parts is a container all the same.
    fn holds(&self, at: usize) -> bool {
        matches!(
            self.table.get(at),
            Some(Type::Record { .. } | Type::Variant(_))
        )
    }

    fn parts(&self, at: usize) -> Vec<TypeId> {
        match self.table.get(at) {
            Some(Type::Option(item) | Type::List { item, .. } | Type::Named(item)) => vec![*item],
            Some(Type::Record { fields, .. }) => fields.to_vec(),
            Some(Type::Variant(cases)) => cases.iter().filter_map(|case| case.1).collect(),
            Some(Type::Bool | Type::Integer(_) | Type::Text { .. } | Type::Bytes { .. }) | None => {
                Vec::new()
            }
        }
    }

    fn path_of(&self, at: usize) -> String {
        self.named
            .iter()
            .find(|(_, id)| id.0 as usize == at)
            .map_or_else(|| ".types".to_owned(), |(name, _)| format!(".types.{name}"))
    }
}
