// SPDX-License-Identifier: Apache-2.0
//! The call graph: acyclic, and of bounded depth (check A13).

use super::tree::{Block, Expr, Predicate, Statement, Tree};
use crate::{limits::MAX_CALL_DEPTH, refusal::Refusal};

/// Judges the calls of a program. An acyclic graph that is too deep is too large.
pub(crate) fn judge(tree: &Tree) -> Result<(), Refusal> {
    let callees: Vec<Vec<usize>> = tree
        .functions
        .iter()
        .map(|function| {
            let mut calls = Calls::default();
            calls.block(&function.body);
            for statement in &function.statements {
                calls.statement(statement);
            }
            calls.found.sort_unstable();
            calls.found.dedup();
            calls.found
        })
        .collect();
    let mut graph = Graph {
        depths: vec![None; callees.len()],
        open: vec![false; callees.len()],
        callees,
    };
    for start in 0..graph.callees.len() {
        if let Some(cyclic) = graph.visit(start) {
            return Err(Refusal::at(
                "program-recursive",
                path(tree, cyclic),
                "the function calls itself",
            ));
        }
    }
    let deep = graph
        .depths
        .iter()
        .position(|depth| depth.is_some_and(|depth| depth > MAX_CALL_DEPTH));
    match deep {
        Some(function) => Err(Refusal::at(
            "program-too-large",
            path(tree, function),
            "calls nest too deep",
        )),
        None => Ok(()),
    }
}

fn path(tree: &Tree, function: usize) -> String {
    tree.functions
        .get(function)
        .map_or_else(|| ".core".to_owned(), |function| function.path.clone())
}

struct Graph {
    callees: Vec<Vec<usize>>,
    depths: Vec<Option<u64>>,
    open: Vec<bool>,
}

impl Graph {
    /// Finds the depth of `start` and of all it calls; a function on a cycle, if there is one.
    fn visit(&mut self, start: usize) -> Option<usize> {
        let mut stack: Vec<(usize, usize)> = vec![(start, 0)];
        while let Some((function, next)) = stack.last_mut() {
            let (at, index) = (*function, *next);
            if self.depths.get(at).copied().flatten().is_some() {
                stack.pop();
                continue;
            }
            set(&mut self.open, at, true);
            *next = index.saturating_add(1);
            match self.callees.get(at).and_then(|callees| callees.get(index)) {
                Some(callee) if self.depths.get(*callee).copied().flatten().is_some() => {}
                Some(callee) if self.open.get(*callee) == Some(&true) => return Some(*callee),
                Some(callee) => stack.push((*callee, 0)),
                None => {
                    let deepest = self.callees.get(at).into_iter().flatten();
                    let deepest = deepest
                        .filter_map(|callee| self.depths.get(*callee).copied().flatten())
                        .max();
                    set(
                        &mut self.depths,
                        at,
                        Some(deepest.unwrap_or(0).saturating_add(1)),
                    );
                    stack.pop();
                }
            }
        }
        None
    }
}

fn set<T>(slots: &mut [T], at: usize, value: T) {
    if let Some(slot) = slots.get_mut(at) {
        *slot = value;
    }
}

/// Collects callees. Recursion is bounded by the nesting of the encoding.
#[derive(Default)]
struct Calls {
    found: Vec<usize>,
}

impl Calls {
    fn block(&mut self, block: &Block) {
        if let Some(result) = &block.result {
            self.expr(result);
        }
    }

    /// A function has bindings and loops only; the rest belongs to intents.
    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Let { value, .. } => self.expr(value),
            Statement::For(head) => {
                self.expr(&head.collection);
                if let Some(fold) = &head.fold {
                    self.expr(&fold.initial);
                }
                self.block(&head.body);
            }
            Statement::Require { .. } | Statement::Effect(_) | Statement::Branch { .. } => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Const(_) | Expr::Local(_) => {}
            Expr::Field { base, .. } => self.expr(base),
            Expr::Record(fields) => {
                for field in fields {
                    self.expr(&field.1);
                }
            }
            Expr::List(items) | Expr::Builtin { args: items, .. } => {
                for item in items {
                    self.expr(item);
                }
            }
            Expr::Case { payload, .. } => {
                if let Some(payload) = payload {
                    self.expr(payload);
                }
            }
            Expr::Match { value, arms } => {
                self.expr(value);
                for arm in arms {
                    self.expr(&arm.value);
                }
            }
            Expr::Call { function, args } => {
                self.found.push(*function);
                for arg in args {
                    self.expr(arg);
                }
            }
            Expr::If {
                condition,
                then,
                otherwise,
            } => {
                self.predicate(condition);
                self.expr(then);
                self.expr(otherwise);
            }
        }
    }

    fn predicate(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::Compare { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            Predicate::All(parts) | Predicate::Any(parts) => {
                for part in parts {
                    self.predicate(part);
                }
            }
            Predicate::Not(part) => self.predicate(part),
            Predicate::Literal(_) => {}
        }
    }
}
