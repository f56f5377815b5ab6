// SPDX-License-Identifier: Apache-2.0
//! Functions and helpers: judged once, callees first, without recursion and at most 128 deep.

use super::environment::Environment;
use super::expression::Judge;
use super::numbering;
use super::statement::function_nodes;
use crate::cost::Cost;
use crate::decode::core::Function;
use crate::decode::expression::Local;
use crate::decode::reader::{Defect, Under, refuse};
use crate::decode::types::Type;
use crate::table::TypeTable;
use crate::visit::{self, Visitor};
use std::collections::{BTreeMap, BTreeSet};

/// Functions call one another at most this deep.
const MAX_CALL_DEPTH: usize = 128;

/// What a caller needs to know.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) parameters: Vec<Type>,
    pub(crate) result: Type,
    /// Dearest cost of the body.
    pub(crate) cost: Cost,
    depth: usize,
}

/// Judged functions by callee.
#[derive(Debug, Default)]
pub(crate) struct Signatures {
    judged: BTreeMap<String, Signature>,
}

impl Signatures {
    /// The signature of a callee that was judged.
    pub(crate) fn get(&self, callee: &str) -> Option<&Signature> {
        self.judged.get(callee)
    }

    /// Judges every function of `functions`, by callee. `admits` says whether `caller` may call
    /// `callee`.
    pub(crate) fn judge_all(
        &mut self,
        table: &TypeTable,
        functions: &BTreeMap<String, &Function>,
        admits: &dyn Fn(&str, &str) -> bool,
    ) -> Result<(), Defect> {
        for name in functions.keys() {
            self.settle(table, functions, admits, name, 0)?;
        }
        Ok(())
    }

    /// Recursion is bounded by the call depth.
    fn settle(
        &mut self,
        table: &TypeTable,
        functions: &BTreeMap<String, &Function>,
        admits: &dyn Fn(&str, &str) -> bool,
        name: &str,
        trail: usize,
    ) -> Result<(), Defect> {
        let Some(function) = functions.get(name) else {
            return Ok(());
        };
        if self.judged.contains_key(name) {
            return Ok(());
        }
        if trail >= MAX_CALL_DEPTH {
            return Err(Defect::new("calls itself, or calls more than 128 deep").under(name));
        }
        let mut depth = 0;
        for callee in callees(function) {
            if !admits(name, &callee) {
                return Err(Defect::new(format!("`{callee}` is not imported here")).under(name));
            }
            self.settle(table, functions, admits, &callee, trail.saturating_add(1))?;
            depth = depth.max(self.get(&callee).map_or(0, |callee| callee.depth));
        }
        let depth = depth.saturating_add(1);
        if depth > MAX_CALL_DEPTH {
            return Err(Defect::new("calls more than 128 deep").under(name));
        }
        let cost = self.body(table, function).under(name)?;
        let signature = Signature {
            parameters: function
                .parameters
                .iter()
                .map(|parameter| parameter.ty.clone())
                .collect(),
            result: function.result.clone(),
            cost,
            depth,
        };
        self.judged.insert(name.to_owned(), signature);
        Ok(())
    }

    fn body(&self, table: &TypeTable, function: &Function) -> Result<Cost, Defect> {
        numbering::function(function)?;
        table.well_formed(&function.result).under("result")?;
        let mut judge = Judge {
            environment: Environment::new(table),
            signatures: self,
        };
        for (index, parameter) in function.parameters.iter().enumerate() {
            let declared = match parameter.local {
                Local::Argument(_) => table
                    .well_formed(&parameter.ty)
                    .and_then(|()| judge.environment.declare(parameter, None)),
                Local::Numbered(_) | Local::Obstruction(_) => refuse("expected arg.N"),
            };
            declared.under(index).under("parameters")?;
        }
        let bindings = function_nodes(&mut judge, &function.bindings).under("bindings")?;
        let value = judge
            .expect(&function.value, &function.result)
            .under("value")?;
        Ok(bindings.and(value.cost))
    }
}

/// The functions and helpers that a function calls, built-ins left out.
pub(crate) fn callees(function: &Function) -> BTreeSet<String> {
    let mut callees = Callees::default();
    visit::function(&mut callees, function);
    callees.0
}

/// Collects callees that are no built-ins.
#[derive(Debug, Default)]
pub(crate) struct Callees(pub(crate) BTreeSet<String>);

impl Visitor for Callees {
    fn callee(&mut self, callee: &str) {
        // A coordinate holds an `@`, a built-in does not.
        if callee.contains('@') {
            self.0.insert(callee.to_owned());
        }
    }
}
