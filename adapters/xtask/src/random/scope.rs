// SPDX-License-Identifier: Apache-2.0
//! What a generated expression can see, and what is known to be true there.

use super::{
    tape::Tape,
    types::{Ty, Types, Width},
};

/// A local or a field path of one.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Its text.
    pub(crate) text: String,
    /// Its type.
    pub(crate) ty: Ty,
    /// Interval of an integer whose value is narrower known than its width (2.5).
    pub(crate) interval: Option<(i128, i128)>,
}

/// A function or helper that can be called.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    /// Its name, `kit.` and all for a helper.
    pub(crate) name: String,
    /// Parameter types.
    pub(crate) parameters: Vec<Ty>,
    /// Result type.
    pub(crate) result: Ty,
}

/// A fact that a condition gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// The first path is at most the second one.
    AtMost(String, String),
    /// The path holds some value.
    Some(String),
}

/// An atom that is likely there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// Whether it is a label; otherwise a cell.
    pub(crate) label: bool,
    /// Its key as it was written.
    pub(crate) key: String,
    /// The path of its version.
    pub(crate) version: String,
}

/// The generator.
#[derive(Debug)]
pub(crate) struct Generator<'a> {
    /// Where choices come from.
    pub(crate) tape: &'a mut Tape,
    /// Named types.
    pub(crate) types: Types,
    /// Locals in scope.
    pub(crate) places: Vec<Place>,
    /// What can be called.
    pub(crate) callees: Vec<Callee>,
    /// What is known.
    pub(crate) facts: Vec<Fact>,
    /// Expression nodes that may still be spent.
    pub(crate) fuel: usize,
    /// Loops that may still be written.
    pub(crate) loops: usize,
    /// Whether intents call effects.
    pub(crate) effects: bool,
    /// Atoms that earlier effects in scope left there, as far as the generator can tell.
    pub(crate) made: Vec<Made>,
    /// Number of the next fresh name.
    pub(crate) fresh: usize,
}

impl Generator<'_> {
    /// A name that nothing else has.
    pub(crate) fn name(&mut self) -> String {
        self.fresh += 1;
        format!("x{}", self.fresh)
    }

    /// Brings a local into scope with the paths of its fields.
    pub(crate) fn bind(&mut self, name: &str, ty: &Ty, interval: Option<(i128, i128)>) {
        let mut places = vec![Place {
            text: name.to_owned(),
            ty: ty.clone(),
            interval,
        }];
        paths(&self.types, name, ty, 3, &mut places);
        self.places.extend(places);
    }

    /// Runs `work` in an inner scope; locals and facts of it end with it.
    pub(crate) fn inner<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let (places, facts) = (self.places.len(), self.facts.len());
        let made = self.made.clone();
        let done = work(self);
        self.made = made;
        self.places.truncate(places);
        self.facts.truncate(facts);
        done
    }

    /// A place that fits.
    pub(crate) fn place(&mut self, fits: impl Fn(&Types, &Ty) -> bool) -> Option<Place> {
        let found: Vec<&Place> = self
            .places
            .iter()
            .filter(|it| fits(&self.types, &it.ty))
            .collect();
        // The latest locals are the most interesting ones, and 0 is the plainest choice.
        let at = self.tape.below(found.len());
        found
            .get(found.len().checked_sub(at + 1)?)
            .map(|it| (*it).clone())
    }

    /// Two unsigned places of one width.
    pub(crate) fn unsigned_pair(&mut self, width: Width) -> Option<(Place, Place)> {
        let left = self.place(|_, ty| *ty == Ty::Int(width))?;
        let right = self.place(|_, ty| *ty == Ty::Int(width))?;
        (width.is_unsigned() && left.text != right.text).then_some((left, right))
    }
}

/// The paths of the fields below a place.
fn paths(types: &Types, base: &str, ty: &Ty, depth: usize, places: &mut Vec<Place>) {
    let (Ty::Record(at), true) = (ty, depth > 0) else {
        return;
    };
    for (name, ty) in types.fields(*at) {
        let text = format!("{base}.{name}");
        paths(types, &text, ty, depth - 1, places);
        places.push(Place {
            text,
            ty: ty.clone(),
            interval: None,
        });
    }
}
