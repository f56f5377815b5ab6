// SPDX-License-Identifier: Apache-2.0
//! Integer expressions with the interval that the language gives them (language page 2.5).

use super::{
    scope::{Fact, Generator},
    types::{Ty, Width},
    value,
};

/// Text and interval of an integer expression.
pub(super) type Number = (String, i128, i128);

impl Generator<'_> {
    /// An expression of the width.
    pub(super) fn integer(&mut self, width: Width, depth: usize) -> Number {
        let leaf = depth == 0 || !self.spend();
        let (low, high) = width.range();
        match self.tape.below(if leaf { 2 } else { 14 }) {
            0 => self.number(width),
            1 => self.integer_place(width),
            2..=4 => self.arithmetic(width, depth - 1),
            5 | 6 => (self.checked(width, depth - 1), low, high),
            7 => self.conditional_number(width, depth - 1),
            8 => (self.difference(width, depth - 1), low, high),
            9 if width == Width::U64 => self.length(depth - 1),
            10 if width == Width::U64 => {
                let (text, low, high) = self.integer(Width::U32, depth - 1);
                (format!("toU64({text})"), low, high)
            }
            11 if width == Width::U32 => (self.byte_at(depth - 1), low, high),
            12 => (self.narrowed(width, depth - 1), low, high),
            _ => (self.general(&Ty::Int(width), depth - 1), low, high),
        }
    }

    fn number(&mut self, width: Width) -> Number {
        let number = value::integer(self.tape, width);
        (format!("{number}{}", width.suffix()), number, number)
    }

    fn integer_place(&mut self, width: Width) -> Number {
        match self.place(|_, ty| *ty == Ty::Int(width)) {
            Some(place) => {
                let (low, high) = place.interval.unwrap_or(width.range());
                (place.text, low, high)
            }
            None => self.number(width),
        }
    }

    /// Bare arithmetic where the result interval lies inside the width, the checked form elsewhere.
    fn arithmetic(&mut self, width: Width, depth: usize) -> Number {
        let (left, a, b) = self.integer(width, depth);
        let (right, c, d) = self.integer(width, depth);
        let (min, max) = width.range();
        let fits = |low: i128, high: i128| min <= low && high <= max;
        match self.tape.below(6) {
            0 if fits(a + c, b + d) => (format!("({left} + {right})"), a + c, b + d),
            1 if fits(a - d, b - c) => (format!("({left} - {right})"), a - d, b - c),
            2 => {
                let products = [a, b].map(|x| [c, d].map(|y| x.checked_mul(y)));
                let products: Option<Vec<i128>> = products.into_iter().flatten().collect();
                match products
                    .as_deref()
                    .map(|it| (it.iter().min(), it.iter().max()))
                {
                    Some((Some(low), Some(high))) if fits(*low, *high) => {
                        (format!("({left} * {right})"), *low, *high)
                    }
                    _ => (self.checked_of("Mul", &left, &right, width), min, max),
                }
            }
            3 => (self.divided(&left, width), min, max),
            4 if width.range().0 < 0 && fits(-b, -a) => (format!("(-{left})"), -b, -a),
            5 if fits(a + c, b + d) => (format!("({right} + {left})"), a + c, b + d),
            _ => (self.checked_of("Add", &left, &right, width), min, max),
        }
    }

    /// Division or remainder by a literal that is neither 0 nor -1.
    fn divided(&mut self, left: &str, width: Width) -> String {
        let divisor = match value::integer(self.tape, width) {
            0 | -1 => 3,
            other => other,
        };
        let sign = if self.tape.chance(50) { '%' } else { '/' };
        format!("({left} {sign} {divisor}{})", width.suffix())
    }

    fn checked(&mut self, width: Width, depth: usize) -> String {
        let (left, ..) = self.integer(width, depth);
        let (right, ..) = self.integer(width, depth);
        let name = self.tape.pick(&["Add", "Sub", "Mul", "Div", "Rem"]);
        let name = name.copied().unwrap_or("Add");
        self.checked_of(name, &left, &right, width)
    }

    fn checked_of(&mut self, name: &str, left: &str, right: &str, width: Width) -> String {
        let (otherwise, ..) = self.integer(width, 0);
        format!("default(checked{name}({left}, {right}), {otherwise})")
    }

    fn conditional_number(&mut self, width: Width, depth: usize) -> Number {
        let condition = self.condition(depth);
        let (then, a, b) = self.integer(width, depth);
        let (otherwise, c, d) = self.integer(width, depth);
        let text = format!("(if {condition} then {then} else {otherwise})");
        (text, a.min(c), b.max(d))
    }

    /// A difference that a fact proves, written under the condition that gives it unless known.
    fn difference(&mut self, width: Width, depth: usize) -> String {
        let known = self
            .facts
            .clone()
            .into_iter()
            .filter_map(|fact| match fact {
                Fact::AtMost(low, high) => Some((low, high)),
                Fact::Some(_) => None,
            });
        let of_width = |text: &str, places: &[super::scope::Place]| {
            let found = places.iter().find(|it| it.text == text);
            found.is_some_and(|it| it.ty == Ty::Int(width))
        };
        let known: Vec<_> = known
            .filter(|(low, high)| {
                width.is_unsigned() && of_width(low, &self.places) && of_width(high, &self.places)
            })
            .collect();
        if let (true, Some((low, high))) = (self.tape.chance(60), self.tape.pick(&known)) {
            return format!("({high} - {low})");
        }
        let Some((low, high)) = self.unsigned_pair(width) else {
            return self.checked(width, depth);
        };
        let (low, high) = (low.text, high.text);
        let (other, ..) = self.integer(width, depth);
        match self.tape.below(6) {
            0 => format!("(if {low} <= {high} then {high} - {low} else {other})"),
            1 => format!("(if {high} > {low} then {high} - {low} else {other})"),
            2 => format!("(if {low} > {high} then {other} else {high} - {low})"),
            3 => format!("(if !({low} > {high}) then {high} - {low} else {other})"),
            4 => format!("(if {high} == {low} then {high} - {low} else {other})"),
            _ => {
                let more = self.condition(depth);
                format!("(if {low} > {high} || {more} then {other} else {high} - {low})")
            }
        }
    }

    fn length(&mut self, depth: usize) -> Number {
        match self.place(|_, ty| matches!(ty, Ty::Bytes(..) | Ty::Str(_) | Ty::List(..))) {
            Some(place) if self.tape.chance(70) => {
                let (low, high) = match place.ty {
                    Ty::Bytes(min, max) => (min, max),
                    Ty::Str(max) | Ty::List(_, max) => (0, max),
                    _ => (0, u64::MAX),
                };
                (format!("len({})", place.text), low.into(), high.into())
            }
            _ => {
                let ty = if self.tape.chance(50) {
                    Ty::Bytes(0, 16)
                } else {
                    Ty::Str(24)
                };
                let text = self.expression(&ty, depth, false);
                // The type of the operand may be narrower than asked for, its interval too; the
                // wider one is never wrong.
                (format!("len({text})"), 0, 24)
            }
        }
    }

    fn byte_at(&mut self, depth: usize) -> String {
        let bytes = self.expression(&Ty::Bytes(0, 16), depth, false);
        let index = self.index(depth);
        let (otherwise, ..) = self.integer(Width::U32, 0);
        format!("default(at({bytes}, {index}), {otherwise})")
    }

    fn narrowed(&mut self, width: Width, depth: usize) -> String {
        let from = self.tape.pick(&Width::ALL).copied().unwrap_or(width);
        let (text, ..) = self.integer(from, depth);
        let (otherwise, ..) = self.integer(width, 0);
        format!("default(narrow<{}>({text}), {otherwise})", width.name())
    }

    /// An index or offset: often small, sometimes a bare literal.
    pub(super) fn index(&mut self, depth: usize) -> String {
        if self.tape.chance(60) {
            return self.tape.below(9).to_string();
        }
        self.integer(Width::U64, depth).0
    }
}
