// SPDX-License-Identifier: Apache-2.0
//! Facts in force and the chains that they make. Terms are numbered, so a chain is followed in time
//! that grows with the number of facts.

use super::environment::{Place, Range, Term};
use std::collections::BTreeMap;

/// Later facts are ignored.
const MAX_FACTS: usize = 256;

/// Something that is known.
#[derive(Clone, Debug)]
pub(super) enum Fact {
    /// `left <= right`, or `left < right`.
    Order {
        left: Term,
        right: Term,
        strict: bool,
    },
    Equal(Term, Term),
    Some(Place),
}

/// A term at the other end of a chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    number: usize,
    /// Its interval from type and definition alone.
    pub(super) base: Option<Range>,
    /// Whether a link of the chain is strict.
    pub(super) strict: bool,
}

/// The facts of a scope and of those around it.
#[derive(Debug, Default)]
pub(super) struct Facts {
    known: Vec<Fact>,
    /// For each fact, how many terms there were before it.
    before: Vec<usize>,
    numbers: BTreeMap<Term, usize>,
    nodes: Vec<Node>,
}

/// A term with its neighbors: number and strictness.
#[derive(Debug)]
struct Node {
    base: Option<Range>,
    above: Vec<(usize, bool)>,
    below: Vec<(usize, bool)>,
}

impl Facts {
    /// How many are in force.
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Forgets all but the first `count`.
    pub(super) fn truncate(&mut self, count: usize) {
        while self.known.len() > count {
            let (Some(fact), Some(before)) = (self.known.pop(), self.before.pop()) else {
                return;
            };
            for (low, high, _) in self.edges(&fact) {
                if let Some(node) = self.nodes.get_mut(low) {
                    node.above.pop();
                }
                if let Some(node) = self.nodes.get_mut(high) {
                    node.below.pop();
                }
            }
            if before < self.nodes.len() {
                self.nodes.truncate(before);
                self.numbers.retain(|_, number| *number < before);
            }
        }
    }

    /// Adds a fact while there is room; `base` gives intervals of its terms.
    pub(super) fn learn(&mut self, fact: Fact, base: impl Fn(&Term) -> Option<Range>) {
        if self.known.len() >= MAX_FACTS {
            return;
        }
        self.before.push(self.nodes.len());
        if let Fact::Order { left, right, .. } | Fact::Equal(left, right) = &fact {
            for term in [left, right] {
                if !self.numbers.contains_key(term) {
                    self.numbers.insert(term.clone(), self.nodes.len());
                    self.nodes.push(Node {
                        base: base(term),
                        above: Vec::new(),
                        below: Vec::new(),
                    });
                }
            }
        }
        for (low, high, strict) in self.edges(&fact) {
            if let Some(node) = self.nodes.get_mut(low) {
                node.above.push((high, strict));
            }
            if let Some(node) = self.nodes.get_mut(high) {
                node.below.push((low, strict));
            }
        }
        self.known.push(fact);
    }

    /// Which term stands below which one.
    fn edges(&self, fact: &Fact) -> Vec<(usize, usize, bool)> {
        let (left, right, strict) = match fact {
            Fact::Order {
                left,
                right,
                strict,
            } => (left, right, *strict),
            Fact::Equal(left, right) => (left, right, false),
            Fact::Some(_) => return Vec::new(),
        };
        match (self.numbers.get(left), self.numbers.get(right)) {
            (Some(left), Some(right)) => {
                let back = matches!(fact, Fact::Equal(..)).then_some((*right, *left, strict));
                [(*left, *right, strict)].into_iter().chain(back).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Terms at or above (`upward`), or at or below, `term`; each at most twice, once strictly.
    pub(super) fn chain(&self, term: &Term, upward: bool) -> Vec<Reached> {
        let mut reached = Vec::new();
        let Some(start) = self.numbers.get(term) else {
            return reached;
        };
        let mut seen = vec![[false; 2]; self.nodes.len()];
        let mut pending = vec![(*start, false)];
        while let Some((number, so_far)) = pending.pop() {
            let Some(node) = self.nodes.get(number) else {
                continue;
            };
            let neighbors = if upward { &node.above } else { &node.below };
            for (next, strict) in neighbors {
                let strict = so_far || *strict;
                let Some(slots) = seen.get_mut(*next) else {
                    continue;
                };
                let [plain, strictly] = slots;
                let slot = if strict { strictly } else { plain };
                if !std::mem::replace(slot, true) {
                    pending.push((*next, strict));
                    reached.push(Reached {
                        number: *next,
                        base: self.nodes.get(*next).and_then(|it| it.base),
                        strict,
                    });
                }
            }
        }
        reached
    }

    /// Whether a chain leads up from one term to another.
    pub(super) fn leads(&self, from: &Term, to: &Term) -> bool {
        let Some(to) = self.numbers.get(to) else {
            return false;
        };
        self.chain(from, true).iter().any(|it| it.number == *to)
    }

    /// Whether `isSome` of the place is a fact.
    pub(super) fn has_some(&self, place: &Place) -> bool {
        self.known
            .iter()
            .any(|fact| matches!(fact, Fact::Some(known) if known == place))
    }
}
