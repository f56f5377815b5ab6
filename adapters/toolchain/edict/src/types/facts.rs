// SPDX-License-Identifier: Apache-2.0
//! Facts in force and what they prove about integers and Options (section 2.5).

use crate::core::tree::{Comparison, Local};

/// The least and the greatest value of an integer expression.
pub(crate) type Range = (i128, i128);

/// Most facts that are kept.
const MAX_FACTS: usize = 256;

/// A local, then fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) root: Local,
    pub(crate) fields: Vec<String>,
}

/// What facts can be about.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// The facts in force.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    known: Vec<Fact>,
}

impl Facts {
    /// How many are in force.
    pub(crate) fn mark(&self) -> usize {
        self.known.len()
    }

    /// Ends all facts after `mark`.
    pub(crate) fn reset(&mut self, mark: usize) {
        self.known.truncate(mark);
    }

    /// Adds facts while there is room.
    pub(crate) fn learn(&mut self, facts: &[Fact]) {
        for fact in facts {
            if self.known.len() < MAX_FACTS {
                self.known.push(fact.clone());
            }
        }
    }

    /// Whether the Option at a place is known to have a value.
    pub(crate) fn has_value(&self, place: &Place) -> bool {
        let known = self.known.iter();
        known
            .into_iter()
            .any(|it| matches!(it, Fact::Some(some) if some == place))
    }

    /// The range of an operand with everything that is known. Facts that contradict one another
    /// leave no value and tighten nothing: that place is never reached.
    pub(crate) fn tighten(&self, operand: &Operand) -> Range {
        let (mut least, mut greatest) = operand.range;
        if let Some(term) = &operand.term {
            for (range, how) in self
                .reach(term, Direction::Up)
                .iter()
                .map(|(_, r, s)| (r, s))
            {
                greatest = greatest.min(range.1.saturating_sub(gap(*how)));
            }
            for (range, how) in self
                .reach(term, Direction::Down)
                .iter()
                .map(|(_, r, s)| (r, s))
            {
                least = least.max(range.0.saturating_add(gap(*how)));
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
        let reached = self.reach(from, Direction::Up);
        from == to || reached.into_iter().any(|(term, ..)| term == to)
    }

    /// Every term that a chain of facts leads to, with its range and whether a link is strict.
    fn reach<'f>(
        &'f self,
        start: &'f Term,
        direction: Direction,
    ) -> Vec<(&'f Term, &'f Range, Strictness)> {
        let mut reached: Vec<(&Term, &Range, Strictness)> = Vec::new();
        let mut next = 0usize;
        let mut current = (start, Strictness::AtMost);
        loop {
            for fact in &self.known {
                for (term, range, how) in links(fact, current.0, direction) {
                    let how = how.max(current.1);
                    let known = |it: &&(&Term, &Range, Strictness)| it.0 == term && it.2 >= how;
                    if !reached.iter().any(|it| known(&it)) {
                        reached.push((term, range, how));
                    }
                }
            }
            let Some((term, _, how)) = reached.get(next) else {
                return reached;
            };
            current = (term, *how);
            next = next.saturating_add(1);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

fn gap(how: Strictness) -> i128 {
    i128::from(how == Strictness::Less)
}

/// The other sides of a fact about `term`, seen in one direction.
fn links<'f>(
    fact: &'f Fact,
    term: &Term,
    direction: Direction,
) -> impl Iterator<Item = (&'f Term, &'f Range, Strictness)> {
    let found = match (fact, direction) {
        (Fact::Order(low, high, how), Direction::Up) if low.0 == *term => {
            [Some((&high.0, &high.1, *how)), None]
        }
        (Fact::Order(low, high, how), Direction::Down) if high.0 == *term => {
            [Some((&low.0, &low.1, *how)), None]
        }
        (Fact::Equal(a, b), _) => [
            (a.0 == *term).then_some((&b.0, &b.1, Strictness::AtMost)),
            (b.0 == *term).then_some((&a.0, &a.1, Strictness::AtMost)),
        ],
        (Fact::Order(..) | Fact::Some(_), _) => [None, None],
    };
    found.into_iter().flatten()
}
