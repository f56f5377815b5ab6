// SPDX-License-Identifier: Apache-2.0
//! The static bound: what a Core tree costs when every length is at its declared maximum (4.3).

mod builtin;
mod expr;

use super::tree::{Binder, Block, Facts, Function, Intent, Local, Node, Raise, StaticBound};
use crate::lawpack::context::{Effect, LawpackContext};
use crate::types::size::{Sizes, units};
use crate::types::ty::Type;
use std::collections::{BTreeMap, BTreeSet};

/// Cost of a part of a program; all arithmetic saturates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Steps.
    pub steps: u64,
    /// Allocated bytes.
    pub bytes: u64,
}

impl Cost {
    /// Steps and bytes.
    pub const fn new(steps: u64, bytes: u64) -> Self {
        Self { steps, bytes }
    }

    /// One after the other.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            bytes: self.bytes.saturating_add(other.bytes),
        }
    }

    /// Either of them.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            steps: self.steps.max(other.steps),
            bytes: self.bytes.max(other.bytes),
        }
    }

    /// `count` times.
    #[must_use]
    pub const fn times(self, count: u64) -> Self {
        Self {
            steps: self.steps.saturating_mul(count),
            bytes: self.bytes.saturating_mul(count),
        }
    }
}

/// Cost and calls of statements.
#[derive(Debug, Clone, Default)]
struct Work {
    cost: Cost,
    calls: BTreeMap<String, u64>,
    pairs: BTreeMap<(String, String), u64>,
}

impl Work {
    fn plus(&mut self, other: Self) {
        self.cost = self.cost.plus(other.cost);
        merge(&mut self.calls, other.calls, u64::saturating_add);
        merge(&mut self.pairs, other.pairs, u64::saturating_add);
    }

    fn or(&mut self, other: Self) {
        self.cost = self.cost.or(other.cost);
        merge(&mut self.calls, other.calls, u64::max);
        merge(&mut self.pairs, other.pairs, u64::max);
    }

    fn times(&mut self, count: u64) {
        self.cost = self.cost.times(count);
        for calls in self.calls.values_mut().chain(self.pairs.values_mut()) {
            *calls = calls.saturating_mul(count);
        }
    }
}

fn merge<K: Ord>(into: &mut BTreeMap<K, u64>, from: BTreeMap<K, u64>, how: fn(u64, u64) -> u64) {
    for (key, value) in from {
        let slot = into.entry(key).or_default();
        *slot = how(*slot, value);
    }
}

/// Computes bounds of functions and intents.
#[derive(Debug)]
pub struct Costs<'a> {
    sizes: Sizes,
    variants: &'a BTreeMap<String, Type>,
    effects: BTreeMap<&'a str, &'a Effect>,
    /// Declared payloads of obstructions.
    payloads: BTreeMap<&'a str, &'a Type>,
    /// Result and body cost by callee.
    functions: BTreeMap<String, (Type, Cost)>,
    locals: BTreeMap<Local, Type>,
    raised: BTreeSet<(String, String)>,
    output: u64,
    /// Whether a callee without a known bound was met.
    unknown: bool,
}

impl<'a> Costs<'a> {
    /// `variants` gives the variant types by coordinate; helpers of `contexts` get their bounds.
    pub fn new(variants: &'a BTreeMap<String, Type>, contexts: &'a [LawpackContext]) -> Self {
        let effects = contexts
            .iter()
            .flat_map(|it| it.effects.values())
            .map(|it| (it.coordinate.as_str(), it))
            .collect();
        let payloads = contexts
            .iter()
            .flat_map(|it| it.obstructions.values())
            .map(|it| (it.coordinate.as_str(), &it.payload))
            .collect();
        let mut costs = Self {
            payloads,
            sizes: Sizes::default(),
            variants,
            effects,
            functions: BTreeMap::new(),
            locals: BTreeMap::new(),
            raised: BTreeSet::new(),
            output: 0,
            unknown: false,
        };
        let helpers = contexts.iter().flat_map(|context| {
            let helpers = context.helpers.iter();
            helpers.map(|(name, it)| (format!("{}.{name}", context.coordinate), it))
        });
        costs.add(helpers);
        costs
    }

    /// Gives functions their bounds, callees first; one that calls itself is unbounded.
    pub fn add<'f>(&mut self, functions: impl IntoIterator<Item = (String, &'f Function)>) {
        let mut pending: Vec<(String, &Function)> = functions.into_iter().collect();
        loop {
            let before = pending.len();
            pending.retain(|(callee, function)| {
                self.unknown = false;
                let cost = self.body(function);
                if !self.unknown {
                    let bound = (function.result.clone(), cost);
                    self.functions.insert(callee.clone(), bound);
                }
                self.unknown
            });
            if pending.len() == before {
                break;
            }
        }
        for (callee, function) in pending {
            let bound = (function.result.clone(), Cost::new(u64::MAX, u64::MAX));
            self.functions.insert(callee, bound);
        }
    }

    /// The bound of a known function's body.
    pub fn bound(&mut self, callee: &str) -> Option<StaticBound> {
        let (result, cost) = self.functions.get(callee)?;
        Some(StaticBound {
            steps: cost.steps,
            allocated_bytes: cost.bytes,
            output_bytes: self.sizes.encoded(result),
        })
    }

    /// What one invocation of an intent consumes at most, calls and raises.
    pub fn intent(&mut self, intent: &Intent) -> Facts {
        self.locals.clear();
        self.raised.clear();
        self.bind(&intent.parameter);
        self.output = self.sizes.encoded(&intent.result);
        let mut work = Work {
            cost: Cost::new(1, 0),
            ..Work::default()
        };
        if let Some(basis) = &intent.basis {
            work.cost = work.cost.plus(self.expr(basis).1);
        }
        for predicate in &intent.constraints {
            work.cost = work.cost.plus(self.predicate(predicate));
        }
        let body = self.block(&intent.body);
        work.plus(body);
        Facts {
            static_bound: StaticBound {
                steps: work.cost.steps,
                allocated_bytes: work.cost.bytes,
                output_bytes: self.output,
            },
            effect_calls: work.calls,
            footprint: work.pairs,
            raised: std::mem::take(&mut self.raised),
        }
    }

    fn body(&mut self, function: &Function) -> Cost {
        self.locals.clear();
        for parameter in &function.parameters {
            self.bind(parameter);
        }
        let mut cost = Cost::default();
        for node in &function.bindings {
            cost = cost.plus(self.node(node).cost);
        }
        cost.plus(self.expr(&function.value).1)
    }

    fn bind(&mut self, binder: &Binder) {
        self.locals.insert(binder.local, binder.ty.clone());
    }

    fn block(&mut self, block: &Block) -> Work {
        let mut work = Work::default();
        for node in &block.nodes {
            let node = self.node(node);
            work.plus(node);
        }
        if let Some(result) = &block.result {
            work.cost = work.cost.plus(self.expr(result).1);
        }
        work
    }

    fn node(&mut self, node: &Node) -> Work {
        let mut work = match node {
            Node::Let { binding, value } => {
                let cost = self.expr(value).1;
                self.bind(binding);
                Work {
                    cost,
                    ..Work::default()
                }
            }
            Node::Require { predicate, failure } => Work {
                cost: self.predicate(predicate).plus(self.raise(failure)),
                ..Work::default()
            },
            Node::Effect { .. } => self.effect(node),
            Node::Branch {
                condition,
                binding,
                then,
                otherwise,
            } => {
                let condition = self.predicate(condition);
                let mut work = self.block(then);
                let otherwise = self.block(otherwise);
                work.or(otherwise);
                work.cost = work.cost.plus(condition);
                if let Some(binding) = binding {
                    self.bind(binding);
                }
                work
            }
            Node::For { .. } => self.repeat(node),
        };
        work.cost = work.cost.plus(Cost::new(1, 0));
        work
    }

    fn repeat(&mut self, node: &Node) -> Work {
        let Node::For {
            item,
            collection,
            fold,
            body,
            ..
        } = node
        else {
            return Work::default();
        };
        let (ty, mut before) = self.expr(collection);
        let count = match ty {
            Type::List { max, .. } | Type::Bytes { max, .. } => max,
            _ => 0,
        };
        self.bind(item);
        if let Some(fold) = fold {
            before = before.plus(self.expr(&fold.initial).1);
            self.bind(&fold.accumulator);
        }
        let mut work = self.block(body);
        work.cost = work.cost.plus(Cost::new(1, 0));
        work.times(count);
        work.cost = work.cost.plus(before);
        if let Some(fold) = fold {
            self.bind(&fold.binding);
        }
        work
    }

    fn effect(&mut self, node: &Node) -> Work {
        let Node::Effect {
            binding,
            effect,
            input,
            arms,
        } = node
        else {
            return Work::default();
        };
        let mut work = Work {
            cost: self.expr(input).1,
            ..Work::default()
        };
        if let Some(known) = self.effects.get(effect.as_str()).copied() {
            work.cost = work.cost.plus(self.access(known));
            work.calls.insert(known.coordinate.clone(), 1);
            work.pairs
                .insert((known.space.clone(), known.intrinsic.clone()), 1);
        }
        let mut worst = Cost::default();
        for arm in arms.values() {
            self.bind(&arm.binding);
            worst = worst.or(self.raise(&arm.raise));
        }
        self.bind(binding);
        work.cost = work.cost.plus(worst);
        work
    }

    /// The charge of an atom access that succeeds.
    fn access(&mut self, effect: &Effect) -> Cost {
        let key = units(self.sizes.key(&effect.key));
        let steps = key.saturating_add(8);
        if effect.write_class == "delete" {
            return Cost::new(steps, 32);
        }
        let value = self.sizes.encoded(&effect.atom);
        Cost::new(steps.saturating_add(units(value)), value.saturating_add(64))
    }

    /// A bare target carries the empty record without evaluating anything.
    fn raise(&mut self, raise: &Raise) -> Cost {
        let (ty, size, cost) = match &raise.payload {
            None => ("Record<>".to_owned(), 1, Cost::default()),
            Some(payload) => {
                let (_, cost) = self.expr(payload);
                let declared = self.payloads.get(raise.obstruction.as_str()).copied();
                let declared = declared.unwrap_or(&Type::Error);
                (declared.to_string(), self.sizes.encoded(declared), cost)
            }
        };
        self.output = self.output.max(size);
        self.raised.insert((raise.obstruction.clone(), ty));
        cost
    }
}
