// SPDX-License-Identifier: Apache-2.0
//! What a module or program reaches: named types, functions, helpers, loops.

use super::signature::Callees;
use crate::closure::Closure;
use crate::decode::core::{Core, Intent, Node, Raise};
use crate::decode::expression::Binder;
use crate::decode::reader::{Defect, refuse};
use crate::decode::types::Type;
use crate::table::TypeTable;
use crate::visit::{self, Visitor};
use std::collections::BTreeSet;

/// Named types and callees, seen by walking a program.
#[derive(Debug)]
pub(crate) struct Reached<'a> {
    closure: &'a Closure,
    table: &'a TypeTable,
    pub(crate) types: BTreeSet<String>,
    callees: Callees,
}

impl<'a> Reached<'a> {
    /// Nothing yet.
    fn new(closure: &'a Closure, table: &'a TypeTable) -> Self {
        Self {
            closure,
            table,
            types: BTreeSet::new(),
            callees: Callees::default(),
        }
    }

    /// The named types that an intent reaches, with every function and helper that it reaches.
    pub(crate) fn program(
        core: &Core,
        intent: &Intent,
        closure: &'a Closure,
        table: &'a TypeTable,
    ) -> BTreeSet<String> {
        let mut reached = Self::new(closure, table);
        visit::intent(&mut reached, intent);
        let helpers = closure.helpers();
        let own = format!("{}.", core.coordinate);
        let mut done = BTreeSet::new();
        while let Some(callee) = reached.callees.0.pop_first() {
            if !done.insert(callee.clone()) {
                continue;
            }
            let function = match callee.strip_prefix(&own) {
                Some(name) => core.functions.get(name),
                None => helpers.get(&callee).copied(),
            };
            if let Some(function) = function {
                visit::function(&mut reached, function);
            }
        }
        reached.types
    }
}

impl Visitor for Reached<'_> {
    fn ty(&mut self, ty: &Type) {
        self.table.reach(ty, &mut self.types);
    }

    fn callee(&mut self, callee: &str) {
        self.callees.callee(callee);
    }

    fn variant(&mut self, coordinate: &str) {
        self.ty(&Type::Named(coordinate.to_owned()));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Effect { effect, .. } => {
                if let Some(plan) = self.closure.effect(effect) {
                    for ty in [&plan.input, &plan.output, &plan.key, &plan.value] {
                        self.ty(ty);
                    }
                    for failure in plan.failures.values() {
                        self.ty(&failure.payload);
                    }
                }
            }
            Node::Require { raise, .. } => self.raise(raise),
            Node::Let { .. } | Node::Branch { .. } | Node::For { .. } => {}
        }
    }

    fn arms(&mut self, arms: &[(&Binder, &Raise)]) {
        for (binding, raise) in arms {
            visit::binder(self, binding);
            visit::raise(self, raise);
            self.raise(raise);
        }
    }
}

impl Reached<'_> {
    fn raise(&mut self, raise: &Raise) {
        if raise.payload.is_some()
            && let Some((_, declared)) = self.closure.obstruction(&raise.obstruction)
        {
            self.ty(&declared.payload);
        }
    }
}

/// Whether a module holds a loop with an accumulator.
pub(crate) fn folds(core: &Core) -> bool {
    struct Folds(bool);
    impl Visitor for Folds {
        fn node(&mut self, node: &Node) {
            self.0 |= matches!(node, Node::For { fold: Some(_), .. });
        }
    }
    let mut folds = Folds(false);
    for function in core.functions.values() {
        visit::function(&mut folds, function);
    }
    for intent in core.intents.values() {
        visit::intent(&mut folds, intent);
    }
    folds.0
}

/// `types` of Core holds exactly what the module reaches.
pub(crate) fn check(core: &Core, closure: &Closure, table: &TypeTable) -> Result<(), Defect> {
    let mut reached = Reached::new(closure, table);
    for function in core.functions.values() {
        visit::function(&mut reached, function);
    }
    for intent in core.intents.values() {
        visit::intent(&mut reached, intent);
    }
    if let Some(missing) = reached
        .types
        .iter()
        .find(|name| !core.types.contains_key(*name))
    {
        return refuse(format!("`{missing}` is missing"));
    }
    match core
        .types
        .keys()
        .find(|name| !reached.types.contains(*name))
    {
        Some(unused) => Err(Defect::new("nothing reaches it").under(unused)),
        None => Ok(()),
    }
}
