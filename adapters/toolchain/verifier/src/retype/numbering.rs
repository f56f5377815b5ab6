// SPDX-License-Identifier: Apache-2.0
//! Numbers of binders follow the source: from 0, without gap, implicit results last.

use crate::decode::core::{Function, Intent, Node, Raise};
use crate::decode::expression::{Binder, Expression, Local};
use crate::decode::reader::{Defect, refuse};
use crate::visit::{self, Visitor};

/// Checks the numbers of a function.
pub(crate) fn function(function: &Function) -> Result<(), Defect> {
    let mut numbers = Numbers::default();
    visit::function(&mut numbers, function);
    numbers.check()
}

/// Checks the numbers of an intent.
pub(crate) fn intent(intent: &Intent) -> Result<(), Defect> {
    let mut numbers = Numbers::default();
    visit::binder(&mut numbers, &intent.parameter);
    // The source may write the basis before, between or after the constraints; what it binds is
    // consecutive all the same.
    let basis = intent
        .basis
        .iter()
        .fold(Numbers::default(), |mut basis, value| {
            visit::expression(&mut basis, value);
            basis
        });
    let mut basis = Some(basis);
    for constraint in &intent.constraints {
        let mut unit = Numbers::default();
        visit::predicate(&mut unit, constraint);
        if let Some(first) = unit.locals.first()
            && let Some(before) = basis.take_if(|basis| basis.locals.first() < Some(first))
        {
            numbers.append(before);
        }
        numbers.append(unit);
    }
    if let Some(basis) = basis {
        numbers.append(basis);
    }
    let (nodes, implicit) = split(&intent.body.nodes, &numbers, intent);
    visit::nodes(&mut numbers, nodes);
    for (_, value) in &implicit {
        visit::expression(&mut numbers, value);
    }
    for (binding, _) in &implicit {
        visit::binder(&mut numbers, binding);
    }
    numbers.check()
}

type Implicit<'a> = Vec<(&'a Binder, &'a Expression)>;

/// Splits off the trailing `let` nodes that carry the highest numbers: their binders come after
/// every other binder, while what their values bind stands at its place in the source.
fn split<'a>(
    nodes: &'a [Node],
    before: &Numbers,
    intent: &'a Intent,
) -> (&'a [Node], Implicit<'a>) {
    let mut all = Numbers {
        locals: before.locals.clone(),
        ..Numbers::default()
    };
    visit::nodes(&mut all, nodes);
    visit::expression(&mut all, &intent.body.result);
    let mut next = u32::try_from(all.locals.len()).unwrap_or(u32::MAX);
    let mut implicit = Vec::new();
    let mut rest = nodes;
    while let [head @ .., Node::Let { binding, value }] = rest {
        next = next.saturating_sub(1);
        if binding.local != Local::Numbered(next) {
            break;
        }
        implicit.push((binding, value));
        rest = head;
    }
    implicit.reverse();
    (rest, implicit)
}

/// Binders in the order in which the source introduces them.
#[derive(Clone, Debug, Default)]
struct Numbers {
    arguments: Vec<u32>,
    locals: Vec<u32>,
    obstructions: Vec<u32>,
}

impl Numbers {
    fn append(&mut self, other: Self) {
        self.arguments.extend(other.arguments);
        self.locals.extend(other.locals);
        self.obstructions.extend(other.obstructions);
    }

    fn check(&self) -> Result<(), Defect> {
        for (family, numbers) in [
            ("arg", &self.arguments),
            ("local", &self.locals),
            ("obstruction", &self.obstructions),
        ] {
            for (expected, number) in (0u32..).zip(numbers) {
                if expected != *number {
                    return refuse(format!(
                        "`{family}.{number}` stands where `{family}.{expected}` is due"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Visitor for Numbers {
    fn binder(&mut self, binder: &Binder) {
        match binder.local {
            Local::Argument(number) => self.arguments.push(number),
            Local::Numbered(number) => self.locals.push(number),
            Local::Obstruction(number) => self.obstructions.push(number),
        }
    }

    /// Core keeps the arms by name, so the order of their payloads in the source is unknown.
    fn arms(&mut self, arms: &[(&Binder, &Raise)]) {
        let mut units: Vec<Self> = Vec::new();
        for (binding, raise) in arms {
            self.binder(binding);
            let mut unit = Self::default();
            visit::raise(&mut unit, raise);
            units.push(unit);
        }
        units.sort_by(|left, right| left.locals.first().cmp(&right.locals.first()));
        for unit in units {
            self.append(unit);
        }
    }
}
