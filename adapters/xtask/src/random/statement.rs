// SPDX-License-Identifier: Apache-2.0
//! Statements of functions and intents, loops with an accumulator among them.

use super::{
    scope::{Fact, Generator},
    types::{Ty, Width},
};
use std::fmt::Write as _;

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In a function: `let` and loops with an accumulator only.
    Function,
    /// In the body of an intent.
    Intent,
}

impl Generator<'_> {
    /// Some statements, each on a line of its own; what they bind stays in scope.
    pub(super) fn statements(&mut self, place: Place, most: usize, text: &mut String) {
        for _ in 0..self.tape.below(most + 1) {
            if !self.spend() {
                return;
            }
            if place == Place::Intent && self.effects && self.tape.chance(40) {
                self.effect(text);
                continue;
            }
            let kinds = if place == Place::Function { 4 } else { 9 };
            match self.tape.below(kinds) {
                0 | 1 => self.binding(text),
                2 | 3 => self.fold(place, text),
                4 | 5 => self.requirement(text),
                6 => self.branch(text),
                7 => self.visit(text),
                _ => self.chosen(text),
            }
        }
    }

    fn binding(&mut self, text: &mut String) {
        let name = self.name();
        let ty = self.types.draw(self.tape, 2);
        if let (Ty::Int(width), true) = (&ty, self.tape.chance(50)) {
            let (value, low, high) = self.integer(*width, 2);
            // Writing into a string cannot fail.
            _ = writeln!(text, "  let {name} = {value};");
            self.bind(&name, &ty, Some((low, high)));
            return;
        }
        let value = self.expression(&ty, 3, true);
        _ = writeln!(text, "  let {name}: {} = {value};", self.types.text(&ty));
        self.bind(&name, &ty, None);
    }

    /// A collection in a place of its own: path, item type, interval of an item, declared maximum.
    fn collection(&mut self, text: &mut String) -> (String, Ty, Option<(i128, i128)>, u64) {
        let place = self.place(|_, ty| match ty {
            Ty::List(_, max) => *max > 0,
            Ty::Bytes(_, max) => *max > 0 && *max <= 16,
            _ => false,
        });
        let (path, ty) = if let Some(place) = place {
            (place.text, place.ty)
        } else {
            let item = self.types.draw(self.tape, 1);
            let ty = Ty::List(Box::new(item), 3);
            let name = self.name();
            let value = self.expression(&ty, 1, true);
            _ = writeln!(text, "  let {name}: {} = {value};", self.types.text(&ty));
            self.bind(&name, &ty, None);
            (name, ty)
        };
        match ty {
            Ty::List(item, max) => (path, *item, None, max),
            Ty::Bytes(_, max) => (path, Ty::Int(Width::U32), Some((0, 255)), max),
            _ => (path, Ty::Bool, None, 0),
        }
    }

    /// `let x = for … with acc: T = initial { …; yield …; };`
    fn fold(&mut self, place: Place, text: &mut String) {
        let Some(left) = self.loops.checked_sub(1) else {
            return self.binding(text);
        };
        self.loops = left;
        let (path, item, interval, max) = self.collection(text);
        let bound = max + u64::try_from(self.tape.below(3)).unwrap_or(0);
        let ty = self.types.draw(self.tape, 1);
        let initial = self.expression(&ty, 1, true);
        let (name, binder, accumulator) = (self.name(), self.name(), self.name());
        let mut body = String::new();
        let yielded = self.inner(|it| {
            it.bind(&binder, &item, interval);
            it.bind(&accumulator, &ty, None);
            it.statements(place, 2, &mut body);
            it.expression(&ty, 2, true)
        });
        let shown = self.types.text(&ty);
        _ = writeln!(
            text,
            "  let {name} = for {binder} in {path} bounded {bound} with {accumulator}: {shown} = {initial} {{\n{body}    yield {yielded};\n  }};"
        );
        self.bind(&name, &ty, None);
    }

    /// A requirement; what it makes known holds for the rest of the block.
    fn requirement(&mut self, text: &mut String) {
        let (condition, fact) = self.condition_with_fact();
        let target = self.target();
        _ = writeln!(text, "  require {condition} else {target};");
        self.facts.extend(fact);
    }

    /// A condition that gives a fact where there are places for one.
    pub(super) fn condition_with_fact(&mut self) -> (String, Option<Fact>) {
        match self.tape.below(4) {
            1 => {
                if let Some((low, high)) = self.unsigned_pair(Width::U64) {
                    let (low, high) = (low.text, high.text);
                    let condition = match self.tape.below(3) {
                        0 => format!("{low} <= {high}"),
                        1 => format!("{high} >= {low}"),
                        _ => format!("{low} < {high}"),
                    };
                    return (condition, Some(Fact::AtMost(low, high)));
                }
            }
            2 => {
                if let Some(place) = self.place(|_, ty| matches!(ty, Ty::Opt(_))) {
                    let path = place.text;
                    return (format!("isSome({path})"), Some(Fact::Some(path)));
                }
            }
            _ => {}
        }
        let condition = self.condition(2);
        // Most programs are to come further than their first requirement.
        if self.tape.chance(65) {
            let (number, ..) = self.integer(Width::U32, 1);
            return (format!("({condition} || {number} >= 0)"), None);
        }
        (condition, None)
    }

    pub(super) fn target(&mut self) -> String {
        match self.tape.below(5) {
            0 => "kit.Plain".to_owned(),
            1 => {
                let (limit, ..) = self.integer(Width::U64, 1);
                let (actual, ..) = self.integer(Width::U64, 1);
                format!("kit.Counted({{ limit: {limit}, actual: {actual} }})")
            }
            2 => {
                let note = self.expression(&Ty::Str(24), 2, true);
                format!("kit.Noted({{ note: {note} }})")
            }
            3 => {
                let item = self.expression(&Ty::Opt(Box::new(Ty::Int(Width::I32))), 1, true);
                let tags = self.expression(&Ty::List(Box::new(Ty::Bytes(0, 4)), 2), 1, true);
                let shade = self.expression(&Ty::Variant(0), 1, true);
                format!("kit.Deep({{ item: {item}, tags: {tags}, shade: {shade} }})")
            }
            _ => "kit.Counted".to_owned(),
        }
    }

    fn branch(&mut self, text: &mut String) {
        let (condition, fact) = self.condition_with_fact();
        let then = self.block(1, fact);
        _ = writeln!(text, "  if {condition} {{\n{then}  }}");
        if self.tape.chance(50) {
            let otherwise = self.block(1, None);
            if self.tape.chance(30) {
                let again = self.inner(|it| it.condition(2));
                _ = writeln!(text, "  else if {again} {{\n{otherwise}  }}");
            } else {
                _ = writeln!(text, "  else {{\n{otherwise}  }}");
            }
        }
    }

    fn block(&mut self, most: usize, fact: Option<Fact>) -> String {
        let mut body = String::new();
        self.inner(|it| {
            it.facts.extend(fact);
            it.requirement(&mut body);
            it.statements(Place::Intent, most, &mut body);
        });
        body
    }

    /// A loop statement.
    fn visit(&mut self, text: &mut String) {
        let Some(left) = self.loops.checked_sub(1) else {
            return self.requirement(text);
        };
        self.loops = left;
        let (path, item, interval, max) = self.collection(text);
        let binder = self.name();
        let mut body = String::new();
        self.inner(|it| {
            it.bind(&binder, &item, interval);
            it.requirement(&mut body);
            it.statements(Place::Intent, 1, &mut body);
        });
        _ = writeln!(
            text,
            "  for {binder} in {path} bounded {max} {{\n{body}  }}"
        );
    }

    /// `let x = if … { …; yield …; } else { …; yield …; };`
    fn chosen(&mut self, text: &mut String) {
        let name = self.name();
        let ty = self.types.draw(self.tape, 1);
        let (condition, fact) = self.condition_with_fact();
        let branch = |it: &mut Self, fact: Option<Fact>| {
            let mut body = String::new();
            it.inner(|it| {
                it.facts.extend(fact);
                it.statements(Place::Intent, 1, &mut body);
                let value = it.expression(&ty, 2, false);
                format!("{body}    yield {value};")
            })
        };
        let then = branch(self, fact);
        let otherwise = branch(self, None);
        _ = writeln!(
            text,
            "  let {name}: {} = if {condition} {{\n{then}\n  }} else {{\n{otherwise}\n  }};",
            self.types.text(&ty)
        );
        self.bind(&name, &ty, None);
    }
}
