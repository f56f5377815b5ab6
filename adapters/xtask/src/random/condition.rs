// SPDX-License-Identifier: Apache-2.0
//! Conditions and other values of type `Bool`.

use super::{
    scope::Generator,
    types::{Ty, Width},
};

impl Generator<'_> {
    /// A condition.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth == 0 || !self.spend() {
            let place = self.place(|_, ty| *ty == Ty::Bool);
            return match (place, self.tape.below(3)) {
                (Some(place), 0 | 1) => place.text,
                (_, 2) => "true".to_owned(),
                _ => "false".to_owned(),
            };
        }
        let depth = depth - 1;
        match self.tape.below(11) {
            0..=2 => self.order(depth),
            3 | 4 => self.equality(depth),
            5 => {
                let inner = self.condition(depth);
                format!("!({inner})")
            }
            6 | 7 => self.chain(depth),
            8 => {
                let ty = self.types.draw(self.tape, 1);
                let option = match ty {
                    Ty::Opt(_) => ty,
                    item => Ty::Opt(Box::new(item)),
                };
                let text = self.expression(&option, depth, false);
                format!("isSome({text})")
            }
            9 => {
                let bytes = self.expression(&Ty::Bytes(0, 16), depth, false);
                if self.tape.chance(50) {
                    return format!("validUtf8({bytes})");
                }
                let index = self.index(depth);
                format!("isUtf8Boundary({bytes}, {index})")
            }
            _ => self.general(&Ty::Bool, depth),
        }
    }

    fn order(&mut self, depth: usize) -> String {
        let width = self.tape.pick(&Width::ALL).copied().unwrap_or(Width::U64);
        let (left, ..) = self.integer(width, depth);
        let right = if self.tape.chance(25) {
            self.tape.below(300).to_string()
        } else {
            self.integer(width, depth).0
        };
        let sign = self
            .tape
            .pick(&["<=", "<", ">", ">="])
            .copied()
            .unwrap_or("<=");
        format!("({left} {sign} {right})")
    }

    fn equality(&mut self, depth: usize) -> String {
        let ty = match self.place(|_, _| true) {
            Some(place) if self.tape.chance(60) => place.ty,
            _ => self.types.draw(self.tape, 1),
        };
        let left = self.expression(&ty, depth, false);
        let right = self.expression(&ty, depth, false);
        let sign = if self.tape.chance(30) { "!=" } else { "==" };
        format!("({left} {sign} {right})")
    }

    fn chain(&mut self, depth: usize) -> String {
        let sign = if self.tape.chance(50) { " && " } else { " || " };
        let parts: Vec<String> = (0..2 + self.tape.below(3))
            .map(|_| self.condition(depth))
            .collect();
        format!("({})", parts.join(sign))
    }
}
