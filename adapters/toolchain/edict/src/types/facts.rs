// SPDX-License-Identifier: Apache-2.0
//! Facts in force and what they prove about integers and Options (section 2.5).

use crate::core::tree::{Comparison, Local};
use std::collections::BTreeMap;

/// The least and the greatest value of an integer expression.
pub(crate) type Range = (i128, i128);

/// Most facts that are kept.
const MAX_FACTS: usize = 256;

/// A local, then fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) root: Local,
    pub(crate) fields: Vec<String>,
}

/// What facts can be about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Term {
    Literal(i128),
    Place(Place),
    Length(Place),
}

/// An operand of a comparison or of a proof.
#[derive(Debug, Clone)]
pub(crate) struct Operand {
    pub(crate) term: Option<Term>,
    /// What is known without facts.
    pub(crate) range: Range,
}

/// Something that is known.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    /// The first is at most the second, or less.
    Order(Side, Side, Strictness),
    /// Both are the same.
    Equal(Side, Side),
    /// The Option at this place has a value.
    Some(Place),
}

/// A term and its range without facts.
type Side = (Term, Range);

/// Whether equality is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strictness {
    AtMost,
    Less,
}

/// What a condition tells when it holds and when it does not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Truth {
    pub(crate) holds: Vec<Fact>,
    pub(crate) fails: Vec<Fact>,
}

impl Truth {
    pub(crate) fn not(self) -> Self {
        Self {
            holds: self.fails,
            fails: self.holds,
        }
    }

    /// What a comparison of two terms tells.
    pub(crate) fn of(operator: Comparison, left: Operand, right: Operand) -> Self {
        let (Some(a), Some(b)) = (left.term, right.term) else {
            return Self::default();
        };
        let (a, b) = ((a, left.range), (b, right.range));
        let order = |a: &Side, b: &Side, how| vec![Fact::Order(a.clone(), b.clone(), how)];
        let (less, most) = (Strictness::Less, Strictness::AtMost);
        let (holds, fails) = match operator {
            Comparison::Less => (order(&a, &b, less), order(&b, &a, most)),
            Comparison::LessOrEqual => (order(&a, &b, most), order(&b, &a, less)),
            Comparison::Greater => (order(&b, &a, less), order(&a, &b, most)),
            Comparison::GreaterOrEqual => (order(&b, &a, most), order(&a, &b, less)),
            Comparison::Equal => (vec![Fact::Equal(a, b)], Vec::new()),
            Comparison::NotEqual => (Vec::new(), vec![Fact::Equal(a, b)]),
        };
        Self { holds, fails }
    }
}

/// The facts in force, and the order that they give to terms.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    known: Vec<Known>,
    /// Terms that facts are about, numbered in the order of their first fact.
    numbers: BTreeMap<Term, usize>,
    /// The links of each term, in the order of the facts.
    links: Vec<Links>,
}

/// A fact, and what it is undone to.
#[derive(Debug)]
struct Known {
    fact: Fact,
    /// Terms before it.
    terms: usize,
}

/// The terms that facts put beside one.
#[derive(Debug, Default)]
struct Links {
    up: Vec<Link>,
    down: Vec<Link>,
}

/// A term beside another one, its range, and whether the step is strict.
#[derive(Debug, Clone, Copy)]
struct Link {
    to: usize,
    range: Range,
    how: Strictness,
}

impl Facts {
    /// How many are in force.
    pub(crate) fn mark(&self) -> usize {
        self.known.len()
    }

    /// Ends all facts after `mark`.
    pub(crate) fn reset(&mut self, mark: usize) {
        while self.known.len() > mark {
            let Some(Known { fact, terms }) = self.known.pop() else {
                return;
            };
            for (from, direction, _) in self.steps(&fact) {
                if let Some(links) = self.links.get_mut(from) {
                    links.of_mut(direction).pop();
                }
            }
            if terms < self.links.len() {
                self.links.truncate(terms);
                self.numbers.retain(|_, number| *number < terms);
            }
        }
    }

    /// Adds facts while there is room.
    pub(crate) fn learn(&mut self, facts: &[Fact]) {
        for fact in facts {
            if self.known.len() >= MAX_FACTS {
                return;
            }
            let terms = self.links.len();
            if let Fact::Order(a, b, _) | Fact::Equal(a, b) = fact {
                self.number(&a.0);
                self.number(&b.0);
            }
            for (from, direction, link) in self.steps(fact) {
                if let Some(links) = self.links.get_mut(from) {
                    links.of_mut(direction).push(link);
                }
            }
            let fact = fact.clone();
            self.known.push(Known { fact, terms });
        }
    }

    fn number(&mut self, term: &Term) {
        if !self.numbers.contains_key(term) {
            self.numbers.insert(term.clone(), self.links.len());
            self.links.push(Links::default());
        }
    }

    /// The links that a fact gives.
    fn steps(&self, fact: &Fact) -> Vec<(usize, Direction, Link)> {
        let (a, b, how) = match fact {
            Fact::Order(a, b, how) => (a, b, *how),
            Fact::Equal(a, b) => (a, b, Strictness::AtMost),
            Fact::Some(_) => return Vec::new(),
        };
        let (Some(from), Some(to)) = (self.numbers.get(&a.0), self.numbers.get(&b.0)) else {
            return Vec::new();
        };
        let step = |from: &usize, direction, to: &usize, range| {
            let to = *to;
            (*from, direction, Link { to, range, how })
        };
        let mut steps = vec![
            step(from, Direction::Up, to, b.1),
            step(to, Direction::Down, from, a.1),
        ];
        if let Fact::Equal(..) = fact {
            steps.push(step(from, Direction::Down, to, b.1));
            steps.push(step(to, Direction::Up, from, a.1));
        }
        steps
    }

    /// Whether the Option at a place is known to have a value.
    pub(crate) fn has_value(&self, place: &Place) -> bool {
        let mut known = self.known.iter();
        known.any(|it| matches!(&it.fact, Fact::Some(some) if some == place))
    }

    /// The range of an operand with everything that is known. Facts that contradict one another
    /// leave no value and tighten nothing: that place is never reached.
    pub(crate) fn tighten(&self, operand: &Operand) -> Range {
        let (mut least, mut greatest) = operand.range;
        if let Some(term) = &operand.term {
            for link in self.reach(term, Direction::Up) {
                greatest = greatest.min(link.range.1.saturating_sub(gap(link.how)));
            }
            for link in self.reach(term, Direction::Down) {
                least = least.max(link.range.0.saturating_add(gap(link.how)));
            }
        }
        if least <= greatest {
            (least, greatest)
        } else {
            operand.range
        }
    }

    /// Whether `a <= b` is proven.
    pub(crate) fn at_most(&self, a: &Operand, b: &Operand) -> bool {
        if self.tighten(a).1 <= self.tighten(b).0 {
            return true;
        }
        let (Some(from), Some(to)) = (&a.term, &b.term) else {
            return false;
        };
        let to_number = self.numbers.get(to);
        let mut reached = self.reach(from, Direction::Up).into_iter();
        from == to || reached.any(|link| Some(&link.to) == to_number)
    }

    /// Every term that a chain of facts leads to, strictly so or not. Each is entered at most twice,
    /// so the work grows with the facts and not with their chains.
    fn reach(&self, start: &Term, direction: Direction) -> Vec<Link> {
        let mut reached: Vec<Link> = Vec::new();
        let Some(start) = self.numbers.get(start) else {
            return reached;
        };
        let mut best: Vec<Option<Strictness>> = vec![None; self.links.len()];
        let mut next = 0usize;
        let mut current = (*start, Strictness::AtMost);
        loop {
            let links = self.links.get(current.0).map(|it| it.of(direction));
            for link in links.unwrap_or_default() {
                let how = link.how.max(current.1);
                if let Some(best) = best.get_mut(link.to)
                    && best.is_none_or(|best| best < how)
                {
                    *best = Some(how);
                    reached.push(Link { how, ..*link });
                }
            }
            let Some(link) = reached.get(next) else {
                return reached;
            };
            current = (link.to, link.how);
            next = next.saturating_add(1);
        }
    }
}

impl Links {
    fn of(&self, direction: Direction) -> &[Link] {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    fn of_mut(&mut self, direction: Direction) -> &mut Vec<Link> {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

fn gap(how: Strictness) -> i128 {
    i128::from(how == Strictness::Less)
}
